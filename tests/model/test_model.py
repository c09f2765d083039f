"""Models: order, merging, lookup, locking, and what is refused."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from links import BALL, UP, X, Y, Z, link, model_of

import dtau


def mixed() -> dtau.Model:
    """Every joint type, two trees, and links fixed to a body and to the world."""
    return model_of(
        link("torso", None, dtau.Free()),
        link("arm", "torso", dtau.Spherical(), armature=(1, 2, 3), damping=0.5),
        link("hand", "arm", dtau.Fixed()),
        link("screw", "hand", dtau.Helical((0, 1, 0), 0.02)),
        link("leg", "torso", X, limits=dtau.Limits(-1, 2, velocity=3, effort=4)),
        link("floor", None, dtau.Fixed()),
        link("slider", "floor", dtau.Prismatic((1, 0, 0)), damping=7.0),
        gravity=(1, 2, 3),
        notes=["a note"],
    )


class TestLayout:
    def test_sizes_names_and_slices(self) -> None:
        model = mixed()
        assert (model.nq, model.nv, model.nbodies) == (7 + 4 + 1 + 1 + 1, 6 + 3 + 1 + 1 + 1, 5)
        assert model.name == "robot"
        assert model.bodies == ("torso", "arm", "screw", "leg", "slider")
        assert model.frames == ("torso", "arm", "hand", "screw", "leg", "floor", "slider")
        assert [joint.name for joint in model.joints] == [f"{body}_joint" for body in model.bodies]
        assert [joint.body for joint in model.joints] == [0, 1, 2, 3, 4]
        assert [joint.parent for joint in model.joints] == [-1, 0, 1, 0, -1]
        assert [joint.q for joint in model.joints] == [
            slice(*ends) for ends in ((0, 7), (7, 11), (11, 12), (12, 13), (13, 14))
        ]
        assert [joint.v for joint in model.joints] == [
            slice(*ends) for ends in ((0, 6), (6, 9), (9, 10), (10, 11), (11, 12))
        ]

    def test_numbers_of_the_joints(self) -> None:
        model = mixed()
        inf = math.inf
        assert model.gravity.tolist() == [1, 2, 3]
        assert model.armature.tolist() == [0] * 6 + [1, 2, 3, 0, 0, 0]
        assert model.damping.tolist() == [0] * 6 + [0.5] * 3 + [0, 0, 7]
        assert model.lower_limits.tolist() == [-inf] * 12 + [-1, -inf]
        assert model.upper_limits.tolist() == [inf] * 12 + [2, inf]
        assert model.velocity_limits.tolist() == [inf] * 10 + [3, inf]
        assert model.effort_limits.tolist() == [inf] * 10 + [4, inf]
        assert model.joint("leg_joint").limits == dtau.Limits(-1, 2, velocity=3, effort=4)

    def test_order_is_depth_first_whatever_the_order_given(self) -> None:
        links = [
            link("c", "b"),
            link("second", "root"),
            link("b", "a", dtau.Fixed()),
            link("third", "root"),
            link("a", "root"),
            link("root", None),
        ]
        assert model_of(*links).bodies == ("root", "second", "third", "a", "c")

    def test_siblings_behind_a_fixed_link_come_in_its_place(self) -> None:
        links = [
            link("root", None),
            link("a", "root"),
            link("plate", "root", dtau.Fixed()),
            link("on_plate", "plate"),
            link("z", "root"),
        ]
        assert model_of(*links).bodies == ("root", "a", "on_plate", "z")

    def test_mass_leaves_out_what_is_fixed_to_the_world(self) -> None:
        model = mixed()
        assert model.mass == 6 * 2.0
        assert model.notes == (
            "a note",
            "link 'floor' is fixed to the world: its inertia has no effect",
        )


class TestFixedLinks:
    def test_frames_carry_the_placement_in_their_body(self) -> None:
        turn = dtau.Pose.from_rpy((0, 0, math.pi / 2), (1, 0, 0))
        model = model_of(
            link("body", None),
            link("bracket", "body", dtau.Fixed(), placement=turn),
            link("camera", "bracket", dtau.Fixed(), placement=turn),
            link("lens", "camera", Y, placement=turn),
        )
        assert model.frame("body") == dtau.Frame("body", 0, dtau.Pose())
        assert model.frame("bracket") == dtau.Frame("bracket", 0, turn)
        assert model.frame("camera") == dtau.Frame("camera", 0, turn @ turn)
        assert model.frame("camera").placement.translation == pytest.approx([1, 1, 0])
        assert model.frame("lens") == dtau.Frame("lens", 1, dtau.Pose())
        assert model.joint("lens_joint").placement == turn @ turn @ turn

    def test_frames_of_the_world(self) -> None:
        model = model_of(link("floor", None, dtau.Fixed()), link("arm", "floor"))
        assert model.frame("floor") == dtau.Frame("floor", -1, UP)
        assert model.joint("arm_joint").parent == -1
        assert model.joint("arm_joint").placement.translation.tolist() == [0, 0, 2]

    def test_splitting_a_body_into_fixed_links_changes_nothing(self) -> None:
        rng = np.random.default_rng(0)
        part = dtau.Inertia(1.5, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25]))
        place = dtau.Pose.from_rpy((0.3, -0.4, 0.5), (0.2, 0.1, -0.3))
        split = model_of(
            link("base", None, dtau.Free()),
            link("arm", "base", X),
            link("tool", "arm", dtau.Fixed(), placement=place, inertia=part),
        )
        whole = model_of(
            link("base", None, dtau.Free()),
            link("arm", "base", X, inertia=BALL + part.transformed(place)),
        )
        q, v, a = dtau.random_state(split, rng)
        np.testing.assert_array_equal(
            dtau.inverse_dynamics(split, q, v, a), dtau.inverse_dynamics(whole, q, v, a)
        )


class TestLookup:
    def test_joint_record(self) -> None:
        joint = mixed().joint("screw_joint")
        assert (joint.name, joint.type) == ("screw_joint", dtau.Helical((0, 1, 0), 0.02))
        assert joint.placement.translation.tolist() == [0, 0, 2]

    @pytest.mark.parametrize(
        ("kind", "name", "message"),
        [
            ("joint", "leg_jiont", "no joint named 'leg_jiont'; close names: 'leg_joint'"),
            ("joint", "hand_joint", "no joint named 'hand_joint'"),
            ("joint", "?", "no joint named '.'; there are: 'torso_joint', 'arm_joint', "),
            ("joint", "x" * 100_000, "^no joint named 'x{79}; there are: 'torso_joint', "),
            ("frame", "hnad", "no frame named 'hnad'; close names: 'hand'"),
            ("frame", "leg_joint", "no frame named 'leg_joint'"),
        ],
    )
    def test_unknown_names(self, kind: str, name: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            getattr(mixed(), kind)(name)

    @pytest.mark.parametrize("kind", ["joint", "frame"])
    @pytest.mark.parametrize("name", [3, None, ["leg_joint"], b"leg"], ids=repr)
    def test_a_name_is_a_string(self, kind: str, name: Any) -> None:
        with pytest.raises(TypeError, match=f"^name: expected str, got {type(name).__name__}$"):
            getattr(mixed(), kind)(name)


class TestPrint:
    def test_tree(self) -> None:
        assert str(mixed()).splitlines() == [
            "<Model 'robot': 5 bodies, nq = 14, nv = 12>, 12 kg",
            "body       joint         type         q     v    kg",
            "torso      torso_joint   free         0:7   0:6  2",
            "  arm      arm_joint     spherical    7:11  6:9  4",
            "    screw  screw_joint   helical y    11    9    2",
            "  leg      leg_joint     revolute x   12    10   2",
            "slider     slider_joint  prismatic x  13    11   2",
        ]

    @pytest.mark.parametrize(
        ("axis", "text"), [((0, 0, -5), "revolute -z"), ((3, 0, 4), "revolute (0.6, 0, 0.8)")]
    )
    def test_axes(self, axis: tuple[float, float, float], text: str) -> None:
        assert text in str(model_of(link("a", None, dtau.Revolute(axis))))

    def test_repr(self) -> None:
        assert repr(model_of(link("a", None))) == "<Model 'robot': 1 body, nq = 1, nv = 1>"


class TestValue:
    def test_equality(self) -> None:
        assert mixed() == mixed()
        assert hash(mixed()) == hash(mixed())
        one = link("a", None)
        base = model_of(one)
        assert base == model_of(one, notes=["remark"])
        assert base != dtau.Model("other", [one])
        assert base != model_of(one, gravity=(0, 0, 0))
        for change in (
            {"joint": X},
            {"placement": dtau.Pose()},
            {"inertia": dtau.Inertia(1.0, (0, 1, 0))},
            {"armature": 0.1},
            {"damping": 0.1},
            {"limits": dtau.Limits(effort=1)},
        ):
            joint = change.pop("joint", Z)
            assert base != model_of(link("a", None, joint, **change))  # type: ignore[arg-type]
        assert base != "robot"

    @pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
    def test_copies(self, copied: Any) -> None:
        model = mixed()
        again = copied(model)
        assert again == model
        assert again.notes == model.notes
        assert str(again) == str(model)
        q, v, a = dtau.random_state(model, np.random.default_rng(1))
        np.testing.assert_array_equal(
            dtau.inverse_dynamics(again, q, v, a), dtau.inverse_dynamics(model, q, v, a)
        )

    def test_models_are_immutable(self) -> None:
        for model in (mixed(), pickle.loads(pickle.dumps(mixed()))):
            for name in [*vars(model), "other"]:
                with pytest.raises(AttributeError, match="a Model is immutable"):
                    setattr(model, name, 0)
            arrays = [item for item in vars(model).values() if isinstance(item, np.ndarray)]
            assert len(arrays) == 12
            assert not any(array.flags.writeable for array in arrays)

    def test_models_cannot_be_constructed_twice(self) -> None:
        model = mixed()
        pose, inertia = dtau.Pose(translation=(1, 2, 3)), dtau.Inertia(1.0)
        calls: list[tuple[Any, Any]] = [
            (model, lambda: model.__init__("other", [link("a", None)])),  # type: ignore[misc]
            (model, lambda: model.__setstate__(model_of(link("a", None)).__getstate__())),
            (pose, lambda: pose.__init__()),  # type: ignore[misc]
            (pose, lambda: pose.__setstate__(vars(dtau.Pose()))),
            (inertia, lambda: inertia.__init__(2.0)),  # type: ignore[misc]
        ]
        for item, call in calls:
            before = copy.deepcopy(item)
            name = {dtau.Model: "a Model", dtau.Pose: "a Pose", dtau.Inertia: "an Inertia"}[
                type(item)
            ]
            with pytest.raises(AttributeError, match=f": {name} is immutable"):
                call()
            assert item == before
        assert model.name == "robot"

    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            ({"name": 3}, TypeError, "name: expected str, got int"),
            ({"name": "\ud800"}, ValueError, "name: expected text without lone surrogates"),
            ({"links": 3}, TypeError, "links: expected objects of class Link, got 3"),
            ({"links": (1,)}, TypeError, "links: expected objects of class Link, got 1"),
            ({"links": ()}, ValueError, "expected a joint that moves, got none"),
            ({"links": (link("a", "b"),)}, ValueError, "parent of link 'a': no link named 'b'"),
            ({"gravity": "down"}, TypeError, "gravity: expected real numbers"),
            ({"notes": 3}, TypeError, "notes: expected strings, got 3"),
            ({"postures": 3}, TypeError, "postures: expected Mapping, got int"),
            ({"postures": {"up": 3}}, TypeError, "posture .up.: expected Mapping, got int"),
            ({"postures": {"up": {"x": 1}}}, ValueError, "posture .up.: no joint named .x."),
            ({"more": 3}, TypeError, "state: expected gravity, links, name, notes, postures, got"),
        ],
    )
    def test_a_damaged_pickle(self, change: Any, error: Any, message: str) -> None:
        state = {**mixed().__getstate__(), **change}
        with pytest.raises(error, match=message):
            dtau.Model.__new__(dtau.Model).__setstate__(state)

    @pytest.mark.parametrize("state", [None, {}, {"name": "robot"}, [1, 2]], ids=repr)
    def test_no_pickle_of_a_model(self, state: Any) -> None:
        with pytest.raises(
            TypeError, match="state: expected gravity, links, name, notes, postures, got"
        ):
            dtau.Model.__new__(dtau.Model).__setstate__(state)

    def test_links_of_a_pickle_in_any_order(self) -> None:
        model = mixed()
        state = model.__getstate__()
        again = dtau.Model.__new__(dtau.Model)
        again.__setstate__({**state, "links": [state["links"][k] for k in (2, 6, 0, 3, 4, 1, 5)]})
        assert set(again.frames) == set(model.frames)
        for joint in again.joints:
            assert joint.parent < joint.body

    def test_gravity_is_a_copy(self) -> None:
        gravity = np.array([0, 0, -1.0])
        model = model_of(link("a", None), gravity=gravity)
        gravity[:] = 5
        assert model.gravity.tolist() == [0, 0, -1]


class TestLock:
    def test_structure(self) -> None:
        """(That dynamics and frames are as before is tested on trees.)"""
        model = mixed()
        q = dtau.random_state(model, np.random.default_rng(2))[0]
        names = ["arm_joint", "leg_joint", "slider_joint"]
        locked = model.lock({name: q[model.joint(name).q] for name in names})
        assert locked.bodies == ("torso", "screw")
        assert locked.frames == model.frames

    def test_nothing_locked_is_the_same_model(self) -> None:
        assert mixed().lock({}) == mixed()

    @pytest.mark.parametrize(
        ("positions", "message"),
        [
            ({"lge_joint": 0}, "no joint named 'lge_joint'; close names: 'leg_joint'"),
            ({"hand_joint": 0}, "no joint named 'hand_joint'"),
            ({"leg_joint": math.nan}, "position of joint 'leg_joint': q: expected finite"),
            ({"leg_joint": (1, 2)}, "'leg_joint': q: expected a number, got shape"),
            ({"leg_joint": ()}, "'leg_joint': q: expected a number, got shape"),
            ({"leg_joint": ([1], [1, 2])}, "'leg_joint': q: expected a number, got rows"),
            ({"arm_joint": (0, 0, 0, 3)}, "position of joint 'arm_joint': quaternion: expected n"),
        ],
    )
    def test_refused(self, positions: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            mixed().lock(positions)

    def test_wrong_type(self) -> None:
        with pytest.raises(TypeError, match="position of joint 'leg_joint': q: expected real"):
            mixed().lock({"leg_joint": 1j})
        with pytest.raises(TypeError, match=r"^positions: expected Mapping, got list$"):
            mixed().lock(["leg_joint"])  # type: ignore[arg-type]

    def test_lock_takes_a_number_or_a_row_of_one(self) -> None:
        assert mixed().lock({"leg_joint": 0.5}) == mixed().lock({"leg_joint": [0.5]})

    def test_something_must_move(self) -> None:
        with pytest.raises(ValueError, match="expected a joint that moves, got none"):
            model_of(link("a", None)).lock({"a_joint": 1.0})


class TestRefused:
    @pytest.mark.parametrize(
        ("links", "message"),
        [
            ([], "expected a joint that moves, got none"),
            ([link("a", None, dtau.Fixed())], "expected a joint that moves, got none"),
            ([link("a", None), link("b", None), link("a", "b")], "two links of one name: 'a'"),
            (
                [link("a", None), dtau.Link("b", None, X, "a_joint")],
                "two joints of one name: 'a_joint'",
            ),
            ([link("arm", None), link("b", "amr")], "parent of link 'b': no link named 'amr'; clo"),
            ([link("a", "a")], "links form a cycle: 'a' -> 'a'"),
            (
                [link("r", None), link("d", "b"), link("a", "c"), link("b", "a"), link("c", "b")],
                "links form a cycle: 'b' -> 'a' -> 'c' -> 'b'",
            ),
        ],
    )
    def test_structure(self, links: Sequence[dtau.Link], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            model_of(*links)

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            ({"armature": -1}, "armature: expected numbers of at least 0"),
            ({"armature": math.nan}, "armature: expected numbers of at least 0"),
            ({"armature": math.inf}, "armature: expected finite numbers"),
            ({"armature": (1, 2)}, "armature: expected a number or 1 of them, got 2"),
            ({"damping": -1e-9}, "damping: expected numbers of at least 0"),
            ({"damping": [[1]]}, r"damping: expected shape \(1,\), got \(1, 1\)"),
            ({"damping": [[1], [1, 2]]}, "damping: expected numbers, got rows of unequal size"),
            ({"limits": dtau.Limits(effort=(1, 2))}, "limits.effort: expected a number or 1"),
            ({"joint": dtau.Free(), "limits": dtau.Limits(lower=0)}, "limits: lower and upper are"),
        ],
    )
    def test_numbers_of_a_link(self, more: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            link("a", None, **more)

    @pytest.mark.parametrize(
        ("limits", "message"),
        [
            ({"lower": 1, "upper": 0}, r"limits: expected lower <= upper, got 1.0, 0.0"),
            ({"lower": math.nan}, "limits: expected lower <= upper"),
            ({"upper": (1, 2)}, r"limits.upper: expected shape \(\)"),
            ({"velocity": -1}, "limits.velocity: expected numbers of at least 0"),
            ({"effort": math.nan}, "limits.effort: expected numbers of at least 0"),
        ],
    )
    def test_limits(self, limits: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            dtau.Limits(**limits)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"name": 1}, "name: expected str, got 1"),
            ({"parent": 1}, "parent: expected str or NoneType, got 1"),
            ({"joint": dtau.Spherical}, "joint: expected JointType, got <class"),
            ({"joint": "revolute"}, "joint: expected JointType, got 'revolute'"),
            ({"placement": np.eye(4)}, "placement: expected Pose, got array"),
            ({"inertia": 1.0}, "inertia: expected Inertia, got 1.0"),
            ({"limits": (0, 1)}, "limits: expected Limits, got"),
            ({"armature": "z"}, "armature: expected real numbers, got 'z'$"),
            ({"armature": [None]}, r"armature: expected real numbers, got \[None\]$"),
            ({"damping": 1j}, "damping: expected real numbers"),
        ],
    )
    def test_types(self, change: Any, message: str) -> None:
        arguments = {"name": "a", "parent": None, "joint": X, "joint_name": "a", **change}
        with pytest.raises(TypeError, match=message):
            dtau.Link(**arguments)

    def test_types_of_a_model(self) -> None:
        with pytest.raises(TypeError, match="name: expected str, got int"):
            dtau.Model(3, [link("a", None)])  # type: ignore[arg-type]
        for links in (["a"], "a"):
            with pytest.raises(TypeError, match="links: expected objects of class Link, got 'a'"):
                dtau.Model("robot", links)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="links: expected objects of class Link, got 5"):
            dtau.Model("robot", 5)  # type: ignore[arg-type]

    @pytest.mark.parametrize("notes", ["abc", 5, [5]], ids=repr)
    def test_notes(self, notes: Any) -> None:
        with pytest.raises(TypeError, match="notes: expected strings, got"):
            model_of(link("a", None), notes=notes)

    @pytest.mark.parametrize("argument", ["name", "joint_name"])
    @pytest.mark.parametrize("text", ["\ud800", "leg\udfff", "\udc80_joint"], ids=ascii)
    def test_names_that_cannot_be_encoded(self, argument: str, text: str) -> None:
        names = {"name": "a", "joint_name": "a", argument: text}
        with pytest.raises(ValueError, match=f"^{argument}: expected text without lone surrogate"):
            dtau.Link(parent=None, joint=X, **names)

    def test_names_of_every_alphabet(self) -> None:
        assert model_of(link("Füße 足 🦿\0", None)).joints[0].name == "Füße 足 🦿\0_joint"

    @pytest.mark.parametrize(
        ("gravity", "message"),
        [
            ((0, 0), r"gravity: expected shape \(3,\), got \(2,\)"),
            (-9.81, r"gravity: expected shape \(3,\), got \(\)"),
            ((0, 0, math.nan), "gravity: expected finite numbers"),
        ],
    )
    def test_gravity(self, gravity: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            model_of(link("a", None), gravity=gravity)
