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

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, require_close
from benchmarks.declare import Asked, Bench, Layout, Row, efforts, ratio
from benchmarks.optional import optional
from benchmarks.peers import cases
from benchmarks.peers.cases import Case
from benchmarks.peers.pinocchio_peer import Python
from benchmarks.robots import Robot, pinocchio
from dtau import poses
from dtau.cli.timing import Contender, loop

BATCH = 256
BATCHES = f"batch of {BATCH}"
DAMPING = 1e-3
STATES = 16  # that lone steps go round


def compared(
    bench: Bench, part: str, what: str, theirs: Contender, ours: Mapping[str, Contender]
) -> Iterator[Row]:
    """Their time by ours, alone and in batches, and the other way round."""
    found = bench.timed({"": theirs, **ours})
    for how in ours:
        row = {"part": part, "what": what, "states": how, "theirs": found.micro("")}
        row |= {"ours": found.micro(how), "ratio": found.ratio("", how)}
        yield row | {"by theirs": 1.0 / row["ratio"].median}


def errors(bench: Bench, robot: Robot) -> Iterator[Row]:
    """frame_errors beside Pinocchio's calls."""
    case = Case("frame_errors", robot, cases.states(robot, BATCH))
    way = Python(robot).way(case)
    assert not isinstance(way, str)
    for got, want in zip(way.got, way.wanted, strict=True):
        require_close(got, want, cases.TOLERANCE, f"{robot.label}: frame_errors")
    ours = {"alone": case.lone(), BATCHES: case.batch(BATCH, 1)}
    yield from compared(bench, "errors", f"frame_errors, {robot.label}", way.each, ours)


def pose_functions(bench: Bench) -> Iterator[Row]:
    """Functions of poses beside Pinocchio's."""
    twists = np.random.default_rng(0).uniform(-1.0, 1.0, (BATCH, 6))
    at = poses.exp(twists)
    motions = [pinocchio.Motion(x) for x in twists]
    theirs = [pinocchio.exp6(x) for x in motions]
    for name, given, arguments, call, value in (
        ("exp", twists, motions, "pin.exp6(x)", lambda x: pinocchio.exp6(x).homogeneous),
        ("log", at, theirs, "pin.log6(x).vector", lambda x: pinocchio.log6(x).vector),
        ("exp_jacobian", twists, motions, "pin.Jexp6(x)", pinocchio.Jexp6),
        ("log_jacobian", at, theirs, "pin.Jlog6(x)", pinocchio.Jlog6),
    ):
        function: Callable[..., Array] = getattr(poses, name)
        got = poses.to_matrix(function(given)) if name == "exp" else function(given)
        require_close(got, np.array([value(x) for x in arguments]), 1e-10, name)
        each = loop(f"for x in arguments: {call}", arguments=arguments, pin=pinocchio)
        alone = loop("for x in given: f(x)", given=list(given), f=function)
        batch = loop("f(given)", given=given, f=function)
        ours = {"alone": Contender(alone, BATCH), BATCHES: Contender(batch, BATCH)}
        yield from compared(bench, "poses", f"poses.{name}", Contender(each, BATCH), ours)


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


def steps(bench: Bench) -> Iterator[Row]:
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
    names = {"step": step, "model": model, "frame": frame}
    batch = loop("step(model, q, frame, targets)", q=q, targets=targets, **names)
    lone = list(zip(q[:STATES], targets[:STATES], strict=True))
    each = loop("for x, y in pairs: step(model, x, frame, y)", pairs=lone, **names)
    ours = {"alone": Contender(each, STATES), BATCHES: Contender(batch, BATCH)}
    for name, make, pose in (
        ("pink", pink_step, pinocchio.XYZQUATToSE3),
        ("mink", mink_step, mink_pose),
    ):
        run = make(robot, frame)
        if run is None:
            bench.note(f"{name} is not installed.")
            continue
        pairs = [(x, pose(y)) for x, y in lone]
        got = np.array([run(*pair) for pair in pairs])
        require_close(got, wanted[:STATES], 1e-6, f"a step of {name}")
        theirs = Contender(loop("for x, y in pairs: run(x, y)", pairs=pairs, run=run), STATES)
        yield from compared(bench, "steps", f"a step of {name}, Panda", theirs, ours)


def mink_pose(pose: Array) -> Any:
    """A pose as mink writes it: quaternion w x y z, then the position."""
    return optional("mink").SE3(np.r_[pose[6], pose[3:6], pose[:3]])


def measure(bench: Bench, subject: str) -> Iterator[Row]:
    parts = {"poses": pose_functions, "steps": steps}
    if subject in parts:
        return parts[subject](bench)
    return errors(bench, cases.robot(subject))


EXPERIMENT = declare.experiment(
    "inverse_kinematics",
    "Errors of frames, poses and inverse kinematics",
    "Pinocchio's, pink's and mink's Python packages",
    lambda bench: ["panda", *(() if bench.quick else ("hyq", "talos")), "poses", "steps"],
    measure,
    effort=efforts((101, 9), (1e-3, 1e-3)),
    needs={"pinocchio": "pin"},
    tables=[
        Layout(
            f"{title}: microseconds a state, and their time by ours",
            [("", "what"), "states", "theirs", "ours", ratio()],
            left=2,
            where={"part": part},
        )
        for part, title in (
            ("errors", "Errors of frames, beside Pinocchio"),
            ("poses", "Poses, beside Pinocchio"),
            ("steps", "Steps of inverse kinematics"),
        )
    ],
    claims=[
        Asked(
            "frame_errors by Pinocchio's calls from Python, one state a call",
            "by theirs",
            most=0.7,
            where={"part": "errors", "states": "alone"},
        ),
        Asked(
            f"frame_errors in batches of {BATCH}, one thread, by Pinocchio",
            least=10.0,
            where={"part": "errors", "states": BATCHES},
        ),
    ],
)
