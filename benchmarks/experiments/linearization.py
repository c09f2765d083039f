"""What linearizations cost: multiples of forward dynamics' derivatives, and MuJoCo beside them.

    python -m benchmarks linearization

`linearize` and `linearize_discrete` with rk4 are timed in turns with
`forward_dynamics_derivatives` at the same states, one state a call and in batches. Every A is
checked against complex step of the package's own step before it is timed.

Where MuJoCo is installed, its finite differences `mjd_transitionFD` of one step are timed beside
`linearize_discrete` with the integrator of the same order, semi-implicit; the error of each is that
against the exact derivative of its own step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from tests.support.replay import Replays

import dtau
from benchmarks.checks import Array, UnavailableError, WrongResultError, same_bits
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch
from benchmarks.harness import Spread, at_most, curve, number, one_core, span, timed, times, verdict
from benchmarks.peers import mujoco_peer
from benchmarks.robots import KNOWN, Robot, chosen, states
from dtau.cli.timing import DT, LONE_STATES, Call, Contender, Effort, loop

BATCH = 256
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=9, block=2e-3)}  # by quick
LINEARIZE_AT_MOST = 1.3
# Degrees of freedom, and what a step of rk4 may cost at most.
RK4_AT_MOST = ((9, 6.0), (18, 9.0), (35, 14.0), (50, 18.0))
MUJOCO_AT_LEAST = 10.0
CHECKED = 3  # states that are compared with complex step
TOLERANCE = 1e-9  # of the largest element


def rk4_at_most(nv: int) -> float:
    """What is asked for at this size: between the given ones, in proportion."""
    sizes, limits = zip(*RK4_AT_MOST, strict=True)
    return float(np.interp(nv, sizes, limits))


# Checks


def by_complex_step(robot: Robot, state: tuple[Array, Array, Array], integrator: str) -> Array:
    """A of one step by complex step of the step itself."""
    model, step, (q, v, tau) = robot.model, 1e-30, state
    n = model.nv
    qs = np.tile(q.astype(complex), (2 * n, 1))
    vs = np.tile(v.astype(complex), (2 * n, 1))
    core = Replays()
    qs[:n] = core.integrate(model, q=qs[:n], dq=1j * step * np.eye(n))
    vs[n:] += 1j * step * np.eye(n)
    q_after, v_after = core.step(model, q=qs, v=vs, tau=tau, dt=DT, integrator=integrator)
    xi = dtau.tangent_map(model, q_after[0].real).to_tangent @ q_after.imag.T
    return np.vstack([xi, v_after.imag.T]) / step


def checked(robot: Robot, at: dict[str, Array], integrator: str) -> float:
    """The largest error of A, of its largest element; an error if it is no rounding error."""
    call = step_of(robot, at, integrator).part(slice(CHECKED))
    found = same_bits(call, f"{robot.label}, {integrator}", CHECKED)[0]
    given = zip(*call.arrays.values(), strict=True)
    wanted = [by_complex_step(robot, (q, v, tau), integrator) for q, v, tau in given]
    worst = max(mujoco_peer.largest(x, want) for x, want in zip(found, wanted, strict=True))
    if not worst <= TOLERANCE:
        raise WrongResultError(f"{robot.label}: A of {integrator} is off by {worst:.1e}")
    return worst


def step_of(robot: Robot, at: dict[str, Array], integrator: str) -> Call:
    """Linearizations of a time step."""
    return Call("linearize_discrete", robot.model, at, {"dt": DT, "integrator": integrator})


# Measurements


@dataclass(frozen=True)
class Row:
    """Microseconds a state, and multiples of forward dynamics' derivatives."""

    robot: str
    nv: int
    micro: dict[str, float]
    linearize: Spread
    rk4: Spread
    error: float  # of A over a step of rk4

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [self.robot, str(self.nv), number(self.micro["derivatives"])]
        limits = ("linearize", LINEARIZE_AT_MOST), ("rk4", rk4_at_most(self.nv))
        for name, most in limits:
            multiple = getattr(self, name)
            cells += [number(self.micro[name]), *times(multiple), f"{most:.3g}"]
            cells.append(verdict(multiple.median <= most))
        return [*cells, f"{self.error:.0e}"]


def multiples(
    robot: Robot, at: dict[str, Array], alone: bool, effort: Effort, tick: Callable[[], None]
) -> Row:
    """Time both linearizations beside the derivatives."""
    error = checked(robot, at, "rk4")
    calls = {
        "derivatives": Call("forward_dynamics_derivatives", robot.model, at),
        "linearize": Call("linearize", robot.model, at),
        "rk4": step_of(robot, at, "rk4"),
    }
    contenders = {name: x.alone() if alone else x.batch() for name, x in calls.items()}
    found = timed(contenders, effort, tick)
    linearize, rk4 = (found.ratio(name, "derivatives") for name in ("linearize", "rk4"))
    return Row(robot.label, robot.model.nv, found.medians(), linearize, rk4, error)


@dataclass(frozen=True)
class PeerRow:
    """MuJoCo's differences of a step, and the package's derivatives of one."""

    robot: str
    nv: int
    micro: dict[str, float]  # a state: mujoco, alone, batch
    alone: Spread
    batch: Spread
    mujoco_error: float
    error: float

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [self.robot, str(self.nv), number(self.micro["mujoco"])]
        for way in ("alone", "batch"):
            cells += [number(self.micro[way]), *times(getattr(self, way))]
        cells += [f"{MUJOCO_AT_LEAST:g}", verdict(self.batch.median >= MUJOCO_AT_LEAST)]
        return [*cells, f"{self.mujoco_error:.0e}", f"{self.error:.0e}"]


def beside_mujoco(
    robot: Robot,
    peer: mujoco_peer.Peer,
    at: dict[str, Array],
    effort: Effort,
    tick: Callable[[], None],
) -> PeerRow:
    """Time MuJoCo's differences."""
    exact, by_z = peer.exact(at), peer.buffer()
    theirs = peer.states(at)[:LONE_STATES]
    errors = []
    for i, state in enumerate(theirs):
        peer.transition(*state, by_z)
        errors.append(mujoco_peer.largest(by_z, exact[i]))
    statement = "for q, v, tau in states: f(q, v, tau, by_z)"
    run = loop(statement, f=peer.transition, by_z=by_z, states=theirs)
    ours = step_of(robot, at, "semi_implicit")
    found = timed(
        {"mujoco": Contender(run, len(theirs)), "alone": ours.alone(), "batch": ours.batch()},
        effort,
        tick,
    )
    alone, batch = (found.ratio("mujoco", way) for way in ("alone", "batch"))
    error = checked(robot, at, "semi_implicit")
    return PeerRow(robot.label, robot.model.nv, found.medians(), alone, batch, max(errors), error)


# Report


def claims(alone: Sequence[Row], batches: Sequence[Row], beside: Sequence[PeerRow]) -> list[Claim]:
    """What linearizations may cost, and that they are faster than differences."""
    found = []
    for way, rows in (("one state", alone), ("batches", batches)):
        first = [row.linearize.median for row in rows]
        fourth = [row.rk4.median for row in rows]
        limits = [rk4_at_most(row.nv) for row in rows]
        by = f"in forward dynamics' derivatives, {way}"
        found.append(at_most(f"linearize, {by}", LINEARIZE_AT_MOST, first))
        held = all(x <= most for x, most in zip(fourth, limits, strict=True))
        asked = f"at most {min(limits):.3g}x to {max(limits):.3g}x, by size"
        found.append(Claim(f"linearize_discrete with rk4, {by}", asked, span(fourth), held))
    ratios = [row.batch.median for row in beside]
    found.append(
        Claim(
            "linearize_discrete is faster than MuJoCo's mjd_transitionFD, batches",
            f"at least {MUJOCO_AT_LEAST:g}x",
            span(ratios) if ratios else "MuJoCo is not installed",
            min(ratios) >= MUJOCO_AT_LEAST if ratios else None,
        )
    )
    return found


def plot(rows: Sequence[Row]) -> Plot:
    """The multiples of batches, a place a robot."""
    places = [float(i) for i in range(len(rows))]
    limits = [rk4_at_most(row.nv) for row in rows]
    return Plot(
        "linearization",
        "Linearizations in calls of forward dynamics' derivatives (batches)",
        "",
        "times of the derivatives",
        [
            curve("linearize", places, [row.linearize for row in rows]),
            curve("linearize_discrete, rk4", places, [row.rk4 for row in rows]),
            Curve("rk4, at most", places, limits, dashed=True),
        ],
        ticks=[f"{row.robot}, nv = {row.nv}" for row in rows],
    )


def run(quick: bool, watch: Watch) -> Findings:
    """Measure on the known robots."""
    notes: list[str] = []
    robots = chosen(["panda", "g1"] if quick else list(KNOWN), notes.append)
    effort = EFFORT[quick]
    peers: dict[str, mujoco_peer.Peer] = {}
    if mujoco_peer.available():
        for robot in robots:
            peer = mujoco_peer.buildable(robot, DT)
            if isinstance(peer, str):
                notes.append(f"{robot.label}: not in MuJoCo: {peer}")
            else:
                peers[robot.label] = peer
    else:
        notes.append("MuJoCo is not installed: python -m pip install mujoco")
    if not robots:
        raise UnavailableError("; ".join(notes))
    watch.expect(effort.rounds * (2 * len(robots) + len(peers)))
    alone, batches, beside = [], [], []
    with one_core():
        for robot in robots:
            at = states(robot, BATCH)
            tick = partial(watch.step, robot.label)
            alone.append(multiples(robot, at, True, effort, tick))
            batches.append(multiples(robot, at, False, effort, tick))
            if robot.label in peers:
                beside.append(beside_mujoco(robot, peers[robot.label], at, effort, tick))
    columns = ["multiple", "quartiles", "at most", ""]
    header = ["robot", "nv", "derivatives", "linearize", *columns, "rk4", *columns, "error"]
    tables = [
        Table(f"{title}, microseconds a state", header, [row.cells() for row in rows])
        for title, rows in (
            ("One state a call", alone),
            (f"Batches of {BATCH} states with out=", batches),
        )
    ]
    if beside:
        ratio = ["ratio", "quartiles"]
        header = ["robot", "nv", "MuJoCo", "alone", *ratio, "batch", *ratio, "at least", ""]
        title = (
            "mjd_transitionFD (central, A alone) and linearize_discrete (semi-implicit, A and B), "
            f"microseconds a state, batches of {BATCH}; largest errors, of the largest element"
        )
        header += ["MuJoCo's", "dtau's"]
        tables.append(Table(title, header, [row.cells() for row in beside]))
    parts: dict[str, list[Any]] = {"alone": alone, "batch": batches, "mujoco": beside}
    data = {name: [asdict(row) for row in found] for name, found in parts.items()}
    return Findings(tables, [plot(batches)], claims(alone, batches, beside), notes, data)


EXPERIMENT = Experiment(
    "linearization",
    "Linearizations, continuous and of a time step",
    "in calls of forward dynamics' derivatives; beside MuJoCo's finite differences",
    run,
)
