"""A function of CasADi's that grows, beside the package's: called from Python and in a C loop.

It runs in a process with a limit (`limits.py`), as far as that lets it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

from benchmarks.checks import Array
from benchmarks.harness import number, timed
from dtau.cli.timing import Call, Contender, Effort

HEADER = ("seconds", "called", "alone", "ratio", "looped", "batch", "ratio")
PAIRS = (("called", "alone"), ("looped", "batch"))  # CasADi's way, and the package's
COMPILED = "compiled"  # the way that takes C code
LONE_STATES = 4


@dataclass(frozen=True)
class Beside:
    """CasADi's function and its times."""

    nodes: int
    seconds: float  # to make (and compile) it
    microseconds: dict[str, float]  # called, alone, looped, batch
    ratios: dict[str, tuple[float, float, float]]  # called to alone, looped to batch: quartiles

    def times(self) -> list[str]:
        """Cells below `HEADER`."""
        cells = [f"{self.seconds:.1f}"]
        for theirs, ours in PAIRS:
            if theirs in self.microseconds:
                lower, median, upper = self.ratios[theirs]
                cells += [number(self.microseconds[name]) for name in (theirs, ours)]
                cells.append(f"{median:.3g}x ({lower:.3g} to {upper:.3g})")
            else:
                cells += [""] * 3
        return cells


def beside(
    function: Any,
    way: str,
    x: Array,
    ours: Call,
    check: Callable[[Array, str], None],
    effort: Effort,
    folder: Path,
    made: float,
) -> dict[str, Any]:
    """What `Beside` takes: a function of rows x, checked and timed, that took so long to make.

    `check` takes results of the first states, and raises where they are others than the package's.
    """
    import casadi

    from benchmarks.peers.casadi_code import Called, Looped, compiled

    contenders: dict[str, Contender] = {}
    nodes, start, called = function.n_nodes(), perf_counter(), function
    if way == COMPILED:
        library = compiled(function, folder)
        looped = Looped(library, function, x)
        check(looped.all(), "in C")
        contenders = {"looped": Contender(looped.run, len(x)), "batch": ours.batch()}
        called = casadi.external(function.name(), str(library))
    seconds = made + perf_counter() - start
    one = Called(called, x[:LONE_STATES])
    check(one.all(), way)
    contenders["called"] = Contender(one.run, LONE_STATES)
    contenders["alone"] = ours.alone(LONE_STATES, into=True)
    found = timed(contenders, effort, clock=thread_time)
    spreads = {a: found.ratio(a, b) for a, b in PAIRS if a in contenders}
    ratios = {name: (s.lower, s.median, s.upper) for name, s in spreads.items()}
    micro = found.medians()
    return {"nodes": nodes, "seconds": seconds, "microseconds": micro, "ratios": ratios}
