"""Reading URDF: what every element means, and what a file must not contain."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE

import dtau

INERTIAL = """<inertial>
  <mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial>"""


def link(name: str, content: str = INERTIAL) -> str:
    return f'<link name="{name}">{content}</link>\n'


def joint(name: str, parent: str, child: str, content: str = "", kind: str = "revolute") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{content}</joint>\n"
    )


def robot(*parts: str) -> str:
    return f'<robot name="r">\n{"".join(parts)}</robot>'


def arm(content: str = "", kind: str = "revolute", inertial: str = INERTIAL) -> str:
    """A robot of one joint on line 4, which carries the link of line 3."""
    inertial = " ".join(inertial.split())
    return robot(link("base", ""), link("tip", inertial), joint("j", "base", "tip", content, kind))


class TestMeaning:
    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            ("revolute", dtau.Revolute((1, 0, 0))),
            ("continuous", dtau.Revolute((1, 0, 0))),
            ("prismatic", dtau.Prismatic((1, 0, 0))),
            ("floating", dtau.Free()),
        ],
    )
    def test_joint_types_and_the_axis_left_out(self, kind: str, expected: dtau.JointType) -> None:
        assert dtau.load(arm(kind=kind)).joint("j").type == expected

    def test_axis(self) -> None:
        model = dtau.load(arm('<axis xyz=" 0 -3  4e0 "/>'))
        assert model.joint("j").type == dtau.Revolute((0, -0.6, 0.8))

    def test_origin_of_a_joint(self) -> None:
        model = dtau.load(arm('<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'))
        assert model.joint("j").placement == dtau.Pose.from_rpy((0.1, 0.2, 0.3), (1, 2, 3))

    @pytest.mark.parametrize(
        ("origin", "expected"),
        [
            ("<origin/>", dtau.Pose()),
            ('<origin rpy="0 0 1.5708"/>', dtau.Pose.from_rpy((0, 0, 1.5708))),
            ('<origin xyz="0 1 0"/>', dtau.Pose(translation=(0, 1, 0))),
            ('<origin quat_xyzw="0.6 0 0 0.8"/>', dtau.Spherical().placement((0.6, 0, 0, 0.8))),
        ],
    )
    def test_parts_of_an_origin(self, origin: str, expected: dtau.Pose) -> None:
        assert dtau.load(arm(origin)).joint("j").placement == expected

    def test_inertia_is_about_the_com_and_along_the_axes_of_its_origin(self) -> None:
        inertial = """<inertial>
          <origin xyz="0 1 0" rpy="0 0 1.5707963267948966"/>
          <mass value="3"/>
          <inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="0.3" izz="2.5"/>
        </inertial>"""
        tensor = [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]]
        pose = dtau.Pose.from_rpy((0, 0, math.pi / 2), (0, 1, 0))
        expected = dtau.Model(
            "r",
            [
                dtau.Link("base", None, dtau.Fixed(), "root_joint"),
                dtau.Link(
                    "tip",
                    "base",
                    dtau.Revolute((1, 0, 0)),
                    "j",
                    inertia=dtau.Inertia(3, tensor=tensor).transformed(pose),
                ),
            ],
        )
        assert dtau.load(arm(inertial=inertial)) == expected

    def test_gravity_and_name(self) -> None:
        model = dtau.load(arm(), gravity=(0, 1, 0))
        assert model.gravity.tolist() == [0, 1, 0]
        assert model.name == "r"

    @pytest.mark.parametrize(
        ("kind", "limit", "expected"),
        [
            ("revolute", "", dtau.Limits()),
            (
                "revolute",
                '<limit lower="-1" upper="2" velocity="3" effort="4"/>',
                dtau.Limits(-1, 2, 3, 4),
            ),
            ("prismatic", '<limit effort="4"/>', dtau.Limits(0, 0, effort=4)),
            ("continuous", '<limit lower="0" upper="0" effort="4"/>', dtau.Limits(effort=4)),
            ("prismatic", '<limit upper="2"/>', dtau.Limits(0, 2)),
        ],
    )
    def test_limits(self, kind: str, limit: str, expected: dtau.Limits) -> None:
        assert dtau.load(arm(limit, kind)).joint("j").limits == expected

    def test_damping(self) -> None:
        assert dtau.load(arm('<dynamics damping="0.7"/>')).damping.tolist() == [0.7]

    def test_children_come_in_the_order_of_joint_names(self) -> None:
        text = robot(
            *map(link, ("hip", "base", "z", "a", "knee", "tool")),
            joint("j3", "base", "a"),
            joint("j10", "base", "z"),
            joint("J4", "base", "hip"),
            joint("j1", "hip", "knee"),
            joint("j2", "base", "tool", kind="fixed"),
        )
        model = dtau.load(text)
        assert [joint.name for joint in model.joints] == ["J4", "j1", "j10", "j3"]
        assert model.frames == ("base", "hip", "knee", "z", "tool", "a")

    def test_free_root(self) -> None:
        text = robot(link("base"), link("tip"), joint("j", "base", "tip"))
        model = dtau.load(text, root="free")
        assert [joint.name for joint in model.joints] == ["root_joint", "j"]
        assert model.joint("root_joint").type == dtau.Free()
        assert model.bodies == ("base", "tip")
        assert model.mass == 4

    def test_a_single_body_can_float(self) -> None:
        assert dtau.load(robot(link("drone")), root="free").nv == 6


class TestSource:
    def test_path_and_text_give_the_same(self, tmp_path: Path) -> None:
        path = tmp_path / "arm.urdf"
        path.write_text(arm(), encoding="utf-8")
        assert dtau.load(path) == dtau.load(str(path)) == dtau.load(arm())

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
    def test_encodings(self, encoding: str, tmp_path: Path) -> None:
        path = tmp_path / "arm.urdf"
        declared = encoding.removesuffix("-sig")
        text = f'<?xml version="1.0" encoding="{declared}"?>\n' + arm().replace("tip", "Füße")
        path.write_text(text, encoding=encoding)
        assert dtau.load(path).bodies == ("Füße",)

    @pytest.mark.parametrize("before", ["\n  ", "\ufeff", '<?xml version="1.0"?>\n', "<!-- a -->"])
    def test_what_may_come_before_the_robot(self, before: str) -> None:
        assert dtau.load(before + arm()).nv == 1

    def test_no_such_file(self) -> None:
        with pytest.raises(FileNotFoundError, match=r"nowhere\.urdf"):
            dtau.load("nowhere.urdf")

    def test_a_folder_is_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(IsADirectoryError):
            dtau.load(tmp_path)

    def test_a_text_that_is_neither_path_nor_xml(self) -> None:
        with pytest.raises(ValueError, match=r"^source: expected a path or XML text, got 'x") as e:
            dtau.load("x" * 100_000)
        assert len(str(e.value)) < 300

    def test_errors_name_file_and_line(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.urdf"
        path.write_text(arm(kind="screw"), encoding="utf-8")
        with pytest.raises(dtau.ModelError, match=re.escape(f"{path}, line 4: joint 'j': ")):
            dtau.load(path)

    @pytest.mark.parametrize("source", [b"<robot/>", None, 3, ["a.urdf"]])
    def test_other_sources(self, source: Any) -> None:
        with pytest.raises(TypeError, match="source: expected a path or XML text, got"):
            dtau.load(source)

    @pytest.mark.parametrize("source", ["", "  \n", "a\0b.urdf", Path("a\0b"), "\ud800.urdf"])
    def test_no_source(self, source: str | Path) -> None:
        with pytest.raises(ValueError, match=r"^source: expected a path or XML text, got '"):
            dtau.load(source)

    def test_other_arguments(self) -> None:
        with pytest.raises(ValueError, match="root: expected 'fixed' or 'free', got 'floating'"):
            dtau.load(arm(), root="floating")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"^gravity: expected shape \(3,\), got \(2,\)"):
            dtau.load(arm(), gravity=(0, 1))


class TestRemarks:
    @pytest.mark.parametrize("nested", ["<gazebo/>", "<gazebo><gazebo/></gazebo><a/>"])
    def test_what_is_skipped_may_nest(self, nested: str) -> None:
        skipped = f"<gazebo>{nested}{link('lost')}</gazebo></robot>"
        model = dtau.load(arm().replace("</robot>", skipped))
        assert model == dtau.load(arm())
        assert model.notes[0] == "ignored gazebo: 1"

    def test_notes_count_what_was_ignored(self) -> None:
        text = robot(
            '<material name="red"/><transmission/><gazebo/><gazebo/><sensor name="s"/>\n',
            link("base", INERTIAL + "<visual/><collision/><visual/>"),
            link("tip"),
            joint("j", "base", "tip", '<safety_controller/><dynamics friction="0.1"/>'),
        )
        model = dtau.load(text)
        assert model.notes == (
            "ignored collision: 1",
            "ignored friction (friction_speed= of dtau.load smooths and includes it): 1",
            "ignored gazebo: 2",
            "ignored material: 1",
            "ignored safety_controller: 1",
            "ignored sensor: 1",
            "ignored transmission: 1",
            "ignored visual: 2",
            "without <limit>, taken as unlimited: joints 'j'",
            "link 'base' is fixed to the world: its inertia has no effect",
        )

    def test_nothing_ignored_nothing_said(self) -> None:
        content = (
            '<limit lower="0" upper="1"/><dynamics damping="1" friction="0"/><axis xyz="0 0 1"/>'
        )
        assert dtau.load(arm(content)).notes == ()

    def test_what_a_floating_joint_cannot_have(self) -> None:
        model = dtau.load(arm('<dynamics damping="1"/><limit lower="1"/>', "floating"))
        assert model.notes == (
            "ignored dynamics of floating joints: 1",
            "ignored limit of floating joints: 1",
        )
        assert model.damping.tolist() == [0] * 6

    def test_what_a_fixed_joint_cannot_have(self) -> None:
        content = '<axis xyz="0 0 1"/><limit lower="1"/><dynamics friction="1"/><mimic joint="j"/>'
        text = robot(
            *map(link, "abc"),
            joint("j", "a", "b", '<limit lower="0" upper="1"/>'),
            joint("k", "b", "c", content, "fixed"),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            notes = dtau.load(text, root="free").notes
        assert notes == tuple(
            f"ignored {tag} of fixed joints: 1" for tag in ("axis", "dynamics", "limit", "mimic")
        )

    def test_a_continuous_joint_has_no_range(self) -> None:
        limit = '<limit lower="-1" upper="2" velocity="3"/>'
        assert dtau.load(arm(limit, "continuous")).notes == (
            "ignored lower of continuous joints: 1",
            "ignored upper of continuous joints: 1",
        )
        assert dtau.load(arm('<limit velocity="3"/>', "continuous")).notes == ()
        assert dtau.load(arm(kind="continuous")).notes == ()

    @pytest.mark.parametrize("kind", ["revolute", "prismatic"])
    def test_joints_without_limit(self, kind: str) -> None:
        (note,) = dtau.load(arm(kind=kind)).notes
        assert note == "without <limit>, taken as unlimited: joints 'j'"

    def test_attributes_that_mean_nothing(self) -> None:
        content = '<limit lower="0" upper="1" jerk="2" effrot="3"/><origin xzy="1 2 3" speed="0"/>'
        inertial = INERTIAL.replace("<mass ", '<mass unit="kg" ').replace("</in", "<density/></in")
        text = arm(content, inertial=inertial).replace('type="', 'speed="1" type="')
        text = text.replace("<robot ", '<robot xmlns:xacro="http://x" version="1.0" license="X" ')
        model = dtau.load(text)
        assert model.notes == (
            "ignored attribute effrot of <limit>: 1",
            "ignored attribute jerk of <limit>: 1",
            "ignored attribute license of <robot>: 1",
            "ignored attribute speed of <joint>: 1",
            "ignored attribute speed of <origin>: 1",
            "ignored attribute unit of <mass>: 1",
            "ignored attribute xzy of <origin>: 1",
            "ignored density: 1",
        )

    def test_mimic_joints_move_independently(self) -> None:
        text = robot(
            *map(link, "abc"),
            joint("j", "a", "b"),
            joint("k", "a", "c", '<mimic joint="j" multiplier="2"/>'),
        )
        with pytest.warns(dtau.ModelWarning, match=r"mimic='exact' ties them\): k$") as caught:
            assert dtau.load(text).nv == 2
        assert caught[0].filename == __file__

    def test_joints_that_mimic_what_is_not_there(self) -> None:
        text = robot(
            *map(link, "abcd"),
            joint("j", "a", "b", '<mimic joint="i"/>'),
            joint("k", "a", "c", '<mimic joint="f"/>'),
            joint("f", "a", "d", kind="fixed"),
        )
        lost = (
            "mimic of joint 'j': no joint named 'i'; there are: 'j', 'k', 'f'; mimic of joint 'k': "
            "expected a joint with one coordinate, got 'f', which is fixed"
        )
        with pytest.warns(dtau.ModelWarning) as caught:
            assert dtau.load(text).nv == 2
        assert [str(warning.message) for warning in caught] == [
            f"joints that mimic others load as independent joints (mimic='exact' would not load: "
            f"{lost}): j, k"
        ]
        with pytest.raises(dtau.ModelError) as error:
            dtau.load(text, mimic="exact")
        assert str(error.value) == (
            f"XML text, line 14: {lost}; mimic='independent' makes joints that mimic others "
            "independent"
        )

    def test_massless_joints_are_a_warning(self) -> None:
        with pytest.warns(
            dtau.ModelWarning, match="no inertia, or less than.* carry: j;"
        ) as caught:
            assert dtau.load(arm(inertial="")).massless_joints == ("j",)
        assert caught[0].filename == __file__

    def test_a_sound_file_gives_no_warning(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dtau.load(arm())


LAUGHS = """<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<robot name="&b;"/>"""
FETCH = """<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]><robot name="r">&a;</robot>"""
TWO = (link("a"), link("b"))

# What is wrong, the text, and what the message says.
BAD: dict[str, tuple[str, str]] = {
    # XML
    "empty element": ("<", "line 1: not well-formed XML: "),
    "not closed": ('<robot name="r">\n<link name="a">', "line 2: not well-formed XML: no element"),
    "mismatched": ('<robot name="r">\n</bot>', "line 2: not well-formed XML: mismatched tag"),
    "two roots": (arm() + arm(), "line 5: not well-formed XML: junk after document element"),
    "null character": (arm("\0"), "line 4: not well-formed XML"),
    "lone surrogate": (arm("\ud800"), "not XML text"),
    "undefined entity": (arm("&a;"), "line 4: not well-formed XML: undefined entity"),
    "expanding entities": (LAUGHS, "line 1: expected plain XML, got a document type"),
    "external entity": (FETCH, "line 1: expected plain XML, got a document type"),
    "document type": ("<!DOCTYPE robot>" + arm(), "expected plain XML, got a document type"),
    "deep": ("<robot>" + "<a>" * 200 + "</a>" * 200, "expected at most 100 nested elements"),
    "very deep": ("<robot>" + "<a>" * 100_000, "expected at most 100 nested elements"),
    # Kind of document
    "SDF": ('\n<sdf version="1.9"/>', "expected <robot>, the root of a URDF or <mujoco>, "),
    "xacro": (robot('<xacro:macro name="leg"/>'), "line 2: got <xacro:macro>: run xacro on this"),
    "xacro in use": (robot('<xacro:leg side="left"/>'), "got <xacro:leg>: run xacro on this"),
    "xacro number": (
        arm('<axis xyz="0 0 ${a}"/>'),
        "xyz of <axis>: got xacro, '0 0 ${a}': run xacro on this file first, or name it *.xacro",
    ),
    "xacro name": (
        robot(link("${side}_leg")),
        "line 2: name of <link>: got xacro, '${side}_leg': run xacro on",
    ),
    "xacro argument": (
        arm('<origin xyz="$(arg x) 0 0"/>'),
        "xyz of <origin>: got xacro, '$(arg x) 0 0': run",
    ),
    # Structure
    "robot without name": (
        robot(*TWO).replace(' name="r"', ""),
        "line 1: expected the attribute 'name' in <robot>",
    ),
    "no link": (robot(), "line 1: expected at least one <link>, got none: there is no robot in it"),
    "nothing at all": ("<robot/>", "line 1: expected at least one <link>, got none"),
    "no joint": (
        robot(link("a")),
        "line 1: expected a joint that moves, got none; root='free' lets the robot move as a whole",
    ),
    "only fixed joints": (arm(kind="fixed"), "line 1: expected a joint that moves, got none; root"),
    "link without name": (robot("<link/>"), "line 2: expected the attribute 'name' in <link>"),
    "empty name": (robot('<link name=""/>'), "expected the attribute 'name' in <link>"),
    "joint without name": (robot(*TWO, "<joint/>"), "expected the attribute 'name' in <joint>"),
    "two links of a name": (
        robot('<link name="a"/>\n', '<link name="a"/>'),
        "line 3: two links are named 'a'; the first is in line 2",
    ),
    "two joints of a name": (
        robot(*TWO, joint("j", "a", "b"), joint("j", "b", "a")),
        "two joints are named 'j'",
    ),
    "missing parent": (
        robot(link("a"), joint("j", "x", "a")),
        "joint 'j' refers to link 'x', which does not exist",
    ),
    "missing child": (
        robot(link("a"), joint("j", "a", "x")),
        "joint 'j' refers to link 'x', which does not exist",
    ),
    "no parent": (
        robot(*TWO, '<joint name="j" type="fixed"><child link="a"/></joint>'),
        "expected <parent> in <joint name='j'>, got none",
    ),
    "no child": (
        robot(*TWO, '<joint name="j" type="fixed"><parent link="a"/></joint>'),
        "expected <child> in <joint name='j'>, got none",
    ),
    "parent without link": (
        robot(*TWO, '<joint name="j" type="fixed"><parent/><child link="a"/></joint>'),
        "expected the attribute 'link' in <parent>",
    ),
    "two parents": (
        robot(*TWO, link("c"), joint("j", "a", "c"), joint("k", "b", "c")),
        "link 'c' has two parents: joints 'j' and 'k' both carry it",
    ),
    "two roots of the tree": (robot(*TWO), "expected one root link, got 2: 'a', 'b'"),
    "a loop": (
        robot(*TWO, joint("j", "a", "b"), joint("k", "b", "a")),
        "links form a cycle: 'b' -> 'a' -> 'b'",
    ),
    "a loop beside a tree": (
        robot(link("r"), *TWO, joint("j", "a", "b"), joint("k", "b", "a")),
        "links form a cycle: 'b' -> 'a' -> 'b'",
    ),
    "own parent": (robot(link("a"), joint("j", "a", "a")), "links form a cycle: 'a' -> 'a'"),
    # Joints
    "unknown type": (
        arm(kind="screw"),
        "line 4: joint 'j': expected a type among fixed, floating, pla",
    ),
    "type in capitals": (arm(kind="Revolute"), "joint 'j': expected a type among fixed"),
    "no type": (arm().replace("type=", "kind="), "expected the attribute 'type' in <joint name="),
    "zero axis": (arm('<axis xyz="0 0 0"/>'), "line 4: joint 'j': axis: expected a nonzero"),
    "axis without xyz": (arm("<axis/>"), "line 4: expected the attribute 'xyz' in <axis>"),
    "negative damping": (arm('<dynamics damping="-1"/>'), "joint 'j': damping: expected numbers"),
    "negative effort": (
        arm('<limit effort="-1"/>'),
        "joint 'j': limits.effort: expected a number of at least 0, got -1.0; without",
    ),
    "infinite limit": (arm('<limit lower="-inf"/>'), "lower of <limit>: expected a finite number"),
    "both rotations": (
        arm('<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'),
        "expected either rpy or quat_xyzw in <origin>, got both",
    ),
    "quaternion": (
        arm('<origin quat_xyzw="0 0 0 2"/>'),
        "joint 'j': quaternion: expected norm 1 within 1e-06, got norm 2",
    ),
    # Inertias
    "no mass": (
        arm(inertial=re.sub("<mass.*?/>", "", INERTIAL)),
        "line 3: expected <mass> in <inertial> of link 'tip', got none; inertia='repair' takes 0",
    ),
    "no inertia": (
        arm(inertial=re.sub("<inertia .*?/>", "", INERTIAL)),
        "line 3: expected <inertia> in <inertial> of link 'tip', got none; inertia='repair'",
    ),
    "no ixy": (
        arm(inertial=INERTIAL.replace("ixy", "iyx")),
        "line 3: expected ixy of <inertia> in <inertial> of link 'tip', got none; inertia='repair'",
    ),
    "negative mass": (
        arm(inertial=INERTIAL.replace('"2"', '"-2"')),
        "line 3: mass: expected numbers of at least 0, got -2.0 of link 'tip' (line 3)",
    ),
    "negative moment": (
        arm(inertial=INERTIAL.replace('izz="1"', 'izz="-1"')),
        "line 3: inertias with negative principal moments, which no body has: -1 of link 'tip' "
        "(line 3); inertia='repair' takes the nearest ones of rigid bodies",
    ),
    "huge": (
        arm('<origin xyz="1e308 0 0"/>', inertial=INERTIAL.replace('"2"', '"1e308"')).replace(
            "<mass", '<origin xyz="1e308 0 0"/><mass'
        ),
        "too large to add",
    ),
}
BAD_NUMBERS = [
    *("", "0 0", "0 0 0 0", "0,0,0", "0, 0, 0", "0 0 0,5", "a b c", "nan 0 0", "inf 0 0"),
    *("1e999 0 0", "0x1 0 0", "1_0 0 0", "1e 0 0", ". 0 0", "\u0661 0 0", "0 0 1f", "(0 0 0)"),
    *("--1 0 0", "1d0 0 0", "0;0;0", "9" * 5000),
]


@pytest.mark.parametrize("case", BAD)
def test_bad_files(case: str) -> None:
    text, message = BAD[case]
    with pytest.raises(dtau.ModelError, match=re.escape(message)) as caught:
        dtau.load(text)
    assert str(caught.value).startswith("XML text")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("numbers", BAD_NUMBERS)
def test_numbers_that_are_not_finite_are_refused(numbers: str) -> None:
    expected = "xyz of <origin>: expected 3 finite numbers, got" if numbers else "attribute 'xyz'"
    with pytest.raises(dtau.ModelError, match=f"line 4: .*{expected}"):
        dtau.load(arm(f'<origin xyz="{numbers}"/>'))


@pytest.mark.parametrize(
    "number", ["1", "-1.", "+.5", "1e-3", "2E+05", "007", "-0", " 3 ", "\t3\n"]
)
def test_good_numbers(number: str) -> None:
    pose = dtau.load(arm(f'<origin xyz="{number} 0 0"/>')).joint("j").placement
    assert pose.translation[0] == float(number)


@pytest.mark.parametrize("number", ["1" * 100_000, "1e" * 50_000, "." + "1" * 100_000 + "x"])
def test_long_numbers_are_refused(number: str) -> None:
    with pytest.raises(dtau.ModelError, match="xyz of <origin>: expected 3 finite numbers"):
        dtau.load(arm(f'<origin xyz="{number} 0 0"/>'))


class TestGarbage:
    def test_random_bytes(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        path = tmp_path / "garbage.urdf"
        starts = [b"", b"<", b"<robot", b"\xff\xfe", b"\xef\xbb\xbf", b"\x00\x00\xfe\xff"]
        starts += [b'<?xml version="1.0" encoding="%s"?>' % name for name in (b"cp37", b"x", b"")]
        for start in starts:
            for size in (0, 1, 7, 500):
                path.write_bytes(start + rng.bytes(size))
                with pytest.raises(dtau.ModelError, match=re.escape(str(path))):
                    dtau.load(path)

    def test_an_encoding_that_is_not_named(self, tmp_path: Path) -> None:
        path = tmp_path / "arm.urdf"
        path.write_bytes(arm().replace("tip", "Füße").encode("latin-1"))
        with pytest.raises(dtau.ModelError, match=r"line \d+: expected UTF-8, got the byte 0xfc;"):
            dtau.load(path)
        path.write_bytes(b"\x89PNG\r\n")
        with pytest.raises(dtau.ModelError, match=r"line 1: not well-formed XML"):
            dtau.load(path)

    def test_unknown_encodings(self, tmp_path: Path) -> None:
        path = tmp_path / "arm.urdf"
        for encoding in ("klingon", "shift_jis", "utf-7", "base64", "idna"):
            path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>{arm()}', encoding="utf-8")
            with pytest.raises(dtau.ModelError, match=re.escape(str(path))):
                dtau.load(path)

    @pytest.mark.large
    def test_a_chain_of_ten_thousand_links(self) -> None:
        links = [link(f"l{k}") for k in range(10_001)]
        joints = [joint(f"j{k}", f"l{k}", f"l{k + 1}", kind="fixed") for k in range(9999)]
        joints.append(joint("end", "l9999", "l10000"))
        model = dtau.load(robot(*links, *joints))
        assert model.bodies == ("l10000",)
        assert len(model.frames) == 10_001

    @pytest.mark.large
    def test_a_loop_of_ten_thousand_links(self) -> None:
        links = [link(f"l{k}", "") for k in range(10_000)]
        joints = [joint(f"j{k}", f"l{k}", f"l{(k + 1) % 10_000}") for k in range(10_000)]
        with pytest.raises(dtau.ModelError, match=r"links form a cycle: 'l1' -> .* -> \.\.\.$"):
            dtau.load(robot(*links, *joints))


class TestQuadruped:
    def test_layout(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = dtau.robots.quadruped()
        legs = ("LF", "LH", "RF", "RH")
        expected = [f"{leg}_{name}" for leg in legs for name in ("HAA", "HFE", "KFE")]
        assert [joint.name for joint in model.joints] == ["root_joint", *expected]
        assert model.mass == pytest.approx(30.4)
        assert model.notes == ("ignored visual: 21",)
        assert model.frame("IMU").body == 0
        for leg in legs:
            assert model.bodies[model.frame(f"{leg}_FOOT").body] == f"{leg}_SHANK"
        assert set(model.effort_limits[6:]) == {40.0}

    def test_is_symmetric(self) -> None:
        """Left and right legs mirror each other in y, fore and hind legs in x."""
        model = dtau.robots.quadruped()
        left, right, hind = (
            dtau.frame_placements(model, dtau.neutral(model), f"{leg}_FOOT").translation
            for leg in ("LF", "RF", "LH")
        )
        np.testing.assert_allclose(left, right * (1, -1, 1), atol=TOLERANCE["rounding"])
        np.testing.assert_allclose(left, hind * (-1, 1, 1), atol=TOLERANCE["rounding"])
        assert left[2] == pytest.approx(-0.571)
