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

A third one has the times of `parameter_derivatives_batch` by all parameters, beside two calls of
`mujoco.mj_step` for each number of the model that they are, as centered differences take.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks import declare
from benchmarks.checks import Array, WrongResultError
from benchmarks.declare import Asked, Bench, Layout, Row, efforts, ratio
from benchmarks.experiment import Table
from benchmarks.optional import optional
from benchmarks.peers.mujoco_pairs import CONES, EXACT, ROUGH, pair, sixth_order, touching
from benchmarks.peers.mujoco_pairs import differences as transition_differences
from benchmarks.peers.mujoco_scenes import SCENES, Scene, scene
from dtau.cli.timing import Contender, loop

mujoco = optional("mujoco")

BATCH = 64
DIFFERENCED = 2  # states that are stepped from by parameters
COMPARED = 16  # states that are compared and timed, one a call
STEPS = (1e-6, 1e-7)  # of centered differences
SIXTH_ORDER_STEPS = (1e-5, 1e-6)
STATES_OF_A_PAIR = 5
TOLERANCE = 1e-5  # of the largest element
CENTERED_AT_LEAST = 10.0
PARAMETERS = (
    *("body_inertial", "dof_damping", "dof_armature", "jnt_stiffness", "dof_frictionloss"),
    *("actuator_gainprm", "actuator_biasprm", "geom_friction"),
)


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


def numbers_of(model: Any) -> list[tuple[Array, tuple[int, ...]]]:
    """Return MuJoCo's arrays that parameters stand for, and the places of their numbers."""
    inertial = model.body_mass, model.body_ipos, model.body_inertia, model.body_iquat[:, 1:]
    joints = model.dof_damping, model.dof_armature, model.jnt_stiffness, model.dof_frictionloss
    gains = model.actuator_gainprm[:, :3], model.actuator_biasprm[:, :3]
    arrays = (*inertial, *joints, *gains, model.geom_friction)
    return [(array, place) for array in arrays for place in np.ndindex(array.shape)]


def step_by_parameters(model: Any, data: Any, states: Array, ctrl: Array) -> None:
    """Step from all states at two values of each number, as centered differences do."""
    kind, numbers = mujoco.mjtState.mjSTATE_FULLPHYSICS, numbers_of(model)
    for state, u in zip(states, ctrl, strict=True):
        data.ctrl[:] = u
        for array, place in numbers:
            usual = array[place]
            for change in (1e-6, -1e-6):
                array[place] = usual + change
                mujoco.mj_setState(model, data, state, kind)
                mujoco.mj_step(model, data)
            array[place] = usual


def measure(bench: Bench, name: str, cone: str) -> Iterator[Row]:
    import dtau.mujoco

    robot = scene(name, cone, BATCH)
    model, data = robot.model, mujoco.MjData(robot.model)
    batch = partial(dtau.mujoco.transition_derivatives_batch, model, data, robot.states, robot.ctrl)
    states = [robot.data(k) for k in range(COMPARED)]
    error, forward_error = compared(robot, batch().A[:COMPARED], states)
    # MuJoCo's default tolerance, which makes its differences faster, not more accurate
    model.opt.tolerance, model.opt.iterations = 1e-8, 100
    n = 2 * model.nv
    names = {"model": model, "states": states}
    theirs = names | {"f": mujoco.mjd_transitionFD, "a": np.zeros((n, n))}
    theirs["b"] = np.zeros((n, model.nu))
    numeric = "for x in states: f(model, x, 1e-6, centered, a, b, None, None)"
    one = loop("for x in states: f(model, x)", f=dtau.mujoco.transition_derivatives, **names)
    some = slice(0, DIFFERENCED)
    stepped = partial(step_by_parameters, copy.copy(model), mujoco.MjData(model))
    by_parameters = dtau.mujoco.parameter_derivatives_batch
    columns = partial(by_parameters, model, data, robot.states, robot.ctrl, PARAMETERS)
    found = bench.timed(
        {
            "forward": Contender(loop(numeric, centered=False, **theirs), COMPARED),
            "centered": Contender(loop(numeric, centered=True, **theirs), COMPARED),
            "alone": Contender(one, COMPARED),
            "batch": Contender(loop("f()", f=batch), BATCH),
            "steps": Contender(
                loop("f(x, u)", f=stepped, x=robot.states[some], u=robot.ctrl[some]), DIFFERENCED
            ),
            "columns": Contender(loop("f()", f=columns), BATCH),
        }
    )
    row = {"robot": name, "cone": cone, "nv": model.nv, "error": f"{error:.0e}"}
    row["contacts"] = f"{np.mean([x.ncon for x in states]):.1f}"
    row |= {"forward's": f"{forward_error:.0e}"} | found.medians()
    row |= {f"by {way}": found.ratio("centered", way) for way in ("alone", "batch")}
    yield row | {
        "parameters": len(numbers_of(model)),
        "by columns": found.ratio("steps", "columns"),
    }


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


EXPERIMENT = declare.experiment(
    "mujoco_steps",
    "MuJoCo's step in contact: exact derivatives",
    "beside finite differences, which solve the contacts once a column",
    lambda bench: [(name, cone) for cone in CONES for name in SCENES],
    measure,
    effort=efforts((15, 5), (4e-3, 2e-3)),
    needs={"mujoco": "mujoco"},
    tables=[
        Layout(
            "mjd_transitionFD (A and B) and dtau, microseconds a state; largest errors of A, of "
            f"its largest element, at {COMPARED} states; batches of {BATCH}",
            [
                *("robot", "cone", "nv", "contacts", "error", "forward's"),
                *("forward", "centered", "alone", "batch"),
                *(ratio("by alone", "centered / alone"), ratio("by batch", "centered / batch")),
            ],
        ),
        lambda rows: [kinds_of_contact()],
        Layout(
            "two steps a parameter, and parameter_derivatives_batch by all: microseconds "
            f"a state; batches of {BATCH}",
            [
                *("robot", "cone", "nv", "parameters", "steps", "columns"),
                ratio("by columns", "steps / columns"),
            ],
        ),
    ],
    claims=[
        Asked(
            f"{name} is faster than centered mjd_transitionFD, humanoid",
            key,
            least=CENTERED_AT_LEAST,
            where={"robot": "humanoid"},
        )
        for name, key in (
            ("transition_derivatives", "by alone"),
            ("transition_derivatives_batch", "by batch"),
        )
    ],
)
