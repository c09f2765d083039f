"""Time calls in turns, so that a disturbance affects all contenders alike: `interleaved`.

`random_inputs` draws the arrays that functions of the package require; `Call` makes contenders from
a function and these arrays. Both read the registry. `dtau bench` and the benchmarks share this
module.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import Parameter, signature
from time import perf_counter
from typing import Any

import numpy as np

import dtau
from dtau.model.model import Model
from dtau.registry import FUNCTIONS, arrays_of
from dtau.support.arrays import Array

LONE_STATES = 64  # lone calls cycle through this many states
DT = 0.01  # seconds: time steps are not random


@dataclass(frozen=True)
class Contender:
    """Something to time: a function of the number of passes, and the number of states per pass."""

    run: Callable[[int], None]
    states: int


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    At most `rounds` rounds. In each round, every contender runs for about `block` seconds. No round
    begins after `longest` seconds.
    """

    rounds: int
    block: float
    longest: float = math.inf


def loop(statement: str, **names: object) -> Callable[[int], None]:
    """Return a function of n that runs a statement n times; all names in it are local variables.

    It is compiled from text, as `timeit` does: only the timed statement is called.
    """
    parameters = ", ".join(f"{name}={name}" for name in names)
    source = f"def run(passes, {parameters}):\n    for _ in range(passes):\n        {statement}\n"
    scope = dict(names)
    exec(source, scope)
    run: Callable[[int], None] = scope["run"]  # type: ignore[assignment]
    return run


def interleaved(
    contenders: Mapping[Any, Contender], effort: Effort, clock: Callable[[], float] = perf_counter
) -> dict[Any, Array]:
    """Time contenders in turns: one block per round, with the order reversed every other round.

    Return the seconds per state of each contender, one number per round. A disturbance that is
    longer than a round affects all contenders and leaves their ratios unchanged. For work of one
    thread, the clock `time.thread_time` does not count waiting for other work.
    """
    passes = {name: _passes(x.run, effort.block, clock) for name, x in contenders.items()}
    seconds: dict[Any, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    began = perf_counter()
    collecting = gc.isenabled()
    gc.disable()
    try:
        for i in range(effort.rounds):
            if i > 0 and perf_counter() - began > effort.longest:
                break
            for name in order if i % 2 == 0 else reversed(order):
                run, count = contenders[name].run, passes[name]
                start = clock()
                run(count)
                seconds[name].append((clock() - start) / (count * contenders[name].states))
    finally:
        if collecting:
            gc.enable()
    return {name: np.array(found) for name, found in seconds.items()}


def _passes(run: Callable[[int], None], block: float, clock: Callable[[], float]) -> int:
    """Return how many passes take about `block` seconds; this also warms up."""
    run(1)  # loads and compiles
    passes = 1
    while True:
        start = clock()
        run(passes)
        elapsed = clock() - start
        if elapsed > 0.25 * block:
            return max(1, round(passes * block / elapsed))
        passes *= 4


def random_inputs(
    model: Model,
    functions: Iterable[str],
    count: int,
    *,
    order: int = 0,
    also: Sequence[str] = (),
    seed: int = 0,
    **sizes: int,
) -> dict[str, Array]:
    """Draw inputs of functions at random states, by name; `also` names optional ones.

    Configurations come from `random_state`; torques ``tau`` give the accelerations ``a``; time
    steps are `DT`; all other inputs are uniform in (-1, 1), in the shapes of their axes; poses have
    unit quaternions. `order` is the order of stacks of time derivatives; `sizes` has the sizes of
    axes that depend on more than the model: ``nrows``, and ``nframes`` unless there is one frame.
    """
    rng = np.random.default_rng(seed)
    q, v, a = dtau.random_state(model, rng, shape=(count,))
    drawn = {"q": q, "v": v, "a": a}
    lengths = {"nq": model.nq, "nv": model.nv, "nbodies": model.nbodies}
    lengths |= {"nparameters": 10 * model.nbodies, **sizes}
    for name in functions:
        for argument in FUNCTIONS[name].arguments:
            x = argument.array
            if x is None or x.name in drawn or not (argument.required or x.name in also):
                continue
            shape = (count, *(() if x.rows is None else (order + x.rows,)))
            if x.axes == ("nq",):
                drawn[x.name] = dtau.random_state(model, rng, shape=shape)[0]
            elif x.name == "tau":
                drawn[x.name] = dtau.inverse_dynamics(model, q, v, a)
            elif not x.axes:
                drawn[x.name] = np.full(shape, DT)
            else:
                axes = [axis for axis in x.axes if axis != "nframes" or axis in lengths]
                each = (lengths[axis] if isinstance(axis, str) else axis for axis in axes)
                drawn[x.name] = rng.uniform(-1.0, 1.0, (*shape, *each))
                if x.axes[-1] == 7:
                    quaternion = drawn[x.name][..., 3:]
                    quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return drawn


@dataclass(frozen=True)
class Call:
    """Calls of a function of the package at some states, one state at a time and in batches.

    `at` has arrays by the name of the argument, one state per row: the required ones, and optional
    ones to pass. `options` are further arguments by name.
    """

    name: str
    model: Model
    at: Mapping[str, Array]
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def arrays(self) -> dict[str, Array]:
        """The input arrays, in the function's order."""
        names = (x.name for x in FUNCTIONS[self.name].inputs if x.name not in self.options)
        return {name: self.at[name] for name in names if name in self.at}

    @cached_property
    def words(self) -> str:
        """The arguments of a call as text: positional ones first, then by name."""
        kinds = signature(getattr(dtau, self.name)).parameters
        words, places = ["model"], True
        for x in FUNCTIONS[self.name].arguments:
            places = places and kinds[x.name].kind is Parameter.POSITIONAL_OR_KEYWORD
            if x.name in self.options or x.name in self.arrays:
                words.append(x.name if places else f"{x.name}={x.name}")
            else:
                places = False
        return ", ".join(words)

    @property
    def names(self) -> dict[str, Any]:
        """The values of the names in `words`, except the arrays."""
        return {"f": getattr(dtau, self.name), "model": self.model, **self.options}

    @property
    def count(self) -> int:
        """The number of states."""
        return len(next(iter(self.arrays.values())))

    def __call__(self, **options: Any) -> tuple[Array, ...]:
        """Return the results of all states in one call."""
        function = getattr(dtau, self.name)
        return arrays_of(function(self.model, **self.arrays, **self.options, **options))

    def part(self, states: int | slice) -> Call:
        """Return the same calls at some of the states, or at one without an axis of states."""
        arrays = {name: x[states] for name, x in self.arrays.items()}
        return Call(self.name, self.model, arrays, self.options)

    def rows(self, count: int) -> list[tuple[Array, ...]]:
        """Return the first states, each as a tuple of its own arrays."""
        columns = ([row.copy() for row in x[:count]] for x in self.arrays.values())
        return list(zip(*columns, strict=True))

    def alone(self, count: int = LONE_STATES, *, into: bool = False) -> Contender:
        """Return a contender: the first states, one call each; into its own arrays if `into`."""
        states, names, words = self.rows(count), self.names, self.words
        if into:
            words, names["out"] = f"{words}, out=out", given(self.part(0)())
        statement = f"for {', '.join(self.arrays)}, in states: f({words})"
        return Contender(loop(statement, states=states, **names), len(states))

    def batch(self, threads: int = 1, *, into: bool = True) -> Contender:
        """Return a contender: all states in one call; into its own arrays if `into`."""
        names, words = self.names, f"{self.words}, threads={threads}"
        if into:
            words, names["out"] = f"{words}, out=out", given(self())
        return Contender(loop(f"f({words})", **self.arrays, **names), self.count)


def given(arrays: tuple[Array, ...]) -> Any:
    """Return the value for `out=`: one array, or a tuple of several."""
    return tuple(arrays) if len(arrays) > 1 else arrays[0]
