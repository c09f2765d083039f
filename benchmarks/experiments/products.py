"""Products with first derivatives, beside the functions that they are products of.

Every product is checked against the full derivatives before it is timed: to 1e-12 of its largest
element, and a little more where the mass matrix is ill-conditioned. A ratio is the product's time
by the function's: 2.0 says that the product takes as long as two calls of inverse or forward
dynamics. Matrices: the same ratio of the full derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.experiment import (
    Array,
    Claim,
    Curve,
    Experiment,
    Findings,
    Plot,
    Table,
    Watch,
    WrongResultError,
)
from benchmarks.functions import CONDITION, together
from benchmarks.harness import (
    Contender,
    Effort,
    Spread,
    curve,
    interleaved,
    loop,
    number,
    one_core,
    span,
    times,
)
from benchmarks.robots import KNOWN, chosen

MOST = 3.0  # what a product may cost, in calls of its function
TOLERANCE = 1e-12  # of the largest element
CHAINS = (10, 30, 100)  # revolute joints
BATCH = 256
LONE_STATES = 64  # lone calls go round so many states
EFFORT = {False: Effort(rounds=101, block=1e-3), True: Effort(rounds=9, block=1e-3)}  # by quick

# What functions take, by the name of the plain one and what is added to it
ARGUMENTS = {
    ("inverse_dynamics", ""): ("q", "v", "a"),
    ("inverse_dynamics", "_derivatives"): ("q", "v", "a"),
    ("inverse_dynamics", "_jvp"): ("q", "v", "a", "dq", "dv", "da"),
    ("inverse_dynamics", "_vjp"): ("q", "v", "a", "lam"),
    ("forward_dynamics", ""): ("q", "v", "tau"),
    ("forward_dynamics", "_derivatives"): ("q", "v", "tau"),
    ("forward_dynamics", "_jvp"): ("q", "v", "tau", "dq", "dv", "dtau"),
    ("forward_dynamics", "_vjp"): ("q", "v", "tau", "lam"),
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


def states(model: dtau.Model, count: int) -> dict[str, Any]:
    """Random states, variations and weights by the name of the argument; no external wrenches."""
    rng = np.random.default_rng(0)
    q, v, a = dtau.random_state(model, rng, shape=(count,))
    at: dict[str, Any] = {"q": q, "v": v, "a": a, "tau": dtau.inverse_dynamics(model, q, v, a)}
    at |= {x: rng.uniform(-1.0, 1.0, (count, model.nv)) for x in ("dq", "dv", "da", "dtau", "lam")}
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
        return {name: self.at[name] for name in ARGUMENTS[self.of, self.suffix]}

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
    """Products by the full derivatives, by external wrenches left out."""
    matrices = Case(model, of, "_derivatives", at)()
    if suffix == "_vjp":
        return tuple(np.einsum("...ij,...i->...j", m, at["lam"]) for m in matrices)
    variation = [at[name] for name in ARGUMENTS[of, suffix][3:6]]
    pairs = zip(matrices, variation, strict=True)
    return (sum(np.einsum("...ij,...j->...i", m, dx) for m, dx in pairs),)


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
    first = {name: x[0] for name, x in case.at.items()}
    alone = together(Case(case.model, case.of, case.suffix, first)())
    for i, matrix_product in enumerate(want):
        scale = np.abs(matrix_product).max()
        error = np.abs(out[i] - matrix_product).max()  # NaN if an element was not written
        if not error <= tolerance * scale:
            raise WrongResultError(
                f"{label}, {case.of}{case.suffix}: result {i} differs from the full derivatives' "
                f"by {error / scale:.1e} of its largest element, allowed {tolerance:.0e}"
            )
    if not all(np.array_equal(x, y[0]) for x, y in zip(alone, out, strict=True)):
        raise WrongResultError(
            f"{label}, {case.of}{case.suffix}: one state gives other bits than many"
        )


# Measurements


@dataclass(frozen=True)
class Row:
    """A product's microseconds a state, and how many times more that is than the function's."""

    robot: str
    nv: int
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
            *times(self.ratio),
            f"{MOST:g}x",
            "yes" if self.ratio.median <= MOST else "NO",
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
                    model.nv,
                    of + s,
                    1e6 * float(np.median(seconds[way])),
                    1e6 * float(np.median(seconds[way + s])),
                    Spread.of(seconds[way + s] / seconds[way]),
                    float(np.median(seconds[way + "_derivatives"] / seconds[way])),
                )
                for way in ("alone", "batch")
            )
            yield alone, batch


def tables(rows: Sequence[tuple[Row, Row]]) -> list[Table]:
    """One state, and batches."""
    header = ["robot", "product", "function", "product", "ratio", "quartiles", "at most", ""]
    header.append("matrices")
    titles = ("One state a call", f"Batches of {BATCH} states with out=")
    return [
        Table(f"{title}, microseconds a state", header, [pair[way].cells() for pair in rows], 2)
        for way, title in enumerate(titles)
    ]


def claims(rows: Sequence[tuple[Row, Row]]) -> list[Claim]:
    """What products may cost."""
    found = []
    for way, states in enumerate(("one state", "batches")):
        ratios = [pair[way].ratio.median for pair in rows]
        found.append(
            Claim(
                f"a product costs at most {MOST:g} calls of its function, {states}",
                f"at most {MOST:g}x on all robots",
                span(ratios),
                max(ratios) <= MOST,
            )
        )
    return found


def plot(rows: Sequence[tuple[Row, Row]]) -> Plot:
    """The ratios of batches, a place a robot; bars: full derivatives."""
    batches = [row for _, row in rows]
    robots = list(dict.fromkeys(row.robot for row in batches))
    curves = []
    for product in dict.fromkeys(row.product for row in batches):
        mine = [row for row in batches if row.product == product]
        places = [float(robots.index(row.robot)) for row in mine]
        curves.append(curve(product, places, [row.ratio for row in mine]))
        if product.endswith("_vjp"):
            name = product.replace("_vjp", "_derivatives")
            curves.append(Curve(name, places, [row.matrices for row in mine], dashed=True))
    title = "Products and full derivatives, in calls of their function (batches)"
    return Plot("products", title, "", "times of the function", curves, ticks=robots)


def run(quick: bool, watch: Watch) -> Findings:
    """Measure on the known robots and on chains."""
    notes: list[str] = []
    names = ["panda", "g1"] if quick else list(KNOWN)
    models = {robot.label: robot.model for robot in chosen(names, notes.append)}
    models |= {f"chain of {n}": chain(n) for n in (CHAINS[:1] if quick else CHAINS)}
    watch.expect(2 * EFFORT[quick].rounds * len(models))
    rows: list[tuple[Row, Row]] = []
    with one_core():
        for label, model in models.items():
            at = states(model, BATCH)
            rows += measure(label, model, at, EFFORT[quick], partial(watch.step, label))
    data = [{"alone": asdict(alone), "batch": asdict(batch)} for alone, batch in rows]
    return Findings(tables(rows), [plot(rows)], claims(rows), notes, {"products": data})


EXPERIMENT = Experiment(
    "products", "Products with first derivatives", "in calls of their own functions", run
)
