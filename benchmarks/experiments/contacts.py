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

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError, require_close
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_least, at_most, number, one_core, timed, times, verdict
from benchmarks.robots import Robot, chosen, pinocchio
from dtau.cli.timing import Call, Contender, Effort, loop, random_inputs

FEET: dict[str, tuple[int, tuple[str, ...]]] = {  # rows of each, and their frames
    "hyq": (3, ("lf_foot", "rf_foot", "lh_foot", "rh_foot")),
    "talos": (6, ("left_sole_link", "right_sole_link")),
}
BATCH = 256
LONE_STATES = 32
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick
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
        rows, frames = FEET[robot.key]
        make = dtau.PointContact if rows == 3 else dtau.FrameContact
        contacts = dtau.Contacts(robot.model, [make(frame) for frame in frames])
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


@dataclass(frozen=True)
class Row:
    """Microseconds a state, and ratios."""

    robot: str
    what: str
    peer: float
    alone: Spread  # the peer's time by that of one call a state
    batch: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        met = verdict(self.alone.median >= ALONE and self.batch.median >= TOGETHER)
        ratios = [*times(self.alone), *times(self.batch)]
        return [self.robot, self.what, number(self.peer), *ratios, met]


def beside_pinocchio(case: Case, effort: Effort, tick: Callable[[], None]) -> list[Row]:
    """Both calls of one robot."""
    case.check()
    names, rows = case.peer(), []
    for what, (function, statement) in CALLS.items():
        run = loop(f"for q, v, tau in points: {statement}", **names)
        call = case.call(function)
        found = timed(
            {
                "peer": Contender(run, LONE_STATES),
                "alone": call.alone(LONE_STATES),
                "batch": call.batch(),
            },
            effort,
            tick,
        )
        ratios = (found.ratio("peer", way) for way in ("alone", "batch"))
        rows.append(Row(case.robot.label, what, found.micro("peer"), *ratios))
    return rows


@dataclass(frozen=True)
class Product:
    """A product by the value, or a step with contacts by that without, alone and in batches."""

    robot: str
    name: str
    alone: Spread
    batch: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        return [self.robot, self.name, *times(self.alone), *times(self.batch)]


def compared(calls: dict[str, Call], effort: Effort, tick: Callable[[], None]) -> dict[str, Any]:
    """Ratios of the other calls to the first, alone and in batches, by their names."""
    base, *others = calls
    alone = timed({x: call.alone(LONE_STATES) for x, call in calls.items()}, effort, tick)
    batch = timed({x: call.batch() for x, call in calls.items()}, effort, tick)
    return {x: (alone.ratio(x, base), batch.ratio(x, base)) for x in others}


def products(case: Case, effort: Effort, tick: Callable[[], None]) -> list[Product]:
    """Both products of one robot, by the value."""
    names = ("constrained_dynamics", "constrained_dynamics_jvp", "constrained_dynamics_vjp")
    found = compared({name: case.call(name) for name in names}, effort, tick)
    return [Product(case.robot.label, name, *ratios) for name, ratios in found.items()]


def steps(case: Case, effort: Effort, tick: Callable[[], None]) -> list[Product]:
    """Linearizations and steps of one robot, with contacts by those without."""
    found = []
    for name in STEPS:
        calls = {"without": Call(name, case.robot.model, case.at), "with": case.call(name)}
        found.append(Product(case.robot.label, name, *compared(calls, effort, tick)["with"]))
    return found


def more_rows(case: Case, effort: Effort, tick: Callable[[], None]) -> list[list[str]]:
    """Values and derivatives of a batch, with 0, 1, ... of the feet: cells."""
    cells = []
    for count in range(len(case.contacts) + 1):
        contacts = dtau.Contacts(case.robot.model, case.contacts.contacts[:count])
        calls = {what: case.call(name, contacts).batch() for what, (name, _) in CALLS.items()}
        found = timed(calls, effort, tick)
        microseconds = [number(found.micro(what)) for what in CALLS]
        cells.append([case.robot.label, str(contacts.nrows), *microseconds])
    return cells


def gait(case: Case, effort: Effort, tick: Callable[[], None]) -> list[Product]:
    """A gait over contacts of which those of one phase hold, by those of a phase alone."""
    feet = case.contacts.contacts
    steps = [replace(foot, name=f"{foot.name}{k}") for k in range(PHASES) for foot in feet]
    contacts = dtau.Contacts(case.robot.model, steps)
    active = np.zeros((BATCH, len(steps)))
    for knot in range(BATCH):
        first = knot * PHASES // BATCH * len(feet)
        active[knot, first : first + len(feet)] = 1.0
    orders = {"in order": active, "scattered": np.random.default_rng(0).permutation(active)}
    found = []
    for name in ("constrained_dynamics", "constrained_dynamics_derivatives", "step"):
        calls = {"phase": case.call(name)}
        for order, held in orders.items():
            at = case.at | {"active": held}
            calls[order] = Call(name, case.robot.model, at, {"contacts": contacts})
        ratios = compared(calls, effort, tick)
        for order in orders:
            found.append(Product(case.robot.label, f"{name}, {order}", *ratios[order]))
    return found


def run(quick: bool, watch: Watch) -> Findings:
    """Measure the robots of `FEET`."""
    if pinocchio is None:
        raise UnavailableError("Pinocchio is left out: python -m pip install pin")
    notes: list[str] = []
    robots = [r for r in chosen(("hyq",) if quick else tuple(FEET), notes.append) if r.key in FEET]
    if not robots:
        raise UnavailableError("; ".join(notes))
    effort = EFFORT[quick]
    cases = [Case.of(robot) for robot in robots]
    watch.expect(effort.rounds * sum(19 + len(case.contacts) for case in cases))
    rows, found, cells, stepped, walked = [], [], [], [], []
    with one_core():
        for case in cases:
            tick = partial(watch.step, case.robot.label)
            rows += beside_pinocchio(case, effort, tick)
            found += products(case, effort, tick)
            stepped += steps(case, effort, tick)
            walked += gait(case, effort, tick)
            cells += more_rows(case, effort, tick)
    lone, many = ([getattr(row, way).median for row in rows] for way in ("alone", "batch"))
    costs = [getattr(row, way).median for row in found for way in ("alone", "batch")]
    gaits = [getattr(row, way).median for row in walked for way in ("alone", "batch")]
    header = ["robot", "", "Pinocchio, us", "alone", "quartiles", f"batch of {BATCH}", "quartiles"]
    return Findings(
        tables=[
            Table(
                "Pinocchio's Python calls by the package's",
                [*header, "as asked"],
                [row.cells() for row in rows],
                left=2,
            ),
            Table(
                "Products by the value",
                ["robot", "function", *header[3:]],
                [row.cells() for row in found],
                left=2,
            ),
            Table(
                "Linearizations and Euler steps with contacts by the same without",
                ["robot", "function", *header[3:]],
                [row.cells() for row in stepped],
                left=2,
            ),
            Table(
                f"A gait over {PHASES} sets of contacts, {BATCH} knots, by one set alone",
                ["robot", "function", "alone", "quartiles", f"batch of {BATCH}", "quartiles"],
                [row.cells() for row in walked],
                left=2,
            ),
            Table(
                "What rows cost: microseconds a state, in batches",
                ["robot", "rows", *CALLS],
                cells,
            ),
        ],
        claims=[
            at_least("contacts, one state a call, by Pinocchio", ALONE, lone),
            at_least(f"contacts, batches of {BATCH}, by Pinocchio", TOGETHER, many),
            at_most("products of contacts by the value", PRODUCT, costs),
            at_most("a gait by the contacts that hold", GAIT, gaits),
        ],
        notes=notes,
        data={
            "rows": [asdict(row) for row in rows],
            "products": [asdict(row) for row in found],
            "steps": [asdict(row) for row in stepped],
            "gaits": [asdict(row) for row in walked],
        },
    )


EXPERIMENT = Experiment(
    "contacts",
    "Contacts beside Pinocchio",
    "what a robot on its feet costs",
    run,
)
