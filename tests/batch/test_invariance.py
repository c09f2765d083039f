"""Invariance of results: to the place of a base, the layout of a batch, other callers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from cases import FEW_ROBOTS, NEAR, TREES, random_state, robot, rows, serial
from compare import assert_same_bits, assert_same_results
from function import INTEGRATORS, Function
from functions import FUNCTIONS, IN_BODY_AXES
from selection import ARGUMENTS, ARGUMENTS_IN_FULL, EACH, IN_FULL, in_turn
from trees import Array, Tree

import dtau

each_function = pytest.mark.parametrize("function", EACH, ids=str)


# Shapes and completeness


@each_function
def test_results_are_new_arrays(function: Function) -> None:
    model = robot(NEAR)
    state = random_state(model, 2)
    first = function(model, state)
    kept = [x.copy() for x in first]
    for x in first:
        assert x.flags.writeable
    second = function(model, random_state(model, 3))
    assert_same_results(first, tuple(kept), "after another call")
    for x in second:
        assert not any(np.shares_memory(x, y) for y in (*first, *state.values()))


@each_function
def test_arguments_are_never_written_to(function: Function) -> None:
    model = robot(NEAR)
    state = random_state(model, 4, (2,))
    before = {name: x.copy() for name, x in state.items()}
    function(model, state)
    for name, x in state.items():
        assert_same_bits(x, before[name], name)


# Free bases far away


@pytest.mark.parametrize("name", ["one free", "free root, branches", "forest", "quadruped"])
@pytest.mark.parametrize("function", [f for f in FUNCTIONS if not f.sees_positions], ids=str)
def test_moving_a_free_base_changes_no_bit(function: Function, name: str) -> None:
    model = robot(name)
    state = random_state(model, 5, (5,))
    want = function(model, state)
    bases = [j for j in model.joints if isinstance(j.type, dtau.Free) and j.parent < 0]
    assert bases
    rng = np.random.default_rng(6)
    for joint in bases:
        state["q"][:, joint.q.start : joint.q.start + 3] += 1e12 * rng.uniform(-1.0, 1.0, 3)
    assert_same_results(function(model, state), want)


@pytest.mark.parametrize("distance", [1e3, 1e6])
def test_moving_a_free_base_moves_positions_with_it(distance: float) -> None:
    model = robot("quadruped")
    state = random_state(model, 5)
    near = dtau.forward_kinematics(model, state["q"])
    shift = np.array([distance, -2.0 * distance, 0.5 * distance])
    state["q"][:3] += shift
    far = dtau.forward_kinematics(model, state["q"])
    assert_same_bits(far.rotation, near.rotation, "rotation")
    off = np.abs(far.translation - shift - near.translation)
    assert off.max() <= 4.0 * np.finfo(float).eps * np.abs(shift).max()


# Gantries far away, and what slides on them, also on each of several branches

GANTRIES = {
    "one joint": serial("prismatic", "helical", "revolute", "spherical", seed=31),
    "two joints": serial(
        "prismatic", "fixed", "prismatic", "cylindrical", "revolute", "universal", seed=32
    ),
    "three joints": serial(
        "prismatic", "prismatic", "prismatic", "planar", "revolute", "prismatic", seed=33
    ),
    "branches": TREES["gantry, branches"],
}
FREE = {name: TREES[name] for name in ("one free", "free root, branches", "forest")}
SLIDES = {"prismatic": 1, "cylindrical": 1, "planar": 2, "free": 3}  # lengths first in q
on_gantries = pytest.mark.parametrize("tree", GANTRIES.values(), ids=GANTRIES)


def near_and_far(tree: Tree) -> tuple[dtau.Model, dict[str, Array], dict[str, Array]]:
    """States of a robot, and the same when its gantry, and what slides on that, is 100 km away.

    Springs would feel it.
    """
    model = tree.model().replace(stiffness=0.0)
    near = random_state(model, 5, (5,))
    far = {**near, "q": near["q"].copy()}
    rng = np.random.default_rng(6)
    start = {joint.name: joint.q.start for joint in model.joints}
    gantry = {-1}  # the world, and bodies that never turn
    for i, body in enumerate(tree.bodies):
        if body.parent not in gantry:
            continue
        if body.kind in ("fixed", "prismatic"):
            gantry.add(i)
        for k in range(SLIDES.get(body.kind, 0)):
            far["q"][:, start[body.name] + k] += 1e5 * rng.uniform(0.5, 1.0)
    return model, near, far


def feels_springs(function: Function) -> bool:
    """Whether results are derivatives by stiffness, which springs that pull nothing have too."""
    return bool(function.options.get("joint_parameters"))


@on_gantries
@pytest.mark.parametrize(
    "function", [f for f in FUNCTIONS if not (f.sees_positions or feels_springs(f))], ids=str
)
def test_moving_a_gantry_changes_no_bit(function: Function, tree: Tree) -> None:
    model, near, far = near_and_far(tree)
    assert_same_results(function(model, far), function(model, near))


@pytest.mark.parametrize("tree", (GANTRIES | FREE).values(), ids=GANTRIES | FREE)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_moving_a_robot_changes_no_bit_of_a_step(integrator: str, tree: Tree) -> None:
    model, near, far = near_and_far(tree)
    results = []
    for s in (near, far):
        point = s["q"], s["v"], s["tau"], s["dt"]
        lin = dtau.linearize_discrete(model, *point, integrator, s["f_ext"])
        results.append((lin.A, lin.B, lin.v))
    assert_same_results(*results)


# Batches


SHORTER: dict[str, Callable[[Array], Array]] = {
    "one state": lambda x: x[0, 0],
    "axes of 1": lambda x: x[:1, :1],
    "the last axis": lambda x: x[0],
    "a last axis of 1": lambda x: x[:, :1],
    "an axis more": lambda x: x[np.newaxis, :1],
}


@pytest.mark.parametrize(
    ("function", "name", "cut"), in_turn(ARGUMENTS, SHORTER, ARGUMENTS_IN_FULL), ids=str
)
def test_broadcasting_of_every_argument(function: Function, name: str, cut: str) -> None:
    """One argument has the shorter batch, an axis of one, or none at all."""
    model = robot(NEAR)
    full = random_state(model, 8, (2, 3))
    state = {**full, name: SHORTER[cut](full[name])}
    cores = {n: full[n].shape[2:] for n in function.arguments}
    lead = np.broadcast_shapes(
        *(state[n].shape[: state[n].ndim - len(core)] for n, core in cores.items())
    )
    spread = {n: np.broadcast_to(state[n], lead + core).copy() for n, core in cores.items()}
    assert_same_results(function(model, state), function(model, spread))


# States that are not finite

# Rows that read all numbers of their arguments.
ON_ALL_NUMBERS = [f for f in IN_BODY_AXES if "order" not in f.options]
NOT_FINITE = list(product(FEW_ROBOTS, (np.nan, np.inf, -np.inf)))


@pytest.mark.parametrize(
    ("function", "where"), in_turn(ON_ALL_NUMBERS, NOT_FINITE, IN_FULL), ids=str
)
def test_a_state_that_is_not_finite_gives_nan_alone(
    function: Function, where: tuple[str, float]
) -> None:
    name, bad = where
    model = robot(name)
    clean = random_state(model, 14, (5,))
    want, rng = function(model, clean), np.random.default_rng(14)
    for argument in function.arguments:
        reads = function.reads(model, rows(clean, 2), argument)
        for at in rng.permutation(len(reads))[:12]:
            state = {key: x.copy() for key, x in clean.items()}
            state[argument].reshape(5, -1)[2, at] = bad
            alone = function(model, rows(state, 2))
            for i, (x, y) in enumerate(zip(function(model, state), want, strict=True)):
                what = f"result {i}, {argument}[2].flat[{at}] = {bad}"
                assert_same_bits(x[2], y[2] if not reads[at] else np.full_like(y[2], np.nan), what)
                assert_same_bits(np.delete(x, 2, 0), np.delete(y, 2, 0), what)
                assert_same_bits(alone[i], x[2], f"{what}, alone")
