"""Joints that mimic others: exact in every function, by the same tree with independent joints."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import derivative_laws
import numpy as np
import pytest
import rate_laws
import test_urdf as urdf
from cases import GRIPPERS, MIMICS, State, random_state
from compare import TOLERANCE, assert_close
from derivative_laws import DYNAMICS, Point
from hypothesis import given, note, settings
from hypothesis import strategies as st
from trees import KINDS, Array, Tree, trees

import dtau

SINGLE = tuple(kind for kind, row in KINDS.items() if row.nq == 1)


class Pair:
    """A model with joints that mimic others, and the same one with all joints independent."""

    def __init__(self, tree: Tree, mimics: dict[str, dtau.Mimic]) -> None:
        self.tied, self.free = tree.model(mimics), tree.model()
        G = np.zeros((self.free.nv, self.tied.nv))
        self.offset = np.zeros(self.free.nq)
        for joint in self.free.joints:
            tied = self.tied.joint(joint.name)
            scale = tied.mimic.multiplier if tied.mimic else 1.0
            G[joint.v, tied.v] = scale * np.eye(joint.type.nv)
            if tied.mimic:
                self.offset[joint.q] = tied.mimic.offset
        self.G = G

    def q(self, q: Array) -> Array:
        out = np.empty((*q.shape[:-1], self.free.nq))
        for joint in self.free.joints:
            tied = self.tied.joint(joint.name)
            scale = tied.mimic.multiplier if tied.mimic else 1.0
            out[..., joint.q] = scale * q[..., tied.q] + self.offset[joint.q]
        return out


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """A tree in which some joints with one coordinate follow others, before or after them."""
    tree = draw(trees())
    single = [body.name for body in tree.bodies if body.kind in SINGLE]
    mimics = {}
    leaders = set(single)
    for name in single:
        others = sorted(leaders - {name})
        if others and draw(st.booleans()):
            scale, offset = draw(st.sampled_from([(1.0, 0.0), (-0.5, 0.3), (2.0, -1.0)]))
            mimics[name] = dtau.Mimic(draw(st.sampled_from(others)), scale, offset)
            leaders.discard(name)
    followed = {mimic.joint for mimic in mimics.values()}
    mimics = {name: mimic for name, mimic in mimics.items() if name not in followed}
    note(f"mimics={mimics}")
    return Pair(tree, mimics)


@given(pairs(), st.integers(0, 2**16))
def test_everything_reduces(pair: Pair, seed: int) -> None:
    """G^T tau, G^T X G: values of inverse dynamics, matrices, Jacobians."""
    s = random_state(pair.tied, seed)
    G, free, tied, f_ext = pair.G, pair.free, pair.tied, s["f_ext"]
    states = (s["q"], s["v"], s["a"]), (pair.q(s["q"]), G @ s["v"], G @ s["a"])

    def both(name: str, count: int, *others: Any) -> tuple[Any, Any]:
        """The results of both models, at as many of q, v, a as the function takes."""
        ours, theirs = states
        function = getattr(dtau, name)
        return function(tied, *ours[:count], *others), function(free, *theirs[:count], *others)

    for name, count, others, floor in (
        ("inverse_dynamics", 3, (f_ext,), 0.0),
        ("bias_torque", 2, (f_ext,), 0.0),
        ("gravity_torque", 1, (), 1.0),
    ):
        got, torque = both(name, count, *others)
        assert_close(got, G.T @ torque, TOLERANCE["long sums"], name, floor=floor)
    for name, count, tolerance in (
        ("mass_matrix", 1, "long sums"),
        ("coriolis_matrix", 2, "identity"),
    ):
        got, matrix = both(name, count)
        assert_close(got, G.T @ matrix @ G, TOLERANCE[tolerance], name)
    for name, frames, tolerance in (
        ("frame_jacobians", (tied.frames,), "long sums"),
        ("centroidal_momentum_matrix", (), "identity"),
    ):
        got, jacobian = both(name, 1, *frames)
        assert_close(got, jacobian @ G, TOLERANCE[tolerance], name)
    for x, y in zip(*both("forward_kinematics", 1), strict=True):
        assert_close(x, y, TOLERANCE["short sums"], "placement", floor=1.0)
    for name in ("momentum", "centroidal_momentum"):
        assert_close(*both(name, 2), TOLERANCE["identity"], name, floor=tied.mass)


@given(pairs(), st.integers(0, 2**16))
def test_forward_dynamics_solves_the_reduced_equation(pair: Pair, seed: int) -> None:
    s = random_state(pair.tied, seed)
    tied, f = pair.tied, s["f_ext"]
    M = dtau.mass_matrix(tied, s["q"])
    a = dtau.forward_dynamics(tied, s["q"], s["v"], s["tau"], f)
    residual = dtau.inverse_dynamics(tied, s["q"], s["v"], a, f) - s["tau"]
    scale = np.abs(M).max() * np.abs(a).max() + np.abs(s["tau"]).max()
    assert np.abs(residual).max() <= TOLERANCE["identity"] * scale
    inverse = dtau.mass_matrix_inverse(tied, s["q"])
    assert (
        np.abs(M @ inverse - np.eye(tied.nv)).max()
        <= TOLERANCE["short sums"] * np.linalg.cond(M) * tied.nv
    )


@pytest.mark.parametrize("name", DYNAMICS)
@given(pair=pairs(), seed=st.integers(0, 2**16))
def test_derivatives_of_dynamics(name: str, pair: Pair, seed: int) -> None:
    """First derivatives and products, of the values that reduce."""
    point = Point(name, pair.tied, random_state(pair.tied, seed), ("f_ext",))
    derivative_laws.check(point)


@pytest.mark.parametrize("name", rate_laws.FREE)
@given(pair=pairs(), seed=st.integers(0, 2**16))
@settings(max_examples=30)
def test_time_derivatives(name: str, pair: Pair, seed: int) -> None:
    every = list(rate_laws.switches(name, pair.tied, seed))
    at = rate_laws.Motion(name, pair.tied, seed, 2, **every[seed % len(every)])
    rate_laws.check(at, 1.0 if "frame" in name else 0.0, 2.0 * rate_laws.ROUNDING)


@given(pairs(), st.integers(0, 2**16))
def test_the_manifold_is_that_of_the_independent_joints(pair: Pair, seed: int) -> None:
    s = random_state(pair.tied, seed)
    moved = dtau.integrate(pair.tied, s["q"], s["dq"])
    want = dtau.integrate(pair.free, pair.q(s["q"]), pair.G @ s["dq"])
    assert_close(pair.q(moved), want, TOLERANCE["short sums"], "q", floor=1.0)
    step = dtau.difference(pair.tied, s["q0"], s["q1"])
    full = dtau.difference(pair.free, pair.q(s["q0"]), pair.q(s["q1"]))
    assert_close(pair.G @ step, full, TOLERANCE["long sums"], "dq", floor=1.0)
    by = dtau.integrate_jacobians(pair.tied, s["q"], s["dq"])
    by_all = dtau.integrate_jacobians(pair.free, pair.q(s["q"]), pair.G @ s["dq"])
    for x, y in zip(by, by_all, strict=True):
        assert_close(pair.G @ x, y @ pair.G, TOLERANCE["long sums"], "integrate_jacobians")


@pytest.fixture
def tied() -> dtau.Model:
    return GRIPPERS.model(MIMICS)


def test_structure(tied: dtau.Model) -> None:
    free = GRIPPERS.model()
    assert (tied.nbodies, tied.nv, tied.nq) == (free.nbodies, free.nv - 3, free.nq - 3)
    assert tied.joint("revolute1").v == tied.joint("helical4").v
    assert tied.joint("revolute1").mimic == MIMICS["revolute1"]
    assert "mimics helical4" in str(tied)
    own = {joint.name: free.armature[joint.v] for joint in free.joints}
    felt = own["helical4"] + 0.49 * own["revolute1"] + 0.25 * own["prismatic6"]
    assert tied.armature[tied.joint("helical4").v] == pytest.approx(felt, rel=TOLERANCE["rounding"])
    assert pickle.loads(pickle.dumps(tied)) == tied
    assert tied != free


def test_followers_of_followers_resolve() -> None:
    model = GRIPPERS.model(
        {
            "revolute1": dtau.Mimic("helical4", 2.0, 0.5),
            "helical4": dtau.Mimic("revolute5", -3.0, 1.0),
        }
    )
    assert model.joint("revolute1").mimic == dtau.Mimic("revolute5", -6.0, 2.5)


@pytest.mark.parametrize(
    ("mimics", "message"),
    [
        ({"revolute1": dtau.Mimic("revolute9")}, "mimic of joint 'revolute1': .*'revolute9'"),
        ({"revolute1": dtau.Mimic("revolute1")}, "cycle: 'revolute1' -> 'revolute1'"),
        (
            {"revolute1": dtau.Mimic("helical4"), "helical4": dtau.Mimic("revolute1")},
            "cycle: 'revolute1' -> 'helical4' -> 'revolute1'",
        ),
        ({"revolute1": dtau.Mimic("universal3")}, "one coordinate, got 'universal3'.* Universal"),
        ({"universal3": dtau.Mimic("revolute1")}, "mimic: expected a joint with one coordinate"),
        ({"revolute1": dtau.Mimic("helical4", 1e160)}, "'revolute1': numbers too large.*1e\\+160"),
        (
            {"revolute1": dtau.Mimic("helical4", 1e9), "helical4": dtau.Mimic("revolute5", 1e300)},
            "'revolute1': numbers too large: with chains of mimics resolved, the multiplier is inf",
        ),
        (
            {"revolute1": dtau.Mimic("helical4", 9), "helical4": dtau.Mimic("revolute5", 1, 1e308)},
            "'revolute1': numbers too large.* the offset inf",
        ),
        ({"revolute1": dtau.Mimic("helical4", 1e154)}, "'helical4' .*: inertias too large to add"),
    ],
)
def test_wrong_mimics(mimics: dict[str, dtau.Mimic], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GRIPPERS.model(mimics)


@pytest.mark.parametrize("name", ["armature", "damping"])
def test_what_followers_add_must_stay_finite(name: str) -> None:
    builder = dtau.ModelBuilder("two")
    body = dtau.Inertia(1e-200, tensor=np.zeros((3, 3)))
    builder.add(dtau.Prismatic((1, 0, 0)), name="first", inertia=body)
    mimic = dtau.Mimic("first", 1e153)
    given = {name: 1000.0}
    builder.add(dtau.Prismatic((1, 0, 0)), name="second", inertia=body, mimic=mimic, **given)
    with pytest.raises(ValueError, match=f"({name}|inertias).* too large"):
        builder.build()


def test_locking_takes_followers_along(tied: dtau.Model) -> None:
    locked = tied.lock({"helical4": 0.4})
    assert locked.nv == tied.nv - 1
    s: State = random_state(locked, 3)
    q = np.empty(tied.nq)
    for joint in tied.joints:
        if joint.mimic is None:
            q[joint.q] = 0.4 if joint.name == "helical4" else s["q"][locked.joint(joint.name).q]
    for name in tied.bodies:
        want = dtau.frame_placements(tied, q, name)
        got = dtau.frame_placements(locked, s["q"], name)
        assert_close(got.translation, want.translation, TOLERANCE["short sums"], name, floor=1.0)
    with pytest.raises(ValueError, match="'revolute1' mimics 'helical4': lock that one"):
        tied.lock({"revolute1": 0.0})


def test_a_follower_cannot_be_locked_out_of_range() -> None:
    model = GRIPPERS.model({"prismatic2": dtau.Mimic("revolute5", 2.0)})
    with pytest.raises(ValueError, match=r"position of joint 'revolute5': .*finite.*inf"):
        model.lock({"revolute5": 1.7e308})


def test_a_follower_without_inertia_is_no_massless_joint() -> None:
    builder = dtau.ModelBuilder("gripper")
    finger = dtau.Inertia(0.1)
    builder.add(dtau.Prismatic((0, 1, 0)), name="left", inertia=finger)
    builder.add(dtau.Prismatic((0, -1, 0)), name="right", mimic=dtau.Mimic("left"))
    model = builder.build()
    assert model.massless_joints == ()
    assert dtau.forward_dynamics(model, [0.0], [0.0], [0.1]) == pytest.approx(1.0)


def test_massless_leaders_are_named() -> None:
    builder = dtau.ModelBuilder("nothing")
    builder.add(dtau.Prismatic((0, 1, 0)), name="left")
    builder.add(dtau.Prismatic((0, -1, 0)), name="right", mimic=dtau.Mimic("left"))
    with pytest.warns(dtau.ModelWarning, match="left"):
        assert builder.build().massless_joints == ("left",)


BALL, NOTHING = dtau.Inertia(1.0, tensor=np.eye(3)), dtau.Inertia()
X, Y, Z = (dtau.Revolute(axis) for axis in np.eye(3))


def chain(*links: tuple[dtau.JointType, dtau.Inertia, dtau.Mimic | None]) -> dtau.Model:
    """Joints "a", "b", ... one after the other, at one place."""
    builder = dtau.ModelBuilder("chain")
    for k, (joint, inertia, mimic) in enumerate(links):
        parent = chr(96 + k) if k else None
        builder.add(joint, name=chr(97 + k), parent=parent, inertia=inertia, mimic=mimic)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        return builder.build()


def a(ratio: float) -> dtau.Mimic:
    return dtau.Mimic("a", ratio)


def b(ratio: float) -> dtau.Mimic:
    return dtau.Mimic("b", ratio)


CANCELLED: dict[str, tuple[dtau.Model, tuple[str, ...]]] = {
    "back by as much": (chain((Z, NOTHING, None), (Z, BALL, a(-1.0))), ("a",)),
    "back by nearly as much": (chain((Z, NOTHING, None), (Z, BALL, a(-1.0 + 1e-9))), ("a",)),
    "slides back": (
        chain(
            (dtau.Prismatic((1, 0, 0)), NOTHING, None), (dtau.Prismatic((-1, 0, 0)), BALL, a(1.0))
        ),
        ("a",),
    ),
    "a third joint between": (
        chain((Z, NOTHING, None), (Z, NOTHING, a(-0.25)), (Z, BALL, a(-0.75))),
        ("a",),
    ),
    "below a joint that is sound": (
        chain((X, BALL, None), (Z, NOTHING, None), (Z, BALL, b(-1.0))),
        ("b",),
    ),
    "the joint above them": (
        chain((Z, NOTHING, None), (Z, BALL, None), (Y, NOTHING, b(2.0))),
        ("a",),
    ),
    "with inertia of the leader": (chain((Z, BALL, None), (Z, BALL, a(-1.0))), ()),
    "back by half": (chain((Z, NOTHING, None), (Z, BALL, a(-0.5))), ()),
    "about another axis": (chain((Z, NOTHING, None), (Y, BALL, a(-1.0))), ()),
}


@pytest.mark.parametrize("name", CANCELLED)
def test_mimic_joints_whose_inertias_cancel_are_refused(name: str) -> None:
    model, massless = CANCELLED[name]
    assert model.massless_joints == massless
    q, still = np.full(model.nv, 0.3), np.zeros(model.nv)
    least = np.linalg.eigvalsh(dtau.mass_matrix(model, q))[0]
    if not massless:
        assert least > 1e-3
        assert np.isfinite(dtau.forward_dynamics(model, q, still, still + 1.0)).all()
        return
    assert least < 1e-13
    for function in (dtau.forward_dynamics, dtau.forward_dynamics_derivatives):
        with pytest.raises(
            ValueError, match=f"inertia to accelerate, got none at joints '{massless[0]}'"
        ):
            function(model, q, still, still)


def test_armature_is_inertia_of_joints_that_move_together() -> None:
    builder = dtau.ModelBuilder("gears")
    builder.add(Z, name="a", inertia=NOTHING, armature=0.5)
    builder.add(Z, name="b", parent="a", inertia=BALL, mimic=dtau.Mimic("a", -1.0))
    model = builder.build()
    assert model.massless_joints == ()
    assert dtau.forward_dynamics(model, [0.3], [0.0], [1.0]) == pytest.approx(2.0)


def test_numbers_by_velocities_are_those_of_leaders(tied: dtau.Model) -> None:
    given = np.arange(1.0, tied.nv + 1)
    damped = tied.replace(damping=given)
    assert np.array_equal(damped.damping, given), "followers add nothing"


def test_groups_across_branches_and_trees() -> None:
    """A leader and followers on several branches, of which one cancels what another does not."""
    builder = dtau.ModelBuilder("hand")
    builder.add(Z, name="a", inertia=NOTHING)
    builder.add(Z, name="b", parent="a", inertia=BALL, mimic=dtau.Mimic("a", -1.0))
    builder.add(Z, name="c", inertia=NOTHING, mimic=dtau.Mimic("a", 3.0))
    builder.add(Z, name="d", parent="c", inertia=NOTHING, mimic=dtau.Mimic("a", -3.0))
    with pytest.warns(dtau.ModelWarning):
        assert builder.build().massless_joints == ("a",)
    builder.add(Z, name="e", parent="d", inertia=BALL, mimic=dtau.Mimic("a", 0.1))
    assert builder.build().massless_joints == ()


@given(pairs())
def test_sound_models_are_accepted(pair: Pair) -> None:
    """No inertia of these cancels, however joints follow each other."""
    assert pair.tied.massless_joints == pair.free.massless_joints == ()


@pytest.mark.large
def test_many_groups_at_once() -> None:
    """Leaders first, then as many followers: more groups are open than are judged."""
    n = 130
    builder = dtau.ModelBuilder("long")
    for k in range(2 * n):
        mimic = dtau.Mimic(f"j{k - n}", 0.5) if k >= n else None
        parent = f"j{k - 1}" if k else None
        inertia = BALL if k >= n else NOTHING
        place = dtau.Pose(translation=(0.1, 0.2, 0.3))
        axis = ((1, 0, 0), (0, 1, 0), (0, 0, 1))[k % 3]
        builder.add(
            dtau.Revolute(axis),
            name=f"j{k}",
            parent=parent,
            placement=place,
            inertia=inertia,
            mimic=mimic,
        )
    assert builder.build().massless_joints == ()


def test_urdf() -> None:
    finger = '<axis xyz="0 1 0"/><limit lower="0" upper="0.04"/>'
    follows = finger + '<mimic joint="left" multiplier="-1" offset="0.01"/>'
    text = urdf.robot(
        *map(urdf.link, ("hand", "l", "r")),
        urdf.joint("left", "hand", "l", finger, "prismatic"),
        urdf.joint("a_right", "hand", "r", follows, "prismatic"),
    )
    model = dtau.load(text, mimic="exact")
    assert (model.nbodies, model.nv) == (2, 1)
    assert model.joint("a_right").mimic == dtau.Mimic("left", -1.0, 0.01)
    assert model.upper_limits == [0.04]
    assert dtau.frame_placements(model, [0.03], "r").translation[1] == pytest.approx(-0.02)
    assert dtau.mass_matrix(model, [0.0]) == pytest.approx(4.0)
    with pytest.raises(ValueError, match="mimic: expected 'independent' or 'exact', got 'no'"):
        dtau.load(text, mimic="no")  # type: ignore[arg-type]
