"""Times of calls that are compared: in turns, so that what disturbs one disturbs all."""

from __future__ import annotations

import gc
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dtau
from dtau import _core

Array = NDArray[np.float64]

_ROUNDS = 15
_BLOCK = 2e-3  # seconds of a contender's turn
_LONGEST = 1.0  # seconds, after which no round begins


@dataclass(frozen=True)
class Contender:
    """A function called with each of some tuples of arguments, which do so many states in all."""

    function: Callable[..., Any]
    calls: Sequence[tuple[Any, ...]]
    states: int

    def run(self, passes: int) -> float:
        """Return the seconds of so many passes."""
        function, calls = self.function, self.calls
        start = perf_counter()
        for _ in range(passes):
            for arguments in calls:
                function(*arguments)
        return perf_counter() - start


def interleaved(contenders: Mapping[str, Contender]) -> dict[str, Array]:
    """Time contenders in turns, the order reversed every other round; fewer rounds of slow ones.

    Returns seconds a state of each contender, one number a round.
    """
    passes = {name: _passes(contender) for name, contender in contenders.items()}
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    start = perf_counter()
    collecting = gc.isenabled()
    gc.disable()
    try:
        for i in range(_ROUNDS):
            for name in order if i % 2 == 0 else reversed(order):
                contender = contenders[name]
                took = contender.run(passes[name])
                seconds[name].append(took / (passes[name] * contender.states))
            if perf_counter() - start > _LONGEST:
                break
    finally:
        if collecting:
            gc.enable()
    return {name: np.array(found) for name, found in seconds.items()}


def summary(seconds: Array) -> dict[str, float]:
    """Return the fastest round, which other work disturbed least, and the median of all."""
    return {"fastest": float(seconds.min()), "median": float(np.median(seconds))}


def _passes(contender: Contender) -> int:
    """Return how many passes take about a turn; this warms up, too."""
    passes = 1
    while (elapsed := contender.run(passes)) < 0.25 * _BLOCK:
        passes *= 4
    return max(1, round(passes * _BLOCK / elapsed))


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def busy() -> bool:
    """Whether other work kept the processors busy in the last minute, as far as that is known."""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > processors() + 0.5


def machine() -> dict[str, str]:
    """Return what times depend on."""
    processor = platform.processor() or platform.machine()
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    return {
        "processor": processor,
        "processors": str(processors()),
        "instruction_set": _core.instruction_set(),
        "dtau": dtau.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
