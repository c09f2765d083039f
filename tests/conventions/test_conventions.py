"""Conventions against their definitions, composed with the package's own algorithms.

`Textbook` writes each map of velocities out on its own, for complex numbers too, so that complex
steps of the composition give derivatives to compare with.
"""

from __future__ import annotations

import pickle
from typing import Any

import complex_step
import numpy as np
import pytest
from cases import ROBOTS, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits, cancelled, solved
from complex_step import STEP
from hypothesis import given
from textbook import CONVENTIONS, Textbook, each_convention
from trees import SEEDS, Tree, trees

import dtau

FREE_ROOT = "free root, branches"


def check_state(kind: str, model: dtau.Model, seed: int) -> None:
    convention, book, s = CONVENTIONS[kind](model), Textbook(kind, model), random_state(model, seed)
    q, v, a, tau = s["q"], s["v"], s["a"], s["tau"]
    tolerance = TOLERANCE["identity"]
    got = convention.from_dtau(q, v, a)
    a_map = book.matrix(q)
    assert_close(got.q, q, 0.0, "q")
    assert_close(got.v, a_map @ v, tolerance, "v")
    # The acceleration as the derivative of the velocity along the motion.
    later = complex_step.moved(model, q, v[np.newaxis])[0]
    rate = (book.matrix(later) @ (v + 1j * STEP * a)).imag / STEP
    assert_close(got.a, rate, tolerance, "a")
    torque = convention.convert(tau, of="tau", at={"q": q})
    assert_close(torque, np.linalg.solve(a_map.T, tau), tolerance, "tau")

    back = convention.to_dtau(*got)
    for name, x, y in zip("qva", back, (q, v, a), strict=True):
        assert_close(x, y, tolerance, f"{name} back")
    assert_close(
        convention.convert(torque, of="tau", at={"q": got.q}, to_dtau=True),
        tau,
        tolerance,
        "tau back",
    )


def check_derivatives(kind: str, model: dtau.Model, seed: int, axes: Any = "body") -> None:
    convention, s = CONVENTIONS[kind](model), random_state(model, seed)
    book = Textbook(kind, model, wrench_axes=axes)
    q, v, a, f_ext = s["q"], s["v"], s["a"], s["f_ext"]
    tau = dtau.inverse_dynamics(model, q, v, a, f_ext, f_ext_axes=axes)
    theirs = convention.from_dtau(q, v, a)
    torque = convention.convert(tau, of="tau", at={"q": q})
    mass = dtau.mass_matrix(model, q)
    floor = cancelled(mass)

    inverse = dtau.inverse_dynamics_derivatives(model, q, v, a, f_ext, f_ext_axes=axes)
    at = {"q": q, "v": v, "a": a, "tau": tau}
    there = theirs._asdict() | {"tau": torque}
    got = convention.convert(inverse, at=at)
    want = book.derivatives("inverse_dynamics", q, theirs.v, theirs.a, f_ext)
    for name, x, y in zip(got._fields, got, want, strict=True):
        assert_close(x, y, 2 * TOLERANCE["complex_step"], name, floor=floor)
    back = convention.convert(got, at=there, to_dtau=True)
    for name, x, y in zip(got._fields, back, inverse, strict=True):
        assert_close(x, y, 2 * TOLERANCE["identity"], f"{name} back", floor=floor)

    forward = dtau.forward_dynamics_derivatives(model, q, v, tau, f_ext, f_ext_axes=axes)
    moved = convention.convert(forward, at=at)
    want = book.derivatives("forward_dynamics", q, theirs.v, torque, f_ext)
    floor = max(cancelled(forward.da_dtau), float(np.abs(a).max()))
    for name, x, y in zip(moved._fields, moved, want, strict=True):
        assert_close(x, y, 4 * solved(TOLERANCE["complex_step"], mass), name, floor=floor)
    undone = convention.convert(moved, at=there, to_dtau=True)
    for name, x, y in zip(moved._fields, undone, forward, strict=True):
        assert_close(x, y, 2 * TOLERANCE["identity"], f"{name} back", floor=floor)


@each_convention
@pytest.mark.parametrize("name", ROBOTS)
class TestRobots:
    def test_states_and_torques(self, name: str, kind: str) -> None:
        check_state(kind, robot(name), seed=1)

    def test_derivatives(self, name: str, kind: str) -> None:
        check_derivatives(kind, robot(name), seed=2)


@each_convention
@pytest.mark.parametrize("axes", ["mixed", "world"])
@pytest.mark.parametrize("name", [FREE_ROOT, "joints that mimic others"])
def test_derivatives_with_wrenches_along_world_axes(name: str, axes: str, kind: str) -> None:
    """What the wrenches keep to is the same in every convention."""
    check_derivatives(kind, robot(name), seed=3, axes=axes)


@each_convention
@given(trees(), SEEDS)
def test_states_and_torques(kind: str, tree: Tree, seed: int) -> None:
    check_state(kind, tree.model(), seed)


@each_convention
@given(trees(max_bodies=5), SEEDS)
def test_derivatives(kind: str, tree: Tree, seed: int) -> None:
    check_derivatives(kind, tree.model(), seed)


def test_wrenches() -> None:
    model = robot("forest")
    s = random_state(model, 4, (3,))
    q, f_ext = s["q"], s["f_ext"]
    swapped = dtau.conventions.angular_first(model)
    got = swapped.convert(f_ext, of="f_ext", at={"q": q})
    assert_same_bits(got, np.concatenate([f_ext[..., 3:], f_ext[..., :3]], axis=-1))
    assert_same_bits(swapped.convert(got, of="f_ext", at={"q": q}, to_dtau=True), f_ext)
    for make in (dtau.conventions.mixed_twist, dtau.conventions.spatial_twist):
        assert_same_bits(make(model).convert(f_ext, of="f_ext", at={"q": q}), f_ext)
        assert_same_bits(make(model).convert(f_ext, of="f_ext", at={"q": q}, to_dtau=True), f_ext)


def test_parts_of_a_state() -> None:
    model = robot(FREE_ROOT)
    s = random_state(model, 9)
    for make in CONVENTIONS.values():
        convention = make(model)
        for convert in (convention.from_dtau, convention.to_dtau):
            whole = convert(s["q"], s["v"], s["a"])
            q, v, a = convert(s["q"])
            assert v is None
            assert a is None
            assert_same_bits(q, whole.q)
            _, v, a = convert(s["q"], s["v"])
            assert_same_bits(v, whole.v)
            assert a is None


def test_orders_are_immutable_and_are_tried_in_both_directions() -> None:
    convention = dtau.conventions.mixed_twist(robot("one revolute"))
    order = convention._maps.order
    with pytest.raises(AttributeError, match="a VelocityOrder is immutable"):
        order.__init__(np.arange(1))  # type: ignore[misc]
    vars(order)["_places"] = np.array([7])  # the way back, as a damaged pickle may have it
    with pytest.raises(ValueError, match="state"):
        pickle.loads(pickle.dumps(convention))


def test_free_joints_inside_the_tree_keep_their_twists() -> None:
    model = robot("forest")
    inner = [j for j in model.joints if type(j.type).__name__ == "Free" and j.parent >= 0]
    assert inner
    s = random_state(model, 12)
    for make in (dtau.conventions.mixed_twist, dtau.conventions.spatial_twist):
        v = make(model).from_dtau(s["q"], s["v"]).v
        for joint in inner:
            assert_same_bits(v[joint.v], s["v"][joint.v])


class TestErrors:
    model = robot(FREE_ROOT)

    def test_types(self) -> None:
        convention = dtau.conventions.mixed_twist(self.model)
        s = random_state(self.model, 16)
        q, v, a, tau = (s[name] for name in ("q", "v", "a", "tau"))
        inverse = dtau.inverse_dynamics_derivatives(self.model, q, v, a)
        with pytest.raises(TypeError, match="v: expected real numbers"):
            convention.from_dtau(q, v + 1j)
        with pytest.raises(ValueError, match="a: expected v with it"):
            convention.from_dtau(q, None, a)  # type: ignore[arg-type]
        at = {"q": q, "v": v, "a": a}
        said = r"^at: expected 'q', 'v', 'a', 'tau' to convert InverseDynamics.*, got no 'tau'"
        with pytest.raises(TypeError, match=said):
            convention.convert(inverse, at=at)
        with pytest.raises(TypeError, match=said):
            convention.convert(inverse, at=dtau.results.State(q, v, a))
        with pytest.raises(TypeError, match=r"^at: expected State or a dict of values by name"):
            convention.convert(inverse, at=(q, v, a, tau))  # type: ignore[call-overload]
        with pytest.raises(TypeError, match=r"^of: expected None, for InverseDyn.* its function"):
            convention.convert(inverse, of="tau", at=at)
        with pytest.raises(TypeError, match=r"^of: expected the function of dtau .*got None"):
            convention.convert(tau, at=at)  # type: ignore[type-var]
        with pytest.raises(TypeError, match=r"^of: expected the function of dtau .*got <built-in"):
            convention.convert(tau, of=max, at=at)
        with pytest.raises(ValueError, match=r"^of: expected a function, or one of 'J', "):
            convention.convert(tau, of="torque", at=at)
        with pytest.raises(TypeError, match=r"^result: expected ForwardDynamicsDerivatives"):
            convention.convert(tau, of=dtau.forward_dynamics_derivatives, at=at)
        with pytest.raises(TypeError, match=r"^result: there is no conversion of what step_hess"):
            convention.convert(tau, of=dtau.step_hessian, at=at)
        with pytest.raises(TypeError, match=r"^result: expected what .*State; from_dtau and"):
            convention.convert(dtau.results.State(q, v, a), at=at)
        for make in (
            dtau.conventions.mixed_twist,
            dtau.conventions.spatial_twist,
            dtau.conventions.angular_first,
        ):
            with pytest.raises(TypeError, match="model: expected Model, got int"):
                make(1)  # type: ignore[arg-type]
