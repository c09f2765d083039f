"""A hopper learns to squat on its foot: gradients through 120 steps of MuJoCo in contact.

A planar hopper stands on its foot, which nothing fastens to the floor. Heights of its hip are
commanded, and a small neural network of PyTorch moves the targets of three servos. The loss looks
at the distance from the commanded heights, at tilt, place and speed. Its gradient runs back through
all time steps of `dtau.torch.mujoco_step` for 16 hoppers at once, through contacts that press,
stick and slide as MuJoCo's solver finds, and Adam does the rest.

    python examples/mujoco_policy.py                    # what is learnt (needs MuJoCo, PyTorch)
    python examples/mujoco_policy.py --plot squat.png   # and the heights and the robot (matplotlib)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import mujoco
import numpy as np
import program
import torch
from torch import Tensor

import dtau.mujoco
import dtau.torch

STEPS, DT = 120, 0.01
ROBOTS = 16
LOW, HIGH = 0.55, 0.78  # of the hip over the floor, m
COMMAND = (40, 80)  # steps at which the command changes
STAND = (-0.6, 1.2, -0.6)  # hip, knee, ankle, rad: the foot is level, and the hip above it
REACH = 0.8  # of the network, rad
HOPPER = f"""<mujoco><option timestep="{DT}" integrator="implicitfast" cone="elliptic"/>
<compiler autolimits="true"/><default><geom type="capsule" contype="0" conaffinity="1"
 friction="0.8"/><joint axis="0 1 0" armature="0.02" damping="0.5"/></default><worldbody>
<geom type="plane" size="9 9 1" contype="1"/><body>
<joint type="slide" axis="1 0 0" armature="0" damping="0"/>
<joint type="slide" axis="0 0 1" armature="0" damping="0"/><joint armature="0" damping="0"/>
<geom size="0.05" fromto="0 0 0 0 0 0.3" mass="4"/>
<body><joint name="hip"/><geom size="0.05" fromto="0 0 0 0 0 -0.4" mass="2"/>
<body pos="0 0 -0.4"><joint name="knee"/><geom size="0.04" fromto="0 0 0 0 0 -0.4" mass="1.5"/>
<body pos="0 0 -0.4"><joint name="ankle"/><geom size="0.04" fromto="-0.12 0 0 0.18 0 0" mass="1"/>
</body></body></body></body></worldbody><actuator>
<position joint="hip" kp="300" kv="15"/><position joint="knee" kp="300" kv="15"/>
<position joint="ankle" kp="200" kv="10"/></actuator></mujoco>"""


class Motion(NamedTuple):
    """States (steps, robots, nstate) and commanded heights (steps, robots) of hoppers."""

    states: Tensor
    command: Tensor


def starts(model: mujoco.MjModel, count: int, seed: int) -> Tensor:
    """Return states on the foot, with random angles and speeds."""
    rng, state = np.random.default_rng(seed), np.zeros((count, 1 + 2 * model.nv))
    state[:, 4:7] = STAND + 0.05 * rng.normal(size=(count, 3))
    state[:, 7:] = 0.1 * rng.normal(size=(count, model.nv))
    legs = state[:, 4:7].cumsum(axis=1)
    state[:, 2] = 0.4 * np.cos(legs[:, 0]) + 0.4 * np.cos(legs[:, 1]) + 0.04
    state[:, 2] += np.abs(np.sin(legs[:, 2])) * 0.18
    return torch.from_numpy(state)


def commands(count: int, seed: int) -> Tensor:
    """Return heights that change twice, (steps, robots)."""
    rng = np.random.default_rng(seed)
    heights = rng.uniform(LOW, HIGH, size=(3, count))
    part = np.searchsorted(COMMAND, np.arange(STEPS), side="right")
    return torch.from_numpy(heights[part])


def network(seed: int, hidden: int = 32) -> torch.nn.Sequential:
    """Return a network that holds the stance at first."""
    torch.manual_seed(seed)
    layers = torch.nn.Sequential(
        torch.nn.Linear(12, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, 3), torch.nn.Tanh()
    ).double()
    with torch.no_grad():
        layers[2].weight.mul_(0.1)
    return layers


def roll_out(
    step: dtau.mujoco.StepFunction, policy: torch.nn.Sequential, state: Tensor, command: Tensor
) -> Motion:
    """Let the policy act for all steps."""
    stand, states = torch.tensor(STAND, dtype=torch.float64), []
    for height in command:
        seen = torch.cat(
            [
                *(state[:, 1:2], 5.0 * (state[:, 2:3] - 0.67), state[:, 3:7] - pad(stand)),
                *(0.3 * state[:, 7:12], 5.0 * (height[:, None] - 0.67)),
            ],
            dim=1,
        )
        state = dtau.torch.mujoco_step(step, state, stand + REACH * policy(seen))
        states.append(state)
    return Motion(torch.stack(states), command)


def pad(stand: Tensor) -> Tensor:
    """Return the stance with a zero for the tilt."""
    return torch.cat([stand.new_zeros(1), stand])


def loss(motion: Motion) -> Tensor:
    """Return the mean of weighted squares: of heights, tilts, places and speeds."""
    x = motion.states
    height = (x[..., 2] - motion.command).square()
    rest = 0.3 * x[..., 3].square() + 0.3 * x[..., 1].square() + 1e-3 * x[..., 7:].square().sum(-1)
    return (10.0 * height + rest).mean()


def train(model: mujoco.MjModel, policy: torch.nn.Sequential, iterations: int) -> list[float]:
    """Train the policy; return the losses."""
    step = dtau.mujoco.StepFunction(model, mujoco.MjData(model))
    rate = 1e-2
    optimizer, losses = torch.optim.Adam(policy.parameters(), rate), []
    for i in range(iterations):
        for group in optimizer.param_groups:
            group["lr"] = rate * (1.0 - i / iterations)
        state, command = starts(model, ROBOTS, i), commands(ROBOTS, i)
        value = loss(roll_out(step, policy, state, command))
        optimizer.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        losses.append(float(value.detach()))
    return losses


def tracked(model: mujoco.MjModel, policy: torch.nn.Sequential) -> Motion:
    """Let hoppers with new starts and commands move."""
    step = dtau.mujoco.StepFunction(model, mujoco.MjData(model))
    with torch.no_grad():
        state, command = starts(model, ROBOTS, 1000), commands(ROBOTS, 1000)
        return roll_out(step, policy, state, command)


def errors(motion: Motion) -> tuple[float, int]:
    """Return the mean error of heights at the ends of commands, m, and how many hoppers fell."""
    ends = [k - 1 for k in (*COMMAND, STEPS)]
    off = (motion.states[ends, :, 2] - motion.command[ends]).abs().mean()
    fell = motion.states[-1, :, 3].abs() > 1.0
    return float(off), int(fell.sum())


def gradient_error(policy: torch.nn.Sequential) -> float:
    """Return the relative error of a slope of the loss, beside differences.

    A solver that iterates to the end makes the differences exact.
    """
    model = mujoco.MjModel.from_xml_string(HOPPER)
    model.opt.tolerance, model.opt.iterations = 0.0, 50
    step = dtau.mujoco.StepFunction(model, mujoco.MjData(model))
    state, command = starts(model, 1, 0), commands(1, 0)
    bias = policy[2].bias
    (gradient,) = torch.autograd.grad(loss(roll_out(step, policy, state, command)), bias)
    h, values = 1e-5, []
    with torch.no_grad():
        for scale in (2.0, 1.0, -1.0, -2.0):
            bias += scale * h
            values.append(float(loss(roll_out(step, policy, state, command))))
            bias -= scale * h
    slope = (8.0 * (values[1] - values[2]) - (values[0] - values[3])) / (12.0 * h)
    return abs(float(gradient.sum()) - slope) / abs(slope)


def draw(axes, model: mujoco.MjModel, state: np.ndarray, place: float, points: float) -> None:
    """Draw the capsules of a hopper."""
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    mujoco.mj_kinematics(model, data)
    for geom in range(1, model.ngeom):
        radius, half = model.geom_size[geom, :2]
        axis = half * data.geom_xmat[geom].reshape(3, 3)[:, 2]
        ends = data.geom_xpos[geom] + np.array([axis, -axis])
        style = {"linewidth": 2.0 * radius * points, "solid_capstyle": "round"}
        axes.plot(ends[:, 0] + place, ends[:, 2], color="C0" if geom == 4 else "0.6", **style)


def plot(model: mujoco.MjModel, motions: Sequence[Motion], losses: list[float], path: Path) -> None:
    """Draw a squat, heights before and after learning, and the loss."""
    plt = program.pyplot()
    figure = plt.figure(figsize=(9, 5.4))
    grid = figure.add_gridspec(2, 3, height_ratios=(1.2, 1.0))
    film = figure.add_subplot(grid[0, :])
    film.set(xlim=(-0.4, 4.6), ylim=(-0.12, 1.25), aspect="equal")
    film.set_axis_off()
    film.set_title("a hopper squats to the commanded heights of its hip")
    film.axhline(0.0, color="0.3", linewidth=1.0)
    figure.draw_without_rendering()
    points = film.get_window_extent().width / 5.0 * 72.0 / figure.dpi  # a meter
    states, command = (x.numpy() for x in motions[1])
    robot = int(np.ptp(command, axis=0).argmax())
    for i, k in enumerate(np.linspace(10, STEPS - 1, 6).astype(int)):
        draw(film, model, states[k, robot], 0.85 * i, points)
        height = command[k, robot]
        film.plot([0.85 * i - 0.25, 0.85 * i + 0.25], [height, height], color="C3", linewidth=1.0)
        film.text(0.85 * i, -0.11, f"{DT * k:.2f} s", ha="center")
    time = DT * np.arange(STEPS)
    for place, (motion, title) in enumerate(zip(motions, ("before", "after"), strict=True)):
        axes = figure.add_subplot(grid[1, place])
        for k in range(4):
            axes.plot(time, motion.command[:, k], color=f"C{k}", linewidth=0.8, linestyle="--")
            axes.plot(time, motion.states[:, k, 2], color=f"C{k}")
        axes.set(xlabel="time (s)", ylim=(0.5, 0.85), title=f"heights {title} (m)")
    course = figure.add_subplot(grid[1, 2])
    course.semilogy(losses, color="C2")
    course.set(xlabel="iteration", title="loss")
    program.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    program.number(parser, "--iterations", 80, "of Adam")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)  # the matrices are small
    model = mujoco.MjModel.from_xml_string(HOPPER)
    policy = network(0)
    print(f"{ROBOTS} hoppers, {STEPS} steps, {model.nv} degrees of freedom, {model.nu} servos")
    print(f"error of a slope of the loss, beside differences: {gradient_error(policy):.0e}")
    motions, start = [tracked(model, policy)], perf_counter()
    losses = train(model, policy, args.iterations)
    seconds = perf_counter() - start
    motions.append(tracked(model, policy))
    print(
        f"{args.iterations} iterations in {seconds:.0f} s: loss {losses[0]:.4f} -> {losses[-1]:.4f}"
    )
    for motion, title in zip(motions, ("before", "after"), strict=True):
        off, fell = errors(motion)
        print(f"{title:7} height off by {100.0 * off:.1f} cm in the mean; {fell} of {ROBOTS} fell")
    if args.plot:
        plot(model, motions, losses, args.plot)


if __name__ == "__main__":
    main()
