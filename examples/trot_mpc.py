"""MPC of trotting quadrupeds: iLQR over 50 knots, 20 times a second, for one robot or for many.

Diagonal pairs of feet stand in turns. Plans (trot.py) have rigid contacts and a mask for each knot.
An iteration linearizes and sweeps all knots of all robots, and rolls out several step lengths:

    dtau.linearize_discrete(..., contacts=feet, active=gait, forces=True)    A, B, ground forces
    dtau.lqr(A, B, Q, R, Q_final, ...)                                       gains and new inputs
    dtau.step(..., contacts=feet, active=gait[k])                            the rollout

The simulated robots differ from the plan: they carry 3 kg more, something pushes them to the side,
and the ground consists of springs and dampers that only push, with friction. Computing takes time
too. While a robot follows one plan and its gains for 50 ms, the next plan is computed, from the
state that is predicted for then.

    python examples/trot_mpc.py                  # one robot, then 64 pushed in all directions
    python examples/trot_mpc.py --plot trot.png  # and a picture (matplotlib)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jump
import numpy as np
import program
import trot

import dtau

H, PERIOD = trot.H, 2  # s between knots; knots until the next plan
FINE = 5e-4  # s: step of the robots' simulation
STIFF, DAMP, SLIDE, MU = 3e4, 300.0, 300.0, 0.7  # ground: N/m, N s/m upwards and sideways, friction
PUSHED, PUSH, LOAD = (1.0, 1.1), 200.0, 3.0  # s; N; kg


def later(plan: trot.Plan) -> trot.Plan:
    """The plan from PERIOD knots on. Its last knots repeat those of a gait cycle before."""
    cycle, k = 2 * trot.STANCE, PERIOD + np.arange(trot.KNOTS + 1)
    states = np.where(k > trot.KNOTS, k - cycle, k)
    inputs = np.where(k >= trot.KNOTS, k - cycle, k)[:-1]
    q = plan.q[:, states].copy()
    q[:, k > trot.KNOTS, 0] += trot.SPEED * H * cycle
    return trot.Plan(q, plan.v[:, states], plan.u[:, inputs], plan.gains[:, inputs])


def live(
    truth: dtau.Model, plan: trot.Plan, q: np.ndarray, v: np.ndarray, force: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate robots that follow their plans, until the next ones begin."""
    limits = trot.model.effort_limits[6:]
    for i in range(round(PERIOD * H / FINE)):
        k, part = divmod(i * FINE / H, 1.0)
        k = int(k)
        step = dtau.difference(trot.model, plan.q[:, k], plan.q[:, k + 1])
        aim = dtau.integrate(trot.model, plan.q[:, k], part * step)
        aim_v = (1.0 - part) * plan.v[:, k] + part * plan.v[:, k + 1]
        away = np.concatenate([dtau.difference(trot.model, aim, q), v - aim_v], axis=-1)
        u = plan.u[:, k] + np.einsum("rij,rj->ri", plan.gains[:, k], away)
        tau = np.clip(u, -limits, limits) @ trot.drive.T

        # The ground pushes, with friction; something else pushes the trunk
        moves = dtau.frame_jacobians(truth, q, (*trot.FEET, "base"), "mixed")[..., :3, :]
        feet_v = np.einsum("rfij,rj->rfi", moves[:, :4], v)
        depth = -dtau.frame_placements(truth, q, trot.FEET).translation[..., 2]
        up = np.where(depth > 0.0, np.maximum(STIFF * depth - DAMP * feet_v[..., 2], 0.0), 0.0)
        slip = np.linalg.norm(feet_v[..., :2], axis=-1, keepdims=True)
        side = -feet_v[..., :2] * np.minimum(SLIDE, MU * up[..., None] / np.maximum(slip, 1e-9))
        forces = np.concatenate([np.concatenate([side, up[..., None]], -1), force[:, None]], axis=1)
        tau = tau + np.einsum("rfij,rfi->rj", moves, forces)
        q, v = dtau.step(truth, q, v, tau, FINE, "semi_implicit")
    return q, v


@dataclass(frozen=True)
class Run:
    """States of robots when plans begin, (plans + 1, robots, ...), and seconds to compute each."""

    q: np.ndarray
    v: np.ndarray
    seconds: np.ndarray


def run(robots: int, duration: float = 3.0) -> Run:
    """Trot under MPC; a push to the left for one robot, in all directions for many."""
    truth = trot.model.add_load("base", LOAD)
    direction = np.pi / 2 + 2 * np.pi * np.arange(robots) / robots
    push = PUSH * np.stack([np.cos(direction), np.sin(direction), 0.0 * direction], axis=-1)
    q, v = np.tile(trot.stand, (robots, 1)), np.zeros((robots, trot.model.nv))
    plan = trot.first_plan(trot.gait(0), robots)
    states, seconds = [(q, v)], []
    for k in range(0, round(duration / H), PERIOD):
        began = time.perf_counter()
        start, start_v, _ = trot.follow(trot.gait(k), plan, q, v, PERIOD)
        following = trot.improve(trot.gait(k + PERIOD), later(plan), start[:, -1], start_v[:, -1])
        seconds.append(time.perf_counter() - began)
        q, v = live(truth, plan, q, v, push * (PUSHED[0] <= k * H + 1e-9 < PUSHED[1]))
        plan = following
        states.append((q, v))
    return Run(*(np.stack(x) for x in zip(*states, strict=True)), np.array(seconds))


def tilt(q: np.ndarray) -> np.ndarray:
    """Angles of trunks from upright, in degrees."""
    return np.rad2deg(np.arccos(np.clip(1.0 - 2.0 * (q[..., 3] ** 2 + q[..., 4] ** 2), -1.0, 1.0)))


def report(found: Run) -> None:
    """Print how robots moved, and how long plans took."""
    q, period, count = found.q, PERIOD * H, found.q.shape[1]
    times, worst = 1e3 * np.median(found.seconds), 1e3 * np.quantile(found.seconds, 0.95)
    speed, falls = found.v[-2 * trot.STANCE // PERIOD :, :, 0].mean(), tilt(q).max(axis=0) > 30.0
    print(f"robots:                {count}, {trot.KNOTS} knots of {1e3 * H:g} ms")
    print(f"speed at the end:      {speed:.2f} m/s")
    print(f"largest tilt:          {tilt(q).max():.1f} degrees, {falls.sum()} robots fell")
    print(f"aside by at most:      {np.abs(q[..., 1]).max():.2f} m")
    print(f"time to plan:          {times:.1f} ms (95%: {worst:.1f} ms) of {1e3 * period:g} ms\n")


def plot(one: Run, many: Run, path: Path) -> None:
    """Draw one robot and the push, where many go, and how long plans take."""
    plt = program.pyplot()
    figure = plt.figure(figsize=(9, 5))
    grid = figure.add_gridspec(2, 3, height_ratios=(1, 1.6))
    film = figure.add_subplot(grid[0, :])
    above, beside, clock = (figure.add_subplot(grid[1, i]) for i in range(3))
    times = PERIOD * H * np.arange(len(one.q))
    for i, k in enumerate(np.linspace(16, 40, 9).astype(int)):
        q = one.q[k, 0].copy()
        q[0] = 0.0
        jump.draw(film, trot.model, q, 1.1 * i)
        pushed = " push" if PUSHED[0] < times[k] <= PUSHED[1] else ""
        film.text(1.1 * i, -0.35, f"{times[k]:.2f} s{pushed}", ha="center")
    film.set_aspect("equal")
    film.set_axis_off()
    film.set_title(f"a push of {PUSH:g} N to the left for 0.1 s")
    after = round(PUSHED[0] / (PERIOD * H))
    for robot in range(many.q.shape[1]):
        way = many.q[after:, robot] - [trot.SPEED, *np.zeros(18)] * times[after:, None]
        above.plot(way[:, 0], way[:, 1], color="C0", linewidth=0.7, alpha=0.6)
        beside.plot(times, tilt(many.q[:, robot]), color="C0", linewidth=0.7, alpha=0.6)
    above.set(aspect="equal", xlabel="forward (m)", ylabel="to the left (m)")
    above.set_title(f"{many.q.shape[1]} trunks after the push")
    beside.axvspan(*PUSHED, color="C1", alpha=0.3, linewidth=0)
    beside.set(xlabel="time (s)", ylim=(0, None), title="tilt of trunks (degrees)")
    for found, color in ((many, "C0"), (one, "C1")):
        label = f"{found.q.shape[1]} robots" if found is many else "one robot"
        clock.semilogy(times[:-1], 1e3 * found.seconds, ".", color=color, label=label)
    clock.axhline(1e3 * PERIOD * H, color="black", linestyle=":", label="real time")
    clock.set(xlabel="time (s)", ylim=(1, 1e5), title="time to plan (ms)")
    clock.legend(loc="upper left")
    program.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    program.number(parser, "--robots", 64, "how many", 2)
    args = parser.parse_args(arguments)
    runs = [run(robots) for robots in (1, args.robots)]
    for found in runs:
        report(found)
    if args.plot:
        plot(*runs, args.plot)


if __name__ == "__main__":
    main()
