"""Time derivatives of order 5 with few and many bodies: in calls of values, and the share of peak.

    python -m benchmarks time_derivatives

Inverse and forward dynamics of the aerial manipulators with 7 and 101 bodies, alone and in batches:
by `inverse_dynamics` and `forward_dynamics` at the same states, taking turns; operations and the
share of the core's multiply-add peak. What 101 bodies keep between the orders is more than a first
cache holds, in batches by far: a body is asked to cost no more than with 7 for that.

All is checked before it is timed: `time_cases`.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import declare
from benchmarks.calls import operations, peaks
from benchmarks.declare import Bench, Layout, Row, efforts, ratio
from benchmarks.experiment import Claim
from benchmarks.experiments.time_cases import Case, tree
from dtau.cli.timing import Call

ORDER = 5
BODIES = (7, 101)
WAYS = ("alone", "batch")
BATCH = 256
MOST = 1.2  # a body of many, by a body of few


def values(case: Case) -> Call:
    """Values at the same states."""
    v, name = case.v_derivatives, f"{case.function}_dynamics"
    at = {"q": case.q, "v": v[:, 0].copy(), "a": v[:, 1].copy()}
    if case.function == "forward":
        at["tau"] = case.call.arrays["tau_derivatives"][:, 0].copy()
    return Call(name, case.model, at)


def measure(bench: Bench, function: str) -> Iterator[Row]:
    """With few and with many bodies, all in turns."""
    cases = {bodies: Case.of(tree(bodies), function, ORDER, BATCH) for bodies in BODIES}
    for case in cases.values():
        case.check()
    peak = peaks()
    calls = {n: case.call for n, case in cases.items()}
    found = bench.both(calls | {f"{n}, values": values(case) for n, case in cases.items()})
    for bodies, case in cases.items():
        work = 0.5 * sum(operations(case.call)[:2])  # multiply-adds
        for way in WAYS:
            micro = found.micro((way, bodies))
            yield {
                "dynamics": function,
                "bodies": bodies,
                "way": way,
                "us": micro,
                "ns a body": 1e3 * micro / bodies,
                "by values": found.ratio((way, bodies), (way, f"{bodies}, values")),
                "by few": found.ratio((way, bodies), (way, BODIES[0])).median * BODIES[0] / bodies,
                "multiply-adds": f"{work:,.0f}",
                "of the peak": f"{work / (1e-6 * micro * peak[way]):.0%}",
            }


def claims(rows: list[Row]) -> Iterator[Claim]:
    few, many = BODIES
    for found in declare.selected(rows, {"bodies": many}, "dynamics"):
        by_few = {row["way"]: row["by few"] for row in found}
        text = (
            f"{found[0]['dynamics']} dynamics, time derivatives: a body of {many} by one of {few}"
        )
        said = ", ".join(f"{way} {x:.2f}x" for way, x in by_few.items())
        yield Claim(text, f"at most {MOST:g}x", said, max(by_few.values()) <= MOST)


EXPERIMENT = declare.experiment(
    "time_derivatives",
    "Time derivatives of order 5, few and many bodies",
    "values of dynamics at the same states, and the core's peak",
    lambda bench: ["inverse", "forward"],
    measure,
    effort=efforts((41, 7), (4e-3, 2e-3)),
    tables=[
        Layout(
            f"Time derivatives of order {ORDER}, us a state, alone and in batches of {BATCH}, "
            "in calls of values, and by the core's measured peak (scalar, vector)",
            [
                *("dynamics", "bodies", "way", "us", "ns a body", ratio("by values", "by values")),
                *("multiply-adds", "of the peak"),
            ],
            left=3,
        )
    ],
    claims=[claims],
)
