"""Every function with time derivatives by their law, on all robots and on trees."""

from __future__ import annotations

import pytest
from cases import ROBOTS, robot
from hypothesis import given, settings
from hypothesis import strategies as st
from rate_laws import FREE, ROUNDING, Motion, check, switches
from trees import SEEDS, Tree, trees

from dtau.registry import FUNCTIONS

each_function = pytest.mark.parametrize("function", FREE)


def orders(name: str) -> tuple[int, int]:
    """Order 1 is compiled for itself; errors grow with the orders of what is solved for."""
    return (1, 3) if FUNCTIONS[name].solves else (1, 5) if "frame" in name else (1, 6)


@pytest.mark.parametrize("name", ROBOTS)
@each_function
def test_robots(function: str, name: str) -> None:
    for options in switches(function, robot(name), 2):
        for order in orders(function):
            check(Motion(function, robot(name), 2, order, **options))


@each_function
@given(tree=trees(), seed=SEEDS, wrenches=st.booleans(), order=st.integers(1, 8))
@settings(max_examples=60)
def test_trees(function: str, tree: Tree, seed: int, wrenches: bool, order: int) -> None:
    model = tree.model()
    every = list(switches(function, model, seed))
    order = min(order, 3) if FUNCTIONS[function].solves else order
    at = Motion(function, model, seed, order, wrenches, **every[seed % len(every)])
    # Frames that turn with a joint: products of velocities cancel.
    check(at, 1.0 if "frame" in function else 0.0, 2.0 * ROUNDING)
