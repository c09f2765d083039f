"""Evaluate functions on NumPy's arrays, for the operators: `evaluate`.

The registry defines inputs and options.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtau import _core
from dtau.autodiff.functions import VALUES, value
from dtau.autodiff.library import At
from dtau.model.model import Model
from dtau.registry import FUNCTIONS, Axes

Array = NDArray[np.float64]
Inputs = Sequence[Any]  # arrays, or None for omitted inputs


class Kernel(NamedTuple):
    """A function: its options, and its inputs by name with symbolic sizes for one state."""

    options: tuple[str, ...]
    inputs: tuple[str, ...]
    sizes: tuple[Axes, ...]  # ("nq",), ("nv",), ("nbodies", 6), ()

    @property
    def ranks(self) -> tuple[int, ...]:
        """The number of axes of each input for one state."""
        return tuple(len(sizes) for sizes in self.sizes)


def _all() -> Mapping[str, Kernel]:
    found = {}
    for name, row in FUNCTIONS.items():
        arrays = [x for x in row.inputs if x.axes[:1] != ("ncontacts",)]
        names, sizes = tuple(x.name for x in arrays), tuple(x.axes for x in arrays)
        found[name] = Kernel(tuple(row.options), names, sizes)
    return found | {name: Kernel((), ("q",), (("nq",),)) for name in VALUES}


KERNELS = _all()


def core_shape(model: Model, sizes: Axes) -> tuple[int, ...]:
    """Return the sizes of an input for one state of this model."""
    return tuple([x if isinstance(x, int) else getattr(model, x) for x in sizes])


def written(options: Mapping[str, Any]) -> str:
    """Encode options as text, for an operator's argument."""
    return json.dumps(dict(sorted(options.items())))


@lru_cache(maxsize=1024)
def read(text: str) -> Mapping[str, Any]:
    """Decode options from text."""
    words = json.loads(text)
    return {k: tuple(v) if isinstance(v, list) else v for k, v in words.items()}


def evaluate(
    model: Model, name: str, options: Mapping[str, Any], inputs: Inputs
) -> Sequence[Array]:
    """Return the results of a function at q, with normalized quaternions."""
    if name in VALUES:
        found: Any = value(name)(At(_NUMPY, model, {"q": inputs[0]}, options))
        return tuple(found)
    kernel = KERNELS[name]
    words = {option: options[option] for option in kernel.options if option in options}
    function = getattr(_core, name)
    if name == "tangent_map":  # the core's result depends on the norm, which may be off by 1e-6
        inputs = [_unit(model, inputs[0])]
    try:
        result = function(model, **_given(kernel, inputs), **words)
    except ValueError as error:
        if "dtau.normalize" not in str(error):
            raise
        rows = zip(inputs, kernel.sizes, strict=True)
        inputs = [_core.normalize(model, x) if n == ("nq",) else x for x, n in rows]
        result = function(model, **_given(kernel, inputs), **words)
    return (result,) if isinstance(result, np.ndarray) else tuple(result)


def _given(kernel: Kernel, inputs: Inputs) -> dict[str, Any]:
    return {name: x for name, x in zip(kernel.inputs, inputs, strict=True) if x is not None}


def _unit(model: Model, q: Any) -> Array:
    """Normalize q; quaternions that have unit norm up to rounding keep their bits."""
    unit: Array = _core.normalize(model, q)
    return np.where(np.abs(unit - q) <= 8.0 * np.finfo(float).eps, q, unit)


@lru_cache(maxsize=256)
def result_shapes(model: Model, name: str, text: str) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the results for one state."""
    if name in VALUES:
        return (core_shape(model, VALUES[name]),)
    call = _core.prepare_call(model, name, **read(text))
    return tuple(shape for _, shape, _ in call.results)


class _NumPy:
    xp = np

    def constant(self, numbers: Array) -> Array:
        return numbers

    def call(self, model: Model, name: str, inputs: Inputs, **options: Any) -> Sequence[Array]:
        return evaluate(model, name, options, inputs)


_NUMPY = _NumPy()
