"""Reading a model, and making another one of it."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import test_urdf as urdf
from cases import friction_torque, robot, spring_torque
from compare import TOLERANCE, assert_close
from links import BALL, X, Z, link, model_of
from messages import message

import dtau


@pytest.fixture(scope="module")
def quadruped() -> dtau.Model:
    return dtau.robots.quadruped()


def odd() -> dtau.Model:
    """A joint that is called like another joint's link, and two fixed joints of one name."""
    return model_of(
        dtau.Link("base", None, dtau.Free(), "floating", inertia=BALL),
        dtau.Link("hand", "base", Z, "wrist", inertia=BALL),
        dtau.Link("finger", "hand", X, "hand", inertia=BALL),
        dtau.Link("nail", "finger", dtau.Fixed(), "glue", inertia=BALL),
        dtau.Link("ring", "finger", dtau.Fixed(), "glue"),
        dtau.Link("cap", "base", dtau.Fixed(), "screwed"),
    )


class TestReading:
    def test_links_make_the_model_again(self) -> None:
        for name in ("quadruped", "joints that mimic others", "forest"):
            model = robot(name)
            again = dtau.Model(model.name, model.links, gravity=model.gravity)
            assert again == model
            assert [link.name for link in model.links] == list(model.frames)

    def test_one_link(self, quadruped: dtau.Model) -> None:
        shank = quadruped.link("LF_SHANK")
        assert (shank.parent, shank.joint_name) == ("LF_THIGH", "LF_KFE")
        assert shank.joint == quadruped.joint("LF_KFE").type
        assert shank.inertia.mass == 0.21
        assert (shank.armature, shank.damping) == ((0.0,), (0.0,))

    def test_inertias_have_what_is_fixed_to_the_bodies(self, quadruped: dtau.Model) -> None:
        assert len(quadruped.inertias) == quadruped.nbodies
        merged = quadruped.inertias[quadruped.joint("LF_KFE").body]
        parts = [quadruped.link(name) for name in ("LF_SHANK", "LF_SHIN", "LF_FOOT")]
        assert merged.mass == pytest.approx(sum(part.inertia.mass for part in parts))
        assert merged == parts[0].inertia + (
            parts[1].inertia.transformed(quadruped.frame("LF_SHIN").placement)
        ) + parts[2].inertia.transformed(quadruped.frame("LF_FOOT").placement)

    @pytest.mark.parametrize(
        ("kind", "name", "said"),
        [
            ("frame", "LF_KFE", "it is a joint; the link that it carries is 'LF_SHANK'"),
            ("link", "LF_KFE", "it is a joint; the link that it carries is 'LF_SHANK'"),
            ("joint", "LF_SHANK", "it is a link; the joint that carries it is 'LF_KFE'"),
            (
                "joint",
                "LF_FOOT",
                "it is a link, fixed to 'LF_SHANK', which the joint 'LF_KFE' carries",
            ),
            ("link", "LF_SHNK", "close names: 'LF_SHANK', 'LF_SHIN', 'RF_SHANK'"),
        ],
    )
    def test_names_of_the_other_kind(
        self, quadruped: dtau.Model, kind: str, name: str, said: str
    ) -> None:
        text = message(ValueError, getattr(quadruped, kind), name)
        assert text.startswith(f"no {kind} named {name!r}")
        assert text.endswith(said)

    def test_names_of_fixed_joints(self) -> None:
        model = odd()
        assert message(ValueError, model.frame, "glue") == (
            "no frame named 'glue': it is a joint; the links of such joints are 'nail', 'ring'"
        )
        assert message(ValueError, model.joint, "screwed") == (
            "no joint named 'screwed' that moves: it fixes the link 'cap'"
        )
        world = model_of(link("post", None, dtau.Fixed()), link("arm", "post"))
        assert message(ValueError, world.joint, "post") == (
            "no joint named 'post': it is a link, fixed to the world"
        )
        said = message(ValueError, dtau.frame_placements, model, dtau.neutral(model), "wrist")
        assert said.endswith("the link that it carries is 'hand'")


class TestReplace:
    def test_replace_without_changes_gives_an_equal_model(self, quadruped: dtau.Model) -> None:
        again = quadruped.replace()
        assert again is not quadruped
        assert (again, again.notes) == (quadruped, quadruped.notes)

    def test_gravity_and_name(self, quadruped: dtau.Model) -> None:
        moon = quadruped.replace(gravity=(0, 0, -1.62), name="moon walker")
        assert (moon.gravity[2], moon.name, moon.links) == (-1.62, "moon walker", quadruped.links)
        assert quadruped.gravity[2] == -9.81

    def test_one_number_leaves_free_roots_out(self) -> None:
        model = odd().replace(armature=0.25, damping=2)
        assert model.armature.tolist() == [0] * 6 + [0.25] * 2
        assert model.damping.tolist() == [0] * 6 + [2] * 2
        assert model.replace(damping={"floating": 0.5}).damping.tolist() == [0.5] * 6 + [2] * 2
        each = model.replace(damping={"base": range(6)})
        assert each.replace(damping=0.0).damping.tolist() == [*range(6), 0, 0]
        for name in ("armature", "damping"):
            changed = each.replace(**{name: np.arange(8.0)})
            assert getattr(changed, name).tolist() == [*range(8)]
        assert each.damping.tolist() == [0, 1, 2, 3, 4, 5, 2, 2]

    def test_every_number(self) -> None:
        limits, pose = dtau.Limits(-1, 2, 3, 4), dtau.Pose(translation=(0, 1, 0))
        heavy = dtau.Inertia(5.0, (0, 0, 1), np.eye(3))
        model = odd().replace(
            limits={"wrist": limits}, inertias={"nail": heavy}, placements={"screwed": pose}
        )
        assert model.joint("wrist").limits == limits
        assert model.upper_limits.tolist()[-2:] == [2, np.inf]
        assert model.link("nail").inertia == heavy
        assert model.mass == odd().mass + 3
        assert model.frame("cap").placement == pose
        assert pickle.loads(pickle.dumps(model)) == model

    def test_replaced_model_has_the_dynamics_of_one_built_so(self) -> None:
        """Numbers of the dynamics, not only the stored ones."""
        before = odd()
        after = before.replace(armature={"wrist": 0.3}, damping={"hand": 0.7})
        rng = np.random.default_rng(2)
        q, v, a = dtau.random_state(before, rng)
        added = np.zeros(8)
        added[6], added[7] = 0.3 * a[6], 0.7 * v[7]
        want = dtau.inverse_dynamics(before, q, v, a) + added
        assert_close(dtau.inverse_dynamics(after, q, v, a), want, TOLERANCE["rounding"], "tau")

    @pytest.mark.parametrize("name", ["quadruped", "joints that mimic others", "forest"])
    def test_parameters_of_bodies(self, name: str) -> None:
        model = robot(name)
        same = model.replace(parameters=model.parameters)
        assert_close(same.parameters, model.parameters, TOLERANCE["rounding"], "parameters")
        assert (same.frames, same.mass) == (model.frames, model.mass)
        found = model.parameters * np.linspace(0.9, 1.1, model.nbodies)[:, None]
        other = model.replace(parameters=found)
        assert_close(other.parameters, found, TOLERANCE["rounding"], "parameters")
        for part in other.links:
            at = model.frame(part.name)
            assert other.frame(part.name) == at
            if at.body < 0:  # fixed to the world
                assert part.inertia == model.link(part.name).inertia
            elif part.joint.nv == 0:
                assert part.inertia == dtau.Inertia()
        q, v, a = dtau.random_state(model, np.random.default_rng(0))
        tau = dtau.inverse_dynamics_regressor(model, q, v, a) @ found.ravel()
        tau = tau + model.armature * a + model.damping * v
        tau = tau + spring_torque(model, q) + friction_torque(model, v)
        assert_close(dtau.inverse_dynamics(other, q, v, a), tau, 1e-12, "tau")

    def test_parameters_of_the_first_body_have_what_is_fixed_to_it(self) -> None:
        model = model_of(
            dtau.Link("base", None, dtau.Free(), "floating", inertia=BALL),
            dtau.Link("cap", "base", dtau.Fixed(), "screwed", inertia=BALL),
        )
        found = 0.5 * model.parameters
        assert_close(model.replace(parameters=found).parameters, found, TOLERANCE["rounding"], "")

    def test_parameters_that_no_body_has(self, quadruped: dtau.Model) -> None:
        for at, said in ((0, "mass: expected"), (4, "tensor: expected a positive semidefinite")):
            rows = quadruped.parameters.copy()
            rows[3, at] = -1.0
            text = message(ValueError, quadruped.replace, parameters=rows)
            assert text.startswith(f"parameters of body 'LF_SHANK': {said}")
        rows = quadruped.parameters.copy()
        rows[3, 4] += 1.0
        with pytest.warns(dtau.ModelWarning, match="body 'LF_SHANK': .* triangle") as caught:
            odd_one = quadruped.replace(parameters=rows)
        assert caught[0].filename == __file__
        with warnings.catch_warnings():  # of rows that stay nothing is said
            warnings.simplefilter("error")
            assert odd_one.replace(parameters=odd_one.parameters).parameters is not None
        assert "got both" in message(ValueError, odd_one.replace, parameters=rows, inertias={})

    def test_name_means_the_moving_joint_first(self) -> None:
        """A moving joint first; for inertias the link."""
        model = odd().replace(damping={"hand": 1.0}, inertias={"hand": dtau.Inertia(9.0)})
        assert model.damping[model.joint("hand").v] == [1.0]
        assert model.link("hand").inertia.mass == 9.0
        assert model.link("finger").inertia == BALL
        assert odd().replace(inertias={"wrist": dtau.Inertia(9.0)}) == odd().replace(
            inertias={"hand": dtau.Inertia(9.0)}
        )

    @pytest.mark.parametrize(
        ("given", "error", "said"),
        [
            (
                {"damping": {"wirst": 1.0}},
                ValueError,
                "damping: no joint or link named 'wirst'; close names: 'wrist'",
            ),
            (
                {"armature": {"cap": 1.0}},
                ValueError,
                "armature: 'cap' does not move, joint 'screwed' is fixed",
            ),
            (
                {"placements": {"glue": dtau.Pose()}},
                ValueError,
                "placements: 2 fixed joints are named 'glue'; expected the name of a link, "
                "'nail', 'ring'",
            ),
            (
                {"limits": {"hand": dtau.Limits(), "finger": dtau.Limits()}},
                ValueError,
                "limits: 'hand' and 'finger' are names of one link, 'finger'",
            ),
            ({"damping": -1.0}, ValueError, "damping of 'wrist': damping: expected numbers of at"),
            ({"armature": {"wrist": np.nan}}, ValueError, "armature of 'wrist': armature: expect"),
            (
                {"armature": (1, 2)},
                ValueError,
                "armature: expected one number, 8 numbers, or a mapping by",
            ),
            (
                {"damping": np.ones(7)},
                ValueError,
                "damping: expected one number, 8 numbers, or a mapping by",
            ),
            (
                {"damping": [[1], [2, 3]]},
                ValueError,
                "damping: expected one number, 8 numbers, or a mapping by",
            ),
            ({"damping": {"wrist": (1, 2)}}, ValueError, "damping of 'wrist': damping: expected"),
            (
                {"parameters": np.ones(20)},
                ValueError,
                "parameters: expected shape (3, 10), got (20,)",
            ),
            ({"mass": 1.0}, TypeError, "Model.replace() got an unexpected keyword argument 'mass'"),
            ({"damping": "much"}, TypeError, "damping: expected real numbers, got 'much'"),
            ({"limits": {"wrist": (0, 1)}}, TypeError, "limits of 'wrist': limits: expected Lim"),
            ({"inertias": {"nail": 3.0}}, TypeError, "inertias of 'nail': inertia: expected Ine"),
            ({"inertias": BALL}, TypeError, "inertias: expected Mapping, got dtau.Inertia"),
            ({"placements": {3: dtau.Pose()}}, TypeError, "placements: expected names, got 3"),
            ({"gravity": (0, 1)}, ValueError, "gravity: expected shape (3,), got (2,)"),
            ({"name": 3}, TypeError, "name: expected str, got int"),
        ],
    )
    def test_refused(self, given: dict[str, Any], error: type[Exception], said: str) -> None:
        assert message(error, odd().replace, **given).startswith(said)

    def test_a_warning_of_joints_that_become_massless(self) -> None:
        model = model_of(link("arm", None))
        with pytest.warns(dtau.ModelWarning, match="no inertia.*arm_joint;") as caught:
            nothing = model.replace(inertias={"arm": dtau.Inertia()})
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert nothing.replace(damping=1.0).massless_joints == ("arm_joint",)

    def test_notes_say_what_is_so_now(self) -> None:
        model = model_of(link("post", None, dtau.Fixed()), link("arm", "post"), notes=("a note",))
        note = "link 'post' is fixed to the world: its inertia has no effect"
        assert model.notes == ("a note", note)
        light = model.replace(inertias={"post": dtau.Inertia()})
        assert light.notes == ("a note",)
        assert light.replace(inertias={"post": BALL}) == model
        assert light.replace(inertias={"post": BALL}).notes == model.notes


class TestAdding:
    def test_a_frame(self, quadruped: dtau.Model) -> None:
        pose = dtau.Pose.from_rpy((0.1, 0.2, 0.3), (0, 0, -0.1))
        model = quadruped.add_frame("TOE", "LF_FOOT", pose)
        frame = model.frame("TOE")
        assert frame.body == model.frame("LF_FOOT").body
        assert frame.placement == model.frame("LF_FOOT").placement @ pose
        assert (model.bodies, model.mass) == (quadruped.bodies, quadruped.mass)
        assert model == quadruped.add_frame("TOE", "LF_FOOT", pose) != quadruped
        assert pickle.loads(pickle.dumps(model)) == model

    def test_a_load_is_felt_where_it_is(self, quadruped: dtau.Model) -> None:
        """A load on a frame is the same as its weight and inertia in the body's inertia."""
        box = dtau.Inertia(3.0, (0.1, 0, 0), 0.02 * np.eye(3))
        pose = dtau.Pose.from_rpy((0, 0.5, 0), (0, 0, -0.05))
        loaded = quadruped.add_load("LF_FOOT", box, placement=pose)
        assert loaded.frames[loaded.frames.index("LF_FOOT") + 1] == "LF_FOOT_load"
        body = quadruped.frame("LF_FOOT").body
        at = quadruped.frame("LF_FOOT").placement @ pose
        shank = quadruped.link("LF_SHANK")
        merged = quadruped.replace(inertias={"LF_SHANK": shank.inertia + box.transformed(at)})
        q, v, a = dtau.random_state(quadruped, np.random.default_rng(5), (3,))
        got, want = (dtau.inverse_dynamics(m, q, v, a) for m in (loaded, merged))
        assert_close(got, want, TOLERANCE["short sums"], "tau")
        assert loaded.inertias[body].mass == pytest.approx(quadruped.inertias[body].mass + 3)

    def test_a_mass_alone_and_a_name(self, quadruped: dtau.Model) -> None:
        model = quadruped.add_load("base", 2, name="pack").add_load("base", 1.5)
        assert model.link("pack").inertia == dtau.Inertia(2.0)
        assert model.mass == pytest.approx(quadruped.mass + 3.5)

    def test_siblings_come_in_the_order_of_joint_names(self) -> None:
        names = [model_of(link("a", None), link("b", "a"), link("d", "a")).add_frame(name, "a")
                 for name in ("0", "c", "e")]  # fmt: skip
        assert [model.frames for model in names] == [
            ("a", "0", "b", "d"), ("a", "b", "c", "d"), ("a", "b", "d", "e")
        ]  # fmt: skip
        assert {model.bodies for model in names} == {("a", "b", "d")}

    def test_a_load_on_the_world(self) -> None:
        model = model_of(
            link("post", None, dtau.Fixed(), inertia=dtau.Inertia()), link("a", "post")
        )
        assert model.add_load("post", 1.0).notes == (
            "link 'post_load' is fixed to the world: its inertia has no effect",
        )

    @pytest.mark.parametrize(
        ("call", "error", "said"),
        [
            (lambda m: m.add_frame("new", "bse"), ValueError, "no frame named 'bse'; close names"),
            (lambda m: m.add_frame("new", "wrist"), ValueError, "the link that it carries is 'han"),
            (lambda m: m.add_frame("cap", "base"), ValueError, "name: there is already a link nam"),
            (lambda m: m.add_frame("glue", "base"), ValueError, "name: there is already a joint n"),
            (lambda m: m.add_frame("new", None), TypeError, "parent: expected str, got NoneType"),
            (lambda m: m.add_frame(3, "base"), TypeError, "name: expected str, got 3"),
            (lambda m: m.add_frame("new", "base", 3), TypeError, "placement: expected Pose, got 3"),
            (lambda m: m.add_load("base", -1.0), ValueError, "mass: expected a number of at least"),
            (lambda m: m.add_load("base", "heavy"), TypeError, "mass: expected real numbers"),
            (lambda m: m.add_load(3, 1.0), TypeError, "frame: expected str, got int"),
            (lambda m: m.add_load("base", 1.0, name="hand"), ValueError, "name: there is already"),
        ],
    )
    def test_refused(self, call: Any, error: type[Exception], said: str) -> None:
        assert said in message(error, call, odd())


class TestLoading:
    TEXT = urdf.robot(
        *map(urdf.link, ("base", "tip")),
        urdf.joint("j", "base", "tip", '<dynamics damping="0.1"/>', "continuous"),
    )

    def test_armature_and_damping(self) -> None:
        plain = dtau.load(self.TEXT, root="free")
        model = dtau.load(self.TEXT, root="free", armature=0.2, damping={"j": 0.3})
        assert model == plain.replace(armature=0.2, damping={"tip": 0.3})
        assert (model.armature.tolist(), model.damping.tolist()) == (
            [0] * 6 + [0.2],
            [0] * 6 + [0.3],
        )
        assert plain.damping[6] == 0.1

    def test_refused(self) -> None:
        said = message(ValueError, dtau.load, self.TEXT, damping={"k": 1.0})
        known = "'j', 'base', 'tip', 'root_joint'"
        assert said == f"damping: no joint or link named 'k'; there are: {known}"
