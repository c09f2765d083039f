"""`dtau.conventions.pinocchio`: one physical state through both packages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import State, random_state
from compare import TOLERANCE, assert_close, assert_same_bits, cancelled, solved
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from pinocchio_pair import pair
from trees import I3, Array, Body, Tree, grow, trees

import dtau

pin = pytest.importorskip("pinocchio")

FILES = {
    "continuous": "double_pendulum_description/double_pendulum_continuous.urdf",
    "arm with continuous joints": "kinova_description/kinova.urdf",
    "gripper": "panda_description/panda.urdf",
    "quadruped": "anymal_b_simple_description/anymal.urdf",
    "humanoid": "g1_description/g1_29dof_rev_1_0.urdf",
}
# what both packages have along any axis; Pinocchio's derivatives of universal joints are wrong
SHARED = ("fixed", "revolute", "prismatic", "helical", "spherical", "free")
REFERENCE_FRAMES = {
    "body": pin.ReferenceFrame.LOCAL,
    "mixed": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    "world": pin.ReferenceFrame.WORLD,
}


def joint_model(body: Body, unbounded: bool) -> Any:
    """The joint in Pinocchio; an angle may be a cosine and a sine."""
    axis = np.asarray(body.axis)
    along = int(np.argmax(axis)) if axis.max() == 1.0 else None
    letter = None if along is None else "XYZ"[along]
    if body.kind == "revolute":
        if letter:
            return getattr(pin, f"JointModelR{'UB' if unbounded else ''}{letter}")()
        return pin.JointModelRevoluteUnaligned(axis)
    if body.kind == "prismatic":
        return (
            getattr(pin, f"JointModelP{letter}")()
            if letter
            else (pin.JointModelPrismaticUnaligned(axis))
        )
    if body.kind == "helical":
        return (
            getattr(pin, f"JointModelH{letter}")(body.pitch)
            if letter
            else (pin.JointModelHelicalUnaligned(axis, body.pitch))
        )
    return {"spherical": pin.JointModelSpherical, "free": pin.JointModelFreeFlyer}[body.kind]()


def peer_of(tree: Tree, names: dict[str, str] | None = None) -> Any:
    """The tree in Pinocchio, siblings the other way round."""
    peer = pin.Model()
    peer.gravity.linear = tree.gravity
    place: dict[int, tuple[int, Any]] = {-1: (0, pin.SE3.Identity())}
    armature: list[Array] = []
    waiting = [i for i, body in enumerate(tree.bodies) if body.parent < 0]
    while waiting:
        i = waiting.pop()
        body = tree.bodies[i]
        parent, carried = place[body.parent]
        origin = carried * pin.SE3(body.rotation, body.translation)
        inertia = pin.Inertia(body.mass, body.com, body.tensor)
        if body.kind == "fixed":
            place[i] = (parent, origin)
            if parent:
                peer.appendBodyToJoint(parent, inertia, origin)
        else:
            name = (names or {}).get(body.name, body.name)
            joint = peer.addJoint(parent, joint_model(body, i % 2 == 0), origin, name)
            peer.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
            place[i] = (joint, pin.SE3.Identity())
            armature.append(body.armature)
        waiting += [k for k, other in enumerate(tree.bodies) if other.parent == i]
    peer.armature = np.concatenate(armature)
    return peer


def check(model: dtau.Model, peer: Any, s: State, *, solves: bool = True) -> None:
    """Both packages say the same of this state, in each other's numbers."""
    convention = dtau.conventions.pinocchio(model, peer)
    data = peer.createData()
    mass = dtau.mass_matrix(model, s["q"])
    floor = cancelled(mass)
    tolerance = TOLERANCE["pinocchio"]

    def same(got: ArrayLike, want: ArrayLike, what: str, within: float = tolerance) -> None:
        assert_close(got, np.array(want), within, what, floor=floor)

    q, v, a = convention.from_dtau(s["q"], s["v"], s["a"])
    assert len(q) == peer.nq == convention.nq
    f_ext = convention.convert(s["f_ext"], of="f_ext", at={"q": s["q"]})
    assert f_ext.shape == (peer.njoints, 6)
    forces = [pin.Force(wrench) for wrench in f_ext]

    tau = dtau.inverse_dynamics(model, s["q"], s["v"], s["a"], s["f_ext"])
    torque = np.array(pin.rnea(peer, data, q, v, a, forces))
    same(convention.convert(tau, of="tau", at={"q": s["q"]}), torque, "tau")
    same(convention.convert(torque, of="tau", at={"q": q}, to_dtau=True), tau, "tau back")

    pin.computeRNEADerivatives(peer, data, q, v, a, forces)
    upper = np.triu(data.M)
    theirs = dtau.results.InverseDynamicsDerivatives(
        np.array(data.dtau_dq), np.array(data.dtau_dv), upper + np.triu(upper, 1).T
    )
    state = (s["q"], s["v"], s["a"])
    d = dtau.inverse_dynamics_derivatives(model, *state, s["f_ext"])
    got = convention.convert(d, at=s | {"tau": tau})
    back = convention.convert(theirs, at={"q": q, "v": v, "a": a, "tau": torque}, to_dtau=True)
    for name, x, y, z, w in zip(d._fields, got, theirs, back, d, strict=True):
        same(x, y, name)
        same(z, w, f"{name} back")

    if solves:
        tolerance = solved(tolerance, mass)
        acceleration = dtau.forward_dynamics(model, s["q"], s["v"], s["tau"], s["f_ext"])
        torque = convention.convert(s["tau"], of="tau", at={"q": s["q"]})
        rate = np.array(pin.aba(peer, data, q, v, torque, forces))
        state = (s["q"], s["v"], acceleration)
        same(convention.from_dtau(*state).a, rate, "a", tolerance)
        same(convention.to_dtau(q, v, rate).a, acceleration, "a back", tolerance)
        pin.computeABADerivatives(peer, data, q, v, torque, forces)
        upper = np.triu(data.Minv)
        floor = max(cancelled(upper), 0.1 * float(np.abs(rate).max()))
        ours = dtau.forward_dynamics_derivatives(model, s["q"], s["v"], s["tau"], s["f_ext"])
        moved = convention.convert(ours, at=s | {"a": acceleration})
        peers = dtau.results.ForwardDynamicsDerivatives(
            np.array(data.ddq_dq), np.array(data.ddq_dv), upper + np.triu(upper, 1).T
        )
        undone = convention.convert(
            peers, at={"q": q, "v": v, "a": rate, "tau": torque}, to_dtau=True
        )
        for name, x, y, z, w in zip(ours._fields, moved, peers, undone, ours, strict=True):
            same(x, y, name, tolerance)
            same(z, w, f"{name} back", tolerance)

    jacobians(model, peer, s)

    # Displacements are the same numbers as velocities.
    step = convention.from_dtau(s["q"], s["dq"]).v
    reached = convention.to_dtau(pin.integrate(peer, q, step)).q
    want = dtau.integrate(model, s["q"], s["dq"])
    turned = dtau.difference(model, want, reached)
    turned -= 2 * np.pi * np.round(turned / (2 * np.pi))  # continuous joints
    assert_close(turned, np.zeros(model.nv), TOLERANCE["identity"], "integrate", floor=1.0)


def jacobians(model: dtau.Model, peer: Any, s: State) -> None:
    """Jacobians and their rates, in all frames of reference, of all joints that both have."""
    convention = dtau.conventions.pinocchio(model, peer)
    q, v = convention.from_dtau(s["q"], s["v"])[:2]
    data = peer.createData()
    pin.computeJointJacobians(peer, data, q)
    pin.computeJointJacobiansTimeVariation(peer, data, q, v)
    pin.jacobianCenterOfMass(peer, data, q)
    named = {joint.name: model.bodies[joint.body] for joint in model.joints}
    for axes, frame in REFERENCE_FRAMES.items():
        for name, body in named.items():
            if not peer.existJointName(name):  # a free root of another name
                continue
            index = peer.getJointId(name)
            J = dtau.frame_jacobians(model, s["q"], body, axes)
            rate = dtau.frame_jacobians_rate(model, s["q"], s["v"], body, axes)
            theirs = pin.getJointJacobian(peer, data, index, frame)
            their_rate = pin.getJointJacobianTimeVariation(peer, data, index, frame)
            floor = max(1.0, float(np.abs(v).max()))
            for x, y in ((J, theirs), (rate, their_rate)):
                got = convention.convert(x, of="J", at={"q": s["q"]})
                y = np.reshape(y, (6, peer.nv))  # a vector for nv = 1
                assert_close(got, y, TOLERANCE["identity"], f"J of {name}, {axes}", floor=floor)
                assert_same_bits(convention.convert(got, of="J", at={"q": q}, to_dtau=True), x)
    if model.mass > 0:
        J = convention.convert(
            dtau.center_of_mass_jacobian(model, s["q"]), of="J", at={"q": s["q"]}
        )
        want = np.reshape(data.Jcom, (3, peer.nv))
        assert_close(J, want, TOLERANCE["identity"], "Jcom", floor=1.0)


@pytest.mark.parametrize("root", ["fixed", "free"])
@pytest.mark.parametrize("name", FILES)
def test_robots(name: str, root: str) -> None:
    p = pair(FILES[name], root)
    check(p.model, p.peer, random_state(p.model, 1))


@given(trees(among=SHARED), st.integers(0, 2**16))
def test_trees(tree: Tree, seed: int) -> None:
    """Every joint type, armature, forests; another order of joints, and angles in both forms."""
    none = ("damping", "stiffness", "friction", "rest")  # Pinocchio's functions have none of them
    bodies = [replace(x, **{name: 0.0 * getattr(x, name) for name in none}) for x in tree.bodies]
    tree = replace(tree, bodies=tuple(bodies))
    model = tree.model()
    check(model, peer_of(tree), random_state(model, seed))


def test_wrenches_on_the_universe_have_no_effect() -> None:
    p = pair(FILES["arm with continuous joints"], "free")
    convention = dtau.conventions.pinocchio(p.model, p.peer)
    s = random_state(p.model, 2)
    there = convention.from_dtau(s["q"]).q
    assert_close(there, p.q(s["q"]), 0.0, "q")
    wrenches = convention.convert(s["f_ext"], of="f_ext", at={"q": s["q"]})
    assert not wrenches[0].any()
    wrenches[0] = 7.0
    back = convention.convert(wrenches, of="f_ext", at={"q": there}, to_dtau=True)
    assert_same_bits(back, s["f_ext"])


def test_angles_beyond_a_turn_and_any_length_of_cosine_and_sine() -> None:
    p = pair(FILES["continuous"], "fixed")
    convention = dtau.conventions.pinocchio(p.model, p.peer)
    q = np.array([7.0, -4.0])
    there = convention.from_dtau(q).q
    assert_close(
        convention.to_dtau(3.0 * there).q, q + np.array([-2, 2]) * np.pi, TOLERANCE["rounding"]
    )


def chain(*kinds: str) -> Tree:
    return grow(kinds, range(-1, len(kinds) - 1), 1, damping=False, springs=False, friction=False)


class TestMatching:
    def test_the_free_root_may_have_any_name(self) -> None:
        tree = chain("free", "revolute")
        model = tree.model()
        check(model, peer_of(tree, {"free0": "root_joint"}), random_state(model, 4))

    def test_other_joints_may_not(self) -> None:
        tree = chain("free", "revolute")
        with pytest.raises(ValueError, match=r"pin_model: no joint named 'revolute1'; close names"):
            dtau.conventions.pinocchio(tree.model(), peer_of(tree, {"revolute1": "revolute2"}))

    def test_two_free_roots_need_their_names(self) -> None:
        tree = grow(["free", "free"], [-1, -1], 1, damping=False, friction=False)
        model = tree.model()
        check(model, peer_of(tree), random_state(model, 5))
        with pytest.raises(ValueError, match="pin_model: no joint named 'free0'"):
            dtau.conventions.pinocchio(model, peer_of(tree, {"free0": "root_joint"}))

    def test_joints_that_the_model_lacks(self) -> None:
        tree = chain("revolute", "prismatic")
        with pytest.raises(ValueError, match=r"no joint for pin_model's joint 'prismatic1'"):
            dtau.conventions.pinocchio(chain("revolute").model(), peer_of(tree))

    @pytest.mark.parametrize(
        ("ours", "theirs", "kind"),
        [
            ("revolute", "prismatic", "P"),
            ("prismatic", "revolute", "R"),
            ("free", "spherical", "Spherical"),
            ("helical", "revolute", "R"),
        ],
    )
    def test_joints_of_another_kind(self, ours: str, theirs: str, kind: str) -> None:
        peer = peer_of(chain(theirs), {f"{theirs}0": f"{ours}0"})
        pattern = rf"joint '{ours}0' is a JointModel{kind}\w* there.*{ours.capitalize()}"
        with pytest.raises(ValueError, match=pattern):
            dtau.conventions.pinocchio(chain(ours).model(), peer)

    def test_kinds_that_cannot_be_converted(self) -> None:
        for kind in (pin.JointModelSphericalZYX(), pin.JointModelTranslation()):
            peer = pin.Model()
            peer.addJoint(0, kind, pin.SE3.Identity(), "spherical0")
            with pytest.raises(ValueError, match=r"joint 'spherical0'.*cannot be converted"):
                dtau.conventions.pinocchio(chain("spherical").model(), peer)

    def test_what_is_no_model(self) -> None:
        tree = chain("revolute")
        with pytest.raises(
            TypeError, match=r"pin_model: expected a pinocchio.Model, got trees\.Tree"
        ):
            dtau.conventions.pinocchio(tree.model(), tree)
        with pytest.raises(TypeError, match=r"model: expected Model, got trees\.Tree"):
            dtau.conventions.pinocchio(tree, peer_of(tree))  # type: ignore[arg-type]


def single(joint: dtau.JointType) -> dtau.Model:
    builder = dtau.ModelBuilder("single")
    builder.add(joint, name="joint", inertia=dtau.Inertia(1.0, (0.1, 0.2, 0.3), I3))
    return builder.build()


def peer_with(kind: Any) -> Any:
    peer = pin.Model()
    index = peer.addJoint(0, kind, pin.SE3.Identity(), "joint")
    peer.appendBodyToJoint(
        index, pin.Inertia(1.0, np.array([0.1, 0.2, 0.3]), I3), pin.SE3.Identity()
    )
    return peer


@pytest.mark.parametrize(
    ("joint", "kind"),
    [
        (dtau.Planar((0, 0, 1)), pin.JointModelPlanar()),
        (dtau.Universal((1, 0, 0), (0, 1, 0)), pin.JointModelUniversal(I3[0], I3[1])),
    ],
    ids=["planar", "universal"],
)
def test_planar_and_universal_joints(joint: dtau.JointType, kind: Any) -> None:
    model, peer = single(joint), peer_with(kind)
    convention = dtau.conventions.pinocchio(model, peer)
    s = random_state(model, 3)
    there = convention.from_dtau(s["q"], s["v"], s["a"])
    got = pin.rnea(peer, peer.createData(), there.q, there.v, there.a)
    tau = dtau.inverse_dynamics(model, s["q"], s["v"], s["a"])
    assert_close(
        convention.convert(tau, of="tau", at={"q": s["q"]}), got, TOLERANCE["long sums"], "tau"
    )
    back = convention.to_dtau(there.q).q
    assert_close(
        back, (s["q"] + np.pi) % (2.0 * np.pi) - np.pi, TOLERANCE["short sums"], "q", floor=1.0
    )


def test_another_normal_than_z_is_refused() -> None:
    with pytest.raises(ValueError, match=r"joint 'joint'.*normal"):
        dtau.conventions.pinocchio(
            single(dtau.Planar((0, 1, 0))), peer_with(pin.JointModelPlanar())
        )


def test_joints_that_mimic_others_are_refused() -> None:
    builder = dtau.ModelBuilder("gripper")
    finger = dtau.Inertia(0.1, (0, 0, 0), I3)
    builder.add(dtau.Revolute((0, 0, 1)), name="left", inertia=finger)
    builder.add(dtau.Revolute((0, 0, 1)), name="right", inertia=finger, mimic=dtau.Mimic("left"))
    with pytest.raises(ValueError, match="joint 'right' mimics 'left'"):
        dtau.conventions.pinocchio(builder.build(), peer_with(pin.JointModelRZ()))
