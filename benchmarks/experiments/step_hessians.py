"""Measures Hessians of constrained dynamics and of time steps, relative to first derivatives.

    python -m benchmarks step_hessians

    table         time of                                         divided by the time of
    constrained   constrained_dynamics_hessian                    constrained_dynamics_derivatives
    steps         step_hessian, with and without contacts         linearize_discrete
    differences   central differences of linearize_discrete       step_hessian
    CasADi        CasADi's Hessian of the same step, in C         step_hessian

HyQ stands on four points and Talos on two soles. Batches of states give `constrained` and `steps`;
one state a call gives `differences`, also on an arm, and `CasADi`, on the arm alone. Steps are
semi-implicit. Central differences along all 2 nv + nu variables, in the exponential charts, check
the Hessians to `ERROR`; they run as one batch. CasADi differentiates the articulated-body algorithm
of a fixed base, written as an expression; both Hessians agree to `TOLERANCE`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError, require_close, same_bits
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_most, number, one_core, timed, times
from benchmarks.optional import optional
from benchmarks.robots import Robot, chosen
from dtau.cli.timing import DT, Call, Contender, Effort, random_inputs
from dtau.support.options import Integrator

casadi = optional("casadi")

FEET: dict[str, tuple[int, tuple[str, ...]]] = {  # rows of each, and their frames
    "hyq": (3, ("lf_foot", "rf_foot", "lh_foot", "rh_foot")),
    "talos": (6, ("left_sole_link", "right_sole_link")),
}
ARMS = ("panda",)
BATCH, LONE_STATES = 256, 16
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick
TOLERANCE = 1e-9  # beside CasADi
ERROR = 1e-5  # of central differences
STEP = 1e-5
CONSTRAINED, STEPPED = 3.0, 2.5  # calls of the first derivatives
METHOD: Integrator = "semi_implicit"


@dataclass(frozen=True)
class Row:
    """Time of a Hessian for one state, and the ratio of two contenders."""

    robot: str
    what: str
    microseconds: float
    ratio: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        return [self.robot, self.what, number(self.microseconds), *times(self.ratio)]


@dataclass(frozen=True)
class Differences:
    """Central differences of the step's gradients, in the charts of both states, at one state."""

    model: dtau.Model
    at: dict[str, Array]
    options: dict[str, Any]

    def __call__(self) -> Array:
        """Compute the Hessian from one batch of `linearize_discrete`."""
        model, n = self.model, self.model.nv
        q, v, tau = (self.at[name] for name in ("q", "v", "tau"))
        driven = np.array(
            [joint.type.nv != 6 for joint in model.joints for _ in range(joint.type.nv)]
        )
        z = np.zeros((2 * n + int(driven.sum()), 3 * n))
        z[:, np.r_[np.ones(2 * n, bool), driven]] = STEP * np.eye(len(z))
        z = np.concatenate([z, -z])
        moved = dtau.integrate(model, q, z[:, :n]), v + z[:, n : 2 * n], tau + z[:, 2 * n :]
        step = partial(dtau.linearize_discrete, model, integrator=METHOD, threads=1, **self.options)
        after = step(*moved, DT)
        middle, _ = dtau.step(model, q, v, tau, DT, METHOD, **self.options)
        start = dtau.integrate_jacobians(model, q, z[:, :n]).by_dq
        end = dtau.difference_jacobians(model, middle, after.q).by_q1
        lam = np.broadcast_to(self.at["lam_v"], moved[1].shape)
        lam = np.concatenate([np.einsum("i,zij->zj", self.at["lam_q"], end), lam], axis=1)
        gradient = np.einsum("zi,zij->zj", lam, np.concatenate([after.A, after.B], axis=2))
        gradient[:, :n] = np.einsum("zi,zij->zj", gradient[:, :n], start)
        more, less = np.split(gradient, 2)
        hessian: Array = (more - less) / (2.0 * STEP)
        return hessian


def contacts_of(robot: Robot) -> dtau.Contacts:
    """Return the contacts of the robot's feet with the ground."""
    rows, frames = FEET[robot.key]
    make = dtau.PointContact if rows == 3 else dtau.FrameContact
    return dtau.Contacts(robot.model, [make(frame) for frame in frames])


def step_call(model: dtau.Model, at: dict[str, Array], **options: Any) -> Call:
    """Return the call of `step_hessian` at these states."""
    return Call("step_hessian", model, at, {"integrator": METHOD, **options})


def beside_differences(
    label: str, call: Call, effort: Effort, tick: Callable[[], None], **options: Any
) -> Row:
    """Time central differences relative to the Hessian, one state a call."""
    at = {name: x[0] for name, x in call.arrays.items()}
    differences = Differences(call.model, at, options)
    got = call.part(0)()[0]
    require_close(differences(), got, ERROR, f"{label}: central differences")

    def run(passes: int) -> None:
        for _ in range(passes):
            differences()

    contenders = {"differences": Contender(run, 1), "hessian": call.alone(LONE_STATES)}
    found = timed(contenders, effort, tick)
    ratio = found.ratio("differences", "hessian")
    return Row(label, "central differences", found.micro("hessian"), ratio)


def on_feet(robot: Robot, effort: Effort, tick: Callable[[], None]) -> dict[str, list[Row]]:
    """Measure one robot in batches, with and without contacts, and central differences."""
    contacts, model = contacts_of(robot), robot.model
    names = ("constrained_dynamics_hessian", "step_hessian", "linearize_discrete")
    at = random_inputs(model, names, BATCH, nrows=contacts.nrows)
    held = {"contacts": contacts}
    found: dict[str, list[Row]] = {"constrained": [], "steps": [], "differences": []}

    hessian = Call("constrained_dynamics_hessian", model, at, held)
    first = Call("constrained_dynamics_derivatives", model, at, held)
    same_bits(hessian, f"{robot.label}: constrained_dynamics_hessian", 2)
    both = timed({"hessian": hessian.batch(), "first": first.batch()}, effort, tick)
    ratio = both.ratio("hessian", "first")
    found["constrained"].append(Row(robot.label, "contacts", both.micro("hessian"), ratio))
    for what, options in (("no contacts", {}), ("contacts", held)):
        stepped = step_call(model, at, **options)
        first = Call("linearize_discrete", model, at, {"integrator": METHOD, **options})
        same_bits(stepped, f"{robot.label}: step_hessian", 2)
        both = timed({"hessian": stepped.batch(), "first": first.batch()}, effort, tick)
        ratio = both.ratio("hessian", "first")
        found["steps"].append(Row(robot.label, what, both.micro("hessian"), ratio))
        label = f"{robot.label}, {what}"
        found["differences"].append(beside_differences(label, stepped, effort, tick, **options))
    return found


def casadi_hessian(model: dtau.Model) -> Any:
    """Return CasADi's Hessian of the weighted step, as a function of one vector."""
    from benchmarks.peers.casadi_model import Expressions

    m = Expressions(model)
    lam = casadi.SX.sym("lam", 2 * model.nv)
    after = m.v + DT * m.forward_dynamics(m.v, m.u)
    weighted = casadi.dot(lam[: model.nv], m.s + DT * after) + casadi.dot(lam[model.nv :], after)
    z = casadi.vertcat(m.s, m.v, m.u)
    hessian, _ = casadi.hessian(weighted, z)
    (hessian,) = casadi.cse([casadi.densify(hessian)])
    entries = casadi.substitute(hessian, m.g, casadi.DM(model.gravity))
    return casadi.Function("hessian", [casadi.vertcat(z, lam)], [casadi.vec(entries)])


def beside_casadi(robot: Robot, effort: Effort, tick: Callable[[], None]) -> Row:
    """Time CasADi's Hessian in C relative to the package's, one state a call."""
    from benchmarks.peers.casadi_code import Looped, compiled

    model = robot.model
    at = random_inputs(model, ("step_hessian",), LONE_STATES)
    call = step_call(model, at)
    states = np.concatenate([at[x] for x in ("q", "v", "tau", "lam_q", "lam_v")], axis=1)
    function = casadi_hessian(model)
    with tempfile.TemporaryDirectory() as folder:
        peer = Looped(compiled(function, Path(folder)), function, states)
        want = call()[0]
        require_close(peer.all().reshape(want.shape), want, TOLERANCE, f"{robot.label}: CasADi")
        contenders = {"peer": Contender(peer.run, LONE_STATES), "hessian": call.alone(LONE_STATES)}
        found = timed(contenders, effort, tick)
    return Row(robot.label, "CasADi in C", found.micro("hessian"), found.ratio("peer", "hessian"))


def run(quick: bool, watch: Watch) -> Findings:
    """Measure the robots of `FEET` and `ARMS`."""
    notes: list[str] = []
    robots = [r for r in chosen(("hyq",) if quick else tuple(FEET), notes.append) if r.key in FEET]
    arms = chosen(ARMS, notes.append)
    if not robots and not arms:
        raise UnavailableError("; ".join(notes))
    effort = EFFORT[quick]
    watch.expect(effort.rounds * (5 * len(robots) + 2 * len(arms)))
    rows: dict[str, list[Row]] = {x: [] for x in ("constrained", "steps", "differences", "CasADi")}
    with one_core():
        for robot in robots:
            for what, found in on_feet(robot, effort, partial(watch.step, robot.label)).items():
                rows[what] += found
        for robot in arms:
            tick = partial(watch.step, robot.label)
            at = random_inputs(robot.model, ("step_hessian",), LONE_STATES)
            call = step_call(robot.model, at)
            rows["differences"].append(beside_differences(robot.label, call, effort, tick))
            if casadi is None:
                notes.append("CasADi is left out: python -m pip install casadi")
                continue
            rows["CasADi"].append(beside_casadi(robot, effort, tick))
    titles = {
        "constrained": f"Constrained Hessians by first derivatives, batches of {BATCH}",
        "steps": f"Step Hessians by linearize_discrete, batches of {BATCH}",
        "differences": "Central differences by step Hessians, one state a call",
        "CasADi": "CasADi's Hessian of the step, compiled to C, by step_hessian, one state a call",
    }
    header = ["robot", "", "Hessian, us", "ratio", "quartiles"]
    asked = (
        ("constrained", CONSTRAINED, "constrained Hessian by constrained derivatives"),
        ("steps", STEPPED, "step Hessian by linearize_discrete"),
    )
    return Findings(
        tables=[
            Table(title, header, [row.cells() for row in rows[what]], left=2)
            for what, title in titles.items()
            if rows[what]
        ],
        claims=[
            at_most(text, most, [row.ratio.median for row in rows[what]])
            for what, most, text in asked
            if rows[what]
        ],
        notes=notes,
        data={what: [asdict(row) for row in found] for what, found in rows.items()},
    )


EXPERIMENT = Experiment(
    "step_hessians",
    "Hessians of steps and contacts",
    "first derivatives, central differences and CasADi",
    run,
)
