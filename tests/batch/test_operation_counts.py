"""The scalar that counts operations: the same results, and counts of the model's alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from cases import (
    FUNCTIONS,
    ROBOTS,
    Function,
    State,
    assert_close,
    assert_same_results,
    random_state,
    robot,
    rows,
)
from trees import grow

import dtau
from dtau import _core

Counts = tuple[int, int, int]  # multiplications, additions, divisions

COUNTED = [f for f in FUNCTIONS if hasattr(_core.counting, f.name) and f.name != "integrate"]
everywhere = pytest.mark.parametrize("function", COUNTED, ids=str)
on_robots = pytest.mark.parametrize("name", ROBOTS)


@pytest.fixture(autouse=True)
def lowest() -> Iterator[None]:
    """The lowest instruction set, which the counting functions are compiled for."""
    before = _core.instruction_set()
    _core.use_instruction_set(_core.instruction_sets()[-1])
    _core.counting.take()
    yield
    _core.use_instruction_set(before)


def counts(function: Function, model: dtau.Model, state: State) -> Counts:
    assert _core.counting.take() == (0, 0, 0)
    function.in_core(_core.counting, model, state)
    return _core.counting.take()


def test_what_is_counted() -> None:
    """All but what only moves configurations: there, branches depend on angles."""
    names = {function.name for function in COUNTED}
    assert names == {f.name for f in FUNCTIONS} - {"integrate", "difference", "normalize"}


@everywhere
@on_robots
def test_same_results(function: Function, name: str) -> None:
    model = robot(name)
    for batch in ((), (5,)):
        state = random_state(model, 1, batch)
        got = function.in_core(_core.counting, model, state)
        want = function(model, state)
        if _core.instruction_set() == "x86-64-v2":  # no fused multiply-adds, as when counting
            assert_same_results(got, want)
            continue
        for o, (x, y) in enumerate(zip(got, want, strict=True)):
            cond = np.linalg.cond(dtau.mass_matrix(model, state["q"])).max()
            assert_close(x, y, 1e-13 * float(cond) if function.solves else 1e-13, f"result {o}")


@everywhere
@on_robots
def test_counts_are_positive_and_taken_once(function: Function, name: str) -> None:
    model = robot(name)
    multiplications, additions, divisions = counts(function, model, random_state(model, 2))
    assert _core.counting.take() == (0, 0, 0)
    if name == "one prismatic" or model.nbodies == 1:
        assert min(multiplications, additions, divisions) >= 0
    else:
        assert multiplications > 0
        assert additions > 0
        assert divisions >= 0
    if function.solves:
        assert divisions > 0


@everywhere
@on_robots
def test_counts_do_not_depend_on_the_state(function: Function, name: str) -> None:
    """No branch on data: also not where everything is zero."""
    model = robot(name)
    want = counts(function, model, random_state(model, 3))
    assert counts(function, model, random_state(model, 4)) == want
    zero = {name: np.zeros_like(x) for name, x in random_state(model, 5).items()}
    zero["q"] = dtau.neutral(model)
    assert counts(function, model, zero) == want


@everywhere
def test_a_batch_counts_every_state(function: Function) -> None:
    model = robot("free root, branches")
    state = random_state(model, 6, (5,))
    one = counts(function, model, rows(state, 0))
    assert counts(function, model, state) == tuple(5 * n for n in one)


def chain(bodies: int) -> dtau.Model:
    return grow(["revolute"] * bodies, range(-1, bodies - 1), seed=7).model()


PRODUCTS = tuple(f"{y}_dynamics_{p}" for y in ("inverse", "forward") for p in ("jvp", "vjp"))
IN_TIME = tuple(
    f"{x}_time_derivatives"
    for x in ("inverse_dynamics", "forward_dynamics", "bias_torque", "gravity_torque", "kinematics")
)
LINEAR = ("inverse_dynamics", "forward_dynamics", "bias_torque", "gravity_torque")


@pytest.mark.parametrize("name", [*LINEAR, *PRODUCTS, *IN_TIME, "forward_kinematics"])
def test_linear_in_the_number_of_bodies(name: str) -> None:
    function = next(f for f in COUNTED if f.name == name)
    models = [chain(bodies) for bodies in (10, 20, 40)]
    small, middle, large = (
        np.array(counts(function, model, random_state(model, 8))) for model in models
    )
    np.testing.assert_array_equal(large - middle, 2 * (middle - small))


@pytest.mark.parametrize("name", [*IN_TIME, "mass_matrix_time_derivatives"])
def test_at_most_quadratic_in_the_order(name: str) -> None:
    """A polynomial of degree 2 with no negative coefficient grows at most fourfold."""
    function = next(f for f in COUNTED if f.name == name)
    model = robot("free root, branches")
    flops = []
    for length in (6, 12, 24):
        state = random_state(model, 11)
        for stack in ("v_derivatives", "tau_derivatives", "f_ext_derivatives"):
            extra = 1 if stack == "v_derivatives" and name.startswith("inverse") else 0
            state[stack] = np.ones((length + extra, *state[stack].shape[1:]))
        flops.append(sum(counts(function, model, state)))
    assert flops[0] < flops[1] < 4 * flops[0]
    assert flops[1] < flops[2] < 4 * flops[1]


@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics_derivatives"])
def test_quadratic_in_the_number_of_bodies_of_a_chain(name: str) -> None:
    """Third differences over equal steps vanish."""
    function = next(f for f in COUNTED if f.name == name)
    models = [chain(bodies) for bodies in (10, 20, 30, 40)]
    numbers = np.array([counts(function, model, random_state(model, 9)) for model in models])
    np.testing.assert_array_equal(np.diff(numbers, 3, axis=0), 0)


def test_derivatives_of_inverse_dynamics_give_the_mass_matrix_for_less() -> None:
    """What the count is for: algorithms are compared by it."""
    model = robot("quadruped")
    state = random_state(model, 10)
    flops = {f.name: sum(counts(f, model, state)) for f in COUNTED}
    assert flops["gravity_torque"] <= flops["bias_torque"] <= flops["inverse_dynamics"]
    assert flops["inverse_dynamics"] < flops["inverse_dynamics_derivatives"]
    assert flops["inverse_dynamics_derivatives"] < flops["forward_dynamics_derivatives"]
    assert flops["mass_matrix"] < flops["mass_matrix_inverse"]


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_take_little_more_than_two_of_the_plain_function(name: str) -> None:
    """Without wrenches, whose rotations would be counted too."""
    model = robot("quadruped")
    zeros = np.zeros(model.nv)
    q = dtau.neutral(model)
    plain = name[: -len("_jvp")]
    given = 6 if name.endswith("jvp") else 4
    getattr(_core.counting, plain)(model, q, zeros, zeros, None)
    once = sum(_core.counting.take())
    vectors, absent = [zeros] * (given - 1), [None] * (2 if given == 6 else 1)
    getattr(_core.counting, name)(model, q, *vectors, *absent)
    assert sum(_core.counting.take()) <= 2.2 * once
