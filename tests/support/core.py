"""The compiled core as tests call it: past the package's functions, and in all its forms.

The only file of the tests that knows where these forms are and how the core takes options.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import dtau
from dtau import _core
from dtau.functions import control_inputs, hybrid, kinematics

Tree = _core.Tree
INSTRUCTION_SETS = tuple(_core.instruction_sets())  # the best first
OPTIONS = ("frames", "frame", "prescribed", "axes", "integrator", "inputs", "symmetric", "packed")


class Core:
    """The core's functions for one type of numbers, by the names of the public ones."""

    def __init__(self, module: Any, dtype: type) -> None:
        self.module, self.dtype = module, dtype

    def __contains__(self, name: str) -> bool:
        return hasattr(self.module, name)

    def __call__(self, name: str, model: Any, *arrays: ArrayLike | None, **options: Any) -> Any:
        """The function of arrays in the public order; those left out at the end are None."""
        takes = inspect.signature(getattr(dtau, name)).parameters
        needed = [x for x in takes if x not in (*OPTIONS, "model", "out", "threads")]
        options = {x: options.get(x, takes[x].default) for x in OPTIONS if x in takes}
        given = [None if x is None else np.asarray(x, self.dtype) for x in arrays]
        given += [None] * (len(needed) - len(given))
        if options.pop("packed", False):
            name += "_packed"
        flags = [options.pop("symmetric")] if "symmetric" in options else []
        first = [part for option in options.items() for part in _compiled(model, *option)]
        return getattr(self.module, name)(model, *first, *given, *flags)


def _compiled(model: dtau.Model, option: str, value: Any) -> tuple[Any, ...]:
    """What the core takes for an option of a public function."""
    if option in ("frames", "frame"):
        return kinematics._frame_arrays(model, value)
    if option == "prescribed":
        return (hybrid._mask(model, value),)
    if option == "axes":
        return (kinematics._axes_code(value),)
    if option == "inputs":
        return (control_inputs.checked_inputs(model, value),)
    return (value,)


real_core = Core(_core, float)
alone_core = Core(_core.alone, float)  # one state after the other, never in vectors
complex_core = Core(_core.complex128, complex)
counting_core = Core(_core.counting, float)


def take_counts() -> tuple[int, int, int]:
    """Multiplications, additions and divisions of `counting_core` since the last time."""
    counts: tuple[int, int, int] = _core.counting.take()
    return counts


def placement_of_body(model: dtau.Model, body: int, q: ArrayLike) -> Any:
    """The placement of a frame at the origin of the body of this number, which may not exist."""
    frame = np.array([body], dtype=np.int32), np.eye(3)[None], np.zeros((1, 3)), True
    return _core.frame_placements(model, *frame, q)


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
