"""Every function of `FUNCTIONS` with arguments that are wrong, odd, or right in disguise.

A case takes a right call and replaces one or two of its parts; `argument_laws` decides what must
happen. A new row of `FUNCTIONS` is fuzzed as it is.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from argument_laws import INTEGERS, MODELS, OPTIONS, SENSELESS, WRONG_ROOM, Call, outcome, room
from cases import FEW_ROBOTS, robot
from functions import FUNCTIONS
from odd_arrays import is_plain, mutated
from odd_values import choose

import dtau

ROBOTS = (*("one revolute", *FEW_ROBOTS, "quadruped"), "joints that mimic others")
BATCHES = ((), (), (1,), (3,), (2, 3), (19,), (0,), (0, 3))


def check(rng: np.random.Generator) -> str:
    """Make one call; return "result" or "refused", or raise AssertionError."""
    function = choose(rng, FUNCTIONS)
    model = robot(choose(rng, ROBOTS))
    batch = choose(rng, BATCHES)
    call = Call.right(function, model, int(rng.integers(2**32)), batch)
    for _ in range(rng.integers(1, 3)):
        change(rng, call, batch)
    return outcome(call, model)


def change(rng: np.random.Generator, call: Call, batch: tuple[int, ...]) -> None:
    """Replace one part of a call."""
    part = rng.choice(["array", "out", "threads", "option", "model"], p=[0.6, 0.2, 0.1, 0.07, 0.03])
    if part == "array":
        name = choose(rng, list(call.arrays))
        if is_plain(call.arrays[name]):
            value = mutated(rng, call.arrays[name])
            is_mask = isinstance(value, np.ndarray) and value.dtype == np.bool_
            if name != "inputs" or not is_mask:  # inputs of another kind
                call.arrays[name] = value
    elif part == "out" and part in call.takes:
        call.given[part] = results_for(rng, call, batch)
    elif part == "threads" and part in call.takes:
        call.given[part] = choose(rng, INTEGERS)
    elif part == "option" and call.options:
        name = choose(rng, list(call.options))
        value = choose(rng, OPTIONS[name].values if name in OPTIONS else SENSELESS)
        call.options[name] = value(call.model) if inspect.isfunction(value) else value
    elif part == "model":
        call.model = choose(rng, MODELS)


def results_for(rng: np.random.Generator, call: Call, batch: tuple[int, ...]) -> Any:
    """Room for results, most often right for the batch that was meant at first."""
    function, model = call.function, call.model
    if not isinstance(model, dtau.Model):
        return None
    arrays = [room(call, shape) for shape in function.shapes(model, batch)]
    at = int(rng.integers(len(arrays)))
    if rng.random() < 0.6 and arrays[at].ndim:
        arrays[at] = choose(rng, WRONG_ROOM)(rng, arrays[at], [*call.arrays.values(), *arrays])
    if len(arrays) == 1:
        return arrays[0] if rng.random() < 0.9 else tuple(arrays)
    return choose(rng, [tuple, tuple, tuple, list, lambda a: a[:-1], lambda a: a[0], iter])(arrays)
