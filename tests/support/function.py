"""A public function, as the tests that are the same for all functions see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from cases import CONTACT_ROWS, LONGER_STACKS, ROWS, State, actuated
from compare import cancelled
from core import Core
from trees import Array

import dtau
from dtau.registry import FUNCTIONS as REGISTRY
from dtau.registry import Array as Result
from dtau.registry import Axes, arrays_of
from dtau.support import options

FRAME_AXES = get_args(options.Axes)
KINDS_OF_ACCELERATION = get_args(options.AccelerationKind)
INTEGRATORS = get_args(options.Integrator)


# Of bodies' positions, of momentum, and of what is in the world: results that see positions.
IN_THE_WORLD = {("nq",), ("nbodies", 3), ("nframes", 3), (6,), (6, "nv")}
SEE_POSITIONS = {
    *("difference", "difference_jacobians", "center_of_mass", "potential_energy"),
    "frame_errors",
}
# About its center of mass one body that slides has no momentum, wherever it is.
VANISH = {"centroidal_momentum_derivatives", "centroidal_momentum_rate_derivatives"}
TERMS = {
    "potential_energy": 10.0,  # J: of bodies above and below the origin, and of springs
    "frame_jacobians_derivatives": 1.0,
    "impulse_dynamics_second_derivatives": 1.0,
    "impulse_dynamics_hessian": 1.0,
}
TERMS_WITH_CONTACTS = TERMS | {"step_hessian": 1e-3}


@dataclass(frozen=True)
class Function:
    """A public function with some of its arguments and options, and what its row says of it."""

    name: str
    arguments: tuple[str, ...]  # in the order of the row
    options: Mapping[str, Any] = field(default_factory=dict)  # values, or functions of the model
    label: str = ""

    @property
    def solves(self) -> bool:
        """Whether every joint must carry inertia."""
        return REGISTRY[self.name].solves

    @property
    def sees_positions(self) -> bool:
        """Whether results change when a free base moves."""
        axes = (self.options.get("axes"), self.options.get("f_ext_axes"))
        shapes = {result.axes for result in self._results()}
        return (
            "world" in axes
            or "positions" in self.arguments
            or self.name in SEE_POSITIONS
            or not IN_THE_WORLD.isdisjoint(shapes)
        )

    @property
    def vanishes(self) -> bool:
        """Whether results vanish for some robots, but for rounding errors of what cancels."""
        return self.name in VANISH or (
            "contacts" in self.options and self.solves and not self.terms
        )

    @property
    def terms(self) -> float:
        """The size of the terms of a result, where all of them may cancel."""
        table = TERMS_WITH_CONTACTS if "contacts" in self.options else TERMS
        return table.get(self.name, 0.0)

    @property
    def results(self) -> tuple[Axes, ...]:
        """The axes of each result: symbols, and numbers, such as the rows of a stack."""
        return tuple(self._axes(result) for result in self._results())

    def _results(self) -> Iterator[Result]:
        row = REGISTRY[self.name]
        for result in row.results:
            by = result.name.removeprefix("by_")
            given = by in self.arguments if by != result.name else "contacts" in self.options
            if given or not result.optional:
                yield result
        if self.options.get("forces"):
            yield from row.force_results

    def _axes(self, result: Result) -> Axes:
        if self.options.get("layout") == "pattern":
            return (f"pattern of {result.name}",)
        order = self.options.get("order", self._order())
        rows = {"r + 1": order + 1, "r + 2": order + 2}
        axes = tuple(rows.get(str(axis), axis) for axis in result.axes)
        return axes if result.rows is None else (order + result.rows, *axes)

    def _order(self) -> int:
        """The order of the first stack of time derivatives, of those that `random_state` draws."""
        stacks = (x for x in REGISTRY[self.name].inputs if x.rows is not None)
        first = next((x for x in stacks if x.name in self.arguments), None)
        if first is None or first.rows is None:
            return 0
        return (ROWS + 1 if first.name in LONGER_STACKS else ROWS) - first.rows

    def __str__(self) -> str:
        return self.label or self.name

    def __call__(self, model: dtau.Model, state: State, **more: Any) -> tuple[Array, ...]:
        """The function's results as a tuple, whether it returns one array or several."""
        out = self.returned(model, state, **more)
        return arrays_of(out)

    def returned(self, model: dtau.Model, state: State, **more: Any) -> Any:
        """What the function itself returns; `more` may be `out` and `threads`."""
        arrays = {name: state[name] for name in self.arguments}
        return getattr(dtau, self.name)(model, **arrays, **self.options_for(model), **more)

    def in_core(self, core: Core, model: dtau.Model, state: State) -> tuple[Array, ...]:
        """The results of the core's function of this name."""
        given = (x.name if x.name in self.arguments else "" for x in REGISTRY[self.name].inputs)
        arrays = (state[name] if name else None for name in given)
        out = core(self.name, model, *arrays, **self.options_for(model))
        return arrays_of(out)

    def options_for(self, model: dtau.Model) -> dict[str, Any]:
        return {name: x(model) if callable(x) else x for name, x in self.options.items()}

    def reads(self, model: dtau.Model, state: State, argument: str) -> Array:
        """Which numbers of an argument of one state count: all, except of some `positions`."""
        counts = np.ones(state[argument].shape, bool)
        if argument == "positions":
            contacts = self.options_for(model)["contacts"]
            held = [not isinstance(c, dtau.Loop) and c.kp > 0.0 for c in contacts]
            counts[~(np.array(held) & (state["active"] >= 0.5))] = False
        return counts.reshape(-1)

    @property
    def steps(self) -> int:
        """How often roundings are amplified by a solve: a solve of dependent rows takes steps."""
        return 30 if "regularization" in self.options else 1

    def rows_beyond_the_order(self, stack: str) -> int:
        """How many rows of a stack results of an order need, minus the order."""
        (array,) = (x for x in REGISTRY[self.name].inputs if x.name == stack)
        assert array.rows is not None
        return array.rows

    def floor(self, results: Iterable[Array]) -> float:
        """What counts as the largest of a result that vanishes, by what cancels in it."""
        return max(map(cancelled, results)) if self.vanishes else self.terms

    def shapes(self, model: dtau.Model, batch: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
        driven = 2 if "inputs" in self.arguments else len(actuated(model))
        of_joints = 4 * model.nv if self.options.get("joint_parameters") else 0
        sizes = {
            "nq": model.nq,
            "nv": model.nv,
            "2 nv": 2 * model.nv,
            "nbodies": model.nbodies,
            "nframes": len(model.frames),
            "nparameters": 10 * model.nbodies + of_joints,
            "ninputs": driven,
            "2 nv + ninputs": 2 * model.nv + driven,
            "nrows": CONTACT_ROWS,
        }

        def size(axis: str | int) -> int:
            if isinstance(axis, int):
                return axis
            _, pattern, result = axis.partition("pattern of ")
            return dtau.pattern(model, self.name, result).size if pattern else sizes[axis]

        return [batch + tuple(map(size, axes)) for axes in self.results]
