"""The compiled core as tests call it: past the package's functions, and in all its forms.

The only file of the tests that knows where these forms are and how the core takes options.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import dtau
from dtau import _core
from dtau.functions import control_inputs, hybrid

try:
    from dtau import _testing
except ImportError:
    pytest.exit(
        "the tests need dtau._testing: install with --config-settings=cmake.define.DTAU_TESTING=ON",
        returncode=2,
    )

Tree = _core.Tree
INSTRUCTION_SETS = tuple(_core.instruction_sets())  # the best first
SIGNATURES: dict[str, dict[str, Any]] = {f["name"]: f for f in _core.functions()}


class Core:
    """The core's functions for one type of numbers, by the names of the public ones."""

    def __init__(self, module: Any, dtype: type) -> None:
        self.module, self.dtype = module, dtype

    def __contains__(self, name: str) -> bool:
        return hasattr(self.module, name)

    def __call__(self, name: str, model: Any, *arrays: ArrayLike | None, **options: Any) -> Any:
        """The function of arrays in the public order; those left out at the end are None."""
        parameters = inspect.signature(getattr(dtau, name)).parameters
        if options.get("contacts") is not None and f"constrained_{name}" in SIGNATURES:
            name = f"constrained_{name}"
        first = []
        for option in SIGNATURES[name]["options"]:
            public = "frame" if "frame" in parameters and option == "frames" else option
            public = "inputs" if option == "driven" else public  # a map is an array of the core's
            default = parameters[public].default
            first.append(_compiled(model, option, options.get(public, default)))
        given = [None if x is None else np.asarray(x, self.dtype) for x in arrays]
        given += [None] * (len(SIGNATURES[name]["inputs"]) - len(given))
        return getattr(self.module, name)(model, *first, *given)


def public_name(name: str) -> str:
    """The public function of one of the core's, which has two of some: one is for contacts."""
    return name if hasattr(dtau, name) else name.removeprefix("constrained_")


def _compiled(model: dtau.Model, option: str, value: Any) -> Any:
    """What the core takes for an option of a public function."""
    if option == "prescribed":
        return hybrid._mask(model, value)
    if option == "driven":
        return control_inputs.checked_inputs(model, value)[0]
    return value


real_core = Core(_core, float)
alone_core = Core(_core.alone, float)  # one state after the other, never in vectors
complex_core = Core(_testing.complex128, complex)
counting_core = Core(_testing.counting, float)


def take_counts() -> tuple[int, int, int]:
    """Multiplications, additions and divisions of `counting_core` since the last time."""
    counts: tuple[int, int, int] = _testing.counting.take()
    return counts


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


def memory_limit(root: str) -> tuple[float, float]:
    """Bytes of the least limit of control groups under `root`, and the least that is left."""
    limit: tuple[float, float] = _testing.memory_limit(root)
    return limit
