"""CasADi's solvers with contacts: a quadruped jumps, and a humanoid squats.

The quadruped stands, flies and stands again. The humanoid stands on two soles, and its pelvis is
0.2 m lower half-way. Forces have to be possible: the ground only pushes, inside of the friction
cone, and of a sole also inside of its edges. Their derivatives are exact too. Torques keep the
limits of the motors. contact_program.py writes the program.

fatrop takes exact Hessians only. IPOPT solves the same program with exact Hessians, and with BFGS
in limited memory.

    python examples/contact_phases.py                    # iterations and times
    python examples/contact_phases.py --plot phases.png  # and the motions (matplotlib)

The humanoid's file comes with the package example-robot-data.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import hop
import humanoid_lqr
import jump
import numpy as np
import program
from contact_program import STEP, WAYS, Solution, Task, solve

import dtau
import dtau.casadi

FRICTION, LEAST = 0.6, 0.05  # tangential by normal force; smallest normal force by the weight


def jumping(step: float = STEP) -> Task:
    """Stance, flight, stance; 0.4 m forward, and a turn by a right angle."""
    model = dtau.robots.quadruped()
    start = hop.crouch(model)
    points = [dtau.PointContact(foot, axes="mixed", kd=1.0 / step) for foot in hop.FEET]
    leaving, landing, steps = (round(t / step) for t in np.cumsum([0.4, 0.35, 0.45]))
    kinds = ["stance"] * leaving + ["flight"] * (landing - leaving)
    kinds += ["landing"] + ["stance"] * (steps - landing - 1)
    part = np.clip((np.arange(steps + 1) - leaving) / (landing - leaving), 0.0, 1.0)
    goal = start + 0.4 * (np.arange(model.nq) == 0)
    goal = dtau.integrate(model, goal, 0.5 * np.pi * (np.arange(model.nv) == 5))
    q = dtau.integrate(model, start, part[:, None] * dtau.difference(model, start, goal))
    q[:, 2] += 0.6 * part * (1.0 - part)

    def margins(forces: Any) -> Any:
        f = ca.reshape(forces, 3, len(points)).T
        return ca.veccat(f[:, 2] - LEAST, (FRICTION * f[:, 2]) ** 2 - f[:, 0] ** 2 - f[:, 1] ** 2)

    def heights(q: Any) -> Any:
        return dtau.casadi.frame_placements(model, q, hop.FEET).translation[:, 2]

    contacts = dtau.Contacts(model, points)
    title = "a quadruped jumps 0.4 m and turns"
    return Task(title, model, contacts, kinds, q, margins, landing, heights)


def squatting(step: float = STEP) -> Task:
    """G1 stands on two soles, lowers its pelvis by 0.2 m and rises, within a second."""
    at = humanoid_lqr.standing()
    steps = round(1.0 / step)

    def margins(forces: Any) -> Any:
        f, moment = ca.vertsplit(ca.reshape(forces, 6, 2), [0, 3, 6])
        (back, front), (right, left) = humanoid_lqr.SOLE
        up, x, y = f[2, :], -moment[1, :], moment[0, :]  # x and y: pressure times force
        edges = [x - back * up, front * up - x, y - right * up, left * up - y]
        cone = (FRICTION * up) ** 2 - f[0, :] ** 2 - f[1, :] ** 2
        return ca.veccat(up - LEAST, cone, *(10.0 * edge for edge in edges))

    def lowered(q: Any) -> Any:
        return q[2] - (at.q[2] - 0.2)

    deeper = 0.54 * np.sin(np.pi * np.arange(steps + 1) / steps) ** 2
    q = np.tile(at.q, (steps + 1, 1))
    for side in ("left", "right"):
        for joint, ratio in (("hip_pitch", -1.0), ("knee", 2.0), ("ankle_pitch", -1.0)):
            q[:, at.model.joint(f"{side}_{joint}_joint").q.start] += ratio * deeper
    sole = dtau.frame_placements(at.model, q, "left_sole").translation
    q[:, :3] += sole[0] - sole  # soles stay where they are
    title = "a humanoid squats by 0.2 m"
    kinds = ["stance"] * steps
    return Task(title, at.model, at.contacts, kinds, q, margins, steps // 2, lowered)


def report(task: Task, solutions: dict[str, Solution]) -> None:
    """Print what each solver took."""
    print(f"{task.title}, {len(task.kinds)} steps (CPU time)")
    print(f"{'':14} {'cost':>8} {'iterations':>10} {'to build':>9} {'an iteration':>13}  functions")
    for way, s in solutions.items():
        each, inside = (1e3 * t / s.iterations for t in (s.total, s.functions))
        print(f"{way:14} {s.cost:8.5f} {s.iterations:10d} {s.build:7.2f} s", end="")
        print(f" {each:10.1f} ms {inside:7.1f} ms")


def skeleton(axes: Any, model: dtau.Model, q: np.ndarray, place: float) -> None:
    """Draw lines between joints, as the picture of jump.py sees them; the right side is blue."""
    frames = [*model.bodies, "left_sole", "right_sole"]
    points = dtau.frame_placements(model, q, frames).translation @ jump.VIEW.T + [place, 0]
    lines = [(joint.parent, joint.body) for joint in model.joints if joint.parent >= 0]
    lines += [(model.frame(frames[k]).body, k) for k in (-2, -1)]
    for line in lines:
        name = frames[line[1]]
        color = "C0" if "right" in name else "0.6" if "left" in name else "C1"
        axes.plot(*points[list(line)].T, color=color, linewidth=2.5, solid_capstyle="round")


def plot(motions: list[tuple[Task, Solution]], step: float, path: Path) -> None:
    """Draw both motions, and the normal forces of the feet."""
    plt = program.pyplot()
    figure = plt.figure(figsize=(10, 5))
    grid = figure.add_gridspec(2, 4)
    for row, (task, s) in enumerate(motions):
        film, force = figure.add_subplot(grid[row, :3]), figure.add_subplot(grid[row, 3])
        draw, apart = (skeleton, 0.7) if "left_sole" in task.model.frames else (jump.draw, 0.95)
        shown = np.linspace(0, len(task.kinds), 6 + row).round().astype(int)
        for i, k in enumerate(shown):
            draw(film, task.model, s.q[k], apart * i)
            film.text(apart * i, -0.3, f"{step * k:.2f} s", ha="center", fontsize=8)
        film.set_aspect("equal")
        film.set_axis_off()
        film.set_title(task.title)
        rows = task.contacts.nrows // len(task.contacts)
        up = [f[2::rows] if len(f) else np.full(len(task.contacts), np.nan) for f in s.forces]
        lines = force.plot(step * np.arange(len(up)), up)
        lines[-1].set_linestyle("--")
        force.legend(lines, [c.frame.removesuffix("_FOOT") for c in task.contacts])
        force.set(title="force on a foot, up (weights)", ylim=(0.0, None))
    force.set_xlabel("time (s)")
    program.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    parser.add_argument("--short", action="store_true", help="steps of 0.05 s, and no BFGS")
    args = parser.parse_args(arguments)
    ca.GlobalOptions.setMaxNumDir(128)  # directions at once: all of a stage's x and u
    step = 2.0 * STEP if args.short else STEP
    ways = list(WAYS)[:2] if args.short else list(WAYS)
    motions = []
    for make in (jumping, squatting):
        task = make(step)
        solutions = {way: solve(task, way, step) for way in ways}
        report(task, solutions)
        motions.append((task, solutions["fatrop"]))
    if args.plot:
        plot(motions, step, args.plot)


if __name__ == "__main__":
    main()
