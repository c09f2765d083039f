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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, require_close, same_bits
from benchmarks.declare import Asked, Bench, Layout, Row, efforts, ratio
from benchmarks.optional import optional
from benchmarks.robots import FEET, Robot, contacts_of
from dtau.cli.timing import DT, Call, Contender, loop, random_inputs
from dtau.support.options import Integrator

casadi = optional("casadi")

BATCH, LONE_STATES = 256, 16
TOLERANCE = 1e-9  # beside CasADi
ERROR = 1e-5  # of central differences
STEP = 1e-5
CONSTRAINED, STEPPED = 3.0, 2.5  # calls of the first derivatives
METHOD: Integrator = "semi_implicit"


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


def step_call(model: dtau.Model, at: dict[str, Array], **options: Any) -> Call:
    return Call("step_hessian", model, at, {"integrator": METHOD, **options})


def beside_differences(bench: Bench, label: str, call: Call, **options: Any) -> Row:
    """Central differences, one state a call."""
    differences = Differences(call.model, {name: x[0] for name, x in call.arrays.items()}, options)
    got = call.part(0)()[0]
    require_close(differences(), got, ERROR, f"{label}: central differences")
    peer = Contender(loop("f()", f=differences), 1)
    row = {"part": "differences", "robot": label, "what": "central differences"}
    return row | compared(bench, peer, call.alone(LONE_STATES), hessian="by")


def compared(bench: Bench, one: Contender, by: Contender, hessian: str) -> Row:
    """The time of the Hessian, one or the other, and the ratio of both."""
    found = bench.timed({"one": one, "by": by})
    return {"microseconds": found.micro(hessian), "ratio": found.ratio("one", "by")}


def on_feet(bench: Bench, robot: Robot) -> Iterator[Row]:
    """In batches, with and without contacts, and central differences."""
    contacts, model = contacts_of(robot), robot.model
    names = ("constrained_dynamics_hessian", "step_hessian", "linearize_discrete")
    at = random_inputs(model, names, BATCH, nrows=contacts.nrows)
    held = {"contacts": contacts}
    hessian = Call("constrained_dynamics_hessian", model, at, held)
    constrained = hessian, Call("constrained_dynamics_derivatives", model, at, held)
    for part, what, options in (
        ("constrained", "contacts", held),
        ("steps", "no contacts", {}),
        ("steps", "contacts", held),
    ):
        first = Call("linearize_discrete", model, at, {"integrator": METHOD, **options})
        pair = step_call(model, at, **options), first
        call, first = constrained if part == "constrained" else pair
        same_bits(call, f"{robot.label}: {call.name}", 2)
        row = {"part": part, "robot": robot.label, "what": what}
        yield row | compared(bench, call.batch(), first.batch(), hessian="one")
        if part == "steps":
            yield beside_differences(bench, f"{robot.label}, {what}", call, **options)


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


def beside_casadi(bench: Bench, call: Call) -> Row:
    """CasADi's Hessian in C, one state a call."""
    from benchmarks.peers.casadi_code import Looped, compiled

    at = call.arrays
    states = np.concatenate([at[x] for x in ("q", "v", "tau", "lam_q", "lam_v")], axis=1)
    function = casadi_hessian(call.model)
    with tempfile.TemporaryDirectory() as folder:
        peer = Looped(compiled(function, Path(folder)), function, states)
        want = call()[0]
        require_close(peer.all().reshape(want.shape), want, TOLERANCE, "CasADi")
        theirs = Contender(peer.run, LONE_STATES)
        found = compared(bench, theirs, call.alone(LONE_STATES), hessian="by")
    return {"part": "CasADi", "what": "CasADi in C"} | found


def measure(bench: Bench, robot: Robot) -> Iterator[Row]:
    if robot.key in FEET:
        yield from on_feet(bench, robot)
        return
    at = random_inputs(robot.model, ("step_hessian",), LONE_STATES)
    call = step_call(robot.model, at)
    yield beside_differences(bench, robot.label, call)
    if casadi is None:
        bench.note("CasADi is left out: python -m pip install casadi")
    else:
        yield {"robot": robot.label} | beside_casadi(bench, call)


TITLES = {
    "constrained": f"Constrained Hessians by first derivatives, batches of {BATCH}",
    "steps": f"Step Hessians by linearize_discrete, batches of {BATCH}",
    "differences": "Central differences by step Hessians, one state a call",
    "CasADi": "CasADi's Hessian of the step, compiled to C, by step_hessian, one state a call",
}
EXPERIMENT = declare.experiment(
    "step_hessians",
    "Hessians of steps and contacts",
    "first derivatives, central differences and CasADi",
    declare.robots((*FEET, "panda"), ("hyq", "panda")),
    measure,
    effort=efforts((41, 7), (4e-3, 2e-3)),
    tables=[
        Layout(
            title,
            ["robot", ("", "what"), ("Hessian, us", "microseconds"), ratio()],
            left=2,
            where={"part": part},
        )
        for part, title in TITLES.items()
    ],
    claims=[
        Asked(text, most=most, where={"part": part})
        for part, most, text in (
            ("constrained", CONSTRAINED, "constrained Hessian by constrained derivatives"),
            ("steps", STEPPED, "step Hessian by linearize_discrete"),
        )
    ],
)
