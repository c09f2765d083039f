"""Reading xacro, which the package xacrodoc expands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import dtau

XMLNS = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
LEG = f"""<robot {XMLNS}><xacro:macro name="leg" params="side mass">
<link name="${{side}}_leg"><inertial><mass value="${{mass}}"/>
<inertia ixx="${{mass / 10}}" ixy="0" ixz="0" iyy="${{mass / 10}}" iyz="0" izz="${{mass / 10}}"/>
</inertial></link>
<joint name="${{side}}_hip" type="continuous"><parent link="base"/><child link="${{side}}_leg"/>
<origin xyz="0 ${{1 if side == 'left' else -1}} 0"/></joint></xacro:macro></robot>"""
ROBOT = f"""<robot name="biped" {XMLNS}>
<xacro:include filename="leg.xacro"/>
<xacro:include filename="$(find biped_description)/base/base.xacro"/>
<xacro:property name="mass" value="2"/>
<xacro:leg side="left" mass="${{mass}}"/><xacro:leg side="right" mass="${{2 * mass}}"/></robot>"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    """A package with a robot in three files."""
    (tmp_path / "package.xml").write_text("<package><name>biped_description</name></package>")
    for name, text in {
        "urdf/leg.xacro": LEG,
        "base/base.xacro": '<robot><link name="base"/></robot>',
        "urdf/biped.urdf.xacro": ROBOT,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "urdf/biped.urdf.xacro"


class TestExpanded:
    @pytest.fixture(autouse=True)
    def _with_xacrodoc(self) -> None:
        pytest.importorskip("xacrodoc")

    def test_macros_properties_and_includes(self, robot: Path) -> None:
        model = dtau.load(robot)
        assert model.name == "biped"
        assert model.bodies == ("left_leg", "right_leg")
        assert model.mass == 6.0
        assert model.joint("right_hip").placement.translation.tolist() == [0, -1, 0]
        assert dtau.load(str(robot), root="free").nv == 8

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("<xacro:leg/>", "robot.xacro: xacro: .*unknown macro name: xacro:leg"),
            ('<xacro:include filename="x"/>', "robot.xacro: xacro: .*No such file"),
            ('<link name="${1 / 0}"/>', "robot.xacro: xacro: .*division by zero"),
            ('<xacro:include filename="robot.xacro"/>', "robot.xacro: xacro: RecursionError"),
            ('<link name="a"/>\n<joint/>', "robot.xacro, expanded, line 4: .*'name' in <joint>"),
            ("<link>", "robot.xacro: xacro: .*mismatched tag"),
        ],
    )
    def test_damaged(self, content: str, message: str, tmp_path: Path) -> None:
        path = tmp_path / "robot.xacro"
        path.write_text(f'<robot name="r" {XMLNS}>{content}</robot>')
        with pytest.raises(dtau.ModelError, match=message):
            dtau.load(path)

    def test_xacro_entities_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "robot.xacro"
        path.write_text('<!DOCTYPE robot [<!ENTITY a "b">]><robot name="&a;"/>')
        with pytest.raises(dtau.ModelError, match="document type declaration"):
            dtau.load(path)

    def test_other_files_of_xacro_are_as_before(self, robot: Path) -> None:
        import xacro

        before = xacro.filestack
        dtau.load(robot)
        assert xacro.filestack is before


def test_without_xacrodoc(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(dtau.ModelError, match=r"xacro: .* pip install 'xacrodoc>=2'"):
        dtau.load(robot)


def test_xacro_runs_only_files_named_xacro(robot: Path) -> None:
    """A text or a URDF that holds xacro is refused, not run."""
    other = robot.with_name("biped.urdf")
    other.write_text(ROBOT)
    for source in (ROBOT, other):
        with pytest.raises(dtau.ModelError, match=r"run xacro on this file first, or name it \*"):
            dtau.load(source)


def test_properties_that_nothing_uses_are_passed_over() -> None:
    text = f"""<robot name="r" {XMLNS}><xacro:property name="x" value="${{2 * y}}"/>
<link name="base"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>"""
    assert dtau.load(text, root="free").notes == ("ignored xacro:property: 1",)
    with pytest.raises(
        dtau.ModelError, match=r"line 2: name of <link>: got xacro, .*: run xacro on"
    ):
        dtau.load(text.replace("base", "${x}_base"), root="free")
