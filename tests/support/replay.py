"""Replay what the core records, in complex numbers: `Replays`.

`dtau._recorder` runs a function once, with numbers that record their operations. A recording has
no branches, as comparisons only select one of two numbers, so it holds for every state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dtau
from dtau.codegen.recorder import load_recorder
from dtau.codegen.recording import recording
from dtau.registry import FUNCTIONS, Function, arrays_of

Complex = NDArray[np.complex128]

KEPT = 32  # recordings

# What an operation counts as: multiplications, additions and divisions. A square root takes as long
# as a division. Sine and cosine, and the two functions of tanh, are half of include/dtau/sincos.hpp
# and hyperbolic_tangent.hpp each.
COUNTS = np.zeros((16, 3))  # in the order of include/dtau/recorded.hpp
COUNTS[[3, 5, 6], 0] = COUNTS[[1, 2, 5, 6], 1] = COUNTS[[4, 7], 2] = 1
COUNTS[[8, 9]] = 11, 14, 0
COUNTS[[10, 11]] = 8, 7, 1


class Recording:
    """A recorded function of a model."""

    def __init__(
        self,
        name: str,
        model: dtau.Model,
        shapes: Mapping[str, tuple[int, ...]],
        options: Mapping[str, Any],
    ) -> None:
        with recording() as recorder:
            arrays = {x: np.zeros(shape) for x, shape in shapes.items()}
            for array in arrays.values():
                recorder.take_inputs(array.reshape(-1))
            self.results = getattr(recorder.functions, name)(model, **arrays, **options)
            count = recorder.recorded()
            self.nodes = np.empty(count, np.uint8), np.empty((count, 3))
            recorder.take_nodes(*self.nodes)
            self.counts = recorder.asked() @ COUNTS
        self.arrays = arrays_of(self.results)
        self.outputs = np.concatenate([x.reshape(-1) for x in self.arrays])

    def __call__(self, given: Complex) -> list[Complex]:
        """The results of states, from all their inputs in a row each."""
        out = np.empty((len(given), self.outputs.size), complex)
        load_recorder().replay(
            *self.nodes, self.outputs, *(x.view(float).reshape(*x.shape, 2) for x in (given, out))
        )
        ends = np.cumsum([x.size for x in self.arrays])[:-1]
        return np.split(out, ends, axis=1)


class _ByValue:
    """An option as a key of recordings."""

    def __init__(self, option: Any) -> None:
        self.option = option
        self.key: Hashable = option
        if isinstance(option, np.ndarray):
            self.key = option.shape, option.dtype.str, option.tobytes()
        elif isinstance(option, list):
            self.key = tuple(option)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByValue) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=KEPT)
def _recorded(
    name: str,
    model: dtau.Model,
    shapes: tuple[tuple[str, tuple[int, ...]], ...],
    options: tuple[tuple[str, _ByValue], ...],
) -> Recording:
    return Recording(name, model, dict(shapes), {x: y.option for x, y in options})


class Replays:
    """The core's functions by replay, as a module of them."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not hasattr(load_recorder().functions, name):
            raise AttributeError(name)
        return partial(self._call, FUNCTIONS[name])

    def _call(self, function: Function, model: dtau.Model, **given: Any) -> Any:
        known = {x.name: x for x in function.inputs}
        recorded_inputs = [  # all arrays; a mask in place of a map is an option
            known[x] for x, y in given.items() if x in known and np.asarray(y).dtype != bool
        ]
        ranks = {
            x.name: len(x.axes) + (x.rows is not None) - ("nframes" in x.axes and "frame" in given)
            for x in recorded_inputs
        }
        options = tuple((x, _ByValue(y)) for x, y in given.items() if x not in ranks)
        arrays = [np.asarray(given[x], complex) for x in ranks]
        cut = [x.ndim - rank for x, rank in zip(arrays, ranks.values(), strict=True)]
        shapes = [x.shape[k:] for x, k in zip(arrays, cut, strict=True)]
        batch = np.broadcast_shapes(*(x.shape[:k] for x, k in zip(arrays, cut, strict=True)))
        states = int(np.prod(batch, dtype=int))
        rows = [
            np.broadcast_to(x, batch + shape).reshape(states, -1)
            for x, shape in zip(arrays, shapes, strict=True)
        ]
        recorded = _recorded(function.name, model, tuple(zip(ranks, shapes, strict=True)), options)
        return self._results(recorded, batch, rows)

    def _results(self, recorded: Recording, batch: tuple[int, ...], rows: list[Complex]) -> Any:
        results = [
            np.ascontiguousarray(x).reshape(batch + kind.shape)
            for x, kind in zip(
                recorded(np.ascontiguousarray(np.hstack(rows))), recorded.arrays, strict=True
            )
        ]
        if not isinstance(recorded.results, tuple):
            return results[0]
        fields = len(recorded.results)
        found = tuple.__new__(type(recorded.results), results[:fields])
        if names := getattr(recorded.results, "__dict__", None):
            vars(found).update(zip(names, results[fields:], strict=True))
        return found


class Counters(Replays):
    """Functions that give no results, but add up the operations of all calls."""

    def __init__(self) -> None:
        self.counts = np.zeros(3)

    def take(self) -> tuple[int, int, int]:
        """Multiplications, additions and divisions since the last time."""
        multiplications, additions, divisions = map(round, self.counts.tolist())
        self.counts[:] = 0.0
        return multiplications, additions, divisions

    def _results(self, recorded: Recording, batch: tuple[int, ...], rows: list[Complex]) -> Any:
        self.counts += len(rows[0]) * recorded.counts
        return ()
