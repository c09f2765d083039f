"""Time products with first derivatives against the functions that they are products of.

Every product is checked against the full derivatives before it is timed: to 1e-12 of its largest
element, and a little more where the mass matrix is ill-conditioned. The contenders take turns on
one core, a block of about a millisecond each a round; a ratio is the product's time by the
function's in the same round, its median over the rounds, and its quartiles: 2.0 says that the
product takes as long as two calls of inverse or forward dynamics. Matrices: the same ratio of the
full derivatives.

    python benchmarks/products.py                                # robots and chains, half a minute
    python benchmarks/products.py --quick --robot g1             # a rough answer for one
    python benchmarks/products.py --urdf mine.urdf --root free   # your own robot
    python benchmarks/products.py --wrenches                     # with external wrenches
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from functions import CONDITION, together
from harness import (
    Array,
    Contender,
    Effort,
    Progress,
    Spread,
    environment,
    interleaved,
    loop,
    number,
    one_core,
    table,
)
from robots import KNOWN, from_urdf, known

import dtau

MOST = 3.0  # what a product may cost, in calls of its function
TOLERANCE = 1e-12  # of the largest element
CHAINS = (10, 30, 100)  # revolute joints
LONE_STATES = 64  # lone calls go round so many states
EFFORT = {False: Effort(rounds=101, block=1e-3), True: Effort(rounds=21, block=1e-3)}  # by --quick

# What functions take, by the name of the plain one and what is added to it
ARGUMENTS = {
    ("inverse_dynamics", ""): ("q", "v", "a", "f_ext"),
    ("inverse_dynamics", "_derivatives"): ("q", "v", "a", "f_ext"),
    ("inverse_dynamics", "_jvp"): ("q", "v", "a", "dq", "dv", "da", "f_ext", "df_ext"),
    ("inverse_dynamics", "_vjp"): ("q", "v", "a", "lam", "f_ext"),
    ("forward_dynamics", ""): ("q", "v", "tau", "f_ext"),
    ("forward_dynamics", "_derivatives"): ("q", "v", "tau", "f_ext"),
    ("forward_dynamics", "_jvp"): ("q", "v", "tau", "dq", "dv", "dtau", "f_ext", "df_ext"),
    ("forward_dynamics", "_vjp"): ("q", "v", "tau", "lam", "f_ext"),
}


def chain(joints: int) -> dtau.Model:
    """Equal links, each joint's axis across the last one's."""
    builder = dtau.ModelBuilder(f"chain of {joints}")
    inertia = dtau.Inertia(mass=0.5, com=(0.0, 0.01, 0.05), tensor=1e-3 * np.eye(3))
    parent = None
    for i in range(joints):
        pose = dtau.Pose(translation=(0.0, 0.0, 0.1 if i else 0.0))
        axis = (float(i % 2 == 0), float(i % 2 == 1), 0.0)
        joint = dtau.Revolute(axis=axis)
        parent = builder.add(
            joint, name=f"joint{i}", parent=parent, placement=pose, inertia=inertia
        )
    return builder.build()


def states(model: dtau.Model, count: int, wrenches: bool) -> dict[str, Any]:
    """Random states, variations and weights by the name of the argument; None for no wrenches."""
    rng = np.random.default_rng(0)
    q, v, a = dtau.random_state(model, rng, shape=(count,))
    at: dict[str, Any] = {"q": q, "v": v, "a": a, "tau": dtau.inverse_dynamics(model, q, v, a)}
    at |= {x: rng.uniform(-1.0, 1.0, (count, model.nv)) for x in ("dq", "dv", "da", "dtau", "lam")}
    for name in ("f_ext", "df_ext"):
        at[name] = rng.uniform(-5.0, 5.0, (count, model.nbodies, 6)) if wrenches else None
    return at


@dataclass(frozen=True)
class Case:
    """A function of the package at states of a model."""

    model: dtau.Model
    of: str  # inverse_dynamics or forward_dynamics
    suffix: str
    at: dict[str, Any]

    @property
    def arrays(self) -> dict[str, Array]:
        """The arguments that are given."""
        names = ARGUMENTS[self.of, self.suffix]
        return {name: self.at[name] for name in names if self.at[name] is not None}

    def __call__(self, **options: Any) -> Any:
        """All states in one call."""
        return getattr(dtau, self.of + self.suffix)(self.model, **self.arrays, **options)

    def alone(self, count: int) -> Contender:
        """The first states, one call each."""
        names = ", ".join(self.arrays)
        rows = ([row.copy() for row in array[:count]] for array in self.arrays.values())
        run = loop(
            f"for {names} in states: f(model, {names})",
            f=getattr(dtau, self.of + self.suffix),
            model=self.model,
            states=list(zip(*rows, strict=True)),
        )
        return Contender(run, count)

    def batch(self) -> Contender:
        """All states in one call, into given arrays."""
        out = self()
        out = tuple(out) if isinstance(out, tuple) else out
        run = loop(
            f"f(model, {', '.join(self.arrays)}, out=out, threads=1)",
            f=getattr(dtau, self.of + self.suffix),
            model=self.model,
            out=out,
            **self.arrays,
        )
        return Contender(run, len(self.at["q"]))


# Checks


def expected(model: dtau.Model, of: str, suffix: str, at: dict[str, Any]) -> tuple[Array, ...]:
    """Products by the full derivatives, by_f_ext left out; for df_ext, linear, a difference."""
    matrices = Case(model, of, "_derivatives", at)()
    if suffix == "_vjp":
        return tuple(np.einsum("...ij,...i->...j", m, at["lam"]) for m in matrices)
    variation = [at[name] for name in ARGUMENTS[of, suffix][3:6]]
    pairs = zip(matrices, variation, strict=True)
    total: Array = sum(np.einsum("...ij,...j->...i", m, dx) for m, dx in pairs)
    if at["df_ext"] is not None:
        plain = Case(model, of, "", at)
        moved = Case(model, of, "", at | {"f_ext": at["f_ext"] + at["df_ext"]})
        total = total + (moved() - plain())
    return (total,)


def check(label: str, case: Case) -> None:
    """Compare a batch into arrays full of NaN, and lone states, with the full derivatives."""
    want = expected(case.model, case.of, case.suffix, case.at)
    tolerance = TOLERANCE
    if case.of == "forward_dynamics":
        mass_matrices = dtau.mass_matrix(case.model, case.at["q"])
        tolerance += CONDITION * float(np.linalg.cond(mass_matrices).max())
    shapes = [x.shape for x in together(case())]
    out = tuple(np.full(shape, np.nan) for shape in shapes)
    case(out=out if len(out) > 1 else out[0], threads=1)
    first = {name: x if x is None else x[0] for name, x in case.at.items()}
    alone = together(Case(case.model, case.of, case.suffix, first)())
    for i, matrix_product in enumerate(want):
        scale = np.abs(matrix_product).max()
        error = np.abs(out[i] - matrix_product).max()  # NaN if an element was not written
        if not error <= tolerance * scale:
            raise SystemExit(
                f"{label}, {case.of}{case.suffix}: result {i} differs from the full derivatives' "
                f"by {error / scale:.1e} of its largest element, allowed {tolerance:.0e}"
            )
    if not all(np.array_equal(x, y[0]) for x, y in zip(alone, out, strict=True)):
        raise SystemExit(f"{label}, {case.of}{case.suffix}: one state gives other bits than many")


# Measurements


@dataclass(frozen=True)
class Row:
    """A product's microseconds a state, and how many times more that is than the function's."""

    robot: str
    product: str
    plain: float
    microseconds: float
    ratio: Spread
    matrices: float  # the same ratio of the full derivatives

    def cells(self) -> list[str]:
        """As the table shows it."""
        return [
            self.robot,
            self.product,
            number(self.plain),
            number(self.microseconds),
            f"{self.ratio.median:.2f}x",
            f"{self.ratio.lower:.2f} - {self.ratio.upper:.2f}",
            f"{MOST:g}x",
            "ok" if self.ratio.median <= MOST else "MISSED",
            f"{self.matrices:.1f}x",
        ]


def measure(
    label: str, model: dtau.Model, at: dict[str, Any], effort: Effort, tick: Callable[[], None]
) -> Iterator[tuple[Row, Row]]:
    """Rows for lone states and for a batch of each product."""
    lone = min(LONE_STATES, len(at["q"]))
    for of in ("inverse_dynamics", "forward_dynamics"):
        cases = {s: Case(model, of, s, at) for s in ("", "_derivatives", "_jvp", "_vjp")}
        for suffix in ("_jvp", "_vjp"):
            check(label, cases[suffix])
        contenders = {f"alone{s}": case.alone(lone) for s, case in cases.items()}
        contenders |= {f"batch{s}": case.batch() for s, case in cases.items()}
        seconds = interleaved(contenders, effort, tick)
        for s in ("_jvp", "_vjp"):
            alone, batch = (
                Row(
                    label,
                    of + s,
                    1e6 * float(np.median(seconds[way])),
                    1e6 * float(np.median(seconds[way + s])),
                    Spread.of(seconds[way + s] / seconds[way]),
                    float(np.median(seconds[way + "_derivatives"] / seconds[way])),
                )
                for way in ("alone", "batch")
            )
            yield alone, batch


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--robot",
        action="append",
        choices=list(KNOWN),
        help="only this robot; may be given several times",
    )
    source.add_argument("--urdf", type=Path, metavar="FILE", help="a robot of your own")
    parser.add_argument(
        "--root", choices=("fixed", "free"), help="how the robot of --urdf hangs (default: fixed)"
    )
    parser.add_argument(
        "--batch", type=int, default=256, metavar="N", help="states in a batch (default: 256)"
    )
    parser.add_argument("--wrenches", action="store_true", help="external wrenches on all bodies")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    args = parser.parse_args()
    if args.batch < 1:
        parser.error(f"--batch: expected a positive number, got {args.batch}")
    if args.root and not args.urdf:
        parser.error("--root: only with --urdf")
    return args


def main() -> None:
    args = arguments()
    if args.urdf:
        robot = from_urdf(args.urdf, args.root or "fixed")
        models = {robot.label: robot.model}
    else:
        robots = [known(name) for name in args.robot or KNOWN]
        models = {robot.label: robot.model for robot in robots}
        if not args.robot:
            models |= {f"chain of {joints}": chain(joints) for joints in CHAINS}
    for key, value in environment().items():
        print(f"{key:>16}: {value}")

    effort = EFFORT[args.quick]
    progress = Progress(2 * effort.rounds * len(models))
    rows: list[tuple[Row, Row]] = []
    with one_core():
        for label, model in models.items():
            progress.label = label
            at = states(model, args.batch, args.wrenches)
            rows += measure(label, model, at, effort, progress.step)
    progress.clear()

    header = ["robot", "product", "function", "product", "ratio", "quartiles", "at most", ""]
    header.append("matrices")
    lone, batch = ([pair[way].cells() for pair in rows] for way in (0, 1))
    table("One state a call, microseconds a state", header, lone, left=2)
    title = f"Batches of {args.batch} states with out=, microseconds a state"
    table(title, header, batch, left=2)


if __name__ == "__main__":
    main()
