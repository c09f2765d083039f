"""The interface of an array library for the rules: `Library`, and `At` for a call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dtau.autodiff.rows import FUNCTIONS, OF_JOINTS, PARAMETERS
from dtau.autodiff.weightless import has_inertia, weightless
from dtau.model.model import Model

Array = Any  # the library's arrays: float64, leading axes are the batch
Options = Mapping[str, Any]  # f_ext_axes, contacts, regularization, frames, axes, integrator


class Library(Protocol):
    """An array library.

    `xp` is its module of operations with NumPy's names: einsum, concatenate, stack, where, sqrt,
    sin, cos, arctan2, swapaxes, zeros_like, broadcast_to, broadcast_shapes.
    """

    @property
    def xp(self) -> Any:
        """The module of operations with NumPy's names."""

    def constant(self, numbers: NDArray[np.float64]) -> Array:
        """Return numbers as an array of the library."""

    def call(
        self, model: Model, name: str, inputs: tuple[Array | None, ...], **options: Any
    ) -> Any:
        """Return the results of a function, a tuple that the library can differentiate."""


@dataclass
class At:
    """A function of a model at its inputs, by name: the argument of a rule.

    Values that several blocks need are computed once, so use one object for all inputs of a
    function. ``wanted`` names the inputs by which blocks are wanted.
    """

    library: Library
    model: Model
    inputs: Mapping[str, Array | None]
    options: Options
    wanted: Collection[str]
    _known: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        return self.inputs[name]

    @property
    def xp(self) -> Any:
        """The library's operations."""
        return self.library.xp

    def call(self, name: str, *inputs: Array | None, **options: Any) -> tuple[Array, ...]:
        """Return the results of another function, a tuple; with the same parameters, by numbers."""
        row = FUNCTIONS.get(name)
        if row and "coordinates" in row.options:
            options["coordinates"] = "numbers"
        if row and OF_JOINTS in row.options:
            options[OF_JOINTS] = self.of_joints
        if row and row.inputs[-1].name == PARAMETERS and len(inputs) < len(row.inputs):
            missing = len(row.inputs) - 1 - len(inputs)
            inputs = (*inputs, *[None] * missing, self.inputs.get(PARAMETERS))
        key = (name, *map(id, inputs), *sorted(options.items()))
        if key not in self._known:
            result = self.library.call(self.model, name, inputs, **options)
            self._known[key] = inputs, result  # keeping the inputs reserves their ids
        results: tuple[Array, ...] = self._known[key][1]
        return results

    def once(self, key: str, make: Callable[[], Array]) -> Array:
        """Return an array that is made when it is first needed."""
        if (key,) not in self._known:
            self._known[key,] = make()
        return self._known[key,]

    @property
    def of_joints(self) -> bool:
        """Whether the parameters include parameters of joints."""
        return bool(self.options.get(OF_JOINTS))

    def weightless(self) -> At:
        """Return the same without gravity and springs, where torques at rest are linear."""
        inputs = self.inputs
        if self.of_joints:
            inputs = {**inputs, PARAMETERS: self.with_inertia(inputs[PARAMETERS])}
        return replace(self, model=weightless(self.model), inputs=inputs, _known={})

    def with_inertia(self, x: Array) -> Array:
        """Return parameters, or columns that belong to them: zero for damping and what follows."""
        return x * self.library.constant(has_inertia(self.model)) if self.of_joints else x

    def zeros(self) -> Array:
        """Zeros (nv,): no velocity, acceleration or torque."""
        return self.once("zeros", lambda: self.library.constant(np.zeros(self.model.nv)))

    def wrench_options(self) -> dict[str, Any]:
        """The axes of external wrenches, as an option for other functions."""
        return {"f_ext_axes": self.options.get("f_ext_axes", "body")}

    def contact_options(self) -> dict[str, Any]:
        """The contacts and their regularization, as options for other functions."""
        return {name: self.options[name] for name in ("contacts", "regularization")}
