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

from collections.abc import Iterator

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, require_close, same_bits, solved
from benchmarks.declare import Bench, Row, at_most, efforts, ratio
from benchmarks.experiments import products
from benchmarks.experiments.products import BATCH, MOST, PROBLEMS, PRODUCTS
from benchmarks.robots import Robot
from dtau.cli.timing import Call, random_inputs

AGREEMENT = 1e-11  # of the largest element
ROBOTS = ("ur5", "anymal", "talos")
ORDERS = (1, 2, 4)


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


def subjects(bench: Bench) -> list[tuple[Robot, int]]:
    orders = ORDERS[1:2] if bench.quick else ORDERS
    return [(robot, k) for robot in declare.robots(ROBOTS, ROBOTS[:1])(bench) for k in orders]


def measure(bench: Bench, robot: Robot, order: int) -> Iterator[Row]:
    at = inputs(robot.model, order)
    calls = {
        of: {s: Call(f"{of}_time_derivatives{s}", robot.model, at) for s in ("", *PRODUCTS)}
        for of in PROBLEMS
    }
    check(f"{robot.label}, order {order}", calls, at)
    for of in PROBLEMS:
        yield from products.beside_function(
            bench, calls[of], robot=robot.label, order=order, problem=of
        )


EXPERIMENT = declare.experiment(
    "time_products",
    "Products with first derivatives of time derivatives",
    "in calls of the time derivatives",
    subjects,
    measure,
    effort=efforts((41, 7), (1e-3, 1e-3)),
    tables=products.layouts(
        [
            "robot",
            "order",
            "product",
            "function",
            ("product", "microseconds"),
            ratio(),
            at_most(MOST),
        ],
        left=3,
    ),
    claims=products.limits("time derivatives"),
)
