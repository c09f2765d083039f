"""[HO-FBS] figure 3: 30 seconds of the aerial manipulator, there and back, orders 0 to 5.

    python -m benchmarks paper_002_trajectory

Inverse dynamics along the trajectory gives wrenches and torques with their time derivatives;
forward dynamics takes them back to the accelerations that they came from. Errors by order, and the
time of a call beside the paper's.

Checked before anything is timed: the way back, within a digit an order of 1e-11 (errors of low
orders feed the high ones), and all that `time_cases` checks of both functions.
"""

from __future__ import annotations

import importlib
from time import thread_time
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import WrongResultError
from benchmarks.declare import Layout, Row
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch
from benchmarks.experiments import quoted_times
from benchmarks.experiments.quoted_times import COLUMNS, PRINTED
from benchmarks.experiments.time_cases import Case
from benchmarks.harness import one_core, timed
from benchmarks.optional import examples
from dtau.cli.timing import Effort

ORDERS = range(6)
BODIES = 7
INSTANTS = {False: 3001, True: 301}  # by quick
BATCH = 256
BACK = 1e-11  # at order 0, of the largest acceleration; ten times as much an order more
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=1e-3)}


def run(quick: bool, watch: Watch) -> Findings:
    """Fly there and back, then time both ways."""
    effort = EFFORT[quick]
    watch.expect(3, "there and back")
    with examples():
        example = importlib.import_module("aerial_manipulator")
    model = dtau.robots.aerial_manipulator()
    t = np.linspace(0.0, example.SECONDS, INSTANTS[quick])
    way = example.reference(t, len(ORDERS) - 1)
    flight = example.fly(model, way)
    largest = example.largest(way.v_derivatives[:, 1:])
    torques = example.largest(flight.tau)
    back = example.largest(flight.a - way.v_derivatives[:, 1:]) / largest
    for k in ORDERS:
        if not back[k] <= BACK * 10.0**k:
            raise WrongResultError(f"forward dynamics misses the trajectory's order {k}: {back[k]}")
    watch.step("there and back")

    rows = []
    with one_core():
        for function in ("inverse", "forward"):
            contenders = {}
            for order in ORDERS:
                case = _case(model, function, order, way)
                case.check()
                contenders[order, "alone"] = case.call.alone()
                contenders[order, "batch"] = case.call.batch()
            micro = timed(contenders, effort, thread_time).medians()
            watch.step(f"{function} dynamics")
            for order in ORDERS:
                both = micro[order, "alone"], micro[order, "batch"]
                rows.append(quoted_times.beside(BODIES, function, order, *both))

    errors = [
        [str(k), *(f"{x[k]:.1e}" for x in (largest, torques, back, flight.residual))]
        for k in ORDERS
    ]
    return Findings(
        tables=[
            Table(
                f"{len(t)} instants, there and back: largest acceleration, wrench and torque by "
                "order; error of the way back, of |a|; residual, of max(|tau|, |M| |a|)",
                ["order", "|a|", "|tau|", "back", "residual"],
                errors,
            ),
            *Layout(
                f"Microseconds a call, {BODIES} bodies, states of the trajectory, alone and in "
                f"batches of {BATCH}; those of the paper's C++ on other machines: printed in its "
                "figure 3 (Intel i7-12700H), and built once from its code; how many times less "
                "than the better of the two",
                COLUMNS,
            ).tables(rows),
        ],
        plots=[_errors_plot(back, flight.residual), _times_plot(rows)],
        claims=[
            Claim(
                "Forward dynamics gives the trajectory back at orders 0 to 5",
                f"{BACK:.0e} of the largest, ten times as much an order more",
                f"{back[0]:.1e} at order 0, {back[-1]:.1e} at order {ORDERS[-1]}",
                True,
            ),
            *(_less_than_printed(function, rows) for function in ("inverse", "forward")),
            *quoted_times.claims(rows),
        ],
        notes=[
            "The paper's times are quoted from other machines, not measured here.",
            "The curves of figure 3 themselves: python examples/aerial_manipulator.py --plot FILE.",
        ],
        data={"back": back.tolist(), "residual": flight.residual.tolist()},
    )


def _case(model: dtau.Model, function: str, order: int, way: Any) -> Case:
    """A function of one order at instants evenly over the trajectory."""
    at = np.linspace(0, len(way.q) - 1, BATCH).astype(int)
    q, v = way.q[at].copy(), way.v_derivatives[at, : order + 2].copy()
    return Case(model, function, order, q, v)


def _less_than_printed(function: str, rows: list[Row]) -> Claim:
    """By how much a lone call is below the paper's numbers, over the orders."""
    printed, of = PRINTED[function, BODIES], _of(function, rows)
    ratios = [x / row["alone"] for x, row in zip(printed, of, strict=True)]
    return Claim(
        f"{function} dynamics, orders 0 to 5, one state: less time than the paper prints",
        f"{printed[0]} to {printed[-1]} us, another machine",
        f"{min(ratios):.1f} to {max(ratios):.1f} times less",
        min(ratios) > 1.0,
    )


def _of(function: str, rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["function"] == function]


def _errors_plot(back: Any, residual: Any) -> Plot:
    allowed = [BACK * 10.0**k for k in ORDERS]
    curves = [
        Curve("way back", list(ORDERS), back.tolist()),
        Curve("residual", list(ORDERS), residual.tolist()),
        Curve("allowed on the way back", list(ORDERS), allowed, dashed=True),
    ]
    title = "There and back, errors by order"
    return Plot("paper_002_errors", title, "order", "relative error", curves, (False, True))


def _times_plot(rows: list[Row]) -> Plot:
    curves = []
    for function in ("inverse", "forward"):
        for way in ("alone", "batch"):
            times = [row[way] for row in _of(function, rows)]
            curves.append(Curve(f"{function}, {way}", list(ORDERS), times))
        printed = PRINTED[function, BODIES]
        curves.append(Curve(f"{function}, printed", list(ORDERS), printed, dashed=True))
    title = f"{BODIES} bodies: a call by order, and what [HO-FBS] prints (another machine)"
    return Plot("paper_002_orders", title, "order", "microseconds", curves, (False, True))


EXPERIMENT = Experiment(
    "paper_002_trajectory", "A trajectory there and back", "[HO-FBS] figure 3", run
)
