"""The operations that the rules take from an array library: `Library`, and `At` for a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dtau.model.model import Model

Array = Any  # of the library: float64, leading axes are the batch
Options = Mapping[str, Any]  # f_ext_axes, frames, axes, integrator


class Library(Protocol):
    """An array library.

    `xp` is its module of operations with NumPy's names: einsum, concatenate, stack, where, sqrt,
    sin, cos, arctan2, swapaxes, moveaxis, zeros_like, broadcast_to.
    """

    @property
    def xp(self) -> Any:
        """Operations with NumPy's names."""

    def constant(self, numbers: NDArray[np.float64]) -> Array:
        """Numbers as an array of the library."""

    def call(
        self, model: Model, name: str, inputs: tuple[Array | None, ...], **options: Any
    ) -> Any:
        """Results of a function of the tables, a tuple, which the library can differentiate."""


@dataclass
class At:
    """A function of a model at its inputs, by name: what a rule is given.

    Values that several blocks need are computed once: keep it for all inputs of a function.
    """

    library: Library
    model: Model
    inputs: Mapping[str, Array | None]
    options: Options
    _known: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        return self.inputs[name]

    @property
    def xp(self) -> Any:
        """The library's operations."""
        return self.library.xp

    def call(self, name: str, *inputs: Array | None, **options: Any) -> tuple[Array, ...]:
        """Results of another function, a tuple."""
        key = (name, *map(id, inputs), *sorted(options.items()))
        if key not in self._known:
            result = self.library.call(self.model, name, inputs, **options)
            self._known[key] = inputs, result  # the inputs too: no other object takes their ids
        results: tuple[Array, ...] = self._known[key][1]
        return results

    def zeros(self) -> Array:
        """No velocity, acceleration or torque."""
        key = ("zeros",)
        if key not in self._known:
            self._known[key] = self.library.constant(np.zeros(self.model.nv))
        return self._known[key]

    def wrench_options(self) -> dict[str, Any]:
        """The axes of external wrenches, for functions that ask for them."""
        return {"f_ext_axes": self.options.get("f_ext_axes", "body")}
