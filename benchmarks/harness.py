"""What the benchmarks share: interleaved timing, spreads, one core, numbers in words."""

from __future__ import annotations

import contextlib
import gc
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiment import Curve

Array = NDArray[np.float64]


# Timing


def loop(statement: str, **names: object) -> Callable[[int], None]:
    """A function of n that runs a statement n times, all its names being local variables.

    Compiled from text, as `timeit` does: nothing is called but what is timed.
    """
    parameters = ", ".join(f"{name}={name}" for name in names)
    source = f"def run(passes, {parameters}):\n    for _ in range(passes):\n        {statement}\n"
    scope = dict(names)
    exec(source, scope)
    run: Callable[[int], None] = scope["run"]  # type: ignore[assignment]
    return run


@dataclass(frozen=True)
class Contender:
    """Something to time: a function of the number of passes, and the states a pass does."""

    run: Callable[[int], None]
    states: int


@dataclass(frozen=True)
class Spread:
    """The median of many rounds and the quartiles around it."""

    median: float
    lower: float
    upper: float

    @staticmethod
    def of(values: Array) -> Spread:
        """Summarise one number a round."""
        lower, median, upper = np.percentile(values, (25, 50, 75))
        return Spread(float(median), float(lower), float(upper))


@dataclass(frozen=True)
class Effort:
    """How long to measure: the number of rounds, and the seconds of a contender's block."""

    rounds: int
    block: float


def interleaved(
    contenders: Mapping[str, Contender],
    effort: Effort,
    tick: Callable[[], None],
    clock: Callable[[], float] = perf_counter,
) -> dict[str, Array]:
    """Time contenders in turns, each a block a round, the order reversed every other round.

    Returns the seconds a state of each contender, one number a round: whatever disturbs the
    machine for longer than a round disturbs all of them, and leaves their ratios alone. With
    `time.thread_time` for what one thread does, waiting for other work is not counted.
    """
    passes = {
        name: _passes(contender, effort.block, clock) for name, contender in contenders.items()
    }
    seconds = {name: np.empty(effort.rounds) for name in contenders}
    order = list(contenders)
    collected = gc.isenabled()
    gc.disable()
    try:
        for i in range(effort.rounds):
            for name in order if i % 2 == 0 else reversed(order):
                run, count = contenders[name].run, passes[name]
                start = clock()
                run(count)
                seconds[name][i] = (clock() - start) / (count * contenders[name].states)
            tick()
    finally:
        if collected:
            gc.enable()
    return seconds


def _passes(contender: Contender, block: float, clock: Callable[[], float]) -> int:
    """How many passes take about `block` seconds."""
    passes = 1
    while True:
        start = clock()
        contender.run(passes)
        elapsed = clock() - start
        if elapsed > 0.25 * block:
            return max(1, round(passes * block / elapsed))
        passes *= 4


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core, where the system lets it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Words


def number(value: float) -> str:
    """Three significant digits, at most four after the point."""
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:.{min(max(digits, 0), 4)}f}"


def times(spread: Spread) -> list[str]:
    """A ratio and its quartiles."""
    return [f"{spread.median:.2f}x", f"{spread.lower:.2f} - {spread.upper:.2f}"]


def curve(label: str, x: Sequence[float], of: Sequence[Spread]) -> Curve:
    """Spreads as a line with its quartiles."""
    low, high = [one.lower for one in of], [one.upper for one in of]
    return Curve(label, x, [one.median for one in of], low, high)


def span(values: Iterable[float]) -> str:
    """The smallest and the largest of some ratios."""
    smallest, largest = min(found := list(values)), max(found)
    return f"{smallest:.2f}x" if smallest == largest else f"{smallest:.2f}x to {largest:.2f}x"
