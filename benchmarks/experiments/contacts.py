"""Contacts beside Pinocchio's constraint dynamics, one state a call, and in batches of 256.

    values        constrained_dynamics               constraintDynamics
    derivatives   constrained_dynamics_derivatives   that and computeConstraintDynamicsDerivatives
    products      constrained_dynamics_jvp, _vjp     by values, of the package
    steps         linearize, step, linearize_discrete, step_vjp with contacts by the same without

HyQ on four points, Talos on two soles. Results are compared first, where the feet stand still:
where they do not, Pinocchio holds other accelerations of frames. Beside them, what more rows cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.calls import alone, batch
from benchmarks.experiment import (
    Array,
    Claim,
    Experiment,
    Findings,
    Table,
    UnavailableError,
    Watch,
    require_close,
)
from benchmarks.harness import (
    Contender,
    Effort,
    Spread,
    interleaved,
    loop,
    number,
    one_core,
    span,
    times,
)
from benchmarks.robots import Robot, chosen, pinocchio

FEET: dict[str, tuple[int, tuple[str, ...]]] = {  # rows of each, and their frames
    "hyq": (3, ("lf_foot", "rf_foot", "lh_foot", "rh_foot")),
    "talos": (6, ("left_sole_link", "right_sole_link")),
}
BATCH = 256
LONE_STATES = 32
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick
TOLERANCE = 1e-9
ALONE, TOGETHER, PRODUCT = 1.5, 5.0, 4.0


@dataclass(frozen=True)
class Case:
    """A robot on its feet, at some states."""

    robot: Robot
    contacts: dtau.Contacts
    states: tuple[Array, Array, Array]

    @staticmethod
    def of(robot: Robot) -> Case:
        """At velocities of the feet that are zero."""
        rows, frames = FEET[robot.key]
        make = dtau.PointContact if rows == 3 else dtau.FrameContact
        contacts = dtau.Contacts(robot.model, [make(frame) for frame in frames])
        rng = np.random.default_rng(0)
        q, v, tau = dtau.random_state(robot.model, rng, shape=(BATCH,))
        v = dtau.impulse_dynamics(robot.model, q, v, contacts).v
        return Case(robot, contacts, (q, v, tau))

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
        q, v, tau = self.states
        points = (self.robot.peer_q(q), self.robot.peer_v(v), self.robot.peer_v(tau))
        names["points"] = list(zip(*(x[:LONE_STATES] for x in points), strict=True))
        return names | {"s": settings}

    def check(self) -> None:
        """Compare all results with Pinocchio's, at the first states."""
        model, columns = self.robot.model, self.robot.columns
        names = self.peer()
        value = dtau.constrained_dynamics(model, *self.states, self.contacts)
        d = dtau.constrained_dynamics_derivatives(model, *self.states, self.contacts)
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


VALUES = "pin.constraintDynamics(m, d, q, v, tau, feet, room, s)"
DERIVATIVES = "pin.computeConstraintDynamicsDerivatives(m, d, feet, room, s)"
CALLS = {
    "values": (dtau.constrained_dynamics, VALUES),
    "derivatives": (dtau.constrained_dynamics_derivatives, f"{VALUES}; {DERIVATIVES}"),
}


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
        right = self.alone.median >= ALONE and self.batch.median >= TOGETHER
        times_ = [*times(self.alone), *times(self.batch)]
        return [self.robot, self.what, number(self.peer), *times_, "yes" if right else "NO"]


def beside_pinocchio(case: Case, effort: Effort, tick: Callable[[], None]) -> list[Row]:
    """Both calls of one robot."""
    case.check()
    names = case.peer()
    model, contacts = case.robot.model, case.contacts
    rows = []
    for what, (function, statement) in CALLS.items():
        run = loop(f"for q, v, tau in points: {statement}", **names)
        seconds = interleaved(
            {
                "peer": Contender(run, LONE_STATES),
                "alone": alone(function, model, case.states, LONE_STATES, contacts=contacts),
                "batch": batch(function, model, case.states, contacts=contacts),
            },
            effort,
            tick,
        )
        ratios = [Spread.of(seconds["peer"] / seconds[way]) for way in ("alone", "batch")]
        peer = 1e6 * float(np.median(seconds["peer"]))
        rows.append(Row(case.robot.label, what, peer, *ratios))
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


def products(case: Case, effort: Effort, tick: Callable[[], None]) -> list[Product]:
    """Both products of one robot."""
    model, contacts = case.robot.model, case.contacts
    rng = np.random.default_rng(1)
    x = tuple(rng.standard_normal((3, BATCH, model.nv)))
    weights = x[0], rng.standard_normal((BATCH, contacts.nrows))
    found = []
    for way in (partial(alone, states=LONE_STATES), batch):
        calls = {
            "value": (dtau.constrained_dynamics, case.states),
            "jvp": (dtau.constrained_dynamics_jvp, (*case.states, *x)),
            "vjp": (dtau.constrained_dynamics_vjp, (*case.states, *weights)),
        }
        contenders = {
            name: way(function, model, arrays, contacts=contacts)
            for name, (function, arrays) in calls.items()
        }
        seconds = interleaved(contenders, effort, tick)
        found.append({name: Spread.of(seconds[name] / seconds["value"]) for name in ("jvp", "vjp")})
    return [
        Product(case.robot.label, f"constrained_dynamics_{name}", found[0][name], found[1][name])
        for name in ("jvp", "vjp")
    ]


def steps(case: Case, effort: Effort, tick: Callable[[], None]) -> list[Product]:
    """Linearizations and steps of one robot, with contacts and without."""
    model = case.robot.model
    dt = np.full(BATCH, 0.01)
    weights = np.random.default_rng(2).standard_normal((2, BATCH, model.nv))
    calls: dict[str, tuple[Any, tuple[Array, ...]]] = {
        "linearize": (dtau.linearize, case.states),
        "linearize_discrete": (dtau.linearize_discrete, (*case.states, dt)),
        "step": (dtau.step, (*case.states, dt)),
        "step_vjp": (dtau.step_vjp, (*case.states, dt, *weights)),
    }
    found = []
    for name, (function, arrays) in calls.items():
        ratios = []
        for way in (partial(alone, states=LONE_STATES), batch):
            contenders = {
                "with": way(function, model, arrays, contacts=case.contacts),
                "without": way(function, model, arrays),
            }
            seconds = interleaved(contenders, effort, tick)
            ratios.append(Spread.of(seconds["with"] / seconds["without"]))
        found.append(Product(case.robot.label, name, *ratios))
    return found


def more_rows(case: Case, effort: Effort, tick: Callable[[], None]) -> list[list[str]]:
    """Values and derivatives of a batch, with 0, 1, ... of the feet: cells."""
    model = case.robot.model
    cells = []
    for count in range(len(case.contacts) + 1):
        contacts = dtau.Contacts(model, case.contacts.contacts[:count])
        contenders = {
            what: batch(function, model, case.states, contacts=contacts)
            for what, (function, _) in CALLS.items()
        }
        seconds = interleaved(contenders, effort, tick)
        microseconds = [number(1e6 * float(np.median(seconds[what]))) for what in CALLS]
        cells.append([case.robot.label, str(contacts.nrows), *microseconds])
    return cells


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
    watch.expect(effort.rounds * sum(13 + len(case.contacts) for case in cases))
    rows, found, cells, stepped = [], [], [], []
    with one_core():
        for case in cases:
            tick = partial(watch.step, case.robot.label)
            rows += beside_pinocchio(case, effort, tick)
            found += products(case, effort, tick)
            stepped += steps(case, effort, tick)
            cells += more_rows(case, effort, tick)
    lone, many = ([getattr(row, way).median for row in rows] for way in ("alone", "batch"))
    costs = [getattr(row, way).median for row in found for way in ("alone", "batch")]
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
                "What rows cost: microseconds a state, in batches",
                ["robot", "rows", *CALLS],
                cells,
            ),
        ],
        claims=[
            Claim(
                "contacts, one state a call, by Pinocchio",
                f"at least {ALONE:g}x",
                span(lone),
                min(lone) >= ALONE,
            ),
            Claim(
                f"contacts, batches of {BATCH}, by Pinocchio",
                f"at least {TOGETHER:g}x",
                span(many),
                min(many) >= TOGETHER,
            ),
            Claim(
                "products of contacts by the value",
                f"at most {PRODUCT:g}x",
                span(costs),
                max(costs) <= PRODUCT,
            ),
        ],
        notes=notes,
        data={
            "rows": [asdict(row) for row in rows],
            "products": [asdict(row) for row in found],
            "steps": [asdict(row) for row in stepped],
        },
    )


EXPERIMENT = Experiment(
    "contacts",
    "Contacts beside Pinocchio",
    "what a robot on its feet costs",
    run,
)
