"""URDFs that the format does not foresee and other readers load: their meaning, with notes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from messages import message
from test_urdf import INERTIAL, arm, joint, link, robot

import dtau

RENAMED = "the free joint of the root is called {!r}: the file has a joint {!r}"


class TestRootJoint:
    def test_a_free_root_leaves_a_joint_its_name(self) -> None:
        text = robot(link("base"), link("tip"), joint("root_joint", "base", "tip"))
        free = dtau.load(text, root="free")
        assert [joint.name for joint in free.joints] == ["root_joint_", "root_joint"]
        assert RENAMED.format("root_joint_", "root_joint") in free.notes
        named = text.replace('name="r"', 'name="r" dtau:root_joint="x" xmlns:dtau="urn:dtau"', 1)
        named = named.replace('"root_joint"', '"x"')
        other = dtau.load(named, root="free")
        assert [joint.name for joint in other.joints] == ["x_", "x"]
        assert RENAMED.format("x_", "x") in other.notes

    @pytest.mark.parametrize("root", ["fixed", "free"])
    @pytest.mark.parametrize("kind", ["fixed", "revolute"])
    def test_names_are_distinct(self, kind: str, root: dtau.support.options.Root) -> None:
        text = robot(
            *map(link, "abc"),
            joint("root_joint", "a", "b", kind=kind),
            joint("root_joint_", "b", "c"),
        )
        model = dtau.load(text, root=root)
        names = [each.joint_name for each in model.links]
        assert names == ["root_joint__", "root_joint", "root_joint_"]
        note = RENAMED.format("root_joint__", "root_joint")
        assert (note in model.notes) == (root == "free")
        assert dtau.load(model.to_urdf(), root=root) == model

    def test_a_fixed_root_takes_no_name(self) -> None:
        text = robot(link("base"), link("tip"), joint("root_joint", "base", "tip"))
        model = dtau.load(text)
        assert dtau.configuration(model, {"root_joint": 0.3}).tolist() == [0.3]
        assert model.replace(damping={"root_joint": 0.5}).damping.tolist() == [0.5]


DECLARATION = '<?xml version="1.0" encoding="{}"?>'


class TestDeclaration:
    """White space and comments in front of the declaration; lines keep their numbers."""

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
    @pytest.mark.parametrize(
        "before",
        ["\n", "\r\n \t", "<!-- © license > <?xml ?> -->\n", "\n<!--a--> <!--b-->\n\n", ""],
    )
    def test_files_and_texts(self, before: str, encoding: str, tmp_path: Path) -> None:
        named = DECLARATION.format(encoding.removesuffix("-sig"))
        text = before + named.replace(" enc", "\nenc") + arm().replace('"tip"', '"tïp"')
        path = tmp_path / "arm.urdf"
        path.write_bytes(text.encode(encoding))
        sources: list[str | Path] = [path]
        if encoding == "utf-8":
            sources.append(text)
        for source in sources:
            assert dtau.load(source) == dtau.load(arm().replace('"tip"', '"tïp"'))

    def test_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "arm.urdf"
        path.write_text("\n<!-- a\nb -->" + DECLARATION.format("utf-8") + "\n" + arm("<axis/>"))
        said = message(dtau.ModelError, dtau.load, path)
        assert said.startswith(
            f"{path}, line {path.read_text().split('<axis')[0].count(chr(10)) + 1}: "
        )

    def test_what_is_no_declaration_in_front(self, tmp_path: Path) -> None:
        path = tmp_path / "arm.urdf"
        for text in (
            "<!-- never closed " + arm(),
            "\n<?xml " + arm(),
            arm() + "\n<?xml version='1.0'?>",
        ):
            path.write_text(text)
            assert "not well-formed XML" in message(dtau.ModelError, dtau.load, path)
        many = "<!---->" * 100_000  # in linear time
        path.write_text(many + arm())
        assert dtau.load(path).nv == 1

    def test_an_srdf_and_xacro(self, tmp_path: Path) -> None:
        pytest.importorskip("xacrodoc")
        path = tmp_path / "arm.xacro"
        path.write_text("\n<!-- © -->\n" + DECLARATION.format("utf-8") + arm(), encoding="utf-8")
        srdf = """<robot name="r"><group_state name="up" group="g"><joint name="j" value="1"/>
        </group_state></robot>"""
        model = dtau.load(path, srdf="\n<!-- c -->" + DECLARATION.format("utf-8") + srdf)
        assert model.postures["up"].tolist() == [1.0]


class TestLimits:
    @pytest.mark.parametrize("kind", ["revolute", "prismatic"])
    @pytest.mark.parametrize("given", ['lower="1" upper="-1"', 'lower="0.5"', 'upper="-2"'])
    def test_lower_above_upper_is_no_range(self, given: str, kind: str) -> None:
        model = dtau.load(arm(f'<limit {given} effort="3" velocity="2"/>', kind))
        assert model.joint("j").limits == dtau.Limits(effort=3, velocity=2)
        assert "lower above upper, taken as unlimited: joints 'j'" in model.notes

    def test_mujoco_reads_it_so(self) -> None:
        mujoco = pytest.importorskip("mujoco")
        text = arm('<limit lower="1" upper="-1" effort="3" velocity="2"/>')
        assert not mujoco.MjModel.from_xml_string(text).jnt_limited.any()

    def test_a_negative_number_has_a_way_out(self) -> None:
        for name in ("velocity", "effort"):
            text = arm(f'<limit lower="-1" upper="1" {name}="-1"/>')
            assert message(dtau.ModelError, dtau.load, text) == (
                f"XML text, line 4: joint 'j': limits.{name}: expected a number of at least 0, got "
                "-1.0; without the attribute it has no limit"
            )
            assert dtau.load(text.replace(f'{name}="-1"', "")).joint("j").limits.lower == -1.0


TWICE = {  # elements, and others that repeat them, which do not count
    "axis": ('<axis xyz="0 0 1"/>', '<axis xyz="0 1 0"/>'),
    "origin": ('<origin xyz="0 0 1"/>', '<origin xyz="0 1 0"/>'),
    "limit": ('<limit lower="-1" upper="1"/>', '<limit lower="-2" upper="-3" effort="-1"/>'),
    "dynamics": ('<dynamics damping="1"/>', '<dynamics damping="-2" friction="-1"/>'),
    "mimic": ('<mimic joint="i"/>', '<mimic joint="nothing"/>'),
}


class TestRepeated:
    """The first one counts, as in urdfdom, which Pinocchio and ROS use, and in Bullet."""

    @pytest.mark.parametrize("tag", TWICE)
    def test_in_a_joint(self, tag: str) -> None:
        first, second = TWICE[tag]

        def load(content: str) -> dtau.Model:
            parts = (*map(link, "abc"), joint("i", "a", "b"), joint("j", "b", "c", content))
            return dtau.load(robot(*parts), mimic="exact", friction_speed=0.1)

        model = load(first + second)
        assert model == load(first)
        note = f"elements that repeat, of which the first counts: {tag} of joint 'j'"
        assert note in model.notes
        assert note not in load(first).notes

    @pytest.mark.parametrize(
        ("tag", "second"),
        [
            ("origin", '<origin xyz="1 2 3"/>'),
            ("mass", '<mass value="-1"/>'),
            ("inertia", '<inertia ixx="-3"/>'),
        ],
    )
    def test_in_an_inertial(self, tag: str, second: str) -> None:
        once = INERTIAL.replace("<mass", '<origin xyz="0 1 0"/><mass')
        model = dtau.load(arm(inertial=once.replace("</inertial>", f"{second}</inertial>")))
        assert model == dtau.load(arm(inertial=once))
        assert model.notes[-1].endswith(f"of which the first counts: {tag} of link 'tip'")

    def test_inertials(self) -> None:
        other = INERTIAL.replace('"2"', '"-3"')
        model = dtau.load(arm(inertial=INERTIAL + other))
        assert model == dtau.load(arm())
        assert model.notes[-1].endswith("of which the first counts: inertial of link 'tip'")
        assert np.isclose(model.mass, 2.0)

    def test_parents_and_children_that_repeat_are_refused(self) -> None:
        for tag in ("parent", "child"):
            said = message(dtau.ModelError, dtau.load, arm(f'<{tag} link="base"/>'))
            assert said == f"XML text, line 4: expected one <{tag}> in <joint>, got 2"
