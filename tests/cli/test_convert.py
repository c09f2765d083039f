"""`dtau convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtau


@pytest.mark.parametrize(
    ("changes", "options"),
    [({"damping": 0.2}, {}), ({"friction": 3.0, "friction_speed": 0.1}, {"friction_speed": 0.1})],
)
def test_what_is_written_loads_as_the_same_model(
    changes: dict[str, float], options: dict[str, Any], run: Any, arm: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.urdf"
    words = [x for name, value in changes.items() for x in (f"--{name.replace('_', '-')}", value)]
    done = run("convert", arm, out, *words)
    assert (done.code, done.err) == (0, "")
    typed = "".join(f", {name}={x}" for name, x in options.items())
    assert f'dtau.load("{out}", root="fixed"{typed})' in " ".join(done.out.split())
    assert dtau.load(out, **options) == dtau.load(arm, **changes)


@pytest.mark.parametrize("name", ["out.dtau", "OUT.DTAU"])
def test_a_file_for_cpp_has_the_whole_model(name: str, run: Any, arm: Path, tmp_path: Path) -> None:
    out = tmp_path / name
    done = run("convert", arm, out, "--armature", 0.2, "--gravity", 0, 0, -1.6)
    assert (done.code, done.err) == (0, "")
    assert f'dtau.load("{out}") and' in " ".join(done.out.split())
    model = dtau.load(arm, armature=0.2, gravity=(0, 0, -1.6))
    assert dtau.load(out) == model
    assert run("convert", out, tmp_path / "again.dtau").code == 0
    assert (tmp_path / "again.dtau").read_bytes() == out.read_bytes()
    refused = run("convert", arm, out, "--force", "--root-link", "lab")
    assert refused.code == 3
    assert "--root-link: expected it with a URDF" in refused.err


def test_reordered_joints_keep_their_postures(run: Any, tmp_path: Path) -> None:
    disk = dtau.Inertia(1.0, tensor=np.eye(3))
    links = [dtau.Link(x, None, dtau.Revolute((1, 0, 0)), x, inertia=disk) for x in ("b", "a")]
    postures = {"bent": {"a": 0.1, "b": 0.2}}
    dtau.Model("two", links, postures=postures).save(tmp_path / "two.dtau")
    assert run("convert", tmp_path / "two.dtau", tmp_path / "out.dtau", "--reorder").code == 0
    written = dtau.load(tmp_path / "out.dtau")
    assert [joint.name for joint in written.joints] == ["a", "b"]
    assert written.postures["bent"].tolist() == [0.1, 0.2]


MJCF = """<mujoco model="crane">
  <option gravity="0 0 -9.81"/>
  <worldbody><body name="trolley"><freejoint name="float"/><geom type="box" size=".3 .2 .1"/>
    <body name="right"><joint name="right" axis="0 1 0" armature="0.1"/><geom size=".1"/></body>
    <body name="left"><joint name="left" axis="0 1 0" stiffness="2"/><geom size=".1"/></body>
  </body></worldbody>
</mujoco>
"""


def test_mjcf_needs_what_a_urdf_cannot_say_left_out(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    robot, out = tmp_path / "crane.xml", tmp_path / "crane.urdf"
    robot.write_text(MJCF, encoding="utf-8")
    refused = run("convert", robot, out)
    assert (refused.code, refused.out) == (2, "")
    for way_out in ("--armature 0 leaves it", "--stiffness 0 leaves them", "(--reorder sorts them"):
        assert way_out in refused.err
    assert not out.exists()
    done = run("convert", robot, out, "--armature", 0, "--stiffness", 0, "--reorder")
    assert done.code == 0
    assert 'root="free")' in done.out
    assert "geoms" in done.out.replace("\n", " ")
    written = dtau.load(out, root="free")
    assert [joint.name for joint in written.joints] == ["float", "left", "right"]
    assert written.mass == dtau.load(robot).mass


def test_a_fixed_site_before_the_legs(run: Any, tmp_path: Path) -> None:
    """Its place changes no entry of q, so that it is written as readers of URDF take it."""
    pytest.importorskip("mujoco")
    robot, out = tmp_path / "dog.xml", tmp_path / "dog.urdf"
    leg = '<body name="{0}"><joint name="{0}" axis="0 1 0"/><geom size=".1"/></body>'
    robot.write_text(
        '<mujoco><worldbody><body name="trunk"><freejoint name="float"/><geom size=".1"/>'
        f'<site name="site"/>{leg.format("a")}{leg.format("b")}</body></worldbody></mujoco>'
    )
    assert run("convert", robot, out).code == 0
    before, after = dtau.load(robot), dtau.load(out, root="free")
    assert [joint.name for joint in after.joints] == [joint.name for joint in before.joints]
    assert sorted(after.frames) == sorted(before.frames)
    q, v, a = dtau.random_state(before, np.random.default_rng(0))
    tau = (dtau.inverse_dynamics(model, q, v, a) for model in (before, after))
    assert np.array_equal(*tau)
    refused = run("convert", robot, out, "--force", "--root-link", "site")
    assert "--root-link: there is already a link named 'site'" in refused.err


def test_an_arm_on_a_fixed_mount_has_entries_of_q(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    robot = tmp_path / "dog.xml"
    leg = '<body name="{0}"><joint name="{0}" axis="0 1 0"/><geom size=".1"/></body>'
    robot.write_text(
        '<mujoco><worldbody><body name="trunk"><freejoint name="float"/><geom size=".1"/>'
        f'<body name="mount">{leg.format("c")}</body>{leg.format("b")}</body></worldbody></mujoco>'
    )
    refused = run("convert", robot, tmp_path / "dog.urdf")
    assert "(--reorder sorts them: q and v then have another order)" in refused.err


def test_another_root_link(run: Any, arm: Path, tmp_path: Path) -> None:
    done = run("convert", arm, tmp_path / "out.urdf", "--root-link", "lab")
    assert done.code == 0
    assert dtau.load(tmp_path / "out.urdf").frames[0] == "lab"
    again = run("convert", arm, tmp_path / "out.urdf", "--root-link", "base", "--force")
    assert again.code == 3
    assert "--root-link: there is already a link named 'base'" in again.err


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("arm.urdf", "the file exists; --force replaces it"),
        ("arm.xml", "expected a name that ends in .urdf or .dtau"),
        ("no/arm.urdf", "no such folder: "),
    ],
)
def test_mistakes(run: Any, arm: Path, out: str, message: str) -> None:
    before = arm.read_text()
    done = run("convert", arm, arm.parent / out)
    assert (done.code, done.out) == (3, "")
    assert message in done.err
    assert arm.read_text() == before
    if out == "arm.urdf":
        assert run("convert", arm, arm, "--force").code == 0
