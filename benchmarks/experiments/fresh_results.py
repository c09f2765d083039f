"""What new arrays for results cost beside those that are given (`out=`): at most 1.2 times as much.

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
from benchmarks.calls import together
from benchmarks.experiment import (
    Array,
    Claim,
    Experiment,
    Findings,
    Table,
    Watch,
    WrongResultError,
)
from benchmarks.harness import (
    Contender,
    Effort,
    Spread,
    interleaved,
    loop,
    number,
    one_core,
    span,
    times,
)
from benchmarks.robots import chosen

MOST = 1.2
SIZES = tuple(1000 * 4**k for k in range(9))  # bytes, to 65.5 MB
QUICK_SIZES = SIZES[::4]
ROBOTS = ("panda", "hyq", "g1", "talos")
QUICK_ROBOTS = ("hyq",)
FUNCTIONS = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick


@dataclass(frozen=True)
class Case:
    """A function, and as many states as have results of so many bytes."""

    function: str
    model: dtau.Model
    states: tuple[Array, ...]

    @staticmethod
    def of(function: str, model: dtau.Model, size: int) -> Case | None:
        """None where a single state has larger results."""
        f = getattr(dtau, function)
        lone = dtau.random_state(model, np.random.default_rng(0))
        each = sum(x.nbytes for x in together(f(model, *lone)))
        if each > size:
            return None
        states = dtau.random_state(model, np.random.default_rng(1), shape=(size // each,))
        return Case(function, model, tuple(states))

    def __call__(self, **options: Any) -> tuple[Array, ...]:
        """All states in one call."""
        return together(getattr(dtau, self.function)(self.model, *self.states, **options))

    def contender(self, statement: str, **names: Any) -> Contender:
        """All states in one call of one thread, as the statement says it with f(model, q, v, x)."""
        q, v, x = self.states
        f = getattr(dtau, self.function)
        given = {"f": f, "model": self.model, "q": q, "v": v, "x": x, "d": None}
        return Contender(loop(statement, **(given | names)), len(q))

    def check(self, what: str) -> None:
        """Compare results that take memory of others, full of NaN, with those that are given."""
        into = self()
        out = tuple(np.full_like(x, np.nan) for x in into)
        self(out=out if len(out) > 1 else out[0])
        for x in into:
            x.fill(np.nan)
        del into, x
        for x, y in zip(self(), out, strict=True):
            if not np.array_equal(x, y):
                raise WrongResultError(f"{what}: new results differ from those that were given")


@dataclass(frozen=True)
class Row:
    """Microseconds of a call, and ratios to calls with `out=`."""

    robot: str
    function: str
    bytes: int  # of all results
    states: int
    into: float
    dropped: Spread
    replaced: Spread
    nothing_kept: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        words = [self.robot, self.function, f"{1e-3 * self.bytes:,.0f}", str(self.states)]
        worst = max(self.dropped.median, self.replaced.median)
        return [
            *words,
            number(self.into),
            *times(self.dropped),
            *times(self.replaced),
            f"{self.nothing_kept.median:.2f}x",
            "yes" if worst <= MOST else "NO",
        ]


def measured(robot: str, case: Case, effort: Effort, tick: Callable[[], None]) -> Row:
    """Check and time a case."""
    case.check(f"{robot}, {case.function}")
    results = case()
    out, other = (x if len(x) > 1 else x[0] for x in (results, case()))
    call = "f(model, q, v, x, threads=1"
    into = case.contender(f"{call}, out=out)", out=out)
    in_turns = case.contender(f"{call}, out=out); out, d = d, out", out=out, d=other)
    dropped, replaced = case.contender(f"{call})"), case.contender(f"d = {call})")
    replaced.run(3)  # first calls take fresh memory, and would count as typical ones
    given = {"into": into, "in turns": in_turns}
    kept = interleaved(given | {"dropped": dropped, "replaced": replaced}, effort, tick)
    limit = dtau.set_result_cache_limit(0)
    try:
        bare = interleaved({"in turns": in_turns, "replaced": replaced}, effort, tick)
    finally:
        dtau.set_result_cache_limit(limit)
    count = len(case.states[0])
    return Row(
        robot=robot,
        function=case.function,
        bytes=sum(x.nbytes for x in results),
        states=count,
        into=1e6 * count * float(np.median(kept["into"])),
        dropped=Spread.of(kept["dropped"] / kept["into"]),
        replaced=Spread.of(kept["replaced"] / kept["in turns"]),
        nothing_kept=Spread.of(bare["replaced"] / bare["in turns"]),
    )


def cases(models: dict[str, dtau.Model], sizes: tuple[int, ...]) -> Iterator[tuple[str, Case]]:
    """The functions on all robots, at all sizes that have a state."""
    for robot, model in models.items():
        for function in FUNCTIONS:
            for size in sizes:
                if case := Case.of(function, model, size):
                    yield robot, case


def findings(rows: list[Row], notes: list[str]) -> Findings:
    """The table and a claim for each way."""
    header = ["robot", "function", "kB", "states", "with out=", "dropped", "quartiles"]
    header += ["replaced", "quartiles", "nothing kept", f"at most {MOST:g}x"]
    title = "New results by results with out=: microseconds a call, and ratios"
    claims = []
    for way in ("dropped", "replaced"):
        ratios = [getattr(row, way).median for row in rows]
        text = f"calls without out=, results {way}, by calls with it, 1 kB to 64 MB"
        claims.append(Claim(text, f"at most {MOST:g}x", span(ratios), max(ratios) <= MOST))
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
