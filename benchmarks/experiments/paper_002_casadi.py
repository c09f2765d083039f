"""[HO-FBS] figure 4 (c): time derivatives by automatic differentiation, with 101 bodies.

    python -m benchmarks paper_002_casadi

CasADi goes about it in three ways, each in a process with a limit of time and memory, from order 0
on until the limit ends it:

    repeated    its directional derivative, again and again, by its virtual machine: the paper's way
    eliminated  the same with common subexpressions eliminated after every order
    compiled    that as C code by the C compiler, -O3 (large expressions: -O1), called from Python
                and in a loop of C; with 21 bodies too, where it comes further

Every result is compared with the package's before it is timed; CasADi and the package take turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, require_close
from benchmarks.declare import Bench, Layout, Row, efforts
from benchmarks.experiment import Claim, Curve, Plot
from benchmarks.experiments.time_cases import AGREEMENT, Case, tree
from benchmarks.limits import Limit
from benchmarks.peers.casadi_growth import COLUMNS, beside, followed, ways_here
from dtau.cli.timing import Effort

WAYS = ("repeated", "eliminated", "compiled")
LIMIT = {False: Limit(30.0, 4.0), True: Limit(10.0, 4.0)}  # by quick
MOST = 8  # order; the paper's
STRAIGHT = "straight-line code of one robot has no loops and no zeros, and pays at low orders"
BATCH = 64


FUNCTIONS = ("inverse", "forward")


def subjects(bench: Bench) -> list[tuple[int, str, str, int]]:
    """Bodies, functions, ways and the last orders."""
    bench.note(
        f"A way of CasADi's is followed for {LIMIT[bench.quick]} a function, in a process of its "
        f"own, and to order {MOST} at most."
    )
    ways = ways_here(WAYS, bench.note)
    if bench.quick:
        most = dict(zip(WAYS, (1, 1, 0), strict=True))
        chains = [(21, "inverse", way, most[way]) for way in ways]
        return [*chains, (21, "forward", "eliminated", 0)]
    chains = [(101, f, way, MOST) for f in FUNCTIONS for way in ways]
    return chains + [(21, f, "compiled", MOST) for f in FUNCTIONS if "compiled" in ways]


def measure(bench: Bench, bodies: int, function: str, way: str, most: int) -> list[Row]:
    label, last = f"{function} dynamics, {bodies} bodies, {way}", "order {order} was the last"
    given = tree(bodies), function, way, most
    return followed(bench, LIMIT[bench.quick], label, last, measured, *given)


def measured(
    model: dtau.Model, function: str, way: str, most: int, effort: Effort, folder: Path
) -> Iterator[Row]:
    """Make, check and time orders 0, 1, ... by CasADi; runs in the process with the limit."""
    from benchmarks.peers.casadi_time import Derivatives, inputs

    start = perf_counter()
    expression = Derivatives(model, function, most, eliminate=way != "repeated")
    making = perf_counter() - start  # all orders so far
    for order in range(most + 1):
        start = perf_counter()
        if order:
            expression.differentiate()
        made = expression.function()
        making += perf_counter() - start
        case = Case.of(model, function, order, BATCH)
        stack = case.v_derivatives
        if function == "forward":
            tau = case.call.arrays["tau_derivatives"]
            stack = np.concatenate([stack[:, :1], tau], axis=1)
        x = inputs(model, case.q, stack)
        check = partial(_agree, case)
        found = beside(made, way, x, case.call, check, effort, folder, making)
        row = {"bodies": model.nbodies, "dynamics": function, "way": way, "order": order}
        yield row | found


def _agree(case: Case, got: Array, name: str) -> None:
    """Refuse to time what is wrong: torques by the package's, accelerations by their residual."""
    want = case.check()[: len(got)]
    got = got.reshape(want.shape)
    if case.function == "forward":
        tau = case.call.arrays["tau_derivatives"][: len(got)]
        case.check_residual(got, tau, f"CasADi, {name}")
        return
    for k in range(case.order + 1):
        what = f"CasADi, {name}: {case.label}, row {k}"
        require_close(got[:, k], want[:, k], AGREEMENT, what)


TEXTS = {
    "repeated": "differentiated repeatedly (the paper's way)",
    "eliminated": "with elimination after every order",
    "compiled": "with elimination, compiled C code, called from Python",
}


def _claims(rows: list[Row]) -> Iterator[Claim]:
    """The paper's, of the way that it went; and the same of the better ways."""
    for bodies, function, way in dict.fromkeys(map(_chain, rows)):
        of = [row for row in rows if _chain(row) == (bodies, function, way)]
        label = f"{function} dynamics, {bodies} bodies"
        if way == "repeated" and len(of) > 2:
            growth = [b["nodes"] / a["nodes"] for a, b in pairwise(of)]
            time = of[-1]["called"] / of[0]["called"]
            yield Claim(
                f"{label}: CasADi's repeated derivatives grow exponentially with the order",
                "a factor of more than 2 an order",
                f"nodes: {min(growth):.2f} to {max(growth):.2f}; time: "
                f"{time ** (1.0 / of[-1]['order']):.2f} on average",
                min(growth) > 2.0,
            )
        yield _faster(f"{label}: less time than CasADi {TEXTS[way]}", of, "called")
        if way == "compiled":
            text = f"{label}, batch: less time than CasADi's compiled C code in a loop of C"
            yield _faster(text, of, "looped")


def _chain(row: Row) -> tuple[int, str, str]:
    return row["bodies"], row["dynamics"], row["way"]


def _faster(text: str, of: Sequence[Row], theirs: str) -> Claim:
    ratios = [row[f"{theirs} ratio"].median for row in of]
    orders = [row["order"] for row in of]
    words = ", ".join(f"{r:.3g}x at order {k}" for r, k in zip(ratios, orders, strict=True))
    holds = min(ratios) > 1.0
    return Claim(text, "more than 1x at every order", words, holds, "" if holds else STRAIGHT)


def _plot(rows: list[Row], function: str) -> Plot:
    mine = [row for row in rows if row["dynamics"] == function]
    curves = []
    for bodies, _, way in dict.fromkeys(map(_chain, mine)):
        of = [row for row in mine if _chain(row) == (bodies, function, way)]
        for name, where in (("called", ""), ("looped", ", in a C loop")):
            if name in of[0]:
                label = f"CasADi, {way}{where}, {bodies} bodies"
                curves.append(Curve(label, [x["order"] for x in of], [x[name] for x in of]))
    for found in declare.selected(mine, {}, "bodies"):
        for name in ("alone", "batch"):
            if ours := {x["order"]: x[name] for x in found if name in x}:
                orders, label = sorted(ours), f"dtau, {name}, {found[0]['bodies']} bodies"
                curves.append(Curve(label, orders, [ours[k] for k in orders], dashed=True))
    title = f"{function.capitalize()} dynamics of all orders up to one, by CasADi and by dtau"
    units = ("order", "microseconds a state")
    return Plot(f"paper_002_casadi_{function}", title, *units, curves, (False, True))


EXPERIMENT = declare.experiment(
    "paper_002_casadi",
    "Time derivatives beside CasADi",
    "[HO-FBS] figure 4 (c)",
    subjects,
    measure,
    effort=efforts((9, 3), (2e-3, 1e-3)),
    needs={"casadi": "casadi"},
    tables=[
        Layout(
            "Dynamics of all orders up to one, microseconds a state: CasADi called from Python for "
            f"each state beside dtau alone; CasADi's C code in a C loop over {BATCH} states beside "
            "dtau's batch; nodes of the expression, seconds to make (and compile) it; ratios with "
            "quartiles",
            ["bodies", "dynamics", ("CasADi", "way"), "order", "nodes", *COLUMNS],
            left=3,
        )
    ],
    plots=lambda rows: [_plot(rows, function) for function in FUNCTIONS],
    claims=[_claims],
)
