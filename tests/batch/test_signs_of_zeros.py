"""The sign of a zero is the same alone and in a batch: robots whose results are full of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import lone, rows
from compare import assert_same_bits, assert_same_results
from core import INSTRUCTION_SETS, using_instruction_set
from function import Function
from functions import FUNCTIONS
from layouts import every_other
from selection import IN_FULL, in_turn
from zeros import axis_parallel_robot, state_of_zeros

import dtau

COUNT = 11  # states: whole vectors, and one that is not
TRIPLES = [range(first, 24, 8) for first in range(8)]  # of robots
CASES = in_turn(FUNCTIONS, TRIPLES, IN_FULL)


@pytest.mark.parametrize(("function", "robots"), CASES, ids=str)
@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
def test_signs_of_zeros_are_the_same_alone_and_in_batches(
    function: Function, robots: range, instruction_set: str
) -> None:
    """Alone, in a batch, with threads and in other memory."""
    with using_instruction_set(instruction_set):
        for seed in robots:
            model = axis_parallel_robot(seed)
            if function.solves and model.massless_joints:
                continue
            state = state_of_zeros(model, seed, COUNT)
            want = function(model, state)
            for i in (0, 3, 7, 10):
                got = function(model, rows(state, i))
                assert_same_results(got, [x[i] for x in want], f"robot {seed}, state {i}, result")
            assert_same_results(function(model, state, threads=2), want, f"robot {seed}, threads")
            strided = {name: every_other(x) for name, x in state.items()}
            assert_same_results(function(model, strided), want, f"robot {seed}, strided")


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@pytest.mark.parametrize("regularization", [0.0, 1e-6, 1.0])
def test_a_welded_body_that_no_torque_moves(regularization: float, instruction_set: str) -> None:
    """On the diagonal of da/dtau, too: a lone state has minus the identity for right sides."""
    builder = dtau.ModelBuilder("welded")
    inertia = dtau.Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3))
    builder.add(dtau.Free(), name="base", inertia=inertia)
    builder.add(dtau.Prismatic((1, 0, 0)), name="slide", parent="base", inertia=inertia)
    model = builder.build()
    contacts = dtau.Contacts(model, [dtau.FrameContact("base")])
    q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    v, tau = np.zeros((2, model.nv))
    with using_instruction_set(instruction_set):
        for call in (
            dtau.constrained_dynamics_derivatives,
            dtau.impulse_dynamics_derivatives,
            dtau.linearize,
        ):
            rest = () if call is dtau.impulse_dynamics_derivatives else (tau,)
            options: dict[str, Any] = {"contacts": contacts, "regularization": regularization}
            batch = call(model, np.tile(q, (COUNT, 1)), v, *rest, **options)
            alone = call(model, q, v, *rest, **options)
            for i in range(COUNT):
                assert_same_results([x[i] for x in batch], alone, f"{call.__name__}, state {i}")


def test_gravity_with_zeros_of_a_negative_sign() -> None:
    """GCC folds -(a b + c) into (-a) b - c for numbers, and not for vectors."""
    inertia = dtau.Inertia(1.0, (0.1, 0.2, 0.3), np.eye(3))
    model = lone(dtau.Cylindrical((0, -1, 0)), gravity=(-9.81, -0.0, -0.0), inertia=inertia)
    q, v = np.array([0.3, 0.4]), np.ones((3, 2))
    alone = dtau.gravity_torque_time_derivatives(model, q, v)
    batch = dtau.gravity_torque_time_derivatives(model, np.tile(q, (5, 1)), v)
    for got in batch:
        assert_same_bits(got, alone)
