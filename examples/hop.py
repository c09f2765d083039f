"""A quadruped squats and hops: iLQR with a schedule of contacts, and an impact at touch-down.

Four feet stand, all are in the air, four feet stand again. When is given in advance, by a mask for
each step:

    dtau.linearize_discrete(model, q, v, tau, h, "semi_implicit", contacts=feet, active=active)

Shapes do not depend on it, so that one call expands all steps, in the air and on the ground. At
touch-down `dtau.impulse_dynamics` takes the feet's velocities away; its derivatives are part of A
there. The goal: half-way through the flight the trunk is so much higher than it stands, and at the
end the robot stands at rest where it stood. That it squats for that comes out.

What the ground cannot do, pull and hold what slips, and torques beyond those of the motors have a
cost that is zero within the limits. Of forces it needs `dforces_dq`, `dforces_dv`, `dforces_dtau`.

The backward sweep, the search along it and its damping are those of ddp.py.

    python examples/hop.py                  # a hop of 0.15 m
    python examples/hop.py --height 0.1     # a lower one
    python examples/hop.py --plot hop.png   # and a picture of it (matplotlib)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import ddp
import ddp_convergence as convergence
import ddp_tasks as tasks
import numpy as np
import program

import dtau

FEET = dtau.robots.QUADRUPED_FEET
HIGHEST = 0.2  # m: to higher hops the first guess, which does not hop, does not lead
STAND, LAND = 0.5, 0.6  # s: on the ground before and after the flight
FRICTION, LEAST = 0.6, 20.0  # tangential by normal force; N: normal force that is wanted at least
PLACE_COST = 1e5  # of squared meters: heights of the feet when they touch down
FORCE_COST, TORQUE_COST = 1e-2, 1e-1  # of squared newtons and newton meters beyond limits


@dataclass(frozen=True)
class Hop(tasks.Task):
    """A task with contacts; `goal` and `way_cost` have a row for each step."""

    contacts: dtau.Contacts
    active: np.ndarray  # (steps, 4)
    landing: int  # the step before which the feet touch down


def crouch(model: dtau.Model) -> np.ndarray:
    """Four bent legs, feet on the ground."""
    angles = {}
    for leg in ("LF", "RF", "LH", "RH"):
        bend = 0.7 if leg.endswith("F") else -0.7
        angles |= {f"{leg}_HFE": bend, f"{leg}_KFE": -2 * bend}
    q = dtau.configuration(model, angles)
    q[2] -= dtau.frame_placements(model, q, FEET[0]).translation[2]
    return q


def hop(height: float = 0.15, step: float = 0.01) -> Hop:
    """From rest to rest, the trunk so much higher in between."""
    model = dtau.robots.quadruped()
    n, start = model.nv, crouch(model)
    points = [dtau.PointContact(foot, axes="mixed", kd=50.0) for foot in FEET]
    contacts = dtau.Contacts(model, points)
    flight = 2.0 * np.sqrt(2.0 * height / 9.81)  # of a stone
    leaving, landing, steps = (round(t / step) for t in np.cumsum([STAND, flight, LAND]))
    active = np.ones((steps, 4))
    active[leaving:landing] = 0.0

    goals, apex = np.tile(start, (steps + 1, 1)), (leaving + landing) // 2
    goals[apex, 2] += height
    turning, joints = np.arange(n) // 3 == 1, np.arange(n) >= 6
    weights = np.tile(np.concatenate([10.0 * turning + 0.5 * joints, 1e-3 * joints]), (steps, 1))
    weights[apex, 2] = 1e4 / step

    still = np.zeros(n)
    hold = dtau.constrained_inverse_dynamics(model, start, still, still, contacts)
    task = Hop(
        title=f"a quadruped hops {height:g} m",
        model=model,
        step=step,
        start=start,
        goal=goals,
        drive=np.eye(n)[:, 6:],
        guess=active[:, :1] * hold.tau[6:],
        input_cost=1e-4,
        way_cost=weights,
        end_cost=np.repeat([1e3, 10.0], n),
        contacts=contacts,
        active=active,
        landing=landing,
    )
    # The first guess does not hop: springs hold the legs as they are, in the air too
    springs = np.hstack([-60.0 * task.drive.T, -2.0 * task.drive.T])
    rest = ddp.Trajectory(
        np.tile(start, (steps, 1)), np.zeros((steps, n)), task.guess, np.zeros(())
    )
    return replace(task, guess=simulate(task, task.guess, rest, [springs] * steps).u)


def advance(
    task: Hop, k: int, q: np.ndarray, v: np.ndarray, tau: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The state after step k, which may begin with an impact."""
    if k == task.landing:
        v = dtau.impulse_dynamics(task.model, q, v, task.contacts).v
    now = task.model, q, v, tau, task.step, "semi_implicit"
    return dtau.step(*now, contacts=task.contacts, active=task.active[k])


def after_landing(task: Hop, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities (..., steps, nv) with which the steps begin."""
    v = v[..., :-1, :].copy()
    k = task.landing
    v[..., k, :] = dtau.impulse_dynamics(task.model, q[..., k, :], v[..., k, :], task.contacts).v
    return v


def forces(task: Hop, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Forces (..., steps, 4, 3) of the ground, along the world's axes."""
    v, tau = after_landing(task, q, v), u @ task.drive.T
    found = dtau.constrained_dynamics(
        task.model, q[..., :-1, :], v, tau, task.contacts, active=task.active
    )
    return found.forces.reshape(*u.shape[:-1], 4, 3)


def beyond(active: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much forces are too small and slip, (..., 4, 2), and the Jacobian (..., 4, 2, 3)."""
    side = np.linalg.norm(f[..., :2], axis=-1)
    pulls = active * np.minimum(f[..., 2] - LEAST, 0.0)
    slips = active * np.maximum(side - FRICTION * f[..., 2], 0.0)
    jacobian = np.zeros((*f.shape[:-1], 2, 3))
    jacobian[..., 0, 2] = pulls < 0.0
    jacobian[..., 1, :2] = f[..., :2] / np.maximum(side, 1e-9)[..., None]
    jacobian[..., 1, 2] = -FRICTION
    jacobian[..., 1, :] *= (slips > 0.0)[..., None]
    return np.stack([pulls, slips], axis=-1), jacobian


def too_strong(model: dtau.Model, u: np.ndarray) -> np.ndarray:
    """By how much torques are beyond the motors'."""
    limits = model.effort_limits[6:]
    return u - np.clip(u, -limits, limits)


def heights(task: Hop, q: np.ndarray) -> np.ndarray:
    return dtau.frame_placements(task.model, q, FEET).translation[..., 2]


def cost(task: Hop, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Of trajectories, leading axes are a batch."""
    x = ddp.errors(task, q, v) ** 2
    on_the_way = (
        (task.way_cost * x[..., :-1, :]).sum((-1, -2))
        + task.input_cost * (u**2).sum((-1, -2))
        + FORCE_COST * (beyond(task.active, forces(task, q, v, u))[0] ** 2).sum((-1, -2, -3))
        + TORQUE_COST * (too_strong(task.model, u) ** 2).sum((-1, -2))
    )
    at_landing = PLACE_COST * (heights(task, q[..., task.landing, :]) ** 2).sum(-1)
    return np.asarray(0.5 * (task.step * on_the_way + at_landing + x[..., -1, :] @ task.end_cost))


simulate = partial(ddp.simulate, advance=advance, cost=cost)


def expand(task: Hop, at: ddp.Trajectory) -> ddp.Expansion:
    """Expand as ddp.py does, with Gauss and Newton's Hessians of the cost."""
    model, h, n, landing = task.model, task.step, task.model.nv, task.landing
    steps, nu = at.u.shape

    # An impact, if there is one, and the step
    v, tau = after_landing(task, at.q, at.v), at.u @ task.drive.T
    contacts = {"contacts": task.contacts, "active": task.active}
    impact = np.tile(np.eye(2 * n + nu), (steps, 1, 1))
    hit = dtau.impulse_dynamics_derivatives(model, at.q[landing], at.v[landing], task.contacts)
    impact[landing, n : 2 * n, : 2 * n] = np.hstack([hit.dv_dq, hit.dv_dv])
    lin = dtau.linearize_discrete(
        model, at.q[:-1], v, tau, h, "semi_implicit", inputs=task.drive, **contacts
    )
    jacobians = np.concatenate([lin.A, lin.B], axis=-1) @ impact
    d = dtau.constrained_dynamics_derivatives(model, at.q[:-1], v, tau, **contacts)
    by_forces = [d.dforces_dq, d.dforces_dv, d.dforces_dtau @ task.drive]
    by_forces = (np.concatenate(by_forces, axis=-1) @ impact).reshape(steps, 4, 3, -1)

    # The cost of states and inputs
    weights = np.vstack([h * task.way_cost, task.end_cost])
    x, strong = ddp.errors(task, at.q, at.v), too_strong(task.model, at.u)
    to_x = np.tile(np.eye(2 * n), (steps + 1, 1, 1))
    to_x[:, :n, :n] = dtau.difference_jacobians(model, task.goal, at.q).by_q1
    slopes = np.zeros((steps + 1, 2 * n + nu))
    hessians = np.zeros((steps + 1, 2 * n + nu, 2 * n + nu))
    slopes[:, : 2 * n] = np.einsum("ki,kij->kj", weights * x, to_x)
    hessians[:, : 2 * n, : 2 * n] = ddp.transposed(to_x) @ (weights[:, :, None] * to_x)
    slopes[:-1, 2 * n :] = h * (task.input_cost * at.u + TORQUE_COST * strong)
    by_torques = h * (task.input_cost + TORQUE_COST * (strong != 0.0))
    hessians[:-1, 2 * n :, 2 * n :] = by_torques[:, :, None] * np.eye(nu)

    # Of forces, and of where the feet touch down
    residuals, by_f = beyond(task.active, forces(task, at.q, at.v, at.u))
    jacobian = np.einsum("kfri,kfij->kfrj", by_f, by_forces).reshape(steps, 8, -1)
    slopes[:-1] += h * FORCE_COST * np.einsum("kr,krj->kj", residuals.reshape(steps, 8), jacobian)
    hessians[:-1] += h * FORCE_COST * ddp.transposed(jacobian) @ jacobian
    lifted = dtau.frame_jacobians(model, at.q[landing], FEET, "mixed")[:, 2]
    slopes[landing, :n] += PLACE_COST * heights(task, at.q[landing]) @ lifted
    hessians[landing, :n, :n] += PLACE_COST * lifted.T @ lifted
    return ddp.Expansion(jacobians, slopes, hessians, *ddp.carried_back(jacobians, slopes))


def report(task: Hop, record: convergence.Record, at: ddp.Trajectory) -> None:
    """Print what came out."""
    f, on = forces(task, at.q, at.v, at.u), task.active > 0
    k = task.landing
    hit = dtau.impulse_dynamics(task.model, at.q[k], at.v[k], task.contacts)
    feet = dtau.frame_placements(task.model, at.q, FEET).translation
    air = np.flatnonzero(~on[:, 0])[1:]
    side = np.linalg.norm(f[on][:, :2], axis=-1)
    slip = max(np.ptp(feet[: air[0]], axis=0).max(), np.ptp(feet[k:], axis=0).max())
    print(f"{task.title}: {len(at.u)} steps, {len(record.cost) - 1} iterations")
    print(f"cost:                     {record.cost[0]:.4g} -> {record.cost[-1]:.4g}")
    print(f"gradient, largest entry:  {record.gradient[-1]:.1e}")
    print(f"trunk:                    {100 * at.q[0, 2]:.1f} cm high; before it leaves the ground")
    print(
        f"                          down to {100 * at.q[: air[0], 2].min():.1f} cm, then up to",
        end=" ",
    )
    print(f"{100 * at.q[:, 2].max():.1f} cm")
    print(f"feet in the air:          up to {100 * feet[air, :, 2].max():.1f} cm")
    print(f"feet at touch-down:       {1e3 * np.abs(feet[k, :, 2]).max():.2f} mm from the ground")
    print(f"feet on the ground:       move by {1e3 * slip:.2f} mm")
    print(f"impulses of the impact:   {hit.impulses[2::3].round(2)} N s upwards")
    print(f"forces of the ground:     {f[on][:, 2].min():.0f} to {f[on][:, 2].max():.0f} N upwards")
    print(f"friction that it needs:   {(side / f[on][:, 2]).max():.2f}")
    print(f"torques:                  up to {np.abs(at.u).max():.1f} N m")
    rest = dtau.difference(task.model, task.start, at.q[-1])
    print(f"at the end:               {np.abs(rest).max():.1e} m or rad from the start")


def plot(task: Hop, record: convergence.Record, at: ddp.Trajectory, path: Path) -> None:
    """Draw the robot, heights and forces over time, and the cost over iterations."""
    plt = program.pyplot()
    time, (leaving, landing) = task.step * np.arange(len(at.q)), flight(task)
    figure = plt.figure(figsize=(9, 4.8))
    grid = figure.add_gridspec(2, 3, height_ratios=(1, 1.7))
    film = figure.add_subplot(grid[0, :])
    lowest = [int(x.argmin()) for x in (at.q[:leaving, 2], at.q[landing:, 2])]
    apex = (leaving + landing) // 2
    shown = [0, lowest[0], leaving, apex, landing, landing + lowest[1], len(at.q) - 1]
    for i, k in enumerate(shown):
        side_view(film, task, at.q[k], 1.1 * i)
        film.text(1.1 * i, -0.15, f"{time[k]:.2f} s", ha="center")
    film.axhline(0.0, color="black", linewidth=0.8)
    film.set_aspect("equal")
    film.set_axis_off()

    height, force, course = (figure.add_subplot(grid[1, i]) for i in range(3))
    height.plot(time, at.q[:, 2], label="trunk")
    height.plot(time, heights(task, at.q)[:, 0], label="a foot")
    height.set_title("height (m)")
    height.legend()
    up = forces(task, at.q, at.v, at.u)[:, 0, 2]
    force.plot(time[:-1], np.where(task.active[:, 0] > 0.0, up, np.nan))
    force.set_title("force of the ground on a foot (N)")
    for axes in (height, force):
        axes.set_ylim(bottom=0.0)
        axes.axvspan(time[leaving], time[landing], color="0.9", linewidth=0)
        axes.set_xlabel("time (s)")
    course.semilogy(record.gradient, marker=".")
    course.set(title="largest entry of the gradient", xlabel="iteration")
    program.save(figure, path)


def flight(task: Hop) -> tuple[int, int]:
    """The first step in the air, and the first one after it."""
    return int((task.active[:, 0] == 0.0).argmax()), task.landing


def side_view(axes, task: Hop, q: np.ndarray, across: float) -> None:
    """Draw trunk and legs, seen from the right."""
    hips = []
    for leg, shade in (("LF", "0.7"), ("LH", "0.7"), ("RF", "C0"), ("RH", "C0")):
        parts = [f"{leg}_{part}" for part in ("HIP", "THIGH", "SHANK", "FOOT")]
        points = dtau.frame_placements(task.model, q, parts).translation
        axes.plot(across + points[:, 0], points[:, 2], color=shade, linewidth=2)
        hips.append(points[0])
    box = np.array(hips)
    axes.plot(across + box[2:, 0], box[2:, 2], color="C3", linewidth=4, solid_capstyle="round")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    parser.add_argument("--height", type=float, default=0.15, metavar="M", help="default: 0.15")
    parser.add_argument("--step", type=float, default=0.01, metavar="S", help="default: 0.01")
    program.number(parser, "--iterations", 60, "at most so many")
    args = parser.parse_args(arguments)
    if not 0.0 < args.height <= HIGHEST:
        parser.error(f"--height: expected at most {HIGHEST:g} m, above 0, got {args.height}")
    if not args.step > 0.0:
        parser.error(f"--step: expected a number above 0, got {args.step}")
    task = hop(args.height, args.step)
    record = ddp.solve(task, False, args.iterations, simulate, expand)
    at = simulate(task, record.inputs)
    report(task, record, at)
    if args.plot:
        plot(task, record, at, args.plot)


if __name__ == "__main__":
    main()
