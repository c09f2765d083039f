"""Products with first derivatives, in calls of the functions that they are products of.

    python -m benchmarks products

`_jvp` and `_vjp` of inverse and forward dynamics on robots and on chains to 100 joints, beside the
functions themselves and their full derivatives ("matrices"), one state a call and in batches. A
ratio of 2.0 says that a product takes as long as two calls of its function. Products are checked
against the full derivatives first: to 1e-12 of the largest element, and a little more where the
mass matrix is ill-conditioned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

import dtau
from benchmarks.checks import Array, require_close, same_bits, solved
from benchmarks.experiment import Curve, Experiment, Findings, Plot, Table, Watch
from benchmarks.harness import Spread, at_most, curve, number, one_core, timed, times, verdict
from benchmarks.robots import KNOWN, chosen
from dtau.cli.timing import LONE_STATES, Call, Effort, random_inputs

MOST = 3.0  # what a product may cost, in calls of its function
TOLERANCE = 1e-12  # of the largest element
CHAINS = (10, 30, 100)  # revolute joints
BATCH = 256
PROBLEMS = ("inverse_dynamics", "forward_dynamics")
PRODUCTS = ("_jvp", "_vjp")
EFFORT = {False: Effort(rounds=101, block=1e-3), True: Effort(rounds=9, block=1e-3)}  # by quick


def check(label: str, problem: str, calls: dict[str, Call]) -> None:
    """Compare both products with the full derivatives."""
    by = calls["_derivatives"]()
    tolerance = TOLERANCE
    if problem == "forward_dynamics":
        tolerance = solved(TOLERANCE, calls[""].model, calls[""].arrays["q"])
    directions = list(calls["_jvp"].arrays.values())[3:]
    lam = calls["_vjp"].arrays["lam"]
    pairs = zip(by, directions, strict=True)
    wanted: dict[str, list[Array]] = {
        "_jvp": [sum(np.einsum("zij,zj->zi", m, dx) for m, dx in pairs)],
        "_vjp": [np.einsum("zij,zi->zj", m, lam) for m in by],
    }
    for suffix, want in wanted.items():
        what = f"{label}, {problem}{suffix}"
        for x, y in zip(same_bits(calls[suffix], what, 1), want, strict=True):
            require_close(x, y, tolerance, f"{what} and the full derivatives")


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
        micro = number(self.plain), number(self.microseconds)
        met = verdict(self.ratio.median <= MOST)
        cells = [self.robot, self.product, *micro, *times(self.ratio), f"{MOST:g}x", met]
        return [*cells, f"{self.matrices:.1f}x"]


def measure(
    label: str, model: dtau.Model, effort: Effort, tick: Callable[[], None]
) -> Iterator[tuple[Row, Row]]:
    """Rows for lone states and for a batch of each product."""
    suffixes = ("", "_derivatives", *PRODUCTS)
    at = random_inputs(model, [of + s for of in PROBLEMS for s in suffixes], BATCH)
    for of in PROBLEMS:
        calls = {s: Call(of + s, model, at) for s in suffixes}
        check(label, of, calls)
        contenders = {f"alone{s}": call.alone(LONE_STATES) for s, call in calls.items()}
        contenders |= {f"batch{s}": call.batch() for s, call in calls.items()}
        found = timed(contenders, effort, tick)
        for s in PRODUCTS:
            alone, batch = (
                Row(
                    label,
                    model.nv,
                    of + s,
                    found.micro(way),
                    found.micro(way + s),
                    found.ratio(way + s, way),
                    found.ratio(way + "_derivatives", way).median,
                )
                for way in ("alone", "batch")
            )
            yield alone, batch


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
    models |= {f"chain of {n}": dtau.robots.chain(n) for n in (CHAINS[:1] if quick else CHAINS)}
    watch.expect(2 * EFFORT[quick].rounds * len(models))
    rows: list[tuple[Row, Row]] = []
    with one_core():
        for label, model in models.items():
            rows += measure(label, model, EFFORT[quick], partial(watch.step, label))
    header = ["robot", "product", "function", "product", "ratio", "quartiles", "at most", ""]
    header.append("matrices")
    tables, claims = [], []
    for way, title, states in (
        (0, "One state a call", "one state"),
        (1, f"Batches of {BATCH} states with out=", "batches"),
    ):
        mine = [pair[way] for pair in rows]
        title = f"{title}, microseconds a state"
        tables.append(Table(title, header, [row.cells() for row in mine], left=2))
        text = f"a product costs at most {MOST:g} calls of its function, {states}"
        ratios = [row.ratio.median for row in mine]
        claims.append(at_most(text, MOST, ratios, f"at most {MOST:g}x on all robots"))
    data = [{"alone": asdict(alone), "batch": asdict(batch)} for alone, batch in rows]
    return Findings(tables, [plot(rows)], claims, notes, {"products": data})


EXPERIMENT = Experiment(
    "products", "Products with first derivatives", "in calls of their own functions", run
)
