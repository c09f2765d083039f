"""How far time derivatives go: lengths of stacks, and `order`, which cuts longer ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cases import FEW_ROBOTS, NEAR, State, lone, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_results
from core import complex_core
from function import Function
from functions import FUNCTIONS
from messages import has_words, message
from selection import adding, in_turn, signature
from trees import Array

import dtau

IN_TIME = [f for f in FUNCTIONS if "_time_derivatives" in f.name and "order" not in f.options]
IN_FULL = adding(IN_TIME, signature)
in_time = pytest.mark.parametrize("function", IN_TIME, ids=str)
ROBOTS = [*FEW_ROBOTS, "joints that mimic others"]
LONG = 7  # rows of all stacks


def stacks_of(function: Function) -> list[str]:
    return [name for name in function.arguments if name.endswith("_derivatives")]


def axis_of(name: str) -> int:
    """The stack's axis."""
    return -3 if "f_ext" in name else -2


def needed(function: Function, name: str, order: int) -> int:
    """The rows of a stack that results of this order need."""
    return order + function.rows_beyond_the_order(name)


def orders(function: Function) -> range:
    """The orders that stacks of `LONG` rows suffice for."""
    return range(LONG + 1 - max(needed(function, name, 0) for name in stacks_of(function)))


def long_state(function: Function, model: dtau.Model, shape: tuple[int, ...] = ()) -> State:
    state, rng = random_state(model, 1, shape), np.random.default_rng(2)
    for name in stacks_of(function):
        core = state[name].shape[len(shape) + 1 :]
        state[name] = rng.uniform(-1.0, 1.0, (*shape, LONG, *core))
    return state


def with_stacks(function: Function, state: State, change: Callable[[str, Array], Any]) -> State:
    return {**state, **{name: change(name, state[name]) for name in stacks_of(function)}}


def cut(function: Function, state: State, order: int) -> State:
    """Stacks that are just long enough."""
    return with_stacks(
        function, state, lambda name, x: x.take(range(needed(function, name, order)), axis_of(name))
    )


def exact(function: Function, model: dtau.Model, state: State, order: int) -> tuple[Array, ...]:
    """The results for these; stacks that are empty do not say their order."""
    state = cut(function, state, order)
    empty = any(state[name].size == 0 for name in stacks_of(function))
    return function(model, state, **({"order": 0} if empty else {}))


def spoilt(function: Function, state: State, order: int) -> State:
    """Stacks that hold NaN where nothing is to be read."""

    def spoil(name: str, x: Array) -> Array:
        x = x.copy()
        np.moveaxis(x, axis_of(name), 0)[needed(function, name, order) :] = np.nan
        return x

    return with_stacks(function, state, spoil)


# Longer stacks


@pytest.mark.parametrize(("function", "name"), in_turn(IN_TIME, ROBOTS, IN_FULL), ids=str)
def test_longer_stacks_are_cut(function: Function, name: str) -> None:
    model = robot(name)
    for shape in ((), (1,), (19,), (2, 3)):
        state = long_state(function, model, shape)
        for order in orders(function):
            want = exact(function, model, state, order)
            assert all(np.isfinite(x).all() for x in want)
            spoilt_state = spoilt(function, state, order)
            what = f"order {order} of {shape}"
            assert_same_results(function(model, spoilt_state, order=order), want, what)
            out = [np.full(x.shape, np.nan) for x in want]
            into = out[0] if len(out) == 1 else out
            got = function(model, spoilt_state, order=np.int64(order), out=into, threads=2)
            assert_same_results(got, want, what)
            assert all(x is y for x, y in zip(got, out, strict=True))


@in_time
def test_longer_stacks_of_complex_numbers(function: Function) -> None:
    model = robot(NEAR)
    state = long_state(function, model)
    options = function.options_for(model)

    def in_complex(state: State, order: int) -> tuple[Array, ...]:
        arrays = (state[name] for name in function.arguments)
        got = complex_core(function.name, model, *arrays, **options, order=order)
        return tuple(got) if isinstance(got, tuple) else (got,)

    for order in orders(function):
        want = in_complex(cut(function, state, order), order)
        for x, y in zip(in_complex(state, order), want, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", ROBOTS)
def test_order_0_needs_no_velocity(name: str) -> None:
    model = robot(name)
    for shape in ((), (5,)):
        q, none = random_state(model, 4, shape)["q"], np.zeros((*shape, 0, model.nv))
        M = dtau.mass_matrix_time_derivatives(model, q, none, order=0)
        want = dtau.mass_matrix(model, q)[..., None, :, :]
        assert_close(M, want, TOLERANCE["short sums"], "M", floor=1.0)
        g = dtau.gravity_torque_time_derivatives(model, q, none, order=0)
        np.testing.assert_array_equal(g, dtau.gravity_torque(model, q)[..., None, :])
        k = dtau.kinematics_time_derivatives(model, q, none, order=0)
        placements = dtau.forward_kinematics(model, q)
        for x, y in zip(k, placements, strict=False):
            assert_close(x, np.expand_dims(y, len(shape)), TOLERANCE["rounding"], "pose")
        assert k.twist.shape == (*shape, 0, model.nbodies, 6)


@pytest.mark.parametrize("order", [0, 1, 5, 12, 20])
def test_high_orders(order: int) -> None:
    """A pendulum that swings as sin t: the torque in closed form."""
    inertia = dtau.Inertia(2.0, (0.0, 0.0, -0.5), np.diag([0.1, 0.2, 0.3]))
    of_joint = {"gravity": (0.0, 0.0, 0.0), "armature": 0.05, "damping": 0.7}
    model = lone(dtau.Revolute((0, 1, 0)), inertia=inertia, **of_joint)
    phases = 0.3 + 0.5 * np.pi * np.arange(order + 2)
    v = np.cos(phases)[:, np.newaxis]  # derivatives of sin t at t = 0.3
    tau = dtau.inverse_dynamics_time_derivatives(model, [np.sin(0.3)], v)
    want = (0.2 + 2.0 * 0.25 + 0.05) * v[1:] + 0.7 * v[:-1]
    assert_close(tau, want, TOLERANCE["identity"], "tau")
    a = dtau.forward_dynamics_time_derivatives(model, [np.sin(0.3)], v[0], want)
    assert_close(a, v[1:], TOLERANCE["identity"], "a")


# What is refused


@in_time
def test_stacks_that_are_too_short_for_an_order(function: Function) -> None:
    """The message names the length that is needed, also where other axes are wrong."""
    model = robot(NEAR)
    state = long_state(function, model, (2,))
    for order in (1, 3, 100):
        for name in stacks_of(function):
            least = needed(function, name, order)
            long = with_stacks(function, state, lambda name, x: x.repeat(20, axis_of(name)))
            short = long[name].take(range(least - 1), axis_of(name))
            for wrong in (short, long[name][..., :-1]):
                said = message(ValueError, function, model, {**long, name: wrong}, order=order)
                shape = ", ".join(map(str, wrong.shape))
                assert said.startswith(f"{name} has shape ({shape}), expected (..., n, "), said
                assert f"with n = {least} or more: the value and" in said, said
                assert said.endswith(f"for order {order}"), said
            # What is long enough, or too long without an order:
            rows = [x.shape[1] for x in function(model, long, order=order)]
            assert (rows[-1] if function.name.endswith("_vjp") else rows[0]) == order + 1
    has_words(message(ValueError, function, model, long), "at most")


@in_time
def test_a_stack_has_an_axis_of_its_own(function: Function) -> None:
    model = robot(NEAR)
    state = long_state(function, model)
    for name in stacks_of(function):
        wrong = {**state, name: state[name][0]}
        said = message(ValueError, function, model, wrong, order=0)
        has_words(said, name, f"n = {needed(function, name, 0)} or more")


def test_a_batch_is_never_read_as_a_stack() -> None:
    """A stack with the shape that a batch of its first rows has is refused, whatever the order."""
    model = robot("quadruped")
    q, v, a = dtau.random_state(model, np.random.default_rng(1), shape=(12,))
    for function in (dtau.frame_jacobians_time_derivatives, dtau.frame_kinematics_time_derivatives):
        for order in (None, 0, 1, 5):
            with pytest.raises(ValueError, match=r"v_derivatives has shape \(12, 18\)") as caught:
                function(model, q, v, "LF_FOOT", order=order)
            has_words(
                str(caught.value), "batch", "(12,)", "of q", "v[:, None]", "v_derivatives[None]"
            )
    one_each = dtau.frame_jacobians_time_derivatives(model, q, v[:, None], "LF_FOOT")
    assert one_each.shape == (12, 2, 6, 18)
    for_all = dtau.frame_jacobians_time_derivatives(model, q, v[None], "LF_FOOT")
    assert for_all.shape == (12, 13, 6, 18)
    want = dtau.frame_jacobians_time_derivatives(model, q[3], v, "LF_FOOT")
    assert_same_results((for_all[3],), (want,))
    with pytest.raises(ValueError, match=r"tau_derivatives has shape \(12, 18\).*tau\[:, None\]"):
        dtau.forward_dynamics_time_derivatives(model, q, v, a)
    said = r"expected a stack .* of v: give a batch as tau\[:, None\]"
    with pytest.raises(ValueError, match=said):
        dtau.forward_dynamics_time_derivatives(model, q[0], v, a)
    grid = q.reshape(3, 4, -1), v.reshape(3, 4, -1)
    with pytest.raises(ValueError, match=r"beside the batch \(3, 4\) of q"):
        dtau.mass_matrix_time_derivatives(model, *grid)


def test_one_row_for_a_batch_of_one() -> None:
    """A batch of one velocity and a stack of one row are the same."""
    model = robot("quadruped")
    q, v, _ = dtau.random_state(model, np.random.default_rng(2), shape=(1,))
    got = dtau.mass_matrix_time_derivatives(model, q, v)
    want = dtau.mass_matrix_time_derivatives(model, q, v[:, None])
    assert got.shape == (1, 2, model.nv, model.nv)
    assert_same_results((got,), (want,))


@in_time
def test_orders_above_20_need_order(function: Function) -> None:
    """Orders above 20 need `order`, as so long a stack is most likely a batch."""
    model = robot(NEAR)
    state = long_state(function, model)
    first = stacks_of(function)[0]
    for order in (20, 21):
        rows = {name: needed(function, name, order) for name in stacks_of(function)}
        given = with_stacks(function, state, lambda name, x: x.repeat(9, axis_of(name)))
        given = with_stacks(
            function,
            given,
            lambda name, x: x.take(range(rows[name]), axis_of(name)),  # noqa: B023
        )
        asked = function(model, given, order=order)
        if order == 20:
            assert_same_results(function(model, given), asked)
            continue
        said = message(ValueError, function, model, given)
        batch = f"{first.removesuffix('_derivatives')}[:, None]"
        has_words(said, first, f"n = at most {rows[first] - 1} unless order=", batch)


BAD: list[tuple[Callable[[dtau.Model, Any], Any], str]] = [
    (
        lambda m, s: dtau.inverse_dynamics_time_derivatives(m, s["q"], [s["v"]]),
        r"v_derivatives has shape \(1, 14\), .* n = 2 or more: a stack of the value and its time",
    ),
    (
        lambda m, s: dtau.inverse_dynamics_time_derivatives(
            m, s["q"], s["v_derivatives"], s["f_ext_derivatives"][[0, 1, 2, 2]]
        ),
        r"f_ext_derivatives has shape \(4, 7, 6\), .* n = 3, to match the stack before it",
    ),
    (
        lambda m, s: dtau.hybrid_dynamics_time_derivatives(
            m, s["q"], s["v"], s["a_derivatives"], s["tau_derivatives"][1:], []
        ),
        r"tau_derivatives has shape \(2, 14\), .* n = 3, to match the stack before it",
    ),
]


@pytest.mark.parametrize(("call", "said"), BAD)
def test_wrong_stacks(call: Callable[[dtau.Model, Any], Any], said: str) -> None:
    model = robot("free root, branches")
    assert (model.nv, model.nbodies) == (14, 7)
    with pytest.raises(ValueError, match=said):
        call(model, random_state(model, 12))
