"""Measures JVPs and VJPs of time derivatives, relative to the time derivatives themselves.

    python -m benchmarks time_products

The products `_jvp` and `_vjp` of the time derivatives of inverse and forward dynamics run on UR5,
ANYmal and Talos, at orders 1, 2 and 4, one state a call and in batches. A ratio of 2.0 means that a
product takes as long as two calls of its function.

All results are checked before they are timed. The variation along the motion itself is the next
order; the product of order 0 equals `inverse_dynamics_jvp`; products of forward dynamics invert
products of inverse dynamics; each VJP is the transpose of its JVP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

import dtau
from benchmarks.checks import Array, require_close, same_bits, solved
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_most, number, one_core, timed, times, verdict
from benchmarks.robots import chosen
from dtau.cli.timing import LONE_STATES, Call, Effort, random_inputs

MOST = 3.0  # what a product may cost, in calls of its function
AGREEMENT = 1e-11  # of the largest element
ROBOTS = ("ur5", "anymal", "talos")
ORDERS = (1, 2, 4)
BATCH = 256
PROBLEMS = ("inverse_dynamics", "forward_dynamics")
PRODUCTS = ("_jvp", "_vjp")
EFFORT = {False: Effort(rounds=41, block=1e-3), True: Effort(rounds=7, block=1e-3)}  # by quick


def inputs(model: dtau.Model, order: int) -> dict[str, Array]:
    """Draw states, trajectories through them, variations and weights; torques fit the motion."""
    names = [f"{of}_time_derivatives{product}" for of in PROBLEMS for product in PRODUCTS]
    at = random_inputs(model, names, BATCH, order=order, seed=order)
    q, v = at["q"], at["v_derivatives"]
    at["v"] = v[:, 0].copy()
    at["tau_derivatives"] = dtau.inverse_dynamics_time_derivatives(model, q, v)
    at["dv"] = at["dv_derivatives"][:, 0].copy()
    at["dtau_derivatives"] = dtau.inverse_dynamics_time_derivatives_jvp(
        model, q, v, at["dq"], at["dv_derivatives"]
    )
    return at


def check(label: str, calls: dict[str, dict[str, Call]], at: dict[str, Array]) -> None:
    """Compare products with values, with each other and with the products of plain functions."""
    inverse = calls["inverse_dynamics"]
    model, q, v, dq = inverse[""].model, at["q"], at["v_derivatives"], at["dq"]
    (tau,) = inverse[""]()
    rates = dtau.inverse_dynamics_time_derivatives_jvp(model, q, v[:, :-1], v[:, 0], v[:, 1:])
    for k in range(rates.shape[1]):
        require_close(rates[:, k], tau[:, k + 1], AGREEMENT, f"{label}: rate of order {k}")
    (got,) = same_bits(inverse["_jvp"], label, 1)
    dv, tolerance = at["dv_derivatives"], solved(AGREEMENT, model, q)
    plain = dtau.inverse_dynamics_jvp(model, q, v[:, 0], v[:, 1], dq, dv[:, 0], dv[:, 1])
    require_close(got[:, 0], plain, AGREEMENT, f"{label}: product of order 0")
    (da,) = same_bits(calls["forward_dynamics"]["_jvp"], label, 1)
    for k in range(da.shape[1]):
        # Errors of low orders enter the higher ones.
        much = 10.0**k * tolerance
        require_close(da[:, k], dv[:, k + 1], much, f"{label}: variation of a of order {k}")
    for of, result in zip(PROBLEMS, (got, da), strict=True):
        call = calls[of]["_vjp"]
        gradient = same_bits(call, label, 1)
        names = [x for x in calls[of]["_jvp"].arrays if x.startswith("d")]
        left = (at["lam_derivatives"] * result).reshape(BATCH, -1)
        terms = np.concatenate(
            [(g * at[x]).reshape(BATCH, -1) for g, x in zip(gradient, names, strict=True)], axis=1
        )
        size = float(np.abs(terms).sum(1).max())
        require_close(left.sum(1), terms.sum(1), tolerance, f"{label}: {of}_vjp", floor=size)


@dataclass(frozen=True)
class Row:
    """Time of a product for one state, and its ratio to the time of the function."""

    robot: str
    order: int
    product: str
    plain: float
    microseconds: float
    ratio: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        micro = number(self.plain), number(self.microseconds)
        met = verdict(self.ratio.median <= MOST)
        return [self.robot, str(self.order), self.product, *micro, *times(self.ratio), met]


def measure(
    label: str, model: dtau.Model, order: int, effort: Effort, tick: Callable[[], None]
) -> Iterator[tuple[Row, Row]]:
    """Time each product one state a call and in a batch."""
    at = inputs(model, order)
    calls = {
        of: {s: Call(f"{of}_time_derivatives{s}", model, at) for s in ("", *PRODUCTS)}
        for of in PROBLEMS
    }
    check(f"{label}, order {order}", calls, at)
    for of in PROBLEMS:
        contenders = {f"alone{s}": call.alone(LONE_STATES) for s, call in calls[of].items()}
        contenders |= {f"batch{s}": call.batch() for s, call in calls[of].items()}
        found = timed(contenders, effort, tick)
        for s in PRODUCTS:
            alone, batch = (
                Row(
                    label,
                    order,
                    of + s,
                    found.micro(way),
                    found.micro(way + s),
                    found.ratio(way + s, way),
                )
                for way in ("alone", "batch")
            )
            yield alone, batch


def run(quick: bool, watch: Watch) -> Findings:
    """Measure on an arm, a quadruped and a humanoid."""
    notes: list[str] = []
    robots = chosen(ROBOTS[:1] if quick else ROBOTS, notes.append)
    orders = ORDERS[1:2] if quick else ORDERS
    watch.expect(2 * EFFORT[quick].rounds * len(robots) * len(orders))
    rows: list[tuple[Row, Row]] = []
    with one_core():
        for robot in robots:
            for order in orders:
                label = robot.label
                rows += measure(
                    label, robot.model, order, EFFORT[quick], partial(watch.step, label)
                )
    header = ["robot", "order", "product", "function", "product", "ratio", "quartiles", ""]
    tables, claims = [], []
    for way, title, states in (
        (0, "One state a call", "one state"),
        (1, f"Batches of {BATCH} states with out=", "batches"),
    ):
        mine = [pair[way] for pair in rows]
        title = f"{title}, microseconds a state"
        tables.append(Table(title, header, [row.cells() for row in mine], left=3))
        text = f"a product costs at most {MOST:g} calls of its time derivatives, {states}"
        ratios = [row.ratio.median for row in mine]
        claims.append(at_most(text, MOST, ratios, f"at most {MOST:g}x on all robots"))
    data = [{"alone": asdict(alone), "batch": asdict(batch)} for alone, batch in rows]
    return Findings(tables, [], claims, notes, {"time_products": data})


EXPERIMENT = Experiment(
    "time_products",
    "Products with first derivatives of time derivatives",
    "in calls of the time derivatives",
    run,
)
