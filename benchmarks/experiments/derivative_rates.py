"""Measures rates of first derivatives along a motion, relative to the first derivatives.

    python -m benchmarks derivative_rates

At order 1, the functions ``..._derivatives_time_derivatives`` and `linearize_time_derivatives`
return first derivatives and their rates. The functions ``..._time_derivatives_derivatives`` return
the first derivatives of the torque and its rate, or of the acceleration and its rate. The robots
are UR5, HyQ, ANYmal B and Talos, one state a call and in batches. Checks come first: rates agree
with second derivatives times the motion, and derivatives of rates with products of matrices.
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

MOST = 2.5  # what order 1 of inverse dynamics may cost, in calls of its first derivatives
TOLERANCE = 1e-11  # of the largest element
BATCH = 256
ROBOTS = ("ur5", "hyq", "anymal", "talos")
# Each function at order 1, and the function without rates that its time is divided by.
RATES = {
    "inverse_dynamics_derivatives_time_derivatives": "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives_time_derivatives": "forward_dynamics_derivatives",
    "linearize_time_derivatives": "linearize",
    "inverse_dynamics_time_derivatives_derivatives": "inverse_dynamics_derivatives",
    "forward_dynamics_time_derivatives_derivatives": "forward_dynamics_derivatives",
}
ASKED = "inverse_dynamics_derivatives_time_derivatives"
EFFORT = {False: Effort(rounds=101, block=2e-3), True: Effort(rounds=9, block=1e-3)}  # by quick


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
    return (
        by_q + np.einsum("zikj,zk->zij", dxdq, x),
        by_v,
        np.einsum("zijk,zk->zij", dxdq, v),
    )


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


@dataclass(frozen=True)
class Row:
    """Time of a function for one state at order 1, and its ratio to the function without rates."""

    robot: str
    nv: int
    function: str
    way: str
    plain: float
    microseconds: float
    ratio: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        asked = f"{MOST:g}x" if self.function == ASKED else ""
        met = verdict(self.ratio.median <= MOST) if asked else ""
        micro = number(self.plain), number(self.microseconds)
        return [self.robot, self.function, self.way, *micro, *times(self.ratio), asked, met]


def measure(
    label: str, model: dtau.Model, effort: Effort, tick: Callable[[], None]
) -> Iterator[Row]:
    """Check all functions on one robot, and time them in turns."""
    at = states(model)
    calls = {name: Call(name, model, at) for name in (*RATES, *RATES.values())}
    check(label, model, at, calls)
    contenders = {("alone", name): call.alone(LONE_STATES) for name, call in calls.items()}
    contenders |= {("batch", name): call.batch() for name, call in calls.items()}
    found = timed(contenders, effort, tick)
    for name, plain in RATES.items():
        for way in ("alone", "batch"):
            ratio = found.ratio((way, name), (way, plain))
            micro = found.micro((way, plain)), found.micro((way, name))
            yield Row(label, model.nv, name, way, *micro, ratio)


def run(quick: bool, watch: Watch) -> Findings:
    """Measure on an arm, two quadrupeds and a humanoid."""
    notes: list[str] = []
    names = ROBOTS[:2] if quick else ROBOTS
    robots = chosen(names, notes.append)
    effort = EFFORT[quick]
    watch.expect(len(robots) * effort.rounds)
    rows: list[Row] = []
    with one_core():
        for robot in robots:
            tick = partial(watch.step, robot.label)
            rows += measure(robot.label, robot.model, effort, tick)
    header = [
        "robot",
        "function, order 1",
        "way",
        "order 0, us",
        "order 1, us",
        "times",
        "quartiles",
    ]
    title = (
        f"First derivatives and their rates, us a state, alone and in batches of {BATCH}, "
        "in calls of the functions without rates"
    )
    table = Table(title, [*header, "asked", "met"], [row.cells() for row in rows], left=3)
    claims = []
    for way in ("alone", "batch"):
        ratios = [row.ratio.median for row in rows if (row.function, row.way) == (ASKED, way)]
        if ratios:
            text = f"First derivatives of inverse dynamics and their rates, by the former, {way}"
            claims.append(at_most(text, MOST, ratios))
    return Findings([table], [], claims, notes, {"rows": [asdict(row) for row in rows]})


EXPERIMENT = Experiment(
    "derivative_rates",
    "Rates of first derivatives along a motion",
    "first derivatives, and the second derivatives as a check",
    run,
)
