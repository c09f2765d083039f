"""Reading xacro, which the package xacrodoc expands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
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

    def test_arguments(self, tmp_path: Path) -> None:
        path, srdf = tmp_path / "arm.urdf.xacro", tmp_path / "arm.srdf.xacro"
        path.write_text(
            f"""<robot {XMLNS} name="$(arg name)"><xacro:arg name="mass" default="2"/>
            <xacro:arg name="heavy" default="false"/><xacro:arg name="side" default="left"/>
            <link name="$(arg side)_base"/><link name="tip"><inertial><mass
            value="${{$(arg mass) * (10 if xacro.arg('heavy') == 'true' else 1)}}"/>
            <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
            <joint name="j" type="continuous"><parent link="$(arg side)_base"/><child link="tip"/>
            </joint></robot>"""
        )
        srdf.write_text(
            f"""<robot {XMLNS} name="$(arg name)"><xacro:arg name="bent" default="1"/>
            <group_state name="$(arg name)" group="g"><joint name="j" value="$(arg bent)"/>
            </group_state></robot>"""
        )
        plain = dtau.load(path, xacro_args={"name": "arm"})
        assert (plain.name, plain.mass, plain.links[0].name) == ("arm", 2.0, "left_base")
        given = {"name": "other", "mass": np.float64(3.5), "heavy": True, "side": "right"}
        model = dtau.load(path, xacro_args=given)
        assert (model.name, model.mass, model.links[0].name) == ("other", 35.0, "right_base")
        assert dtau.load(path, xacro_args={"name": "arm"}) == plain  # nothing is kept
        posed = dtau.load(path, srdf=srdf, xacro_args={"name": "arm", "bent": 3})
        assert posed.postures["arm"].tolist() == [3.0]

        with pytest.raises(dtau.ModelError) as lacking:
            dtau.load(path)
        assert (
            f"{path}: xacro: expected values for arguments that have no default, 'name': give "
            "dtau.load xacro_args={'name': ...}, or run xacro first: xacro FILE name:=... ("
        ) in str(lacking.value)
        with pytest.raises(
            ValueError, match="xacro_args: no argument named 'nam'; close names"
        ) as no:
            dtau.load(path, xacro_args={"name": "arm", "nam": 1})
        assert str(no.value).endswith(f"arguments of {path}: 'heavy', 'mass', 'name', 'side'")
        urdf = dtau.robots.quadruped().to_urdf()
        with pytest.raises(ValueError, match=r"'a'; .*: none; only \*\.xacro has them"):
            dtau.load(urdf, xacro_args={"a": 1})
        assert dtau.load(urdf, root="free", xacro_args={}) == dtau.load(urdf, root="free")

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ("name:=arm", "xacro_args: expected a mapping by names, got 'name:=arm'"),
            ({1: "a"}, "xacro_args: expected str, got int"),
            ({"a": [1]}, r"xacro_args\['a'\]: expected a text or a number, got list"),
            ({"a": None}, r"xacro_args\['a'\]: expected a text or a number, got NoneType"),
        ],
    )
    def test_arguments_of_the_wrong_type(self, given: Any, message: str, robot: Path) -> None:
        with pytest.raises(TypeError, match=message):
            dtau.load(robot, xacro_args=given)

    def test_packages_that_are_missing(self, tmp_path: Path) -> None:
        path = tmp_path / "robot.xacro"
        path.write_text(
            f'<robot name="r" {XMLNS}><xacro:include filename="$(find gone)/a.xacro"/></robot>'
        )
        with pytest.raises(dtau.ModelError) as caught:
            dtau.load(path)
        assert str(caught.value) == (
            f"{path}: xacro: found no package 'gone', in folders above the file or of ROS: "
            "xacrodoc.packages.look_in([folder]) names a folder that has it"
        )

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
