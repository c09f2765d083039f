"""Time the time derivatives of inverse and forward dynamics: by order, by size, beside CasADi.

The robots are trees of [HO-FBS]: a free base with arms of revolute joints. Everything is checked
before it is timed: inverse dynamics of order 0 and 1 against the functions of first derivatives and
all its orders against CasADi's, forward dynamics by its residual, lone states against batches to
the bit. The contenders take turns on one core, a block of a few milliseconds each a round.

    python benchmarks/time_derivatives.py                       # everything, five minutes
    python benchmarks/time_derivatives.py --quick --part orders # a rough answer, in seconds
    python benchmarks/time_derivatives.py --part scaling --plot scaling.png
    python benchmarks/time_derivatives.py --part casadi --order 6  # compiles for a long while

Parts:

    orders   orders 0 to 5 with 7 and 101 bodies, and what the C++ reference implementation of
             [HO-FBS] took: as its authors print it, and as built once; quoted from other machines,
             not measured here
    scaling  by the number of bodies, 6 to 996, and by the order, 0 to 10, with fitted exponents
    casadi   the same by CasADi (python -m pip install casadi; for C code a compiler):
             by repeated directional differentiation, interpreted, as [HO-FBS] did; and with
             common-subexpression elimination after every order, as compiled C code
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from harness import Effort, Progress, environment, number, one_core, table
from time_cases import FUNCTIONS, LONE_STATES, Case, medians

import dtau

TREES = {7: (2, 3), 101: (5, 20)}  # bodies: arms, links of each
ORDERS = range(6)
LINKS = (1, 2, 5, 10, 20, 50, 100, 199)  # of five arms each, by which the cost is fitted
SCALED_ORDERS = range(11)  # by which it is fitted, with 101 bodies
SCALED_BATCH, SCALED_LONE = 64, 8
SCATTER = 0.1  # of fitted exponents
CASADI_ORDERS = {False: {"inverse": 4, "forward": 2}, True: {"inverse": 2, "forward": 0}}
CASADI_OPTIONS = {"inverse": "--order", "forward": "--forward-order"}
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=1e-3)}  # by --quick
SCALING_EFFORT = {False: Effort(rounds=15, block=2e-3), True: Effort(rounds=5, block=5e-4)}

# Microseconds of the C++ reference implementation of [HO-FBS], on other machines. Printed: in the
# caption of figure 3, on an Intel i7-12700H, by order. Built: from the published code with -O3
# -march=native, timed on one machine, by function, bodies and order.
PRINTED = {
    ("inverse", 7): (2.326, 3.078, 2.867, 4.355, 5.960, 8.171),
    ("forward", 7): (4.106, 4.802, 6.486, 6.461, 8.589, 11.085),
}
BUILT = {
    ("inverse", 7, 0): 1.8,
    ("inverse", 7, 5): 15.1,
    ("inverse", 101, 5): 222.0,
    ("forward", 7, 0): 2.5,
    ("forward", 7, 5): 23.5,
    ("forward", 101, 5): 342.0,
}
# How many times less than built is asked for (and aimed at), one state and in a batch: by bodies
# and order.
GOALS = {(7, 5): ((6.0, 10.0), (20.0, 30.0)), (101, 5): ((8.0, 8.0), (20.0, 20.0))}


# By order, beside quoted numbers


@dataclass(frozen=True)
class Row:
    """Microseconds a state, and those quoted if there are any."""

    bodies: int
    function: str
    order: int
    alone: float
    batch: float

    @property
    def printed(self) -> float | None:
        """The figure of the paper."""
        by_order = PRINTED.get((self.function, self.bodies))
        return by_order[self.order] if by_order else None

    @property
    def built(self) -> float | None:
        """What the published code took where it was built."""
        return BUILT.get((self.function, self.bodies, self.order))

    @property
    def better(self) -> tuple[str, float] | None:
        """The faster one of the two, by name."""
        both = {"printed": self.printed, "built": self.built}
        return min(
            ((name, micro) for name, micro in both.items() if micro is not None),
            key=lambda quoted: quoted[1],
            default=None,
        )

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [str(self.bodies), self.function, str(self.order)]
        cells += [number(self.alone), number(self.batch)]
        cells += ["" if x is None else f"{x:g}" for x in (self.printed, self.built)]
        if self.better is None:
            return cells + [""] * 7
        name, least = self.better
        cells += [name, f"{least / self.alone:.1f}x", f"{least / self.batch:.1f}x"]
        goals = GOALS.get((self.bodies, self.order))
        if goals is None or self.built is None:
            return cells + [""] * 4
        for value, goal in zip((self.alone, self.batch), goals, strict=True):
            most, aim = (self.built / ratio for ratio in goal)
            word = "MISSED" if value > most else "aim" if value <= aim else "ok"
            cells += [f"{most:.2g} ({aim:.2g})" if aim < most else f"{most:.2g}", word]
        return cells


def by_order(batch: int, effort: Effort, progress: Progress) -> list[Row]:
    """Orders 0 to 5 of two trees."""
    rows = []
    for bodies, (arms, links) in TREES.items():
        model = dtau.robots.aerial_manipulator(arms, links)
        for function in FUNCTIONS:
            progress.label = f"{function} dynamics, {bodies} bodies"
            contenders = {}
            for order in ORDERS:
                case = Case.of(model, function, order, batch)
                case.check()
                contenders[order, "alone"] = case.contender(alone=LONE_STATES)
                contenders[order, "batch"] = case.contender()
            micro = medians(contenders, effort, progress.step)
            for order in ORDERS:
                both = micro[order, "alone"], micro[order, "batch"]
                rows.append(Row(bodies, function, order, *both))
    return rows


# By size and by order


@dataclass(frozen=True)
class Curve:
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
        x = np.array(self.x) + (self.over == "order")
        return float(np.polyfit(np.log(x), np.log(self.microseconds), 1)[0])


def scaling(effort: Effort, progress: Progress) -> list[Curve]:
    """Sweep the size at orders 0 to 5, and the order with 101 bodies."""
    trees = [dtau.robots.aerial_manipulator(5, links) for links in LINKS]
    sweeps = [(order, [(model, order) for model in trees]) for order in ORDERS]
    one = dtau.robots.aerial_manipulator(*TREES[101])
    by_size = len(sweeps)
    sweeps.append((-1, [(one, order) for order in SCALED_ORDERS]))
    curves = []
    for function in FUNCTIONS:
        for i, (order, points) in enumerate(sweeps):
            over = "bodies" if i < by_size else "order"
            progress.label = f"{function} dynamics, by {over}"
            contenders = {}
            for j, (model, of) in enumerate(points):
                case = Case.of(model, function, of, SCALED_BATCH)
                case.check()
                contenders["alone", j] = case.contender(alone=SCALED_LONE)
                contenders["batch", j] = case.contender()
            micro = medians(contenders, effort, progress.step)
            x = [model.nbodies if over == "bodies" else of for model, of in points]
            for way in ("alone", "batch"):
                times = [micro[way, j] for j in range(len(points))]
                fixed = order if over == "bodies" else None
                curves.append(Curve(function, way, over, fixed, x, times))
    return curves


def print_scaling(curves: list[Curve]) -> None:
    """Print the exponents."""
    lines = []
    for c in curves:
        what = f"bodies, order {c.order}" if c.over == "bodies" else "order + 1, 101 bodies"
        ends = [f"{c.x[0]} to {c.x[-1]}", number(c.microseconds[0]), number(c.microseconds[-1])]
        limit = 1.0 if c.over == "bodies" else 2.0
        word = "ok" if c.exponent <= limit + SCATTER else "MORE"
        lines.append([c.function, c.way, what, *ends, f"{c.exponent:.2f}", f"{limit:g}", word])
    header = ["function", "way", "over", "from", "first", "last", "exponent", "at most", ""]
    table("Growth: microseconds a state, and the fitted exponent", header, lines, left=3)


# Command


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = ("orders", "scaling", "casadi")
    parser.add_argument(
        "--part", action="append", choices=parts, help="only this; may be given several times"
    )
    for function, option in CASADI_OPTIONS.items():
        long, quick = (CASADI_ORDERS[by][function] for by in (False, True))
        parser.add_argument(
            option,
            dest=function,
            type=int,
            metavar="R",
            help=f"CasADi's highest of {function} dynamics (default: {long}; --quick: {quick})",
        )
    parser.add_argument(
        "--batch", type=int, default=256, metavar="N", help="states in a batch (default: 256)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to a file")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the curves (matplotlib)")
    args = parser.parse_args()
    if args.batch < 1:
        parser.error(f"--batch: expected a positive number, got {args.batch}")
    args.order = dict(CASADI_ORDERS[args.quick])
    for function, option in CASADI_OPTIONS.items():
        order = getattr(args, function)
        if order is not None and order < 0:
            parser.error(f"{option}: expected 0 or more, got {order}")
        args.order[function] = args.order[function] if order is None else order
    args.part = args.part or list(parts)
    return args


def main() -> None:
    args = arguments()
    if args.plot:
        from chart import require_matplotlib

        require_matplotlib()
    if "casadi" in args.part and not importlib.util.find_spec("casadi"):
        print("casadi: left out, it is not installed (python -m pip install casadi)")
        args.part.remove("casadi")
    if "casadi" in args.part:
        import casadi_table
        from casadi_peer import compiler

        compiler()
    machine = environment()
    for key, value in machine.items():
        print(f"{key:>16}: {value}")

    effort, long = EFFORT[args.quick], SCALING_EFFORT[args.quick]
    steps = {
        "orders": len(TREES) * len(FUNCTIONS) * effort.rounds,
        "scaling": len(FUNCTIONS) * (len(ORDERS) + 1) * long.rounds,
        "casadi": sum(order + 1 for order in args.order.values()) * effort.rounds,
    }
    progress = Progress(sum(steps[part] for part in args.part))
    rows: list[Row] = []
    curves: list[Curve] = []
    peers: list[Any] = []
    with one_core():
        if "orders" in args.part:
            rows = by_order(args.batch, effort, progress)
        if "scaling" in args.part:
            curves = scaling(long, progress)
        if "casadi" in args.part:
            peers = casadi_table.beside_casadi(args.order, args.batch, effort, progress)
    progress.clear()

    if rows:
        header = ["bodies", "dynamics", "order", "alone", "batch", "printed", "built"]
        header += ["better", "alone", "batch", "alone at most", "", "batch at most", ""]
        title = (
            f"Microseconds a state, alone and in batches of {args.batch} with out=.\n"
            "Of the reference implementation of [HO-FBS], ON OTHER MACHINES: printed, in figure 3\n"
            "of the paper (Intel i7-12700H), and built, from its code and timed once; how many\n"
            "times less than the better one it is here, and what is asked for (and aimed at)"
        )
        table(title, header, [row.cells() for row in rows], left=2)
    if curves:
        print_scaling(curves)
    if peers:
        casadi_table.print_casadi(peers, args.batch)
    if args.json:
        numbers = {
            "machine": machine,
            "batch": args.batch,
            "orders": [asdict(row) | {"printed": row.printed, "built": row.built} for row in rows],
            "scaling": [asdict(curve) | {"exponent": curve.exponent} for curve in curves],
            "casadi": [asdict(peer) for peer in peers],
        }
        args.json.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    if args.plot:
        from curves_chart import draw

        draw(curves, peers, args.plot)


if __name__ == "__main__":
    main()
