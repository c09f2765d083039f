"""Derivatives of the Jacobians of frames by q: along motions, and the chart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import on_robots, random_state, robot
from compare import TOLERANCE, assert_close
from function import FRAME_AXES
from trees import Array

import dtau

on_axes = pytest.mark.parametrize("axes", FRAME_AXES)


def size_of_terms(model: dtau.Model, q: Array, **options: Any) -> float:
    """The square of the largest element of the Jacobians, whose products may cancel."""
    return float(np.abs(dtau.frame_jacobians(model, q, **options)).max() ** 2)


@on_robots
@on_axes
def test_rates_of_the_jacobian(name: str, axes: str) -> None:
    """Along a motion: dJ/dt = dJ_dq v, and dJ_dq of J v are the derivatives of the twist."""
    model = robot(name)
    s = random_state(model, 3)
    q, v = s["q"], s["v"]
    options: dict[str, Any] = {"frames": list(model.frames), "axes": axes}
    dJ = dtau.frame_jacobians_derivatives(model, q, **options)
    rate = dtau.frame_jacobians_time_derivatives(model, q, [v], **options)[1]
    floor = size_of_terms(model, q, **options) * float(np.abs(v).max())
    assert_close(dJ @ v, rate, TOLERANCE["identity"], "dJ/dt", floor=floor)
    by_configuration = dtau.frame_velocities_derivatives(model, q, v, **options).dtwist_dq
    got = np.einsum("frkj,k->frj", dJ, v)
    assert_close(got, by_configuration, TOLERANCE["identity"], "dtwist_dq", floor=floor)


def test_the_pose_in_the_exponential_chart() -> None:
    """Symmetric: second differences of log(X(q)^-1 X(q (+) xi)), about a millionth off."""
    model = robot("quadruped")
    q = random_state(model, 4)["q"]
    mean = dtau.frame_jacobians_derivatives(model, q, "LF_FOOT", symmetric=True)
    rng = np.random.default_rng(5)
    here = dtau.frame_placements(model, q, "LF_FOOT")
    step = 1e-4

    def log(xi: Any) -> Any:
        there = dtau.frame_placements(model, dtau.integrate(model, q, xi), "LF_FOOT")
        pose = dtau.Pose(
            here.rotation.T @ there.rotation,
            here.rotation.T @ (there.translation - here.translation),
        )
        return pose.log()

    for _ in range(5):
        d = rng.standard_normal(model.nv)
        d /= np.linalg.norm(d)
        second = (log(step * d) + log(-step * d)) / step**2
        assert_close(mean @ d @ d, second, 1e-6, "second difference", floor=1.0)


@on_axes
def test_frames_of_the_world_stand_still(axes: str) -> None:
    builder = dtau.ModelBuilder("rail")
    builder.add(dtau.Fixed(), name="post")
    builder.add(dtau.Revolute(axis=(0, 0, 1)), name="arm", inertia=dtau.Inertia(1.0))
    built = builder.build()
    out = np.full((2, 6, 1, 1), np.nan)
    dtau.frame_jacobians_derivatives(built, [0.3], ["post", "post"], axes, out=out)
    assert not out.any()


def test_errors() -> None:
    model = robot("quadruped")
    q = dtau.neutral(model)
    with pytest.raises(TypeError, match=r"^symmetric: expected"):
        dtau.frame_jacobians_derivatives(model, q, "LF_FOOT", symmetric=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no such foot"):
        dtau.frame_jacobians_derivatives(model, q, "no such foot")
    with pytest.raises(ValueError, match=r"^axes: expected"):
        dtau.frame_jacobians_derivatives(model, q, "LF_FOOT", "local")  # type: ignore[arg-type]
