"""Contacts beside Pinocchio's constraint dynamics, one state a call, and in batches of 256.

    python -m benchmarks contacts

    values        constrained_dynamics               constraintDynamics
    derivatives   constrained_dynamics_derivatives   that and computeConstraintDynamicsDerivatives
    products      constrained_dynamics_jvp, _vjp     by values, of the package
    steps         linearize, step, linearize_discrete, step_vjp with contacts by the same without

HyQ on four points, Talos on two soles. Results are compared first, where the feet stand still:
where they do not, Pinocchio holds other accelerations of frames. Beside them, what more rows cost,
and what a gait costs: 16 contacts, of which 4 hold by turns, by those 4 alone. The gait's knots lie
in their order, and scattered, as a learner's samples do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, require_close
from benchmarks.declare import Asked, Bench, Layout, Row, efforts, ratio
from benchmarks.harness import verdict
from benchmarks.robots import FEET, Robot, contacts_of, pinocchio
from dtau.cli.timing import Call, Contender, loop, random_inputs

BATCH = 256
LONE_STATES = 32
TOLERANCE = 1e-9
ALONE, TOGETHER, PRODUCT = 1.5, 5.0, 4.0
PHASES, GAIT = 4, 1.2  # of a gait; the most it may cost
STEPS = ("linearize", "linearize_discrete", "step", "step_vjp")
VALUES = "pin.constraintDynamics(m, d, q, v, tau, feet, room, s)"
DERIVATIVES = "pin.computeConstraintDynamicsDerivatives(m, d, feet, room, s)"
CALLS = {
    "values": ("constrained_dynamics", VALUES),
    "derivatives": ("constrained_dynamics_derivatives", f"{VALUES}; {DERIVATIVES}"),
}


@dataclass(frozen=True)
class Case:
    """A robot on its feet, at some states."""

    robot: Robot
    contacts: dtau.Contacts
    at: dict[str, Array]

    @staticmethod
    def of(robot: Robot) -> Case:
        """At velocities of the feet that are zero."""
        contacts = contacts_of(robot)
        products = (f"constrained_dynamics_{x}" for x in ("jvp", "vjp"))
        at = random_inputs(robot.model, (*products, *STEPS), BATCH, nrows=contacts.nrows)
        at["v"] = dtau.impulse_dynamics(robot.model, at["q"], at["v"], contacts).v
        return Case(robot, contacts, at)

    def call(self, name: str, contacts: dtau.Contacts | None = None) -> Call:
        """A function at these states, on these contacts or on all."""
        contacts = self.contacts if contacts is None else contacts
        return Call(name, self.robot.model, self.at, {"contacts": contacts})

    def peer(self) -> dict[str, Any]:
        """What calls of Pinocchio name."""
        model = self.robot.peer
        rows, frames = FEET[self.robot.key]
        kinds = pinocchio.ContactType
        kind = kinds.CONTACT_3D if rows == 3 else kinds.CONTACT_6D
        feet = pinocchio.StdVec_RigidConstraintModel()
        for name in frames:
            frame = model.frames[model.getFrameId(name)]
            local = pinocchio.ReferenceFrame.LOCAL
            foot = pinocchio.RigidConstraintModel(
                kind, model, frame.parentJoint, frame.placement, local
            )
            feet.append(foot)
        room = pinocchio.StdVec_RigidConstraintData()
        for foot in feet:
            room.append(foot.createData())
        data = model.createData()
        pinocchio.initConstraintDynamics(model, data, feet, room)
        settings = pinocchio.ProximalSettings(1e-14, 0.0, 1)
        names = {"pin": pinocchio, "m": model, "d": data, "feet": feet, "room": room}
        q, v, tau = (self.at[x][:LONE_STATES] for x in ("q", "v", "tau"))
        points = (self.robot.peer_q(q), self.robot.peer_v(v), self.robot.peer_v(tau))
        names["points"] = list(zip(*points, strict=True))
        return names | {"s": settings}

    def check(self) -> None:
        """Compare all results with Pinocchio's, at the first states."""
        names, columns = self.peer(), self.robot.columns
        given = self.robot.model, self.at["q"], self.at["v"], self.at["tau"], self.contacts
        value = dtau.constrained_dynamics(*given)
        d = dtau.constrained_dynamics_derivatives(*given)
        for k, point in enumerate(names["points"][:8]):
            here = names | dict(zip(("q", "v", "tau"), point, strict=True))
            exec(f"{VALUES}; {DERIVATIVES}", here)
            data, what = names["d"], f"{self.robot.label}, state {k}"
            require_close(value.a[k][columns], data.ddq, TOLERANCE, what)
            require_close(value.forces[k], data.lambda_c, TOLERANCE, what)
            for by in ("q", "v", "tau"):
                a = self.robot.peer_order(getattr(d, f"da_d{by}")[k], 2)
                require_close(a, getattr(data, f"ddq_d{by}"), TOLERANCE, f"{what} by {by}")
                forces = self.robot.peer_order(getattr(d, f"dforces_d{by}")[k], 1)
                found = getattr(data, f"dlambda_d{by}")
                require_close(forces, found, TOLERANCE, f"{what} by {by}")


def beside_pinocchio(bench: Bench, case: Case) -> Iterator[Row]:
    case.check()
    names = case.peer()
    for what, (function, statement) in CALLS.items():
        peer = Contender(loop(f"for q, v, tau in points: {statement}", **names), LONE_STATES)
        call = case.call(function)
        ways = {"alone": call.alone(LONE_STATES), "batch": call.batch()}
        found = bench.timed(ways | {"peer": peer})
        alone, batch = (found.ratio("peer", way) for way in ways)
        met = verdict(alone.median >= ALONE and batch.median >= TOGETHER)
        row = {"what": what, "peer": found.micro("peer"), "alone": alone, "batch": batch}
        yield row | {"as asked": met}


def products(bench: Bench, case: Case) -> Iterator[Row]:
    """Both products by the value."""
    value = case.call("constrained_dynamics")
    for name in ("constrained_dynamics_jvp", "constrained_dynamics_vjp"):
        yield {"what": name} | versus(bench, case.call(name), value)


def steps(bench: Bench, case: Case) -> Iterator[Row]:
    """Linearizations and steps with contacts by those without."""
    for name in STEPS:
        without = Call(name, case.robot.model, case.at)
        yield {"what": name} | versus(bench, case.call(name), without)


def gait(bench: Bench, case: Case) -> Iterator[Row]:
    """A gait over contacts of which those of one phase hold, by those of a phase alone."""
    feet = case.contacts.contacts
    steps = [replace(foot, name=f"{foot.name}{k}") for k in range(PHASES) for foot in feet]
    contacts = dtau.Contacts(case.robot.model, steps)
    active = np.zeros((BATCH, len(steps)))
    for knot in range(BATCH):
        first = knot * PHASES // BATCH * len(feet)
        active[knot, first : first + len(feet)] = 1.0
    orders = {"in order": active, "scattered": np.random.default_rng(0).permutation(active)}
    for name in ("constrained_dynamics", "constrained_dynamics_derivatives", "step"):
        for order, held in orders.items():
            at = case.at | {"active": held}
            call = Call(name, case.robot.model, at, {"contacts": contacts})
            yield {"what": f"{name}, {order}"} | versus(bench, call, case.call(name))


def more_rows(bench: Bench, case: Case) -> Iterator[Row]:
    """Values and derivatives of a batch, with 0, 1, ... of the feet."""
    for count in range(len(case.contacts) + 1):
        contacts = dtau.Contacts(case.robot.model, case.contacts.contacts[:count])
        calls = {what: case.call(name, contacts).batch() for what, (name, _) in CALLS.items()}
        yield {"rows": contacts.nrows} | bench.timed(calls).medians()


def versus(bench: Bench, call: Call, other: Call) -> Row:
    return bench.versus(call, other, lone=LONE_STATES, into=(False, True))


PARTS = {
    "Pinocchio": beside_pinocchio,
    "products": products,
    "steps": steps,
    "gaits": gait,
    "rows": more_rows,
}


def measure(bench: Bench, robot: Robot) -> Iterator[Row]:
    case = Case.of(robot)
    for part, rows in PARTS.items():
        yield from ({"robot": robot.label, "part": part} | row for row in rows(bench, case))


def subjects(bench: Bench) -> list[Robot]:
    return [robot for robot in declare.robots(FEET, ("hyq",))(bench) if robot.key in FEET]


RATIOS = [ratio("alone", "alone"), ratio("batch", f"batch of {BATCH}")]
EXPERIMENT = declare.experiment(
    "contacts",
    "Contacts beside Pinocchio",
    "what a robot on its feet costs",
    subjects,
    measure,
    effort=efforts((41, 7), (4e-3, 2e-3)),
    needs={"pinocchio": "pin"},
    tables=[
        Layout(
            "Pinocchio's Python calls by the package's",
            ["robot", ("", "what"), ("Pinocchio, us", "peer"), *RATIOS, "as asked"],
            left=2,
            where={"part": "Pinocchio"},
        ),
        *(
            Layout(title, ["robot", ("function", "what"), *RATIOS], left=2, where={"part": part})
            for part, title in (
                ("products", "Products by the value"),
                ("steps", "Linearizations and Euler steps with contacts by the same without"),
                (
                    "gaits",
                    f"A gait over {PHASES} sets of contacts, {BATCH} knots, by one set alone",
                ),
            )
        ),
        Layout(
            "What rows cost: microseconds a state, in batches",
            ["robot", "rows", *CALLS],
            where={"part": "rows"},
        ),
    ],
    claims=[
        Asked(text, key, least=least, most=most, where={"part": part})
        for text, key, least, most, part in (
            ("contacts, one state a call, by Pinocchio", "alone", ALONE, None, "Pinocchio"),
            (f"contacts, batches of {BATCH}, by Pinocchio", "batch", TOGETHER, None, "Pinocchio"),
            ("products of contacts by the value", ("alone", "batch"), None, PRODUCT, "products"),
            ("a gait by the contacts that hold", ("alone", "batch"), None, GAIT, "gaits"),
        )
    ],
)
