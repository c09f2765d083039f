"""`python -m benchmarks.peers.mujoco_folder` on scenes of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mujoco")
pytestmark = pytest.mark.benchmarks

from benchmarks.peers.mujoco_folder import HEADER, main  # noqa: E402

SCENE = """<mujoco><option timestep="0.01" {option}/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 0.3"><freejoint/><geom size="0.1"/><body pos="0 0 0.2">
<joint name="tilt" axis="1 0 0" damping="0.1"/><geom size="0.05" pos="0 0 0.1"/></body></body>
</worldbody><actuator><motor joint="tilt" ctrlrange="-1 1"/></actuator></mujoco>"""


def test_scenes_have_a_row_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, option in (("ball", ""), ("implicit", 'integrator="implicit"')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scene.xml").write_text(SCENE.format(option=option))
    (tmp_path / "implicit" / "scene_broken.xml").write_text("<mujoco>")
    main([str(tmp_path)])
    head, _, ball, implicit, broken = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in capsys.readouterr().out.splitlines()
    )
    assert head == [*HEADER]
    assert ball[:3] == ["ball/scene", "7", "1"]
    assert float(ball[3]) > 0.0  # it lies on the ground
    assert float(ball[HEADER.index("median")]) < 1e-7
    assert float(ball[HEADER.index("ratio")].rstrip("x")) > 0.0
    assert "integrators" in implicit[1]
    assert broken[0] == "implicit/scene_broken"
    assert broken[1].startswith("not loaded")


def test_a_folder_without_scenes_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path)])
    assert "has the pattern" in capsys.readouterr().err
