"""The scalar that counts operations: the same results, and counts of the model's alone.

And of the contacts that hold: inactive ones are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from cases import State, random_state, robot, rows
from compare import TOLERANCE, assert_close, assert_same_results
from core import (
    INSTRUCTION_SETS,
    chosen_instruction_set,
    counting_core,
    take_counts,
    using_instruction_set,
)
from function import Function
from functions import FUNCTIONS, function_named
from selection import IN_FULL, in_turn
from trees import grow

import dtau

Counts = tuple[int, int, int]  # multiplications, additions, divisions

COUNTED = [f for f in FUNCTIONS if f.name in counting_core and f.name != "integrate"]
TWO_ROBOTS = ["every joint in a chain", "quadruped"]


@pytest.fixture(autouse=True)
def lowest() -> Iterator[None]:
    """The lowest instruction set, which the counting functions are compiled for."""
    with using_instruction_set(INSTRUCTION_SETS[-1]):
        take_counts()
        yield


def counts(function: Function, model: dtau.Model, state: State) -> Counts:
    """Count a call in which the first contact holds."""
    assert take_counts() == (0, 0, 0)
    state = {**state, "active": np.broadcast_to([1.0, 0.0], state["active"].shape)}
    function.in_core(counting_core, model, state)
    return take_counts()


def test_what_is_counted() -> None:
    """All but what only moves configurations: there, branches depend on angles."""
    names = {function.name for function in COUNTED}
    configurations = {"integrate", "difference", "normalize", "tangent_map"}
    configurations |= {"integrate_jacobians", "difference_jacobians"}
    assert names == {f.name for f in FUNCTIONS} - configurations


@pytest.mark.parametrize(("function", "name"), in_turn(COUNTED, TWO_ROBOTS, IN_FULL), ids=str)
def test_same_results(function: Function, name: str) -> None:
    model = robot(name)
    for batch in ((), (5,)):
        state = random_state(model, 1, batch)
        got = function.in_core(counting_core, model, state)
        want = function(model, state)
        if chosen_instruction_set() == "x86-64-v2":  # no fused multiply-adds, as when counting
            assert_same_results(got, want)
            continue
        for o, (x, y) in enumerate(zip(got, want, strict=True)):
            cond = function.steps * np.linalg.cond(dtau.mass_matrix(model, state["q"])).max()
            assert_close(
                x,
                y,
                TOLERANCE["long sums"] * float(cond) if function.solves else TOLERANCE["long sums"],
                f"result {o}",
                floor=function.floor(want),
            )


@pytest.mark.parametrize("function", COUNTED, ids=str)
@pytest.mark.parametrize("name", TWO_ROBOTS)
def test_counts(function: Function, name: str) -> None:
    """They are taken once, and no branch is on data: also not where everything is zero.

    Only what is solved must be divided.
    """
    model = robot(name)
    want = counts(function, model, random_state(model, 3))
    assert take_counts() == (0, 0, 0)
    multiplications, additions, divisions = want
    assert multiplications > 0
    assert additions > 0
    assert divisions > 0 or not function.solves
    assert counts(function, model, random_state(model, 4)) == want
    zero = {name: np.zeros_like(x) for name, x in random_state(model, 5).items()}
    zero["q"] = dtau.neutral(model)
    zero["targets"][..., 6] = 1.0
    assert counts(function, model, zero) == want


@pytest.mark.parametrize("function", [f for f in IN_FULL if f in COUNTED], ids=str)
def test_a_batch_counts_every_state(function: Function) -> None:
    model = robot("free root, branches")
    state = random_state(model, 6, (5,))
    one = counts(function, model, rows(state, 0))
    assert counts(function, model, state) == tuple(5 * n for n in one)


def chain(bodies: int) -> dtau.Model:
    return grow(["revolute"] * bodies, range(-1, bodies - 1), seed=7).model()


SIZES = ("q", "v", "b", "f", "z", "i", "j")
VECTORS = [  # contacts take the factors of the mass matrix
    function
    for function in COUNTED
    if "contacts" not in function.options
    and all(sum(n in SIZES for n in axes) == 1 for axes in function.results)
]
IN_TIME = [f for f in COUNTED if "_time_derivatives" in f.name and "order" not in f.options]
PRODUCTS = [f for f in COUNTED if re.fullmatch("(inverse|forward)_dynamics_[jv][vj]p", f.name)]


@pytest.mark.parametrize("function", VECTORS, ids=str)
def test_linear_in_the_number_of_bodies(function: Function) -> None:
    """All that give no matrix."""
    models = [chain(bodies) for bodies in (10, 20, 40)]
    small, middle, large = (
        np.array(counts(function, model, random_state(model, 8))) for model in models
    )
    np.testing.assert_array_equal(large - middle, 2 * (middle - small))


@pytest.mark.parametrize("function", IN_TIME, ids=str)
def test_at_most_quadratic_in_the_order(function: Function) -> None:
    """A polynomial of degree 2 with no negative coefficient grows at most fourfold."""
    model = robot("free root, branches")
    flops = []
    for length in (5, 10, 20):
        state = random_state(model, 11)
        for stack in (x for x in function.arguments if x.endswith("_derivatives")):
            motion = stack in ("v_derivatives", "dv_derivatives")
            extra = int(motion and "f_ext_derivatives" in function.arguments)
            state[stack] = np.ones((length + extra, *state[stack].shape[1:]))
        flops.append(sum(counts(function, model, state)))
    assert flops[0] < flops[1] < 4 * flops[0]
    assert flops[1] < flops[2] < 4 * flops[1]


@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics_derivatives"])
def test_quadratic_in_the_number_of_bodies_of_a_chain(name: str) -> None:
    """Third differences over equal steps vanish."""
    function = function_named(name)
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


@pytest.mark.parametrize("function", PRODUCTS, ids=str)
def test_products_take_little_more_than_two_of_the_plain_function(function: Function) -> None:
    """In world axes, where products are computed: in those of the bodies it takes fewer operations.

    Without wrenches, whose rotations would be counted too.
    """
    model = robot("quadruped")
    zeros = np.zeros(model.nv)
    q = dtau.neutral(model)
    plain = function.name.rpartition("_")[0]
    # Counted when the plain functions were computed in world axes, too.
    once = {"inverse_dynamics": 4724, "forward_dynamics": 9296}[plain]
    counting_core(plain, model, q, zeros, zeros)
    assert sum(take_counts()) < once
    vectors = [x for x in function.arguments[1:] if not x.endswith("f_ext")]
    counting_core(function.name, model, q, *[zeros] * len(vectors))
    assert sum(take_counts()) <= 2.2 * once
