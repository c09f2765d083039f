"""A function of CasADi's that grows, beside the package's: called from Python and in a C loop.

It runs in a process with a limit (`limits.py`), as far as that lets it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

from benchmarks.checks import Array
from benchmarks.compilers import c_compiler
from benchmarks.declare import Bench, Column, Row, Shown
from benchmarks.harness import timed
from benchmarks.limits import Limit, within
from dtau.cli.timing import Call, Contender, Effort

PAIRS = (("called", "alone"), ("looped", "batch"))  # CasADi's way, and the package's
COMPILED = "compiled"  # the way that takes C code
LONE_STATES = 4
# Of rows by `beside`: seconds to make (and compile) the function, microseconds, ratios.
COLUMNS: list[Shown] = [Column(["seconds"], lambda row: [f"{row['seconds']:.1f}"])]
for _theirs, _ours in PAIRS:
    COLUMNS += [_theirs, _ours, ("ratio", f"{_theirs} said")]


def ways_here(ways: Sequence[str], note: Callable[[str], None]) -> Sequence[str]:
    """The ways without that which takes a compiler, if there is none."""
    if c_compiler():
        return ways
    note("No C compiler was found (set CC): CasADi's C code was left out.")
    return [way for way in ways if way != COMPILED]


def followed(
    bench: Bench, limit: Limit, label: str, last: str, make: Callable[..., Any], *arguments: Any
) -> list[Row]:
    """Rows of a function that grows, as far as the limit lets it; `last` says how far that was."""
    with tempfile.TemporaryDirectory() as folder:
        rows, end = within(limit, make, *arguments, bench.effort, Path(folder))
    if end:
        reached = last.format(**rows[-1]) if rows else "none was made"
        bench.note(f"{label}: {reached} within {end}.")
    return rows


def beside(
    function: Any,
    way: str,
    x: Array,
    ours: Call,
    check: Callable[[Array, str], None],
    effort: Effort,
    folder: Path,
    made: float,
) -> Row:
    """Values of a row: a function of rows x, checked and timed, that took so long to make.

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
    found = timed(contenders, effort, thread_time)
    row = {"nodes": nodes, "seconds": seconds} | found.medians()
    for theirs, of_ours in PAIRS:
        if theirs in contenders:
            x = row[f"{theirs} ratio"] = found.ratio(theirs, of_ours)
            row[f"{theirs} said"] = f"{x.median:.3g}x ({x.lower:.3g} to {x.upper:.3g})"
    return row
