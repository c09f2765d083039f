"""[HO-FBS] figure 4 (a, b) and table 4: cost over the bodies, to 996, and over the order, to 10.

    python -m benchmarks paper_002_cost

The trees are those of table 4: five arms of 1 to 199 links on a free base, a hundred sizes for lone
states of inverse and forward dynamics as in the paper, eight for batches and for what the paper
does not time: hybrid dynamics (every second joint's motion is given) and the closed form, bias and
gravity torques, mass and Coriolis matrices. Matrices are dense, (nv, nv) an order, and so grow with
the square of the bodies: their trees end at 251.

All is checked before it is timed: `time_cases`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import thread_time

import dtau
from benchmarks import declare
from benchmarks.declare import Bench, Column, Layout, Row, efforts
from benchmarks.experiment import Claim, Curve, Plot, Table
from benchmarks.experiments import quoted_times
from benchmarks.experiments.time_cases import DYNAMICS, FUNCTIONS, MATRICES, Case, tree
from benchmarks.harness import exponent
from dtau.cli.timing import Contender

LINKS = {False: (1, 2, 5, 10, 20, 50, 100, 199), True: (1, 5, 20)}  # of five arms each, by quick
ALL_LINKS = {False: tuple(range(1, 200, 2)), True: ()}  # beside these: the paper's hundred
TIMED_THERE = ("inverse", "forward")
MOST_LINKS = {name: 50 if name in MATRICES else 199 for name in FUNCTIONS}
ORDERS = {False: (0, 1, 2, 3, 4, 5), True: (0, 5)}  # over the bodies
CLOSED_FORM_ORDERS = {False: (0, 2, 5), True: (0, 2)}
SCALED_ORDERS = {False: tuple(range(11)), True: (0, 2, 5)}  # over the order, with so many bodies:
SCALED_BODIES = 101
BATCH = {False: 64, True: 16}
LONE_STATES = 8
WAYS = ("alone", "batch")
SCATTER = 0.1  # of fitted exponents
CACHES = "arrays of large trees leave the fast caches; operations are exactly linear in the bodies"
# At most, over the bodies and over the order plus one. Arms of one tree after the other are deeper:
# matrices have O(N d) entries that are not zero, and d grows as N.
MOST = {name: (2.0 if name in MATRICES else 1.0, 2.0) for name in FUNCTIONS}


Points = list[tuple[dtau.Model, int]]  # trees and orders


def subjects(bench: Bench) -> list[tuple[str, str, int | None, Points]]:
    """Sweeps of a function over the bodies at some orders, and over the order with 101 bodies."""
    quick = bench.quick
    every = sorted({*LINKS[quick], *ALL_LINKS[quick]})
    trees = {links: dtau.robots.aerial_manipulator(5, links) for links in every}
    one = tree(SCALED_BODIES)
    found: list[tuple[str, str, int | None, Points]] = []
    for function in FUNCTIONS:
        sizes = every if function in TIMED_THERE else LINKS[quick]
        small = [trees[links] for links in sizes if links <= MOST_LINKS[function]]
        orders = ORDERS if function in DYNAMICS else CLOSED_FORM_ORDERS
        found += [(function, "bodies", r, [(x, r) for x in small]) for r in orders[quick]]
        found.append((function, "order", None, [(one, r) for r in SCALED_ORDERS[quick]]))
    return found


def measure(
    bench: Bench, function: str, over: str, order: int | None, points: Points
) -> Iterator[Row]:
    """Check and time one function over trees of one order, or orders of one tree."""
    batches = {1 + 5 * links for links in LINKS[bench.quick]} | {SCALED_BODIES}  # sizes, in bodies
    contenders: dict[tuple[str, int], Contender] = {}
    for model, of in points:
        x, batch = of if over == "order" else model.nbodies, model.nbodies in batches
        case = Case.of(model, function, of, BATCH[bench.quick] if batch else LONE_STATES)
        case.check()
        contenders["alone", x] = case.call.alone(LONE_STATES)
        if batch:
            contenders["batch", x] = case.call.batch()
    micro = bench.timed(contenders).medians()
    for way in WAYS:
        sizes = [x for name, x in micro if name == way]
        costs = [micro[way, x] for x in sizes]
        row = {"function": function, "way": way, "over": over, "order": order, "x": sizes}
        row |= {"microseconds": costs, "exponent": power(over, sizes, costs)}
        row["what"] = f"bodies, order {order}" if over == "bodies" else "order + 1"
        row |= {"ends": f"{sizes[0]} to {sizes[-1]}", "first": costs[0], "last": costs[-1]}
        yield row | {"most": MOST[function][over == "order"], "states": BATCH[bench.quick]}


def power(over: str, x: Sequence[int], microseconds: Sequence[float]) -> float:
    """The slope in logarithms, of the time over the bodies or over the order plus one."""
    return exponent([n + (over == "order") for n in x], microseconds)


def quoted(rows: list[Row]) -> list[Row]:
    """Times over the order beside those of the paper."""
    found = []
    for function in TIMED_THERE:
        where = {"function": function, "over": "order"}
        ((alone, batch),) = declare.selected(rows, where)
        for order, *both in zip(
            alone["x"], *(x["microseconds"] for x in (alone, batch)), strict=True
        ):
            found.append(quoted_times.beside(SCALED_BODIES, function, order, *both))
    return found


def quoted_table(rows: list[Row]) -> Iterator[Table]:
    title = (
        f"Microseconds a call, {SCALED_BODIES} bodies, by order, alone and in batches of "
        f"{rows[0]['states']}, and what the paper's C++ took, built on another machine"
    )
    return Layout(title, quoted_times.COLUMNS).tables(quoted(rows))


def claims(rows: list[Row]) -> Iterator[Claim]:
    """How the time grows with the bodies and with the order; the paper times one state."""
    for function in FUNCTIONS:
        for over, words in (("bodies", "the bodies"), ("order", "(order + 1), 101 bodies")):
            for way, states in quoted_times.WAYS.items():
                where = {"function": function, "over": over, "way": way}
                (of,) = declare.selected(rows, where)
                exponents, most = [row["exponent"] for row in of], of[0]["most"]
                holds = max(exponents) <= most + SCATTER
                paper = " (the paper's)" if function in DYNAMICS and way == "alone" else ""
                yield Claim(
                    f"{function}, {states}: the time grows with a power of {words} of at "
                    f"most{paper}",
                    f"{most:g} (fitted; {SCATTER:g} more is scatter)",
                    f"{min(exponents):.2f} to {max(exponents):.2f}",
                    holds,
                    "" if holds else CACHES,
                )
    yield from quoted_times.claims(quoted(rows))


def plots(rows: list[Row]) -> Iterator[Plot]:
    for of in declare.selected(rows, {"over": "bodies"}, "function"):
        function = of[0]["function"]
        name = f"paper_002_bodies_{function.replace(' ', '_')}".lower()
        title = f"{function[0].upper()}{function[1:]}: cost over the bodies"
        curves = [_curve(f"order {row['order']}, {row['way']}", row) for row in of]
        yield Plot(name, title, "bodies", "microseconds a state", curves)
    title, name = f"Cost over the order, {SCALED_BODIES} bodies", "paper_002_cost_order"
    (of,) = declare.selected(rows, {"over": "order"})
    curves = [_curve(f"{row['function']}, {row['way']}", row) for row in of]
    yield Plot(name, title, "order", "microseconds a state", curves, (False, True))


def _curve(label: str, row: Row) -> Curve:
    return Curve(label, row["x"], row["microseconds"], dashed=row["way"] == "alone")


EXPERIMENT = declare.experiment(
    "paper_002_cost",
    "Cost over bodies and order",
    "[HO-FBS] figure 4 (a, b), table 4",
    subjects,
    measure,
    effort=efforts((11, 3), (2e-3, 5e-4)),
    tables=[
        Layout(
            "Microseconds a state at the ends of each sweep, and the fitted exponent "
            f"(over the order: with {SCALED_BODIES} bodies)",
            [
                *("function", "way", ("over", "what"), ("from", "ends"), "first", "last"),
                Column(
                    ["exponent", "at most"],
                    lambda row: [f"{row['exponent']:.2f}", f"{row['most']:g}"],
                ),
            ],
            left=3,
        ),
        quoted_table,
    ],
    plots=plots,
    claims=[claims],
    notes=[
        "Lone calls have about a microsecond of Python in them, which lowers exponents.",
        "Over the order r the exponent is that of r + 1, from r = 0 on.",
    ],
    clock=thread_time,
)
