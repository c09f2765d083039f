"""Time the time derivatives of inverse and forward dynamics: by order, by size, beside CasADi.

The robots are trees of [HO-FBS]: a free base with arms of revolute joints. Everything is checked
before it is timed: inverse dynamics of order 0 and 1 against the functions of first derivatives and
all its orders against CasADi's, forward dynamics by its residual, lone states against batches to
the bit. The contenders take turns on one core, a block of a few milliseconds each a round.

    python benchmarks/time_derivatives.py                       # everything, a few minutes
    python benchmarks/time_derivatives.py --quick --part orders # a rough answer, in seconds
    python benchmarks/time_derivatives.py --part scaling --plot scaling.png
    python benchmarks/time_derivatives.py --part casadi --order 6  # compiles for a long while

Parts:

    orders   orders 0 to 5 with 7 and 101 bodies, and what the C++ reference implementation of
             [HO-FBS] took: numbers quoted from another machine, not measured here
    scaling  by the number of bodies, 6 to 996, and by the order, 0 to 10, with fitted exponents
    casadi   the same torques by CasADi (python -m pip install casadi; for C code a compiler):
             by repeated directional differentiation, interpreted, as [HO-FBS] did; and with
             common-subexpression elimination after every order, as compiled C code
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from harness import (
    Array,
    Contender,
    Effort,
    Progress,
    environment,
    interleaved,
    loop,
    number,
    one_core,
    table,
)

import dtau

FUNCTIONS = ("inverse", "forward")
TREES = {7: (2, 3), 101: (5, 20)}  # bodies: arms, links of each
ORDERS = range(6)
LINKS = (1, 2, 5, 10, 20, 50, 100, 199)  # of five arms each, by which the cost is fitted
SCALED_ORDERS = range(11)  # by which it is fitted, with 101 bodies
SCALED_BATCH, SCALED_LONE = 64, 8
CASADI_TREE = (5, 4)
LONE_STATES = 64  # lone calls go round so many states
RESIDUAL = 1e-10
AGREEMENT = 1e-12  # of inverse dynamics, of the largest torque of the order
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=1e-3)}  # by --quick
SCALING_EFFORT = {False: Effort(rounds=15, block=2e-3), True: Effort(rounds=5, block=5e-4)}

# Microseconds of the C++ reference implementation of [HO-FBS] (-O3 -march=native), on another
# machine: by function, bodies and order.
QUOTED = {
    ("inverse", 7, 0): 1.8,
    ("inverse", 7, 5): 15.0,
    ("inverse", 101, 5): 222.0,
    ("forward", 7, 0): 2.5,
    ("forward", 7, 5): 23.5,
    ("forward", 101, 5): 342.0,
}
# How many times less is asked for (and aimed at), one state and in a batch: by bodies and order.
GOALS = {(7, 5): ((6.0, 10.0), (20.0, 30.0)), (101, 5): ((8.0, 8.0), (20.0, 20.0))}


# What is timed


@dataclass(frozen=True)
class Case:
    """A function at random states along trajectories of one order."""

    model: dtau.Model
    function: str
    order: int
    v_derivatives: Array
    arrays: tuple[Array, ...]  # q, v_derivatives; or q, v, tau_derivatives

    @staticmethod
    def of(model: dtau.Model, function: str, order: int, count: int) -> Case:
        """Draw configurations, velocities and their derivatives; torques follow from them."""
        rng = np.random.default_rng(order)
        q, *_ = dtau.random_state(model, rng, shape=(count,))
        v = rng.uniform(-1.0, 1.0, (count, order + 2, model.nv))
        arrays: tuple[Array, ...] = (q, v)
        if function == "forward":
            tau = dtau.inverse_dynamics_time_derivatives(model, q, v)
            arrays = (q, v[:, 0].copy(), tau)
        return Case(model, function, order, v, arrays)

    def __call__(self, *arrays: Array, **options: Any) -> Array:
        """The result at the states, or at others."""
        f = getattr(dtau, f"{self.function}_dynamics_time_derivatives")
        result: Array = f(self.model, *(arrays or self.arrays), **options)
        return result

    def contender(self, *, alone: int = 0) -> Contender:
        """All states in one call with out=, or the first ones alone."""
        names = [f"x{i}" for i in range(len(self.arrays))]
        words = ", ".join(["model", *names])
        f = getattr(dtau, f"{self.function}_dynamics_time_derivatives")
        if alone:
            rows = ([row.copy() for row in array[:alone]] for array in self.arrays)
            states = list(zip(*rows, strict=True))
            statement = f"for {', '.join(names)} in states: f({words})"
            return Contender(loop(statement, f=f, model=self.model, states=states), len(states))
        given = dict(zip(names, self.arrays, strict=True))
        statement = f"f({words}, out=out, threads=1)"
        run = loop(statement, f=f, model=self.model, out=self(), **given)
        return Contender(run, len(self.arrays[0]))

    def check(self) -> Array:
        """Compare what can be compared without another program; return the result."""
        out = np.full((len(self.arrays[0]), self.order + 1, self.model.nv), np.nan)
        self(out=out, threads=1)
        if not np.array_equal(self(*(array[0] for array in self.arrays)), out[0]):
            self._fail("one state gives other bits than many")
        q, v = self.arrays[0], self.v_derivatives
        if self.function == "forward":
            stack = np.concatenate([v[:, :1], out], axis=1)
            again = dtau.inverse_dynamics_time_derivatives(self.model, q, stack)
            inertia = np.abs(np.linalg.eigvalsh(dtau.mass_matrix(self.model, q))).max()
            for k, tau in enumerate(np.moveaxis(self.arrays[2], 1, 0)):
                scale = max(np.abs(tau).max(), inertia * np.abs(out[:, k]).max())
                if not np.abs(again[:, k] - tau).max() <= RESIDUAL * scale:
                    self._fail(f"order {k} has a residual above {RESIDUAL:.0e}")
            return out
        self._compare(0, out, dtau.inverse_dynamics(self.model, q, v[:, 0], v[:, 1]))
        if self.order:
            rows = (v[:, 0], v[:, 1], v[:, 0], v[:, 1], v[:, 2])
            self._compare(1, out, dtau.inverse_dynamics_jvp(self.model, q, *rows))
        return out

    def _compare(self, k: int, out: Array, want: Array) -> None:
        error = np.abs(out[:, k] - want).max() / np.abs(want).max()
        if not error <= AGREEMENT:
            self._fail(f"order {k} is off by {error:.1e} of its largest element")

    def _fail(self, what: str) -> None:
        bodies = self.model.nbodies
        raise SystemExit(f"{self.function} dynamics, {bodies} bodies, order {self.order}: {what}")


def medians(
    contenders: dict[Any, Contender], effort: Effort, tick: Callable[[], None]
) -> dict[Any, float]:
    """Microseconds a state."""
    seconds = interleaved(contenders, effort, tick)
    return {name: 1e6 * float(np.median(s)) for name, s in seconds.items()}


# By order, beside quoted numbers


@dataclass(frozen=True)
class Row:
    """Microseconds a state, and those quoted if there are any."""

    bodies: int
    function: str
    order: int
    alone: float
    batch: float
    quoted: float | None

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [str(self.bodies), self.function, str(self.order)]
        cells += [number(self.alone), number(self.batch)]
        if self.quoted is None:
            return cells + [""] * 7
        goals = GOALS.get((self.bodies, self.order), (None, None))
        cells.append(f"{self.quoted:g}")
        for value, goal in zip((self.alone, self.batch), goals, strict=True):
            ratio = self.quoted / value
            cells.append(f"{ratio:.1f}x")
            if goal is None:
                cells += ["", ""]
                continue
            least, aim = goal
            word = "MISSED" if ratio < least else "aim" if ratio >= aim else "ok"
            cells += [f"{least:g} ({aim:g})" if aim > least else f"{least:g}", word]
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
                quoted = QUOTED.get((function, bodies, order))
                both = micro[order, "alone"], micro[order, "batch"]
                rows.append(Row(bodies, function, order, *both, quoted))
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
        word = "ok" if c.exponent <= limit + 0.05 else "MORE"
        lines.append([c.function, c.way, what, *ends, f"{c.exponent:.2f}", f"{limit:g}", word])
    header = ["function", "way", "over", "from", "first", "last", "exponent", "at most", ""]
    table("Growth: microseconds a state, and the fitted exponent", header, lines, left=3)


# Beside CasADi


@dataclass(frozen=True)
class Peer:
    """Microseconds a state of inverse dynamics up to one order."""

    order: int
    repeated: float
    repeated_nodes: int
    compiled: float  # in a loop in C
    called: float  # the same from Python
    compiled_nodes: int
    seconds: float  # to differentiate and to compile
    alone: float
    batch: float


def beside_casadi(order: int, batch: int, effort: Effort, progress: Progress) -> list[Peer]:
    """Check and time both ways of CasADi's, and ours."""
    from casadi_peer import Called, Compiled, InverseDynamics, inputs

    model = dtau.robots.aerial_manipulator(*CASADI_TREE)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(order + 1):
            progress.label = f"order {k} by CasADi, differentiated and compiled"
            progress.show()
            case = Case.of(model, "inverse", k, batch)
            x = inputs(model, *case.arrays)
            expressions, seconds = [], 0.0
            for eliminate in (False, True):
                start = perf_counter()
                expression = InverseDynamics(model, k, eliminate=eliminate)
                for _ in range(k):
                    expression.differentiate()
                expressions.append(expression.function())
                seconds = perf_counter() - start
            compiled = Compiled(expressions[1], x, Path(folder))
            lone = x[:LONE_STATES]
            repeated, called = Called(expressions[0], lone), Called(compiled.function, lone)
            out = case.check().reshape(batch, -1)
            peers = {"repeated": repeated, "compiled": compiled, "called": called}
            for name, peer in peers.items():
                got = peer.all()
                _agree(name, got, out[: len(got)], k)
            micro = medians(
                {
                    "repeated": Contender(repeated.run, len(lone)),
                    "compiled": Contender(compiled.run, batch),
                    "called": Contender(called.run, len(lone)),
                    "alone": case.contender(alone=LONE_STATES),
                    "batch": case.contender(),
                },
                effort,
                progress.step,
            )
            counts = (expression.n_nodes() for expression in expressions)
            nodes = dict(zip(("repeated_nodes", "compiled_nodes"), counts, strict=True))
            rows.append(Peer(order=k, seconds=seconds + compiled.seconds, **nodes, **micro))
    return rows


def _agree(name: str, got: Array, want: Array, order: int) -> None:
    """Refuse to time what differs."""
    got, want = (x.reshape(len(got), order + 1, -1) for x in (got, want))
    for k in range(order + 1):
        error = np.abs(got[:, k] - want[:, k]).max() / np.abs(want[:, k]).max()
        if not error <= AGREEMENT:
            raise SystemExit(f"CasADi, {name}, order {k} of {order}: differs by {error:.1e}")


def print_casadi(rows: list[Peer], batch: int) -> None:
    """Print both ways beside ours."""
    lines = [
        [
            str(r.order),
            str(r.repeated_nodes),
            number(r.repeated),
            str(r.compiled_nodes),
            f"{r.seconds:.1f}",
            number(r.called),
            number(r.alone),
            f"{r.called / r.alone:.2f}x",
            number(r.compiled),
            number(r.batch),
            f"{r.compiled / r.batch:.2f}x",
        ]
        for r in rows
    ]
    header = ["order", "nodes", "repeated", "nodes", "seconds"]
    header += ["called", "alone", "ratio", "looped", "batch", "ratio"]
    title = (
        "Inverse dynamics of all orders up to one, 21 bodies, microseconds a state. CasADi:\n"
        "repeated differentiation in its interpreter; elimination and C code, the seconds to make\n"
        "it, called from Python for each state beside ours alone, and in a C loop of "
        f"{batch} states\nbeside our batch"
    )
    table(title, header, lines, left=0)


# Command


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = ("orders", "scaling", "casadi")
    parser.add_argument(
        "--part", action="append", choices=parts, help="only this; may be given several times"
    )
    parser.add_argument(
        "--order", type=int, metavar="R", help="CasADi's highest (default: 4; with --quick 2)"
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
    if args.order is not None and args.order < 0:
        parser.error(f"--order: expected 0 or more, got {args.order}")
    args.order = (2 if args.quick else 4) if args.order is None else args.order
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
    machine = environment()
    for key, value in machine.items():
        print(f"{key:>16}: {value}")

    effort, long = EFFORT[args.quick], SCALING_EFFORT[args.quick]
    steps = {
        "orders": len(TREES) * len(FUNCTIONS) * effort.rounds,
        "scaling": len(FUNCTIONS) * (len(ORDERS) + 1) * long.rounds,
        "casadi": (args.order + 1) * effort.rounds,
    }
    progress = Progress(sum(steps[part] for part in args.part))
    rows: list[Row] = []
    curves: list[Curve] = []
    peers: list[Peer] = []
    with one_core():
        if "orders" in args.part:
            rows = by_order(args.batch, effort, progress)
        if "scaling" in args.part:
            curves = scaling(long, progress)
        if "casadi" in args.part:
            peers = beside_casadi(args.order, args.batch, effort, progress)
    progress.clear()

    if rows:
        header = ["bodies", "dynamics", "order", "alone", "batch", "quoted", "alone", "at least"]
        title = (
            f"Microseconds a state, alone and in batches of {args.batch} with out=; quoted: the\n"
            "reference implementation of [HO-FBS] ON ANOTHER MACHINE, and how many times less"
        )
        table(title, [*header, "", "batch", "at least", ""], [r.cells() for r in rows], left=2)
    if curves:
        print_scaling(curves)
    if peers:
        print_casadi(peers, args.batch)
    if args.json:
        numbers = {
            "machine": machine,
            "batch": args.batch,
            "orders": [asdict(row) for row in rows],
            "scaling": [asdict(curve) | {"exponent": curve.exponent} for curve in curves],
            "casadi": [asdict(peer) for peer in peers],
        }
        args.json.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    if args.plot:
        from curves_chart import draw

        draw(curves, peers, args.plot)


if __name__ == "__main__":
    main()
