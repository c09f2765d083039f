"""`python -m benchmarks.peers.stiff_folder` on scenes of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mujoco")
pytestmark = pytest.mark.benchmarks

from benchmarks.peers.stiff_folder import HEADER, main  # noqa: E402

SCENE = """<mujoco><option timestep="0.002"/><worldbody><body>
<joint name="tilt" damping="{damping}"/>
<inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody>
<keyframe><key name="home" qpos="0.5"/></keyframe></mujoco>"""


def test_damping_that_explicit_steps_do_not_stand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, damping in (("light", 1.0), ("stiff", 30.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scene.xml").write_text(SCENE.format(damping=damping))
    (tmp_path / "stiff" / "scene_broken.xml").write_text("<mujoco>")
    main([str(tmp_path)])
    head, _, light, stiff, broken = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in capsys.readouterr().out.splitlines()
    )
    assert head == [*HEADER]
    assert light[:4] == ["light/scene", "1", "0.002", "0.02"]  # 2 inertia / damping
    assert light[-1] == ""
    assert stiff[3] == "0.00067"
    assert float(stiff[5]) < 1.0 < float(stiff[4])
    assert stiff[-1] == "too long, diverges"
    assert broken[1].startswith("not loaded")
