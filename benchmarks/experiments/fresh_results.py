"""What new arrays for results cost beside those that are given (`out=`): at most 1.2 times as much.

    python -m benchmarks fresh_results

    dropped        f(model, ...): the results go before the next call
    replaced       d = f(model, ...): they go when the next ones are there; by arrays that are given
                   in turns, for these share the caches as well
    nothing kept   replaced, after `dtau.set_result_cache_limit(0)`

In batches whose results take 1 kB to 64 MB in all. Results of all ways have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import WrongResultError
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_most, number, one_core, timed, times, verdict
from benchmarks.robots import chosen
from dtau.cli.timing import Call, Contender, Effort, given, loop, random_inputs

MOST = 1.2
SIZES = tuple(1000 * 4**k for k in range(9))  # bytes, to 65.5 MB
QUICK_SIZES = SIZES[::4]
ROBOTS = ("panda", "hyq", "g1", "talos")
QUICK_ROBOTS = ("hyq",)
FUNCTIONS = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick


def cases(models: dict[str, dtau.Model], sizes: tuple[int, ...]) -> Iterator[tuple[str, Call]]:
    """The functions on all robots, at as many states as have results of each size, if any do."""
    for robot, model in models.items():
        for function in FUNCTIONS:
            lone = Call(function, model, random_inputs(model, [function], 1))
            each = sum(x.nbytes for x in lone())
            for size in sizes:
                if each <= size:
                    yield (
                        robot,
                        Call(function, model, random_inputs(model, [function], size // each)),
                    )


def check(call: Call, what: str) -> None:
    """Compare results that take memory of others, full of NaN, with those that are given."""
    into = call()
    out = tuple(np.full_like(x, np.nan) for x in into)
    call(out=given(out))
    for x in into:
        x.fill(np.nan)
    del into, x
    if not all(map(np.array_equal, call(), out)):
        raise WrongResultError(f"{what}: new results differ from those that were given")


def contender(call: Call, statement: str, **names: Any) -> Contender:
    """All states in one call of one thread, as the statement says it with `f(...)`."""
    text = statement.replace("f(...", f"f({call.words}, threads=1")
    return Contender(loop(text, **call.arrays, **call.names, **names), call.count)


@dataclass(frozen=True)
class Row:
    """A call with results of so many bytes, and ratios to calls with `out=`."""

    robot: str
    function: str
    bytes: int
    states: int
    into: float  # microseconds of a call with out=
    dropped: Spread
    replaced: Spread
    nothing_kept: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        size = f"{1e-3 * self.bytes:,.0f}"
        cells = [self.robot, self.function, size, str(self.states), number(self.into)]
        cells += [*times(self.dropped), *times(self.replaced), f"{self.nothing_kept.median:.2f}x"]
        return [*cells, verdict(max(self.dropped.median, self.replaced.median) <= MOST)]


def measured(robot: str, call: Call, effort: Effort, tick: Callable[[], None]) -> Row:
    """Check and time a case."""
    check(call, f"{robot}, {call.name}")
    results = call()
    out, other = given(results), given(call())
    into = contender(call, "f(..., out=out)", out=out)
    in_turns = contender(call, "f(..., out=out); out, d = d, out", out=out, d=other)
    dropped, replaced = contender(call, "f(...)"), contender(call, "d = f(...)", d=None)
    replaced.run(3)  # first calls take fresh memory, and would count as typical ones
    known = {"into": into, "in turns": in_turns}
    kept = timed(known | {"dropped": dropped, "replaced": replaced}, effort, tick)
    limit = dtau.set_result_cache_limit(0)
    try:
        bare = timed({"in turns": in_turns, "replaced": replaced}, effort, tick)
    finally:
        dtau.set_result_cache_limit(limit)
    return Row(
        robot=robot,
        function=call.name,
        bytes=sum(x.nbytes for x in results),
        states=call.count,
        into=call.count * kept.micro("into"),
        dropped=kept.ratio("dropped", "into"),
        replaced=kept.ratio("replaced", "in turns"),
        nothing_kept=bare.ratio("replaced", "in turns"),
    )


def findings(rows: list[Row], notes: list[str]) -> Findings:
    """The table and a claim for each way."""
    header = ["robot", "function", "kB", "states", "with out=", "dropped", "quartiles"]
    header += ["replaced", "quartiles", "nothing kept", f"at most {MOST:g}x"]
    title = "New results by results with out=: microseconds a call, and ratios"
    claims = []
    for way in ("dropped", "replaced"):
        ratios = [getattr(row, way).median for row in rows]
        text = f"calls without out=, results {way}, by calls with it, 1 kB to 64 MB"
        claims.append(at_most(text, MOST, ratios))
    return Findings(
        tables=[Table(title, header, [row.cells() for row in rows], left=2)],
        claims=claims,
        notes=notes,
        data={"rows": [asdict(row) for row in rows]},
    )


def run(quick: bool, watch: Watch) -> Findings:
    """Measure values and first derivatives of robots of growing size."""
    notes: list[str] = []
    robots = chosen(QUICK_ROBOTS if quick else ROBOTS, notes.append)
    models = {robot.label: robot.model for robot in robots}
    models = models or {"quadruped": dtau.robots.quadruped()}
    todo = list(cases(models, QUICK_SIZES if quick else SIZES))
    effort = EFFORT[quick]
    watch.expect(2 * effort.rounds * len(todo))
    with one_core():
        rows = [measured(label, case, effort, partial(watch.step, label)) for label, case in todo]
    return findings(rows, notes)


EXPERIMENT = Experiment(
    "fresh_results",
    "New results beside those that are given",
    "what the system takes to hand out memory",
    run,
)
