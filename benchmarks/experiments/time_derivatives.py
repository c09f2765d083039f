"""Time derivatives of order 5 with few and many bodies: in calls of values, and the share of peak.

    python -m benchmarks time_derivatives

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

from benchmarks.calls import operations
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.experiments.time_cases import Case, tree
from benchmarks.harness import Spread, number, one_core, timed, times
from dtau import _core
from dtau.cli.timing import Call, Effort

ORDER = 5
BODIES = (7, 101)
FUNCTIONS = ("inverse", "forward")
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


def values(case: Case) -> Call:
    """Values at the same states."""
    v, name = case.v_derivatives, f"{case.function}_dynamics"
    at = {"q": case.q, "v": v[:, 0].copy(), "a": v[:, 1].copy()}
    if case.function == "forward":
        at["tau"] = case.call.arrays["tau_derivatives"][:, 0].copy()
    return Call(name, case.model, at)


def measured(
    function: str, peaks: dict[str, float], effort: Effort, tick: Callable[[], None]
) -> tuple[list[Row], Claim]:
    """Check and time a function with few and with many bodies, all in turns."""
    cases = [Case.of(tree(bodies), function, ORDER, BATCH) for bodies in BODIES]
    contenders = {}
    for case, bodies in zip(cases, BODIES, strict=True):
        case.check()
        for name, call in ((bodies, case.call), (f"{bodies}, values", values(case))):
            contenders[name, "alone"], contenders[name, "batch"] = call.alone(), call.batch()
    found = timed(contenders, effort, tick)
    rows = []
    for case, bodies in zip(cases, BODIES, strict=True):
        work = 0.5 * sum(operations(case.call)[:2])
        for way in WAYS:
            micro = found.micro((bodies, way))
            by_values = found.ratio((bodies, way), (f"{bodies}, values", way))
            rows.append(Row(function, bodies, way, micro, by_values, work, peaks[way]))
    few, many = BODIES
    ratios = {way: found.ratio((many, way), (few, way)).median * few / many for way in WAYS}
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
    watch.expect(len(FUNCTIONS) * effort.rounds)
    rows: list[Row] = []
    claims: list[Claim] = []
    with one_core():
        lone_peaks, lane_peaks = zip(*(_core.peak_rate() for _ in range(3)), strict=True)
        peaks = {"alone": max(lone_peaks), "batch": max(lane_peaks)}
        for function in FUNCTIONS:
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
