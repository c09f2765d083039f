"""Models as URDF: what is written loads equal, and what cannot be written is said."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from hypothesis import given, settings
from hypothesis import strategies as st
from links import BALL, X, Z, link, model_of
from messages import message
from trees import SEEDS, grow

import dtau
from dtau.model.roll_pitch_yaw import angles_of

LIFTED = link("base", None, dtau.Fixed(), placement=dtau.Pose(translation=(0, 0, 1)))
ROOT = dtau.Link("base", None, dtau.Fixed(), "root_joint", inertia=BALL)


def arm(**more: Any) -> dtau.Model:
    """A link on a joint along x, on a fixed root."""
    joint = more.pop("joint", X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        return model_of(ROOT, link("tip", "base", joint, **more))


def again(model: dtau.Model, **options: Any) -> dtau.Model:
    """What is loaded of what is written."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        return dtau.load(model.to_urdf(), **options)


class TestEqual:
    @pytest.mark.parametrize(
        "more",
        [
            {},
            {"joint": dtau.Revolute((0.6, 0, -0.8))},
            {"joint": dtau.Prismatic((1, 2, 3)), "limits": dtau.Limits(-0.1, 0.2, 3, 4)},
            {"joint": dtau.Prismatic((0, 0, 1))},
            {"joint": dtau.Planar((1, 1, 1))},
            {"joint": dtau.Free()},
            {"limits": dtau.Limits(-1 / 3, 1e-300, 1e300, 0)},
            {"limits": dtau.Limits(-1, 2, effort=5)},
            {"limits": dtau.Limits(velocity=5)},
            {"damping": 0.1},
            {"inertia": dtau.Inertia(1 / 3, (0, -1e-17, 5e-324), np.diag([0.1, 0.2, 0.3]))},
            {"inertia": dtau.Inertia(0.0, tensor=5e-324 * np.eye(3))},
            {"inertia": dtau.Inertia()},
            {"placement": dtau.Pose(translation=(-0.0, math.pi, 1e16))},
            {"placement": dtau.Spherical().placement(np.array([1, 2, 3, 4]) / math.sqrt(30))},
        ],
        ids=str,
    )
    def test_one_joint(self, more: dict[str, Any]) -> None:
        model = arm(**more)
        assert again(model) == model

    @settings(max_examples=40, deadline=None)
    @given(
        kinds=st.lists(
            st.sampled_from(["fixed", "revolute", "prismatic", "planar", "free"]), max_size=7
        ),
        free=st.booleans(),
        draw=st.data(),
        seed=SEEDS,
    )
    def test_a_written_tree_loads_as_an_equal_model(
        self, kinds: list[str], free: bool, draw: st.DataObject, seed: int
    ) -> None:
        parents = [draw.draw(st.integers(-1, i - 1)) for i in range(len(kinds))]
        tree = grow(["revolute", *kinds], [-1, *(parent + 1 for parent in parents)], seed)
        links = tree.bare().model().links
        rooted = [
            dtau.Link("base", None, dtau.Free() if free else dtau.Fixed(), "root_joint"),
            *(
                dtau.Link(x.name, x.parent or "base", x.joint, x.joint_name, x.placement, x.inertia)
                for x in sorted(links, key=lambda x: x.joint_name)
            ),
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dtau.ModelWarning)
            model = model_of(*rooted)
        assert again(model, root="free" if free else "fixed") == model

    def test_followers(self) -> None:
        model = model_of(
            ROOT, link("a", "base", mimic=dtau.Mimic("b_joint", -1 / 3, 1e-9)), link("b", "base")
        )
        assert again(model, mimic="exact") == model

    def test_locked_joints_and_loads(self) -> None:
        """Rotations that no three angles give to the last bit."""
        model = dtau.robots.quadruped().lock({"LF_HFE": 0.3, "LF_KFE": 1.1})
        model = model.add_load("LF_FOOT", 2.0, placement=dtau.Pose.from_rpy((1, 2, 3), (0, 0, 1)))
        assert again(model, root="free") == model

    def test_robots_of_the_package(self) -> None:
        quadruped = dtau.robots.quadruped()
        assert again(quadruped, root="free") == quadruped
        chain = dtau.robots.chain(9, joints=["revolute", "prismatic", "planar"], root="free")
        assert again(chain, root="free") == chain
        kinds = "'helical_x' (Helical), 'helical_y' (Helical), 'helical_z' (Helical)"
        assert f"kinds of joints {kinds};" in message(
            ValueError, dtau.robots.moving_base_tree().to_urdf
        )

    def test_names(self) -> None:
        name = "ä<&>\"'\t\n关节 {x}"
        model = dtau.Model(
            name, [ROOT, dtau.Link(f"link {name}", "base", Z, f"joint {name}", inertia=BALL)]
        )
        assert again(model) == model

    def test_to_urdf_writes_a_file_in_utf8(self, tmp_path: Path) -> None:
        model = arm(placement=dtau.Pose.from_rpy((0, 0, 0.5)))
        path = tmp_path / "Käfer.urdf"
        text = model.to_urdf(path)
        assert path.read_bytes() == text.encode("utf-8")
        assert dtau.load(path) == model
        with pytest.raises(FileNotFoundError):
            model.to_urdf(tmp_path / "nowhere" / "a.urdf")

    def test_the_first_line_says_how_to_load_it(self) -> None:
        model = model_of(
            dtau.Link("base", None, dtau.Free(), "root_joint", inertia=BALL),
            link("a", "base"),
            link("b", "base", mimic=dtau.Mimic("a_joint")),
        )
        line = model.to_urdf().splitlines()[0]
        assert 'dtau.load(..., root="free", mimic="exact")' in line
        assert 'dtau.load(..., root="fixed")' in arm().to_urdf()

    @pytest.mark.parametrize("joint", [dtau.Free(), dtau.Fixed()])
    @pytest.mark.parametrize("name", ["root_joint", "trunk_joint", 'a "b" & ü'])
    def test_the_joint_of_the_root(self, joint: dtau.JointType, name: str) -> None:
        model = model_of(dtau.Link("base", None, joint, name, inertia=BALL), link("tip", "base", X))
        text = model.to_urdf()
        assert ("dtau:root_joint=" in text) == (name != "root_joint")
        root = "free" if joint == dtau.Free() else "fixed"
        loaded = dtau.load(text, root=root)  # type: ignore[arg-type]
        assert (loaded, loaded.notes) == (model, model.notes)

    def test_a_link_as_the_root(self) -> None:
        """Several trees, and joints that hang from the world."""
        forest = model_of(link("a", None), link("a1", "a"), link("b", None, dtau.Free()))
        text = forest.to_urdf(root_link="world")
        model = dtau.load(text)
        assert model.frames == ("world", *forest.frames)
        for x, y in zip(model.links[1:], forest.links, strict=True):
            parent = y.parent or "world"
            assert x == dtau.Link(y.name, parent, y.joint, y.joint_name, y.placement, y.inertia)
        q, v, a = dtau.random_state(forest, np.random.default_rng(1))
        tau = [dtau.inverse_dynamics(m, q, v, a) for m in (model, forest)]
        assert_close(*tau, TOLERANCE["rounding"], "tau")


class TestRotations:
    def exact(self, rpy: Any) -> None:
        pose = dtau.Pose.from_rpy(rpy)
        angles, exact = angles_of(pose)
        assert exact, rpy
        assert dtau.Pose.from_rpy(angles) == pose, rpy

    def test_rpy_angles_of_files_are_found_again(self) -> None:
        rng = np.random.default_rng(3)
        special = [0.0, 1.5707963267948966, -1.57079632679, 3.14159265359, -3.1415926535897931]
        special += [1.5708, 0.7853981633974483, 1e-9, -2e-16, 4.71238898038469, 6.28318530718]
        for _ in range(400):
            self.exact(rng.choice(special, 3))
            self.exact(np.where(rng.random(3) < 0.5, rng.choice(special, 3), rng.uniform(-3, 3, 3)))

    def test_angles_of_any_rotation_are_near(self) -> None:
        rng = np.random.default_rng(4)
        inexact = 0
        for k in range(200):
            quaternion = rng.standard_normal(4)
            placed = dtau.Spherical().placement(quaternion / np.linalg.norm(quaternion))
            if k % 2:  # where roll and yaw are nearly about one axis
                placed = dtau.Pose.from_rpy((0, math.pi / 2 + 10.0 ** -(k // 10), 0.3)) @ (
                    dtau.Pose.from_rpy((rng.uniform(-3, 3), 0, 0))
                )
            angles, exact = angles_of(placed)
            inexact += not exact
            assert_close(
                dtau.Pose.from_rpy(angles).rotation,
                placed.rotation,
                TOLERANCE["rounding"],
                f"rotation {k}",
            )
            model = arm(placement=placed)
            assert again(model) == model
        assert inexact > 100

    def test_the_nine_numbers_stand_beside_the_angles(self) -> None:
        model = arm(placement=dtau.Spherical().placement((0.5, 0.1, 0.7, 0.5)))
        root = ElementTree.fromstring(model.to_urdf())
        origin = root.find("joint/origin")
        assert origin is not None
        assert set(origin.attrib) == {"rpy", "{urn:dtau}rotation"}
        without = model.to_urdf().replace("dtau:rotation", "dtau:other")
        loaded = dtau.load(without)
        assert loaded.notes[0] == "ignored attribute dtau:other of <origin>: 1"
        assert_close(
            loaded.link("tip").placement.rotation,
            model.link("tip").placement.rotation,
            TOLERANCE["rounding"],
            "rotation",
        )

    def test_angles_that_were_changed_by_hand(self) -> None:
        model = arm(placement=dtau.Spherical().placement((0.5, 0.1, 0.7, 0.5)))
        text = model.to_urdf()
        at = text.index('rpy="') + 5
        said = message(dtau.ModelError, dtau.load, f"{text[:at]}1{text[at:]}")
        assert "expected the same rotation by rpy and by dtau:rotation in <origin>" in said


class TestRefused:
    @pytest.mark.parametrize(
        ("model", "said"),
        [
            (
                arm().replace(gravity=(0, 0, -1.62)),
                "gravity [0.0, 0.0, -1.62] (replace(gravity=(0.0, 0.0, -9.81)) leaves it out, "
                "dtau.load(..., gravity=) gives it back)",
            ),
            (
                arm().replace(armature=0.1),
                "armature of joints 'tip_joint' (replace(armature=0) leaves it out, of free roots "
                "by name; dtau.load(..., armature=) gives it back)",
            ),
            (
                model_of(ROOT, link("other", None), link("tip", "base")),
                "several links on the world, 'base', 'other' (root_link= adds a link that carries "
                "all of it)",
            ),
            (
                model_of(LIFTED, link("tip", "base")),
                "link 'base' on the world by joint 'base_joint', where a URDF's root is fixed or "
                "free at the world's origin, without damping and limits (root_link= adds a link "
                "that carries all of it)",
            ),
            (model_of(link("tip", None)), "link 'tip' on the world by joint 'tip_joint', where"),
            (arm(joint=dtau.Spherical()), "kinds of joints 'tip_joint' (Spherical)"),
            (
                arm(joint=dtau.Planar((0, 0, 1)), damping=(0, 0, 1)),
                "damping, friction and limits of joints with several coordinates, 'tip_joint'",
            ),
            (
                arm(joint=dtau.Free(), limits=dtau.Limits(effort=(1, 1, 1, 1, 1, 1))),
                "damping, friction and limits of joints with several coordinates, 'tip_joint'",
            ),
            (
                arm(limits=dtau.Limits(lower=0)),
                "limits with one bound, or of prismatic joints velocity and effort without a "
                "range, of joints 'tip_joint'",
            ),
            (
                arm(joint=dtau.Prismatic((1, 0, 0)), limits=dtau.Limits(effort=5)),
                "limits with one bound, or of prismatic joints",
            ),
            (
                model_of(ROOT, link("b", "base"), link("a", "base")),
                "joint 'a_joint' after 'b_joint' on one link, where readers take joints in the "
                "order of their names",
            ),
            (
                arm(placement=dtau.Pose()).replace(name="\x01"),
                "names that are empty or have characters that XML has not, '\\x01'",
            ),
            (arm().replace(name="$(arg x)"), "names that read as xacro, '$(arg x)'"),
            (arm().replace(name=""), "names that are empty or have characters that XML has not"),
            (
                model_of(
                    ROOT, link("tip", "base"), dtau.Link("end", "tip", dtau.Fixed(), "tip_joint")
                ),
                "several joints of one name, 'tip_joint'",
            ),
        ],
    )
    def test_a_model_that_a_urdf_cannot_express_is_refused(
        self, model: dtau.Model, said: str
    ) -> None:
        text = message(ValueError, model.to_urdf)
        start = f"model {model.name!r}: a URDF cannot represent all of it: {said}"
        assert text.startswith(start), text

    def test_error_lists_all_that_urdf_cannot_hold(self) -> None:
        model = arm(joint=dtau.Spherical()).replace(armature=1.0, gravity=(0, 0, 0), name="")
        text = message(ValueError, model.to_urdf)
        assert [word in text for word in ("gravity", "armature", "kinds", "names")] == [True] * 4

    def test_ways_out(self) -> None:
        """What the messages name works."""
        model = arm().replace(armature=0.1, gravity=(0, 0, -1.62))
        bare = model.replace(armature=0, gravity=(0, 0, -9.81))
        loaded = dtau.load(bare.to_urdf(), armature=0.1, gravity=(0, 0, -1.62))
        assert loaded == model

    def test_the_name_of_the_root_link(self) -> None:
        model = model_of(link("tip", None))
        assert "already a link named 'tip'" in message(ValueError, model.to_urdf, root_link="tip")
        assert "names that are empty" in message(ValueError, model.to_urdf, root_link="")
        assert "root_link: expected str" in message(TypeError, model.to_urdf, root_link=3)
