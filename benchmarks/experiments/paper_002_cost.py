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

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from time import thread_time

import dtau
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch
from benchmarks.experiments.quoted_times import HEADER, Row
from benchmarks.experiments.time_cases import DYNAMICS, FUNCTIONS, MATRICES, Case, tree
from benchmarks.harness import exponent, number, one_core, timed
from dtau.cli.timing import Effort

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
EFFORT = {False: Effort(rounds=11, block=2e-3), True: Effort(rounds=3, block=5e-4)}
WAYS = ("alone", "batch")
SCATTER = 0.1  # of fitted exponents
CACHES = "arrays of large trees leave the fast caches; operations are exactly linear in the bodies"
# At most, over the bodies and over the order plus one. Arms of one tree after the other are deeper:
# matrices have O(N d) entries that are not zero, and d grows as N.
MOST = {name: (2.0 if name in MATRICES else 1.0, 2.0) for name in FUNCTIONS}


@dataclass(frozen=True)
class Cost:
    """Microseconds a state over the number of bodies or the order."""

    function: str
    way: str  # alone or batch
    over: str  # bodies or order
    order: int | None  # where it goes over the bodies
    x: list[int]
    microseconds: list[float]

    @property
    def exponent(self) -> float:
        """The slope in logarithms, of the time over the bodies or over the order plus one."""
        return exponent([x + (self.over == "order") for x in self.x], self.microseconds)

    @property
    def most(self) -> float:
        """What the exponent is asked to be at most."""
        return MOST[self.function][self.over == "order"]

    def cells(self) -> list[str]:
        """As the table shows it."""
        what = f"bodies, order {self.order}" if self.over == "bodies" else "order + 1"
        ends = [f"{self.x[0]} to {self.x[-1]}"]
        ends += [number(self.microseconds[0]), number(self.microseconds[-1])]
        return [self.function, self.way, what, *ends, f"{self.exponent:.2f}", f"{self.most:g}"]


def run(quick: bool, watch: Watch) -> Findings:
    """Sweep the bodies at some orders, and the order with 101 bodies."""
    every = sorted({*LINKS[quick], *ALL_LINKS[quick]})
    trees = {links: dtau.robots.aerial_manipulator(5, links) for links in every}
    sweeps: list[tuple[str, int | None, list[tuple[dtau.Model, int]]]] = []
    for function in FUNCTIONS:
        sizes = every if function in TIMED_THERE else LINKS[quick]
        small = [trees[links] for links in sizes if links <= MOST_LINKS[function]]
        orders = ORDERS if function in DYNAMICS else CLOSED_FORM_ORDERS
        sweeps += [(function, r, [(model, r) for model in small]) for r in orders[quick]]
        one = tree(SCALED_BODIES)
        sweeps.append((function, None, [(one, r) for r in SCALED_ORDERS[quick]]))

    effort = EFFORT[quick]
    watch.expect(len(sweeps) * (effort.rounds + 1))
    costs: list[Cost] = []
    with one_core():
        for function, order, points in sweeps:
            costs += _sweep(function, order, points, quick, watch)

    rows = [
        Row(SCALED_BODIES, function, order, *(_at(costs, function, way, order) for way in WAYS))
        for function in ("inverse", "forward")
        for order in SCALED_ORDERS[quick]
    ]
    header = ["function", "way", "over", "from", "first", "last", "exponent", "at most"]
    return Findings(
        tables=[
            Table(
                "Microseconds a state at the ends of each sweep, and the fitted exponent "
                f"(over the order: with {SCALED_BODIES} bodies)",
                header,
                [cost.cells() for cost in costs],
                left=3,
            ),
            Table(
                f"Microseconds a call, {SCALED_BODIES} bodies, by order, alone and in batches of "
                f"{BATCH[quick]}, and what the paper's C++ took, built on another machine",
                HEADER,
                [row.cells() for row in rows],
            ),
        ],
        plots=[*(_bodies_plot(costs, name) for name in FUNCTIONS), _order_plot(costs)],
        claims=[
            *(claim for name in FUNCTIONS for claim in _exponent_claims(costs, name)),
            *(claim for row in rows for claim in row.claims()),
        ],
        notes=[
            "Lone calls have about a microsecond of Python in them, which lowers exponents.",
            "Over the order r the exponent is that of r + 1, from r = 0 on.",
        ],
        data={"costs": [asdict(cost) | {"exponent": cost.exponent} for cost in costs]},
    )


def _sweep(
    function: str,
    order: int | None,
    points: Sequence[tuple[dtau.Model, int]],
    quick: bool,
    watch: Watch,
) -> list[Cost]:
    """Check and time one function over trees of one order, or (None) orders of one tree."""
    over = "order" if order is None else "bodies"
    label = f"{function}, over the {over}" + ("" if order is None else f" at order {order}")
    batches = {1 + 5 * links for links in LINKS[quick]} | {SCALED_BODIES}  # sizes, in bodies
    contenders = {}
    for model, of in points:
        x, batch = of if order is None else model.nbodies, model.nbodies in batches
        case = Case.of(model, function, of, BATCH[quick] if batch else LONE_STATES)
        case.check()
        contenders["alone", x] = case.call.alone(LONE_STATES)
        if batch:
            contenders["batch", x] = case.call.batch()
    watch.step(label)
    tick = partial(watch.step, label)
    micro = timed(contenders, EFFORT[quick], tick, thread_time).medians()
    return [
        Cost(
            function,
            way,
            over,
            order,
            [x for w, x in micro if w == way],
            [micro[w, x] for w, x in micro if w == way],
        )
        for way in WAYS
    ]


def _at(costs: Sequence[Cost], function: str, way: str, order: int) -> float:
    """The time of one order from the sweep over the order."""
    (found,) = (c for c in costs if (c.function, c.way, c.over) == (function, way, "order"))
    return found.microseconds[found.x.index(order)]


def _exponent_claims(costs: Sequence[Cost], function: str) -> list[Claim]:
    """How the time grows with the bodies and with the order; the paper times one state."""
    claims = []
    for over, words in (("bodies", "the bodies"), ("order", "(order + 1), 101 bodies")):
        for way, states in (("alone", "one state"), ("batch", "a batch")):
            of = [c for c in costs if (c.function, c.over, c.way) == (function, over, way)]
            exponents = [c.exponent for c in of]
            most = of[0].most
            holds = max(exponents) <= most + SCATTER
            paper = " (the paper's)" if function in DYNAMICS and way == "alone" else ""
            claims.append(
                Claim(
                    f"{function}, {states}: the time grows with a power of {words} of at "
                    f"most{paper}",
                    f"{most:g} (fitted; {SCATTER:g} more is scatter)",
                    f"{min(exponents):.2f} to {max(exponents):.2f}",
                    holds,
                    "" if holds else CACHES,
                )
            )
    return claims


def _bodies_plot(costs: Sequence[Cost], function: str) -> Plot:
    curves = [
        Curve(f"order {c.order}, {c.way}", c.x, c.microseconds, dashed=c.way == "alone")
        for c in costs
        if (c.function, c.over) == (function, "bodies")
    ]
    name = f"paper_002_bodies_{function.replace(' ', '_')}".lower()
    title = f"{function[0].upper()}{function[1:]}: cost over the bodies"
    return Plot(name, title, "bodies", "microseconds a state", curves)


def _order_plot(costs: Sequence[Cost]) -> Plot:
    curves = [
        Curve(f"{c.function}, {c.way}", c.x, c.microseconds, dashed=c.way == "alone")
        for c in costs
        if c.over == "order"
    ]
    title = f"Cost over the order, {SCALED_BODIES} bodies"
    return Plot(
        "paper_002_cost_order", title, "order", "microseconds a state", curves, (False, True)
    )


EXPERIMENT = Experiment(
    "paper_002_cost", "Cost over bodies and order", "[HO-FBS] figure 4 (a, b), table 4", run
)
