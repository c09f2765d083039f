"""Time derivatives of order 5 with few and many bodies: in calls of values, and the share of peak.

Inverse and forward dynamics of the aerial manipulators with 7 and 101 bodies, alone and in batches:
by `inverse_dynamics` and `forward_dynamics` at the same states, taking turns; operations and the
share of the core's multiply-add peak. What 101 bodies keep between the orders is more than a first
cache holds, in batches by far: a body is asked to cost no more than with 7 for that.

All is checked before it is timed: `time_cases`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.calls import alone, batch
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.experiments.time_cases import Case, tree
from benchmarks.harness import Contender, Effort, Spread, interleaved, number, one_core, times
from dtau import _core, _testing

ORDER = 5
BODIES = (7, 101)
VALUES: dict[str, Callable[..., Any]] = {
    "inverse": dtau.inverse_dynamics,
    "forward": dtau.forward_dynamics,
}
WAYS = ("alone", "batch")
BATCH = 256
MOST = 1.2  # a body of many, by a body of few
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick


@dataclass(frozen=True)
class Row:
    """A function with so many bodies, alone or in a batch."""

    function: str
    bodies: int
    way: str
    microseconds: float
    by_values: Spread
    multiply_adds: float  # half the multiplications and additions
    peak: float  # of them a second

    @property
    def of_a_body(self) -> float:
        """Nanoseconds a state and body."""
        return 1e3 * self.microseconds / self.bodies

    def cells(self) -> list[str]:
        """As the table shows it."""
        share = self.multiply_adds / (1e-6 * self.microseconds * self.peak)
        return [
            self.function,
            str(self.bodies),
            self.way,
            number(self.microseconds),
            number(self.of_a_body),
            *times(self.by_values),
            f"{self.multiply_adds:,.0f}",
            f"{share:.0%}",
        ]


def operations(case: Case) -> float:
    """Half the multiplications and additions of the first state."""
    states = [array[0] for array in case.arrays]
    _testing.counting.take()
    f = getattr(_testing.counting, f"{case.function}_dynamics_time_derivatives")
    f(case.model, *states, order=ORDER)
    multiplications, additions, _ = _testing.counting.take()
    return 0.5 * float(multiplications + additions)


def contenders(case: Case) -> dict[str, Contender]:
    """Both ways, and values at the same states."""
    v = case.v_derivatives
    last = v[:, 1] if case.function == "inverse" else case.arrays[2][:, 0]
    states = (case.q, v[:, 0].copy(), last.copy())
    values, bodies = VALUES[case.function], case.model.nbodies
    return {
        f"{bodies} alone": case.alone(),
        f"{bodies} batch": case.batch(),
        f"{bodies} alone, values": alone(values, case.model, states),
        f"{bodies} batch, values": batch(values, case.model, states),
    }


def measured(
    function: str, peaks: dict[str, float], effort: Effort, tick: Callable[[], None]
) -> tuple[list[Row], Claim]:
    """Check and time a function with few and with many bodies, all in turns."""
    cases = [Case.of(tree(bodies), function, ORDER, BATCH) for bodies in BODIES]
    together: dict[str, Contender] = {}
    for case in cases:
        case.check()
        together |= contenders(case)
    seconds = interleaved(together, effort, tick)
    rows = [
        Row(
            function=function,
            bodies=case.model.nbodies,
            way=way,
            microseconds=1e6 * float(np.median(seconds[name])),
            by_values=Spread.of(seconds[name] / seconds[f"{name}, values"]),
            multiply_adds=operations(case),
            peak=peaks[way],
        )
        for case in cases
        for way in WAYS
        for name in (f"{case.model.nbodies} {way}",)
    ]
    few, many = BODIES
    ratios = {
        way: float(np.median(seconds[f"{many} {way}"] / seconds[f"{few} {way}"])) * few / many
        for way in WAYS
    }
    claim = Claim(
        f"{function} dynamics, time derivatives: a body of {many} by one of {few}",
        f"at most {MOST:g}x",
        ", ".join(f"{way} {ratio:.2f}x" for way, ratio in ratios.items()),
        max(ratios.values()) <= MOST,
    )
    return rows, claim


def run(quick: bool, watch: Watch) -> Findings:
    """Measure both functions with few and many bodies."""
    effort = EFFORT[quick]
    watch.expect(len(VALUES) * effort.rounds)
    rows: list[Row] = []
    claims: list[Claim] = []
    with one_core():
        lone_peaks, lane_peaks = zip(*(_core.peak_rate() for _ in range(3)), strict=True)
        peaks = {"alone": max(lone_peaks), "batch": max(lane_peaks)}
        for function in VALUES:
            found, claim = measured(function, peaks, effort, partial(watch.step, function))
            rows += found
            claims.append(claim)
    header = ["dynamics", "bodies", "way", "us", "ns a body", "by values", "quartiles"]
    header += ["multiply-adds", "of the peak"]
    title = (
        f"Time derivatives of order {ORDER}, us a state, alone and in batches of {BATCH}, "
        "in calls of values, and by the core's measured peak (scalar, vector)"
    )
    return Findings(
        tables=[Table(title, header, [row.cells() for row in rows], left=3)],
        claims=claims,
        data={"rows": [asdict(row) for row in rows]},
    )


EXPERIMENT = Experiment(
    "time_derivatives",
    "Time derivatives of order 5, few and many bodies",
    "values of dynamics at the same states, and the core's peak",
    run,
)
