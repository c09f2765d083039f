"""Errors of frames, poses and steps of inverse kinematics beside Pinocchio, pink and mink.

    python -m benchmarks inverse_kinematics

errors   frame_errors beside log6, Jlog6 and a frame Jacobian of Pinocchio: at most 0.7 of its time
         alone, at least 10 times as fast in batches
poses    functions of dtau.poses beside Pinocchio's: one pose a call, and in batches
steps    a step of inverse kinematics of a Panda with limits: a damped least-squares step from
         frame_errors, and the quadratic programs of pink and mink (DAQP), if they are installed:
         python -m pip install pin-pink mink "qpsolvers[daqp]"

Checked before anything is timed: all results, and that the three packages take the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError, require_close
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_least, at_most, number, one_core, timed, times
from benchmarks.optional import optional
from benchmarks.peers import cases
from benchmarks.peers.cases import Case
from benchmarks.peers.pinocchio_peer import Python
from benchmarks.robots import Robot, pinocchio
from dtau import poses
from dtau.cli.timing import Contender, Effort, loop

ROBOTS, QUICK_ROBOTS = ("panda", "hyq", "talos"), ("panda",)
BATCH = 256
EFFORT = {False: Effort(rounds=101, block=1e-3), True: Effort(rounds=9, block=1e-3)}  # by quick
DAMPING = 1e-3
STATES = 16  # that lone steps go round
Row = tuple[str, str, float, float, Spread]  # what, how, microseconds of theirs and ours, ratio


def errors(robot: Robot, effort: Effort) -> list[Row]:
    """frame_errors beside Pinocchio's calls."""
    case = Case("frame_errors", robot, cases.states(robot, BATCH))
    way = Python(robot).way(case)
    assert not isinstance(way, str)
    for got, want in zip(way.got, way.wanted, strict=True):
        require_close(got, want, cases.TOLERANCE, f"{robot.label}: frame_errors")
    ours = {"alone": case.lone(), f"batch of {BATCH}": case.batch(BATCH, 1)}
    return compared(f"frame_errors, {robot.label}", way.each, ours, effort)


def compared(
    what: str, theirs: Contender, ours: Mapping[str, Contender], effort: Effort
) -> list[Row]:
    """Time ours in turns with theirs; the ratio is their time by ours."""
    found = timed({"": theirs, **ours}, effort)
    return [(what, how, found.micro(""), found.micro(how), found.ratio("", how)) for how in ours]


def pose_functions(effort: Effort) -> list[Row]:
    """Functions of poses beside Pinocchio's."""
    twists = np.random.default_rng(0).uniform(-1.0, 1.0, (BATCH, 6))
    at = poses.exp(twists)
    theirs = [pinocchio.exp6(pinocchio.Motion(x)) for x in twists]
    motions = [pinocchio.Motion(x) for x in twists]
    rows = []
    for name, given, arguments, call, value in (
        ("exp", twists, motions, "pin.exp6(x)", lambda x: pinocchio.exp6(x).homogeneous),
        ("log", at, theirs, "pin.log6(x).vector", lambda x: pinocchio.log6(x).vector),
        ("exp_jacobian", twists, motions, "pin.Jexp6(x)", pinocchio.Jexp6),
        ("log_jacobian", at, theirs, "pin.Jlog6(x)", pinocchio.Jlog6),
    ):
        function: Callable[..., Array] = getattr(poses, name)
        got = poses.to_matrix(function(given)) if name == "exp" else function(given)
        require_close(got, np.array([value(x) for x in arguments]), 1e-10, name)
        each = Contender(
            loop(f"for x in arguments: {call}", arguments=arguments, pin=pinocchio), BATCH
        )
        ours = {
            "alone": Contender(loop("for x in given: f(x)", given=list(given), f=function), BATCH),
            f"batch of {BATCH}": Contender(loop("f(given)", given=given, f=function), BATCH),
        }
        rows += compared(f"poses.{name}", each, ours, effort)
    return rows


# ---------------------------------------------------------------- steps


def step(model: dtau.Model, q: Array, frame: str, targets: Array) -> Array:
    """Minimize |J dq + error|^2 + damping |dq|^2; axes at a limit do not go beyond it."""
    error, by_q = dtau.frame_errors(model, q, frame, targets)
    gradient = (by_q * error[..., np.newaxis]).sum(axis=-2)
    lower, upper = q <= model.lower_limits, q >= model.upper_limits
    by_q = by_q * ~((lower & (gradient > 0)) | (upper & (gradient < 0)))[..., np.newaxis, :]
    transposed = np.swapaxes(by_q, -1, -2)
    damped = transposed @ by_q + DAMPING * np.eye(model.nv)
    dq = -np.linalg.solve(damped, transposed @ error[..., np.newaxis])[..., 0]
    return np.clip(q + dq, model.lower_limits, model.upper_limits) - q


def pink_step(robot: Robot, frame: str) -> Callable[[Array, Array], Array] | None:
    """A step of pink with its configuration limits."""
    pink = optional("pink")
    if pink is None:
        return None
    limits = [pink.limits.ConfigurationLimit(robot.peer, config_limit_gain=1.0)]
    start = pinocchio.neutral(robot.peer)
    configuration = pink.Configuration(robot.peer, robot.peer.createData(), start)
    task = pink.tasks.FrameTask(frame, position_cost=1.0, orientation_cost=1.0)

    def run(q: Array, target: Any) -> Array:
        configuration.update(q)
        task.set_target(target)
        v = pink.solve_ik(
            configuration, [task], 1.0, "daqp", damping=DAMPING, limits=limits, safety_break=False
        )
        return np.asarray(v)

    return run


def mink_step(robot: Robot, frame: str) -> Callable[[Array, Array], Array] | None:
    """A step of mink with its configuration limits."""
    mink, mujoco = optional("mink"), optional("mujoco")
    if mink is None or mujoco is None:
        return None
    model = mujoco.MjModel.from_xml_string(robot.model.to_urdf(root_link="ground"))
    configuration = mink.Configuration(model)
    limits = [mink.ConfigurationLimit(model, gain=1.0)]
    task = mink.FrameTask(frame, "body", position_cost=1.0, orientation_cost=1.0)

    def run(q: Array, target: Any) -> Array:
        configuration.update(q)
        task.set_target(target)
        return np.asarray(
            mink.solve_ik(configuration, [task], 1.0, "daqp", damping=DAMPING, limits=limits)
        )

    return run


def steps(effort: Effort) -> tuple[list[Row], list[str]]:
    """Steps of a Panda beside pink's and mink's."""
    robot = cases.robot("panda")
    model, frame = robot.model, cases.FRAMES["panda"]
    rng = np.random.default_rng(1)
    middle = 0.5 * (model.lower_limits + model.upper_limits)
    span = model.upper_limits - model.lower_limits
    q = middle + 0.1 * span * rng.uniform(-1.0, 1.0, (BATCH, model.nv))
    near = q + 0.02 * span * rng.uniform(-1.0, 1.0, q.shape)
    targets = poses.from_placements(dtau.frame_placements(model, near, frame))
    wanted = step(model, q, frame, targets)
    rows, notes = [], []
    batch = loop(
        "step(model, q, frame, targets)", step=step, model=model, q=q, frame=frame, targets=targets
    )
    each = loop(
        "for x, y in pairs: step(model, x, frame, y)",
        pairs=list(zip(q[:STATES], targets[:STATES], strict=True)),
        step=step,
        model=model,
        frame=frame,
    )
    ours = {"alone": Contender(each, STATES), f"batch of {BATCH}": Contender(batch, BATCH)}
    for name, make, pose in (
        ("pink", pink_step, pinocchio.XYZQUATToSE3),
        ("mink", mink_step, mink_pose),
    ):
        run = make(robot, frame)
        if run is None:
            notes.append(f"{name} is not installed.")
            continue
        pairs = [(x, pose(y)) for x, y in zip(q[:STATES], targets[:STATES], strict=True)]
        got = np.array([run(*pair) for pair in pairs])
        require_close(got, wanted[:STATES], 1e-6, f"a step of {name}")
        theirs = Contender(loop("for x, y in pairs: run(x, y)", pairs=pairs, run=run), STATES)
        rows += compared(f"a step of {name}, Panda", theirs, ours, effort)
    return rows, notes


def mink_pose(pose: Array) -> Any:
    """A pose as mink writes it: quaternion w x y z, then the position."""
    return optional("mink").SE3(np.r_[pose[6], pose[3:6], pose[:3]])


# ---------------------------------------------------------------- the experiment


def table(title: str, rows: list[Row]) -> Table:
    """Rows with times and ratios."""
    header = ["", "states", "theirs", "ours", "ratio", "quartiles"]
    cells = [[what, how, number(a), number(b), *times(x)] for what, how, a, b, x in rows]
    return Table(f"{title}: microseconds a state, and their time by ours", header, cells, left=2)


def claims(rows: list[Row]) -> list[Claim]:
    """The claims about frame_errors."""
    alone = [1.0 / x.median for *_, how, _, _, x in rows if how == "alone"]
    batch = [x.median for *_, how, _, _, x in rows if how != "alone"]
    return [
        at_most("frame_errors by Pinocchio's calls from Python, one state a call", 0.7, alone),
        at_least(f"frame_errors in batches of {BATCH}, one thread, by Pinocchio", 10.0, batch),
    ]


def run(quick: bool, watch: Watch) -> Findings:
    """Measure the three parts."""
    if pinocchio is None:
        raise UnavailableError("Pinocchio is not installed: python -m pip install pin")
    keys, effort = QUICK_ROBOTS if quick else ROBOTS, EFFORT[quick]
    watch.expect(len(keys) + 2)
    of_errors: list[Row] = []
    with one_core():
        for key in keys:
            of_errors += errors(cases.robot(key), effort)
            watch.step(key)
        of_poses = pose_functions(effort)
        watch.step("poses")
        of_steps, notes = steps(effort)
        watch.step("steps")
    tables = [table("Errors of frames, beside Pinocchio", of_errors)]
    tables += [table("Poses, beside Pinocchio", of_poses)]
    if of_steps:
        tables.append(table("Steps of inverse kinematics", of_steps))
    rows = [(*row[:-1], asdict(row[-1])) for row in (*of_errors, *of_poses, *of_steps)]
    return Findings(tables, claims=claims(of_errors), notes=notes, data={"rows": rows})


EXPERIMENT = Experiment(
    "inverse_kinematics",
    "Errors of frames, poses and inverse kinematics",
    "Pinocchio's, pink's and mink's Python packages",
    run,
)
