"""Exact derivatives of MuJoCo's step for robots in contact against its differences."""

from __future__ import annotations

import pytest
from benchmarks.peers.mujoco_scenes import SCENES, scene
from mujoco_steps import errors

pytest.importorskip("mujoco")
import dtau.mujoco  # noqa: F401  the helpers find it in dtau


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", SCENES)
def test_robots_in_contact(name: str, cone: str) -> None:
    robot = scene(name, cone, 6)
    for k in range(6):
        data = robot.data(k)
        # The differences straddle changes of the active set unless their step is small.
        worst = min(max(errors(robot.model, data, step)) for step in (1e-6, 1e-7))
        assert worst < 1e-5
        assert data.ncon
