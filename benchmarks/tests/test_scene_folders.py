"""`python -m benchmarks.peers.mujoco_folder` and `stiff_folder` on scenes of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mujoco")
pytestmark = pytest.mark.benchmarks

from benchmarks.peers import mujoco_folder, stiff_folder  # noqa: E402

BALL = """<mujoco><option timestep="0.01" {}/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 0.3"><freejoint/><geom size="0.1"/><body pos="0 0 0.2">
<joint name="tilt" axis="1 0 0" damping="0.1"/><geom size="0.05" pos="0 0 0.1"/></body></body>
</worldbody><actuator><motor joint="tilt" ctrlrange="-1 1"/></actuator></mujoco>"""
PENDULUM = """<mujoco><option timestep="0.002"/><worldbody><body>
<joint name="tilt" damping="{}"/>
<inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody>
<keyframe><key name="home" qpos="0.5"/></keyframe></mujoco>"""


def cells(
    program: Any, scenes: dict[str, str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> list[list[str]]:
    """The rows of scenes that a program prints; a broken one lies beside the last."""
    for name, text in scenes.items():
        (folder / name).mkdir()
        (folder / name / "scene.xml").write_text(text)
    (folder / name / "scene_broken.xml").write_text("<mujoco>")
    program.main([str(folder)])
    head, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in capsys.readouterr().out.splitlines()
    )
    assert head == [*program.HEADER]
    assert rows[-1][0] == f"{name}/scene_broken"
    assert rows[-1][1].startswith("not loaded")
    return rows[:-1]


def test_scenes_have_a_row_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenes = {"ball": BALL.format(""), "implicit": BALL.format('integrator="implicit"')}
    ball, implicit = cells(mujoco_folder, scenes, tmp_path, capsys)
    assert ball[:3] == ["ball/scene", "7", "1"]
    assert float(ball[3]) > 0.0  # it lies on the ground
    assert float(ball[mujoco_folder.HEADER.index("median")]) < 1e-7
    assert float(ball[mujoco_folder.HEADER.index("ratio")].rstrip("x")) > 0.0
    assert "integrators" in implicit[1]


def test_damping_that_explicit_steps_do_not_stand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenes = {"light": PENDULUM.format(1.0), "stiff": PENDULUM.format(30.0)}
    light, stiff = cells(stiff_folder, scenes, tmp_path, capsys)
    assert light[:4] == ["light/scene", "1", "0.002", "0.02"]  # 2 inertia / damping
    assert light[-1] == ""
    assert stiff[3] == "0.00067"
    assert float(stiff[5]) < 1.0 < float(stiff[4])
    assert stiff[-1] == "too long, diverges"


def test_a_folder_without_scenes_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        mujoco_folder.main([str(tmp_path)])
    assert "has the pattern" in capsys.readouterr().err
