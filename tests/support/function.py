"""A public function, as the tests that are the same for all functions see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from cases import CONTACT_ROWS, State, actuated
from compare import cancelled
from core import Core
from trees import Array

import dtau
from dtau.registry import arrays_of
from dtau.support import options

FRAME_AXES = get_args(options.Axes)
KINDS_OF_ACCELERATION = get_args(options.AccelerationKind)
INTEGRATORS = get_args(options.Integrator)


@dataclass(frozen=True)
class Function:
    """A public function, as the tests that are the same for all of them see it."""

    name: str
    arguments: tuple[str, ...]
    results: tuple[tuple[str | int, ...], ...]  # trailing axes, in the letters of `sizes`
    options: Mapping[str, Any] = field(default_factory=dict)  # values, or functions of the model
    solves: bool = False  # needs every joint to carry inertia
    sees_positions: bool = False  # changes when a free base moves
    vanishes: bool = False  # for some robots, but for rounding errors of what cancels
    terms: float = 0.0  # their size, where all of them may cancel
    label: str = ""

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
        arrays = (state[name] for name in self.arguments)
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

    def floor(self, results: Iterable[Array]) -> float:
        """What counts as the largest of a result that vanishes, by what cancels in it."""
        return max(map(cancelled, results)) if self.vanishes else self.terms

    def shapes(self, model: dtau.Model, batch: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
        sizes = {
            "q": model.nq,
            "v": model.nv,
            "b": model.nbodies,
            "f": len(model.frames),
            "p": dtau.pattern(model, "inverse_dynamics_second_derivatives").size,
            "m": dtau.pattern(model, "mass_matrix").size,
            "i": 10 * model.nbodies,
            "j": 10 * model.nbodies + 4 * model.nv,
            "z": 2 * model.nv,
            "u": len(actuated(model)),
            "h": 2 * model.nv + len(actuated(model)),
            "k": 2 * model.nv + 2,
            "r": CONTACT_ROWS,
        }
        return [
            batch + tuple(sizes[n] if isinstance(n, str) else n for n in axes)
            for axes in self.results
        ]
