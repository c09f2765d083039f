"""What experiments share: timings in turns and their ratios, cores, numbers in words."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.experiment import Curve
from dtau.cli.timing import Array, Contender, Effort, interleaved

# Timing


@dataclass(frozen=True)
class Spread:
    """The median of many rounds and the quartiles around it."""

    median: float
    lower: float
    upper: float

    @staticmethod
    def of(values: Array) -> Spread:
        """Summarize one number a round."""
        lower, median, upper = np.percentile(values, (25, 50, 75))
        return Spread(float(median), float(lower), float(upper))


@dataclass(frozen=True)
class Timings:
    """Seconds a state of contenders that took turns, one number a round."""

    seconds: Mapping[Any, Array]

    def micro(self, name: Any) -> float:
        """Microseconds a state, the median."""
        return 1e6 * float(np.median(self.seconds[name]))

    def ratio(self, name: Any, by: Any) -> Spread:
        """How many times as long one takes as another, within rounds."""
        return Spread.of(self.seconds[name] / self.seconds[by])

    def more(self, name: Any, than: Any) -> Spread:
        """How many microseconds more one takes than another, within rounds."""
        return Spread.of(1e6 * (self.seconds[name] - self.seconds[than]))

    def medians(self) -> dict[Any, float]:
        """Microseconds a state of all of them."""
        return {name: self.micro(name) for name in self.seconds}


def timed(
    contenders: Mapping[Any, Contender], effort: Effort, clock: Callable[[], float] = perf_counter
) -> Timings:
    """Time contenders in turns: `dtau.cli.timing.interleaved`."""
    return Timings(interleaved(contenders, effort, clock))


def usable_cores() -> set[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


@contextlib.contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """Keep this process on some cores, where the system lets it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def one_core() -> contextlib.AbstractContextManager[None]:
    """Keep this process on one core."""
    return on_cores({max(usable_cores())})


# Words


def number(value: float) -> str:
    """Three significant digits, at most four after the point."""
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:.{min(max(digits, 0), 4)}f}"


def times(spread: Spread) -> list[str]:
    """A ratio and its quartiles."""
    return [f"{spread.median:.2f}x", f"{spread.lower:.2f} - {spread.upper:.2f}"]


def verdict(met: bool, aimed: bool = False) -> str:
    """One word on how a number stands to its goal."""
    if not met:
        return "NO"
    return "aim" if aimed else "yes"


def curve(label: str, x: Sequence[float], of: Sequence[Spread], dashed: bool = False) -> Curve:
    """Spreads as a line with its quartiles."""
    low, high = [one.lower for one in of], [one.upper for one in of]
    return Curve(label, x, [one.median for one in of], low, high, dashed)


def span(values: Iterable[float]) -> str:
    """The smallest and the largest of some ratios."""
    smallest, largest = min(found := list(values)), max(found)
    return f"{smallest:.2f}x" if smallest == largest else f"{smallest:.2f}x to {largest:.2f}x"


def exponent(x: Iterable[float], y: Iterable[float]) -> float:
    """The slope of the logarithm of y over that of x."""
    return float(np.polyfit(np.log(list(x)), np.log(list(y)), 1)[0])
