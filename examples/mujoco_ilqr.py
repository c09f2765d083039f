"""iLQR of a humanoid that stands up in MuJoCo: exact derivatives of its step against differences.

MuJoCo simulates a humanoid with 27 degrees of freedom on a floor, with soft contacts and elliptic
friction cones. The robot crouches, and its servos hold the crouch. iLQR improves their targets
until the robot stands. No contact phases are given: soles, toes and heels press, lift and slip as
MuJoCo's solver finds. Each iteration needs the derivatives A, B of all steps,

    exact         dtau.mujoco.transition_derivatives_batch(model, data, states, inputs)
    differences   mujoco.mjd_transitionFD(model, data, 1e-6, True, A, B, None, None), step by step

and the rest is the same: the backward pass dtau.lqr, and rollouts along the search direction. The
program prints costs and times, and compares the gradient of a rollout by all inputs with
differences of its cost.

    python examples/mujoco_ilqr.py                         # numbers
    python examples/mujoco_ilqr.py --plot mujoco_ilqr.png  # and a picture (matplotlib)

It needs MuJoCo: python -m pip install "dtau[mujoco]".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import ddp
import ddp_convergence as convergence
import mujoco
import numpy as np
import program

import dtau
import dtau.mujoco

METHODS = {True: "exact", False: "differences"}
STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
CONVERGED = 1e-4  # the iterations end with one that gains less than this part of the cost
INPUT_COST = 0.1  # of squared changes of the servos' targets
TOO_FAST = 100.0  # rad/s: the simulation diverges, and the rollout ends
CROUCH = {"lean": 0.4, "hip_y": -1.55, "knee": 1.9, "ankle_y": -0.75, "shoulder_y": -0.4}  # rad
STAND = {"lean": 0.03, "hip_y": -0.12, "knee": 0.17, "ankle_y": -0.08}
LEAST, MOST = 1e-6, 1e3  # damping
STEPS = 1e-7 * np.array([-2.0, -1.0, 1.0, 2.0])  # of differences of the cost
WEIGHTS = np.array([1.0, -8.0, 8.0, -1.0]) / 12e-7
SOLE = 0.027  # m: radius of the capsules under the feet
VIEW = np.array([[0.9, -0.35, 0.0], [0.1, 0.2, 0.97]])  # of the picture: from the right and above

HEAD = """<mujoco><option timestep="{step}" integrator="implicitfast" cone="elliptic"/>
<compiler angle="radian"/><default><joint damping="2" armature=".02"/>
<geom type="capsule" contype="0" conaffinity="1" friction=".8 .02 .01" solref=".04 1"
 solimp=".8 .95 .005"/></default>
<worldbody><geom type="plane" size="5 5 1" contype="1"/><body><freejoint/>
<geom type="sphere" size=".09" pos="0 0 .55"/><geom fromto="0 -.07 .35 0 .07 .35" size=".07"/>
<geom fromto="0 -.06 .1 0 .06 .1" size=".06"/><body pos="0 0 -.05">
<joint name="waist_z" axis="0 0 1"/><joint name="waist_y" axis="0 1 0"/>
<joint name="waist_x" axis="1 0 0"/><geom fromto="0 -.07 -.1 0 .07 -.1" size=".09"/>"""
LEG = """<body pos="0 {y:g} -.15"><joint name="{side}_hip_x" axis="1 0 0"/>
<joint name="{side}_hip_z" axis="0 0 1"/><joint name="{side}_hip_y" axis="0 1 0"/>
<geom fromto="0 0 0 0 0 -.34" size=".06"/><body pos="0 0 -.4">
<joint name="{side}_knee" axis="0 1 0"/><geom fromto="0 0 0 0 0 -.3" size=".05"/>
<body pos="0 0 -.39"><joint name="{side}_ankle_y" axis="0 1 0"/>
<joint name="{side}_ankle_x" axis="1 0 0"/><geom fromto="-.07 -.03 0 .14 -.03 0" size=".027"/>
<geom fromto="-.07 .03 0 .14 .03 0" size=".027"/></body></body></body>"""
ARM = """<body pos="0 {y:g} .35"><joint name="{side}_shoulder_y" axis="0 1 0"/>
<joint name="{side}_shoulder_x" axis="1 0 0"/><geom fromto="0 0 0 0 {out:g} -.25" size=".04"/>
<body pos="0 {out:g} -.27"><joint name="{side}_elbow" axis="0 1 0"/>
<geom fromto="0 0 0 0 0 -.25" size=".035"/></body></body>"""


@dataclass(frozen=True)
class Task:
    """The cost is half of the weighted squares of [difference(goal, q), v] and of u - guess."""

    model: mujoco.MjModel
    start: np.ndarray  # as STATE: time, q, v
    goal: np.ndarray  # (nq,)
    cost: np.ndarray  # (steps + 1, 2 nv)
    guess: np.ndarray  # (steps, nu)


@dataclass(frozen=True)
class Rollout:
    """States at 0, 1, ..., steps, inputs between them, and the cost."""

    states: np.ndarray
    u: np.ndarray
    cost: float


@dataclass
class Record(convergence.Record):
    """Also the seconds that the derivatives took, and the last rollout."""

    derivatives: float = 0.0
    found: Rollout | None = None


def humanoid(step: float) -> mujoco.MjModel:
    """Two legs with six servos each, two arms with three, and a waist with three."""
    sides = (("left", 1.0), ("right", -1.0))
    legs = "".join(LEG.format(side=side, y=0.1 * sign) for side, sign in sides)
    arms = "".join(ARM.format(side=side, y=0.17 * sign, out=0.05 * sign) for side, sign in sides)
    spec = mujoco.MjSpec.from_string(
        f"{HEAD.format(step=step)}{legs}</body>{arms}</body></worldbody></mujoco>"
    )
    for joint in spec.joints[1:]:
        servo = spec.add_actuator(target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        in_arm = joint.name.endswith(("shoulder_y", "shoulder_x", "elbow"))
        servo.set_to_position(kp=100.0 if in_arm else 400.0, kv=20.0)  # N m/rad, N m s/rad
    return spec.compile()


def posture(model: mujoco.MjModel, angles: dict[str, float]) -> np.ndarray:
    """Return the configuration with these angles, and both soles on the floor."""
    data = mujoco.MjData(model)
    data.qpos[3:7] = np.cos(angles["lean"] / 2.0), 0.0, np.sin(angles["lean"] / 2.0), 0.0
    for joint in range(1, model.njnt):
        name = model.joint(joint).name.removeprefix("left_").removeprefix("right_")
        data.qpos[model.jnt_qposadr[joint]] = angles.get(name, 0.0)
    mujoco.mj_kinematics(model, data)
    feet = data.geom_xpos[model.geom_size[:, 0] == SOLE]
    data.qpos[0] -= feet[:, 0].mean()
    data.qpos[2] -= feet[:, 2].min() - SOLE + 0.0005
    return data.qpos.copy()


def stand_up(seconds: float = 1.2, step: float = 0.005) -> Task:
    """Crouch, and stand during the last third of the time."""
    model, steps = humanoid(step), round(seconds / step)
    start, goal = posture(model, CROUCH), posture(model, STAND)
    nv, late = model.nv, slice(2 * steps // 3, None)
    cost = np.zeros((steps + 1, 2 * nv))
    cost[:, nv:], cost[:, 3:6] = 0.02, 1.0
    cost[late, :6], cost[late, 6:nv], cost[late, nv:] = 10.0, 1.0, 0.1
    cost[:-1] *= step
    cost[-1, :nv], cost[-1, nv:] = 1.0, 0.1
    first = np.concatenate([[0.0], start, np.zeros(nv)])
    return Task(model, first, goal, cost, np.tile(start[7:], (steps, 1)))


def errors(task: Task, states: np.ndarray) -> np.ndarray:
    """Return [difference(goal, q), v] of states (steps + 1, nstate)."""
    model = task.model
    out = np.empty((len(states), 2 * model.nv))
    for x, state in zip(out, states, strict=True):
        mujoco.mj_differentiatePos(model, x[: model.nv], 1.0, task.goal, state[1 : 1 + model.nq])
    out[:, model.nv :] = states[:, 1 + model.nq :]
    return out


def roll_out(
    task: Task, u: np.ndarray, old: Rollout | None = None, gains: np.ndarray | None = None
) -> Rollout:
    """Apply inputs, plus gains times the distance from an old rollout."""
    model, data = task.model, mujoco.MjData(task.model)
    nq, nv = model.nq, model.nv
    states, inputs, away = np.empty((len(u) + 1, len(task.start))), u.copy(), np.empty(2 * nv)
    mujoco.mj_setState(model, data, task.start, STATE)
    for k in range(len(u)):
        mujoco.mj_getState(model, data, states[k], STATE)
        if old is not None and gains is not None:
            mujoco.mj_differentiatePos(model, away[:nv], 1.0, old.states[k, 1 : 1 + nq], data.qpos)
            away[nv:] = data.qvel - old.states[k, 1 + nq :]
            inputs[k] += gains[k] @ away
        data.ctrl[:] = inputs[k]
        mujoco.mj_step(model, data)
        if np.abs(data.qvel).max() > TOO_FAST:
            return Rollout(states, inputs, np.inf)
    mujoco.mj_getState(model, data, states[-1], STATE)
    cost = (task.cost * errors(task, states) ** 2).sum()
    cost += model.opt.timestep * INPUT_COST * ((inputs - task.guess) ** 2).sum()
    return Rollout(states, inputs, 0.5 * cost)


def derivatives(task: Task, at: Rollout, exact: bool) -> np.ndarray:
    """Return [A, B] of all steps."""
    model, data = task.model, mujoco.MjData(task.model)
    if exact:
        found = dtau.mujoco.transition_derivatives_batch(model, data, at.states[:-1], at.u)
        return np.concatenate(found, axis=-1)
    n = 2 * model.nv
    a, b = np.empty((len(at.u), n, n)), np.empty((len(at.u), n, model.nu))
    for k in range(len(at.u)):
        mujoco.mj_setState(model, data, at.states[k], STATE)
        data.ctrl[:] = at.u[k]
        mujoco.mjd_transitionFD(model, data, 1e-6, True, a[k], b[k], None, None)
    return np.concatenate([a, b], axis=-1)


def expand(task: Task, at: Rollout, jacobians: np.ndarray) -> ddp.Expansion:
    """Expand cost and dynamics; the Hessians are Gauss and Newton's."""
    model, weight = task.model, task.model.opt.timestep * INPUT_COST
    n, width = 2 * model.nv, 2 * model.nv + model.nu
    x = errors(task, at.states)
    to_x = np.tile(np.eye(n), (len(x), 1, 1))
    to_x[:, 3:6, 3:6] = dtau.rotations.log_jacobian(dtau.rotations.exp(x[:, 3:6]))
    slopes, hessians = np.zeros((len(x), width)), np.zeros((len(x), width, width))
    slopes[:, :n] = np.vecmat(task.cost * x, to_x)
    slopes[:-1, n:] = weight * (at.u - task.guess)
    hessians[:, :n, :n] = ddp.transposed(to_x) @ (task.cost[..., None] * to_x)
    hessians[:, n:, n:] = weight * np.eye(model.nu)
    return ddp.Expansion(jacobians, slopes, hessians, *ddp.carried_back(jacobians, slopes))


def solve(task: Task, exact: bool, limit: int) -> Record:
    """Improve the guess by iLQR."""
    record, start = Record(), perf_counter()
    at, damping = roll_out(task, task.guess), LEAST
    for _ in convergence.progress(limit, METHODS[exact]):
        before = perf_counter()
        jacobians = derivatives(task, at, exact)
        record.derivatives += perf_counter() - before
        e = expand(task, at, jacobians)
        record.cost.append(at.cost)
        record.gradient.append(float(np.abs(e.gradient).max()))
        record.seconds.append(perf_counter() - start)
        better, damping = improve(task, at, e, damping)
        gained, at = at.cost - better.cost, better
        if gained < CONVERGED * at.cost:
            break
    record.cost.append(at.cost)
    record.seconds.append(perf_counter() - start)
    record.inputs, record.found = at.u, at
    return record


def improve(task: Task, at: Rollout, e: ddp.Expansion, damping: float) -> tuple[Rollout, float]:
    """Search along the change that iLQR finds; more damping if no length lowers the cost."""
    while damping < MOST:
        changes, gains, _ = ddp.backward(e, e.hessians, damping)
        for length in ddp.TRIALS[:5]:
            trial = roll_out(task, at.u + length * changes, at, gains)
            if trial.cost < at.cost:
                return trial, max(damping / 4.0, LEAST) if length == 1.0 else damping
        damping *= 8.0
    return at, damping


@dataclass(frozen=True)
class Slopes:
    """Directional derivatives of the cost of a rollout, and seconds for the gradients."""

    of_cost: np.ndarray
    of_gradient: dict[bool, np.ndarray]
    seconds: dict[bool, float]


def gradients(task: Task, u: np.ndarray, count: int = 8) -> Slopes:
    """Compare gradients with differences of the cost, along random changes of the inputs."""
    rng, at = np.random.default_rng(0), roll_out(task, u)
    directions = rng.standard_normal((count, *u.shape))
    costs = [[roll_out(task, u + s * d).cost for s in STEPS] for d in directions]
    slopes, seconds = {}, {}
    for exact in METHODS:
        start = perf_counter()
        gradient = expand(task, at, derivatives(task, at, exact)).gradient
        seconds[exact] = perf_counter() - start
        slopes[exact] = np.tensordot(directions, gradient, 2)
    return Slopes(np.array(costs) @ WEIGHTS, slopes, seconds)


def report(task: Task, records: dict[bool, Record], slopes: Slopes) -> None:
    """Print costs, times and the errors of gradients."""
    steps, model = len(task.guess), task.model
    print(f"a humanoid stands up: {steps} steps, {model.nv} degrees of freedom, {model.nu} servos")
    print(f"\n{'':14}{'iterations':>12}{'cost':>20}{'seconds':>10}{'in derivatives':>17}")
    for exact, record in records.items():
        cost = f"{record.cost[0]:.3f} -> {record.cost[-1]:.4f}"
        print(
            f"{METHODS[exact]:14}{len(record.cost) - 1:>12}{cost:>20}{record.seconds[-1]:>10.2f}"
            f"{record.derivatives:>17.2f}"
        )
    print("\ngradient of the first rollout by all inputs: seconds, and largest error of slopes")
    scale = np.abs(slopes.of_cost).max()
    for exact, values in slopes.of_gradient.items():
        error = np.abs(values - slopes.of_cost).max() / scale
        print(f"{METHODS[exact]:14}{slopes.seconds[exact]:>10.3f}{error:>12.1e}")


def draw(axes, task: Task, state: np.ndarray, place: float, points: float) -> None:
    """Draw the robot's capsules as the picture sees them; the right side is blue."""
    model, data = task.model, mujoco.MjData(task.model)
    mujoco.mj_setState(model, data, state, STATE)
    mujoco.mj_kinematics(model, data)
    depth = data.geom_xpos[:, 1]
    for geom in sorted(range(1, model.ngeom), key=lambda i: -depth[i]):
        radius, half = model.geom_size[geom, :2]
        axis = half * data.geom_xmat[geom].reshape(3, 3)[:, 2]
        ends = np.array([data.geom_xpos[geom] - axis, data.geom_xpos[geom] + axis]) @ VIEW.T
        name = model.joint(model.body_jntadr[model.geom_bodyid[geom]]).name
        color = {"r": "C0", "l": "0.7"}.get(name[:1], "C1")
        style = {"linewidth": 2.0 * radius * points, "solid_capstyle": "round"}
        axes.plot(
            ends[:, 0] + place, ends[:, 1], color=color, zorder=2 - 0.1 * depth[geom], **style
        )


def plot(task: Task, records: dict[bool, Record], path: Path) -> None:
    """Draw the motion, the forces of the floor, and both costs over iterations and time."""
    plt = program.pyplot()
    figure = plt.figure(figsize=(9, 5.2))
    grid = figure.add_gridspec(2, 3, height_ratios=(1.25, 1.0))
    film = figure.add_subplot(grid[0, :])
    force, course, clock = (figure.add_subplot(grid[1, i]) for i in range(3))
    at, step = records[True].found, task.model.opt.timestep
    film.set(xlim=(-0.4, 5.4), ylim=(-0.25, 1.65), aspect="equal")
    film.set_axis_off()
    film.set_title("a humanoid stands up")
    figure.draw_without_rendering()
    points = film.get_window_extent().width / 5.8 * 72.0 / figure.dpi  # a meter
    for i, k in enumerate(np.linspace(0, len(at.u), 7).astype(int)):
        draw(film, task, at.states[k], 0.83 * i, points)
        film.text(0.83 * i, -0.25, f"{step * k:.2f} s", ha="center")

    force.plot(step * np.arange(len(at.u)), forces(task, at), color="C2")
    force.set(xlabel="time (s)", ylim=(0, None), title="force of the floor, up (N)")
    for exact, record in records.items():
        style = {"color": "C3" if exact else "0.4", "marker": ".", "label": METHODS[exact]}
        course.semilogy(record.cost, **style)
        clock.semilogy(record.seconds, record.cost[: len(record.seconds)], **style)
    for axes, label in ((course, "iteration"), (clock, "time to solve (s)")):
        axes.set(xlabel=label, title="cost")
    course.legend()
    program.save(figure, path)


def forces(task: Task, at: Rollout) -> np.ndarray:
    """Return the floor's upward force at each step."""
    model, data, wrench = task.model, mujoco.MjData(task.model), np.empty(6)
    out = np.zeros(len(at.u))
    for k in range(len(at.u)):
        mujoco.mj_setState(model, data, at.states[k], STATE)
        data.ctrl[:] = at.u[k]
        mujoco.mj_forward(model, data)
        for i in range(data.ncon):
            mujoco.mj_contactForce(model, data, i, wrench)
            out[k] += wrench[0]
    return out


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    program.number(parser, "--iterations", 100, "at most so many")
    args = parser.parse_args(arguments)
    task = stand_up()
    records = {exact: solve(task, exact, args.iterations) for exact in METHODS}
    report(task, records, gradients(task, task.guess))
    if args.plot:
        plot(task, records, args.plot)


if __name__ == "__main__":
    main()
