"""The compiled core as tests call it: past the package's functions, and in all its forms.

The only file of the tests that knows where these forms are and how the core takes options.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from replay import Counters, Replays

from dtau import _core
from dtau.functions.dynamics import prescribed_mask
from dtau.registry import FUNCTIONS

Tree = _core.Tree
INSTRUCTION_SETS = tuple(_core.instruction_sets())  # the best first


class Core:
    """The core's functions for one type of numbers, by the names of the public ones."""

    def __init__(self, module: Any, dtype: type) -> None:
        self.module, self.dtype = module, dtype

    def __contains__(self, name: str) -> bool:
        return hasattr(self.module, name)

    def __call__(self, name: str, model: Any, *arrays: ArrayLike | None, **options: Any) -> Any:
        """The function of arrays in the public order; those left out at the end are None."""
        names = [array.name for array in FUNCTIONS[name].inputs]
        given = dict(zip(names, arrays, strict=False))
        taken = {x: np.asarray(y, self.dtype) for x, y in given.items() if y is not None}
        if "prescribed" in options:
            options["prescribed"] = prescribed_mask(model, options["prescribed"])
        return getattr(self.module, name)(model, **taken, **options)


real_core = Core(_core, float)
alone_core = Core(_core.alone, float)  # one state after the other, never in vectors
complex_core = Core(Replays(), complex)
counting = Counters()
counting_core = Core(counting, float)


def take_counts() -> tuple[int, int, int]:
    """Multiplications, additions and divisions of `counting_core` since the last time."""
    return counting.take()


def chosen_instruction_set() -> str:
    return _core.instruction_set()


def use_instruction_set(name: str) -> None:
    _core.use_instruction_set(name)


@contextmanager
def using_instruction_set(name: str) -> Iterator[None]:
    before = chosen_instruction_set()
    use_instruction_set(name)
    try:
        yield
    finally:
        use_instruction_set(before)


def stores() -> str:
    """How results leave lanes, as ``DTAU_STORES`` says it."""
    return _core.stores()


@contextmanager
def using_stores(text: str) -> Iterator[None]:
    before = stores()
    _core.use_stores(text)
    try:
        yield
    finally:
        _core.use_stores(before)


def memory_limit(root: str) -> tuple[float, float]:
    """Bytes of the least limit of control groups under `root`, and the least that is left."""
    limit: tuple[float, float] = _core.memory_limit(root)
    return limit
