"""Exact derivatives of MuJoCo's step in contact beside its finite differences.

    python -m benchmarks mujoco_steps

Five robots move under random controls, with pyramidal and elliptic cones. At states in contact,
`dtau.mujoco.transition_derivatives` and `transition_derivatives_batch` are timed in turns with
forward and centered `mujoco.mjd_transitionFD`. Before it is timed, A is compared with centered
differences of two steps; the best one counts, because a difference may straddle a change of the
active set. The error of forward differences is their own deviation from A. Errors are those with a
solver that iterates to the end (tolerance 0), times those with MuJoCo's default tolerance.

Another table has the errors by kind of contact, at random states with large velocities: against
differences of sixth order (the better step of 1e-5 and 1e-6), and beside them the deviations of
`mujoco.mjd_transitionFD`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.checks import Array, UnavailableError, WrongResultError
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, number, one_core, span, timed, times
from benchmarks.optional import optional
from benchmarks.peers.mujoco_pairs import CONES, EXACT, ROUGH, pair, sixth_order, touching
from benchmarks.peers.mujoco_pairs import differences as transition_differences
from benchmarks.peers.mujoco_scenes import SCENES, Scene, scene
from dtau.cli.timing import Contender, Effort, loop

mujoco = optional("mujoco")

BATCH = 64
COMPARED = 16  # states that are compared and timed, one a call
EFFORT = {False: Effort(rounds=15, block=4e-3), True: Effort(rounds=5, block=2e-3)}  # by quick
STEPS = (1e-6, 1e-7)  # of centered differences
SIXTH_ORDER_STEPS = (1e-5, 1e-6)
STATES_OF_A_PAIR = 5
TOLERANCE = 1e-5  # of the largest element
CENTERED_AT_LEAST = 10.0


@dataclass(frozen=True)
class Row:
    """Microseconds a state, ratios to differences, and errors of the largest element."""

    robot: str
    cone: str
    nv: int
    contacts: float
    error: float
    forward_error: float
    micro: dict[str, float]
    alone: Spread
    batch: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [self.robot, self.cone, str(self.nv), f"{self.contacts:.1f}"]
        cells += [f"{self.error:.0e}", f"{self.forward_error:.0e}"]
        cells += [number(self.micro[name]) for name in ("forward", "centered", "alone", "batch")]
        return [*cells, *times(self.alone), *times(self.batch)]


def compared(robot: Scene, exact: Array, states: list[Any]) -> tuple[float, float]:
    """Return the largest error of A, and of forward differences; raise if A is wrong."""
    worst = forward = 0.0
    for a, data in zip(exact, states, strict=True):
        scale = np.abs(a).max()
        errors = [
            np.abs(transition_differences(robot.model, data, step)[0] - a).max() for step in STEPS
        ]
        worst = max(worst, min(errors) / scale)
        off = np.abs(transition_differences(robot.model, data, STEPS[0], False)[0] - a).max()
        forward = max(forward, off / scale)
    if not worst <= TOLERANCE:
        raise WrongResultError(f"{robot.name}: A of MuJoCo's step is off by {worst:.1e}")
    return worst, forward


def measured(name: str, cone: str, effort: Effort, tick: Callable[[], None]) -> Row:
    """Compare and time one robot."""
    import dtau.mujoco

    robot = scene(name, cone, BATCH)
    model, data = robot.model, mujoco.MjData(robot.model)
    batch = partial(dtau.mujoco.transition_derivatives_batch, model, data, robot.states, robot.ctrl)
    states = [robot.data(k) for k in range(COMPARED)]
    error, forward_error = compared(robot, batch().A[:COMPARED], states)
    # MuJoCo's default tolerance, which makes its differences faster, not more accurate
    model.opt.tolerance, model.opt.iterations = 1e-8, 100
    n = 2 * model.nv
    buffers = np.zeros((n, n)), np.zeros((n, model.nu))

    def numeric(centered: bool) -> Contender:
        run = loop(
            "for x in states: f(model, x, 1e-6, centered, a, b, None, None)",
            f=mujoco.mjd_transitionFD,
            model=model,
            states=states,
            centered=centered,
            a=buffers[0],
            b=buffers[1],
        )
        return Contender(run, COMPARED)

    alone = loop(
        "for x in states: f(model, x)",
        f=dtau.mujoco.transition_derivatives,
        model=model,
        states=states,
    )
    found = timed(
        {
            "forward": numeric(False),
            "centered": numeric(True),
            "alone": Contender(alone, COMPARED),
            "batch": Contender(loop("f()", f=batch), BATCH),
        },
        effort,
        tick,
    )
    contacts = float(np.mean([x.ncon for x in states]))
    ratios = (found.ratio("centered", way) for way in ("alone", "batch"))
    return Row(name, cone, model.nv, contacts, error, forward_error, found.medians(), *ratios)


def kind_of_contact(one: str, other: str, cone: str) -> list[str]:
    """Return errors of A for a pair of geoms: of dtau, and of centered and forward differences."""
    import dtau.mujoco

    model = pair(one, other, 3, cone)
    geometry = "exact" if (one, other) in EXACT else "differences"
    worst = np.zeros(3)
    for data in touching(model, 1, STATES_OF_A_PAIR):
        exact = dtau.mujoco.transition_derivatives(model, data, geometry=geometry).A
        found = [
            min(np.abs(sixth_order(model, data, h)[0] - exact).max() for h in SIXTH_ORDER_STEPS)
        ]
        found += [
            np.abs(transition_differences(model, data, STEPS[0], centered)[0] - exact).max()
            for centered in (True, False)
        ]
        worst = np.maximum(worst, np.array(found) / np.abs(exact).max())
    if not worst[0] <= TOLERANCE:
        raise WrongResultError(f"{one} and {other}: A of MuJoCo's step is off by {worst[0]:.1e}")
    return [f"{one} and {other}", geometry, cone, *(f"{error:.0e}" for error in worst)]


def kinds_of_contact() -> Table:
    """Return the errors of A by kind of contact."""
    rows = [kind_of_contact(*geoms, cone) for geoms in (*EXACT, *ROUGH) for cone in CONES]
    title = f"largest errors of A by kind of contact, condim 3, at {STATES_OF_A_PAIR} states"
    header = ["geoms", "geometry", "cone", "dtau", "centered, 1e-6", "forward, 1e-6"]
    return Table(title, header, rows, 3)


def run(quick: bool, watch: Watch) -> Findings:
    """Measure the scenes."""
    if mujoco is None:
        raise UnavailableError("MuJoCo is not installed: python -m pip install mujoco")
    effort = EFFORT[quick]
    cases = [(name, cone) for cone in CONES for name in SCENES]
    watch.expect(effort.rounds * len(cases))
    with one_core():
        rows = [
            measured(name, cone, effort, partial(watch.step, f"{name}, {cone}"))
            for name, cone in cases
        ]
    header = ["robot", "cone", "nv", "contacts", "error", "forward's", "forward", "centered"]
    header += ["alone", "batch", "centered / alone", "quartiles", "centered / batch", "quartiles"]
    title = (
        "mjd_transitionFD (A and B) and dtau, microseconds a state; largest errors of A, of its "
        f"largest element, at {COMPARED} states; batches of {BATCH}"
    )
    humanoid = [row for row in rows if row.robot == "humanoid"]
    claims = []
    for name, ratios in (
        ("transition_derivatives", [row.alone.median for row in humanoid]),
        ("transition_derivatives_batch", [row.batch.median for row in humanoid]),
    ):
        text = f"{name} is faster than centered mjd_transitionFD, humanoid"
        expected = f"at least {CENTERED_AT_LEAST:g}x"
        claims.append(Claim(text, expected, span(ratios), min(ratios) >= CENTERED_AT_LEAST))
    data = {"rows": [asdict(row) for row in rows]}
    tables = [Table(title, header, [row.cells() for row in rows]), kinds_of_contact()]
    return Findings(tables, [], claims, [], data)


EXPERIMENT = Experiment(
    "mujoco_steps",
    "MuJoCo's step in contact: exact derivatives",
    "beside finite differences, which solve the contacts once a column",
    run,
)
