"""Operations of the core, counted by the recorder, and the numbers of its recordings."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cases import State, random_state, robot
from compare import TOLERANCE, assert_close
from core import complex_core, counting_core, take_counts
from function import Function
from functions import FUNCTIONS, function_named
from selection import IN_FULL, in_turn
from trees import grow

import dtau

Counts = tuple[int, int, int]  # multiplications, additions, divisions

TWO_ROBOTS = ["joints that mimic others", "quadruped"]


def counts(function: Function, model: dtau.Model, state: State) -> Counts:
    take_counts()
    function.in_core(counting_core, model, state)
    return take_counts()


@pytest.mark.parametrize(("function", "name"), in_turn(FUNCTIONS, TWO_ROBOTS, IN_FULL), ids=str)
def test_recordings(function: Function, name: str) -> None:
    """Replays give the core's results, although the recorder is compiled with other flags.

    Counts are taken once, a batch has the counts of its states, and only what is solved must
    be divided.
    """
    model = robot(name)
    one = counts(function, model, random_state(model, 3))
    assert take_counts() == (0, 0, 0)
    multiplications, additions, divisions = one
    assert multiplications > 0
    assert additions > 0
    assert divisions > 0 or not function.solves
    assert counts(function, model, random_state(model, 6, (5,))) == tuple(5 * n for n in one)
    for batch in ((), (5,)):
        state = random_state(model, 1, batch)
        got = function.in_core(complex_core, model, state)
        want = function(model, state)
        for o, (x, y) in enumerate(zip(got, want, strict=True)):
            cond = function.steps * np.linalg.cond(dtau.mass_matrix(model, state["q"])).max()
            assert_close(
                x.real,
                y,
                TOLERANCE["long sums"] * float(cond) if function.solves else TOLERANCE["long sums"],
                f"result {o}",
                floor=function.floor(want),
            )


def chain(bodies: int) -> dtau.Model:
    return grow(["revolute"] * bodies, range(-1, bodies - 1), seed=7).model()


SIZES = ("nq", "nv", "nbodies", "nframes", "2 nv", "nparameters")
VECTORS = [  # contacts take the factors of the mass matrix
    function
    for function in FUNCTIONS
    if "contacts" not in function.options
    and all(sum(n in SIZES for n in axes) == 1 for axes in function.results)
]
IN_TIME = [f for f in FUNCTIONS if "_time_derivatives" in f.name and "order" not in f.options]
PRODUCTS = [f for f in FUNCTIONS if re.fullmatch("(inverse|forward)_dynamics_[jv][vj]p", f.name)]


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
    names = {
        *("gravity_torque", "bias_torque", "inverse_dynamics", "inverse_dynamics_derivatives"),
        *("forward_dynamics_derivatives", "mass_matrix", "mass_matrix_inverse"),
    }
    flops = {x: sum(counts(function_named(x), model, state)) for x in names}
    assert flops["gravity_torque"] <= flops["bias_torque"] <= flops["inverse_dynamics"]
    assert flops["inverse_dynamics"] < flops["inverse_dynamics_derivatives"]
    assert flops["inverse_dynamics_derivatives"] < flops["forward_dynamics_derivatives"]
    assert flops["mass_matrix"] < flops["mass_matrix_inverse"]


@pytest.mark.parametrize("function", PRODUCTS, ids=str)
def test_products_take_little_more_than_two_of_the_plain_function(function: Function) -> None:
    """In world axes, where products are computed: in bodies' axes it takes fewer operations.

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
