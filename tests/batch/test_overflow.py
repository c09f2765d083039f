"""States whose numbers overflow have the same bits alone and in any batch, and spoil no other."""

from __future__ import annotations

import numpy as np
import pytest
from cases import CONFIGURATIONS, NEAR, State, random_state, robot, rows
from compare import assert_same_results
from core import INSTRUCTION_SETS, using_instruction_set
from function import Function
from functions import FUNCTIONS
from selection import IN_FULL, in_turn

import dtau

COUNT = 11  # states: whole vectors, and one that is not
ROBOTS = ("quadruped", "forest", NEAR, "every joint in a chain")
CASES = in_turn(FUNCTIONS, ROBOTS, IN_FULL)
OVERFLOWING = (1, 4, 5, 10)
KEPT = ("active", "inputs", "targets")  # arguments that have a range of their own
SLIDES = (dtau.Free, dtau.Prismatic, dtau.Planar, dtau.Cylindrical)


def overflow(model: dtau.Model, function: Function, state: State, seed: int) -> None:
    """Make one number of these states so large that products with it are not finite."""
    rng = np.random.default_rng(seed)
    lengths = [joint.q.start for joint in model.joints if isinstance(joint.type, SLIDES)]
    for i in OVERFLOWING:
        names = [name for name in function.arguments if name not in KEPT]
        name = rng.choice([x for x in names if lengths or x not in CONFIGURATIONS] or names)
        if name in CONFIGURATIONS and not lengths:
            continue
        numbers = np.atleast_1d(state[name][i]).ravel()
        at = rng.choice(lengths) if name in CONFIGURATIONS else rng.integers(numbers.size)
        numbers[at] = 10.0 ** rng.integers(120, 300)
        state[name][i] = numbers.reshape(state[name][i].shape)


@pytest.mark.parametrize(("function", "name"), CASES, ids=str)
@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
def test_overflow_is_the_same_alone_and_in_batches(
    function: Function, name: str, instruction_set: str
) -> None:
    model = robot(name)
    if function.solves and model.massless_joints:
        pytest.skip("the function refuses the robot")
    with using_instruction_set(instruction_set):
        for seed in range(2):
            state = random_state(model, seed, (COUNT,))
            healthy = function(model, state)
            overflow(model, function, state, seed)
            got = function(model, state)
            for i in range(COUNT):
                here = [x[i] for x in got]
                assert_same_results(function(model, rows(state, i)), here, f"state {i}, result")
                if i not in OVERFLOWING:
                    assert_same_results(here, [x[i] for x in healthy], f"neighbor {i}, result")
