"""Conventions against their definitions, composed with the package's own algorithms.

`Textbook` writes each map of velocities out on its own, for complex numbers too, so that complex
steps of the composition give derivatives to compare with.
"""

from __future__ import annotations

import copy
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
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau.conventions.convention import Convention

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


@each_convention
def test_power_does_not_change(kind: str) -> None:
    model = robot("forest")
    s = random_state(model, 3, (5,))
    convention = CONVENTIONS[kind](model)
    v = convention.from_dtau(s["q"], s["v"]).v
    tau = convention.convert(s["tau"], of="tau", at={"q": s["q"]})
    power = (tau * v).sum(axis=-1)
    assert_close(power, (s["tau"] * s["v"]).sum(axis=-1), TOLERANCE["identity"], "power")


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


def test_mixed_then_angular_first() -> None:
    """Orders apply to what another convention gave, derivatives included."""
    model = robot(FREE_ROOT)
    s = random_state(model, 5)
    q, v, a = s["q"], s["v"], s["a"]
    tau = dtau.inverse_dynamics(model, q, v, a)
    mixed, order = dtau.conventions.mixed_twist(model), dtau.conventions.angular_first(model)
    d = mixed.convert(
        dtau.inverse_dynamics_derivatives(model, q, v, a), at={"q": q, "v": v, "a": a, "tau": tau}
    )
    torque = mixed.convert(tau, of=dtau.inverse_dynamics, at={"q": q})
    got = order.convert(d, at=mixed.from_dtau(q, v, a)._asdict() | {"tau": torque})
    swap = np.r_[3:6, 0:3, 6 : model.nv]
    for x, y in zip(got, d, strict=True):
        assert_same_bits(x, y[np.ix_(swap, swap)])


METHODS = {  # and their arguments; conversions by the array or the named tuple that is converted
    "from_dtau": ("q", "v", "a"),
    "to_dtau": ("q", "v", "a"),
    "tau": ("q",),
    "f_ext": ("q",),
    "inverse": ("q", "v", "a", "tau"),
    "forward": ("q", "v", "a", "tau"),
}
METHODS |= {f"{name} to dtau": METHODS[name] for name in ("tau", "f_ext", "inverse", "forward")}


def arguments(model: dtau.Model, seed: int, shape: tuple[int, ...] = ()) -> dict[str, Any]:
    s = random_state(model, seed, shape)
    rng = np.random.default_rng(seed)
    square = [rng.standard_normal((*shape, model.nv, model.nv)) for _ in range(3)]
    inverse = dtau.results.InverseDynamicsDerivatives(*square)
    return s | {"inverse": inverse, "forward": dtau.results.ForwardDynamicsDerivatives(*square)}


def results(convention: Convention, method: str, state: dict[str, Any]) -> list[Array]:
    at = {name: state[name] for name in METHODS[method]}
    kind = method.removesuffix(" to dtau")
    out: Any
    if hasattr(convention, method):
        out = getattr(convention, method)(**at)
    elif kind in ("tau", "f_ext"):
        out = convention.convert(state[kind], of=kind, at=at, to_dtau=kind != method)
    else:
        out = convention.convert(state[kind], at=at, to_dtau=kind != method)
    return list(out) if isinstance(out, tuple) else [out]


@each_convention
@pytest.mark.parametrize("method", METHODS)
def test_conversions_of_batches_agree_with_lone_states(kind: str, method: str) -> None:
    """A batch gives what its states give alone, axes broadcast, and none of them is enough."""
    model = robot(FREE_ROOT)
    convention = CONVENTIONS[kind](model)
    state = arguments(model, 6, (2, 3))
    got = results(convention, method, state)
    for at in np.ndindex(2, 3):
        alone = {
            name: type(x)(*(y[at] for y in x)) if isinstance(x, tuple) else x[at]
            for name, x in state.items()
        }
        for x, y in zip(got, results(convention, method, alone), strict=True):
            assert_close(x[at], y, TOLERANCE["rounding"], f"{method} at {at}", floor=1.0)

    one = random_state(model, 7)["q"]
    spread = results(convention, method, state | {"q": one})
    want = results(convention, method, state | {"q": np.broadcast_to(one, (2, 3, model.nq))})
    for x, y in zip(spread, want, strict=True):
        assert_same_bits(x, y, f"{method} with one q")

    empty = arguments(model, 8, (0, 3))
    for x, y in zip(results(convention, method, empty), got, strict=True):
        assert x.shape == (0, *y.shape[1:])


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


def test_results_are_new_arrays() -> None:
    model = robot("one revolute")
    q, v = np.array([0.5]), np.array([2.0])
    got = dtau.conventions.mixed_twist(model).from_dtau(q, v)
    for x, y in zip(got[:2], (q, v), strict=True):
        assert not np.shares_memory(x, y)
        assert x.flags.writeable


def test_nan_spoils_only_its_own_state() -> None:
    model = robot(FREE_ROOT)
    state = arguments(model, 10, (3,))
    bad = copy.deepcopy(state)
    bad["q"][1] = np.nan
    for kind in CONVENTIONS:
        convention = CONVENTIONS[kind](model)
        for method in METHODS:
            want, got = (results(convention, method, x) for x in (state, bad))
            for x, y in zip(got, want, strict=True):
                assert_same_bits(x[[0, 2]], y[[0, 2]], method)
        assert np.isnan(convention.from_dtau(bad["q"]).q[1]).all()


@each_convention
def test_pickle_and_copy(kind: str) -> None:
    model = robot(FREE_ROOT)
    convention = CONVENTIONS[kind](model)
    state = arguments(model, 11, (2,))
    for other in (pickle.loads(pickle.dumps(convention)), copy.deepcopy(convention)):
        assert repr(other) == repr(convention)
        assert other.model == model
        for method in METHODS:
            want = results(convention, method, state)
            for x, y in zip(results(other, method, state), want, strict=True):
                assert_same_bits(x, y, method)
    with pytest.raises(AttributeError, match="immutable"):
        convention.name = "other"  # type: ignore[misc]


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

    @pytest.mark.parametrize("method", METHODS)
    def test_wrong_shapes(self, method: str) -> None:
        convention = dtau.conventions.mixed_twist(self.model)
        state = arguments(self.model, 13)
        kind = method.removesuffix(" to dtau")
        for name in (*METHODS[method], *((kind,) if kind in state else ())):
            label = "result" if name == kind else name
            if isinstance(state[name], tuple):
                parts = [state[name][0][:-1], *state[name][1:]]
                changed, label = type(state[name])(*parts), f"{label}.{state[name]._fields[0]}"
            else:
                changed = state[name][..., :-1]
            with pytest.raises(ValueError, match=rf"^{label} has shape .*expected \(\.\.\., "):
                results(convention, method, state | {name: changed})

    @pytest.mark.parametrize("method", METHODS)
    def test_batches_that_do_not_fit(self, method: str) -> None:
        convention = dtau.conventions.mixed_twist(self.model)
        state = arguments(self.model, 14, (2,)) | {"q": random_state(self.model, 14, (3,))["q"]}
        with pytest.raises(ValueError, match=r"do not broadcast.*q \(3,\).* \(2,\)"):
            results(convention, method, state)

    @pytest.mark.parametrize("axes", [32, 33])
    def test_many_batch_axes(self, axes: int) -> None:
        convention = dtau.conventions.mixed_twist(self.model)
        s = random_state(self.model, 17)
        q = s["q"].reshape((1,) * axes + s["q"].shape)
        if axes == 32:
            assert (
                convention.convert(s["tau"], of="tau", at={"q": q}).shape
                == (1,) * 32 + s["tau"].shape
            )
            return
        with pytest.raises(ValueError, match=r"^q has 33 batch axes, expected at most 32"):
            convention.convert(s["tau"], of="tau", at={"q": q})

    @pytest.mark.parametrize("method", METHODS)
    def test_quaternions(self, method: str) -> None:
        convention = dtau.conventions.mixed_twist(self.model)
        state = arguments(self.model, 15, (2,))
        state["q"][1, 3:7] *= 1.01
        with pytest.raises(ValueError, match=r"quaternion of joint 'free0' at batch index \(1,\)"):
            results(convention, method, state)

    def test_types(self) -> None:
        convention = dtau.conventions.mixed_twist(self.model)
        state = arguments(self.model, 16)
        q, v, a, tau = (state[name] for name in ("q", "v", "a", "tau"))
        with pytest.raises(TypeError, match="v: expected real numbers"):
            convention.from_dtau(q, v + 1j)
        with pytest.raises(ValueError, match="a: expected v with it"):
            convention.from_dtau(q, None, a)  # type: ignore[arg-type]
        at = {"q": q, "v": v, "a": a}
        said = r"^at: expected 'q', 'v', 'a', 'tau' to convert InverseDynamics.*, got no 'tau'"
        with pytest.raises(TypeError, match=said):
            convention.convert(state["inverse"], at=at)
        with pytest.raises(TypeError, match=said):
            convention.convert(state["inverse"], at=dtau.results.State(q, v, a))
        with pytest.raises(TypeError, match=r"^at: expected State or a dict of values by name"):
            convention.convert(state["inverse"], at=(q, v, a, tau))  # type: ignore[call-overload]
        with pytest.raises(TypeError, match=r"^of: expected None, for InverseDyn.* its function"):
            convention.convert(state["inverse"], of="tau", at=at)
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
