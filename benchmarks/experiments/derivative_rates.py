"""Measures rates of first derivatives along a motion, relative to the first derivatives.

    python -m benchmarks derivative_rates

At order 1, the functions ``..._derivatives_time_derivatives`` and `linearize_time_derivatives`
return first derivatives and their rates. The functions ``..._time_derivatives_derivatives`` return
the first derivatives of the torque and its rate, or of the acceleration and its rate. The robots
are UR5, HyQ, ANYmal B and Talos, one state a call and in batches. Checks come first: rates agree
with second derivatives times the motion, and derivatives of rates with products of matrices.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, require_close, same_bits, solved
from benchmarks.declare import Asked, Bench, Layout, Row, at_most, efforts, ratio
from benchmarks.robots import Robot
from dtau.cli.timing import Call, random_inputs

MOST = 2.5  # what order 1 of inverse dynamics may cost, in calls of its first derivatives
TOLERANCE = 1e-11  # of the largest element
BATCH = 256
# Each function at order 1, and the function without rates that its time is divided by.
RATES = {
    "inverse_dynamics_derivatives_time_derivatives": "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives_time_derivatives": "forward_dynamics_derivatives",
    "linearize_time_derivatives": "linearize",
    "inverse_dynamics_time_derivatives_derivatives": "inverse_dynamics_derivatives",
    "forward_dynamics_time_derivatives_derivatives": "forward_dynamics_derivatives",
}
ASKED = "inverse_dynamics_derivatives_time_derivatives"


def states(model: dtau.Model) -> dict[str, Array]:
    """Draw states, and motions and torques through these states."""
    at = random_inputs(model, [*RATES, *RATES.values()], BATCH, order=1)
    at["v_derivatives"][:, :2] = np.stack([at["v"], at["a"]], axis=1)
    at["tau_derivatives"] = dtau.inverse_dynamics_time_derivatives(
        model, at["q"], at["v_derivatives"]
    )
    return at


def along(first: tuple[Array, ...], motion: tuple[Array, ...]) -> tuple[Array, ...]:
    """Compute rates of first derivatives by q, v and x from second derivatives.

    ``motion`` holds the rates of q, v and x. Inverse and forward dynamics are linear in x, the
    acceleration or the torque, and the matrix that multiplies x depends on q alone.
    """
    dqdq, dqdv, dvdv, dxdq = first
    v, a, x = motion
    by_q = np.einsum("zijk,zk->zij", dqdq, v) + np.einsum("zijk,zk->zij", dqdv, a)
    by_v = np.einsum("zikj,zk->zij", dqdv, v) + np.einsum("zijk,zk->zij", dvdv, a)
    return (by_q + np.einsum("zikj,zk->zij", dxdq, x), by_v, np.einsum("zijk,zk->zij", dxdq, v))


def bracket(model: dtau.Model, v: Array) -> Array:
    """Return ad_v, minus the upper left block of A of `linearize`."""
    q = np.broadcast_to(dtau.neutral(model), (len(v), model.nq))
    return -dtau.linearize(model, q, v, np.zeros_like(v)).A[:, : model.nv, : model.nv]


def check(label: str, model: dtau.Model, at: dict[str, Array], calls: dict[str, Call]) -> None:
    """Compare rates with second derivatives, and derivatives of rates with products."""
    found = {name: same_bits(calls[name], f"{label}, {name}", 1) for name in RATES}
    jerk, torque_rate = at["v_derivatives"][:, 2], at["tau_derivatives"][:, 1]
    loose = solved(TOLERANCE, model, at["q"])
    for problem, x, tolerance in (("inverse", jerk, TOLERANCE), ("forward", torque_rate, loose)):
        name = f"{problem}_dynamics"
        value = "a" if problem == "inverse" else "tau"
        state = at["q"], at["v"], at[value]
        second = getattr(dtau, f"{name}_second_derivatives")(model, *state)
        first = getattr(dtau, f"{name}_derivatives")(model, *state)
        rates = along(second, (at["v"], at["a"], x))
        got = found[f"{name}_derivatives_time_derivatives"]
        for part, y, z in zip(got, first, rates, strict=True):
            require_close(part[:, 0], y, tolerance, f"{label}, {name}, order 0")
            require_close(part[:, 1], z, 10.0 * tolerance, f"{label}, {name}, rates")
        ad = bracket(model, at["v"])
        by_q, by_v, by_x = first
        q_rate, v_rate, x_rate = rates
        if problem == "inverse":
            of_q, of_v = found[f"{name}_time_derivatives_derivatives"]
            parts = [of_q, *np.moveaxis(of_v, 2, 0)]
            wanted = [q_rate - by_q @ ad, by_q + v_rate, by_v + x_rate, by_x]
        else:
            of_q, of_v, of_tau = found[f"{name}_time_derivatives_derivatives"]
            parts = [of_q, of_v, *np.moveaxis(of_tau, 2, 0)]
            wanted = [q_rate - by_q @ ad + by_v @ by_q, by_q + v_rate + by_v @ by_v]
            wanted += [x_rate + by_v @ by_x, by_x]
        for got_part, want in zip(parts, wanted, strict=True):
            what = f"{label}, {name}, derivatives of rates"
            require_close(got_part[:, 1], want, 10.0 * tolerance, what)
    forward = found["forward_dynamics_derivatives_time_derivatives"]
    lower = found["linearize_time_derivatives"][0][:, :, model.nv :]
    what = f"{label}, linearize_time_derivatives"
    require_close(lower, np.concatenate(forward[:2], axis=-1), 0.0, what)


def measure(bench: Bench, robot: Robot) -> Iterator[Row]:
    at = states(robot.model)
    calls = {name: Call(name, robot.model, at) for name in (*RATES, *RATES.values())}
    check(robot.label, robot.model, at, calls)
    found = bench.both(calls)
    for name, plain in RATES.items():
        for way in ("alone", "batch"):
            yield {
                "robot": robot.label,
                "function": name,
                "way": way,
                "plain": found.micro((way, plain)),
                "microseconds": found.micro((way, name)),
                "ratio": found.ratio((way, name), (way, plain)),
                "most": MOST if name == ASKED else None,
            }


EXPERIMENT = declare.experiment(
    "derivative_rates",
    "Rates of first derivatives along a motion",
    "first derivatives, and the second derivatives as a check",
    declare.robots(("ur5", "hyq", "anymal", "talos"), ("ur5", "hyq")),
    measure,
    effort=efforts((101, 9), (2e-3, 1e-3)),
    tables=[
        Layout(
            f"First derivatives and their rates, us a state, alone and in batches of {BATCH}, "
            "in calls of the functions without rates",
            [
                *("robot", ("function, order 1", "function"), "way", ("order 0, us", "plain")),
                *(("order 1, us", "microseconds"), ratio(header="times"), at_most("most")),
            ],
            left=3,
        )
    ],
    claims=[
        Asked(
            "First derivatives of inverse dynamics and their rates, by the former, {way}",
            most=MOST,
            where={"function": ASKED},
            each="way",
        )
    ],
)
