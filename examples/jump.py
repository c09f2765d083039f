"""iLQR against exact DDP with contacts: a quadruped jumps forward and turns by a right angle.

The task is that of hop.py with another goal: four feet stand, all are in the air, four feet stand
again, with a mask of contacts for each step, an impact at touch-down, and costs on forces that the
ground cannot give. iLQR needs first derivatives of all of this. Exact DDP needs second ones too, of

    the steps                  dtau.step_hessian(..., contacts=feet, active=active)
    the forces in the cost     dtau.constrained_dynamics_hessian(..., feet, lam, lam_forces)
    the impact                 dtau.impulse_dynamics_hessian(..., feet, lam, none)
    the heights of the feet    dtau.frame_jacobians_derivatives(model, q, feet, symmetric=True)

The solver is that of ddp.py: where the exact quadratic problem has no minimum, far from a solution,
an iteration is one of iLQR. So both methods begin alike. Near the solution iLQR gains about as much
in every iteration, and exact DDP is done after a few.

    python examples/jump.py                  # iterations and times of both
    python examples/jump.py --plot jump.png  # and a picture (matplotlib)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import ddp
import ddp_convergence as convergence
import hop
import numpy as np
import program

import dtau

CONVERGED = 1e-8  # largest entry of the gradient; below 1e-9 it is rounding errors
VIEW = np.array([[0.85, -0.5, 0.0], [0.15, 0.25, 0.95]])  # of the picture: from the right and above


def jump(forward: float = 0.4, turn: float = np.pi / 2, step: float = 0.01) -> hop.Hop:
    """From rest to rest, so many meters along x, and turned by this angle to the left."""
    task = hop.hop(0.15, step)
    model, goal, apex = task.model, task.goal.copy(), sum(hop.flight(task)) // 2
    for row, part in ((goal[apex], 0.5), (goal[-1], 1.0)):
        row[0] += part * forward
        row[:] = dtau.integrate(model, row, part * turn * (np.arange(model.nv) == 5))
    goal[apex + 1 :] = goal[-1]
    title = f"a quadruped jumps {forward:g} m and turns by {np.rad2deg(turn):.0f} degrees"
    return replace(task, title=title, goal=goal, input_cost=3e-4)


def exact_hessians(task: hop.Hop, at: ddp.Trajectory, e: ddp.Expansion) -> np.ndarray:
    """Hessians of the cost plus costates times the next state: nothing is dropped."""
    model, h, n, k = task.model, task.step, task.model.nv, task.landing
    states = (model, at.q[:-1], hop.after_landing(task, at.q, at.v), at.u @ task.drive.T)
    held = {"contacts": task.contacts, "active": task.active}
    lam_q, lam_v = e.costates[1:, :n], e.costates[1:, n:]
    bends = dtau.step_hessian(*states, h, lam_q, lam_v, "semi_implicit", inputs=task.drive, **held)

    # Costs on forces: second derivatives of the forces, and of the length of a tangential force
    f = hop.forces(task, at.q, at.v, at.u)
    beyond, by_f = hop.beyond(task.active, f)
    lam_forces = h * hop.FORCE_COST * np.einsum("kfr,kfri->kfi", beyond, by_f).reshape(len(f), -1)
    lam = np.zeros(n)
    bend = dtau.constrained_dynamics_hessian(
        *states, task.contacts, lam, lam_forces, active=task.active, symmetric=True
    )
    dqdv, dudq, none = bend.dqdv, task.drive.T @ bend.dtaudq, np.zeros((len(f), 12, 12 + n))
    rows = [
        np.concatenate([bend.dqdq, dqdv, ddp.transposed(dudq)], axis=-1),
        np.concatenate([ddp.transposed(dqdv), bend.dvdv, ddp.transposed(none[..., 12:])], axis=-1),
        np.concatenate([dudq, none], axis=-1),
    ]
    bends += np.concatenate(rows, axis=-2)
    d = dtau.constrained_dynamics_derivatives(*states, **held)
    by_z = np.concatenate([d.dforces_dq, d.dforces_dv, d.dforces_dtau @ task.drive], axis=-1)
    side = np.linalg.norm(f[..., :2], axis=-1, keepdims=True) + 1e-9
    across = np.stack([-f[..., 1], f[..., 0]], axis=-1) / side
    turning = np.einsum("kfi,kfij->kfj", across, by_z.reshape(*f.shape, -1)[:, :, :2])
    weights = h * hop.FORCE_COST * beyond[..., 1:] / side
    bends += ddp.transposed(turning) @ (weights * turning)

    # The impact before a step
    hit = dtau.impulse_dynamics_derivatives(model, at.q[k], at.v[k], task.contacts)
    impact = np.eye(bends.shape[-1])
    impact[n : 2 * n, : 2 * n] = np.hstack([hit.dv_dq, hit.dv_dv])
    after = (model, *(x[k] for x in states[1:]))
    feet = task.contacts
    by_v = dtau.step_vjp(*after, h, lam_q[k], lam_v[k], "semi_implicit", contacts=feet).by_v
    by_v = by_v + dtau.constrained_dynamics_vjp(*after, feet, lam, lam_forces[k]).by_v
    before = (model, at.q[k], at.v[k])
    bend = dtau.impulse_dynamics_hessian(*before, feet, by_v, np.zeros(12), symmetric=True)
    bends[k] = impact.T @ bends[k] @ impact
    bends[k, :n, : 2 * n] += np.hstack([bend.dqdq, bend.dqdv])
    bends[k, n : 2 * n, :n] += bend.dqdv.T

    # The cost of states, whose x = difference(goal, q) is bent too, and of the feet's heights
    total = e.hessians.copy()
    total[:-1] += bends
    weights = np.vstack([h * task.way_cost, task.end_cost])[:, :n]
    x = ddp.errors(task, at.q, at.v)
    total[:, :6, :6] += ddp.logarithm_bends(x, weights * x[:, :n])
    lifts = dtau.frame_jacobians_derivatives(model, at.q[k], hop.FEET, "mixed", symmetric=True)
    total[k, :n, :n] += hop.PLACE_COST * np.tensordot(hop.heights(task, at.q[k]), lifts[:, 2], 1)
    return total


def draw(axes, model: dtau.Model, q: np.ndarray, place: float) -> None:
    """Draw trunk and legs as the picture sees them; right legs are blue."""
    hips = []
    for leg, color in (("LF", "0.6"), ("LH", "0.6"), ("RH", "C0"), ("RF", "C0")):
        parts = [f"{leg}_{part}" for part in ("HIP", "THIGH", "SHANK", "FOOT")]
        points = dtau.frame_placements(model, q, parts).translation @ VIEW.T + [place, 0]
        axes.plot(*points.T, color=color, linewidth=2, zorder=1 if color == "0.6" else 3)
        hips.append(points[0])
    axes.fill(*np.array(hips).T, color="C1", linewidth=3, zorder=2)


def plot(
    task: hop.Hop, records: dict[bool, convergence.Record], at: ddp.Trajectory, path: Path
) -> None:
    """Draw the jump, forces over time, and both costs over iterations and time."""
    plt = program.pyplot()
    figure = plt.figure(figsize=(9, 5.4))
    grid = figure.add_gridspec(2, 3, height_ratios=(1, 1.3))
    film = figure.add_subplot(grid[0, :])
    force, course, clock = (figure.add_subplot(grid[1, i]) for i in range(3))
    (leaving, landing), time = hop.flight(task), task.step * np.arange(len(at.q))
    lowest = [int(x.argmin()) for x in (at.q[:leaving, 2], at.q[landing:, 2])]
    apex = (leaving + landing) // 2
    for i, k in enumerate((0, lowest[0], leaving, apex, landing, landing + lowest[1], -1)):
        draw(film, task.model, at.q[k], 1.2 * i)
        film.text(1.2 * i, -0.35, f"{time[k]:.2f} s", ha="center")
    film.set_aspect("equal")
    film.set_axis_off()
    film.set_title(task.title)

    up = hop.forces(task, at.q, at.v, at.u)[..., 2]
    for foot, values in zip(hop.FEET, np.where(task.active > 0.0, up, np.nan).T, strict=True):
        style = {"color": "C0" if foot[0] == "L" else "C1", "label": foot[:2]}
        force.plot(time[:-1], values, linestyle="-" if foot[1] == "F" else "--", **style)
    force.axvspan(time[leaving], time[landing], color="0.9", linewidth=0)
    force.set(xlabel="time (s)", ylim=(0, None), title="force on a foot, up (N)")
    force.legend(ncols=2, loc="lower right")
    for exact, record in records.items():
        style = {
            "color": "C1" if exact else "C0",
            "marker": ".",
            "label": convergence.METHODS[exact],
        }
        course.semilogy(record.gradient, **style)
        clock.semilogy(record.seconds, record.gradient, **style)
    course.set(xlabel="iteration", title="largest entry of the gradient")
    clock.set_xlabel("time (s)")
    clock.legend()
    program.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    parser.add_argument("--step", type=float, default=0.01, metavar="S", help="default: 0.01")
    args = parser.parse_args(arguments)
    if not 0.0 < args.step <= 0.02:
        parser.error(f"--step: expected at most 0.02 s, above 0, got {args.step}")
    task = jump(step=args.step)
    solver = (hop.simulate, hop.expand, exact_hessians, CONVERGED)
    records = {exact: ddp.solve(task, exact, 200, *solver) for exact in (False, True)}
    convergence.report(task, records)
    if args.plot:
        plot(task, records, hop.simulate(task, records[True].inputs), args.plot)


if __name__ == "__main__":
    main()
