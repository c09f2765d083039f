"""CasADi's solvers with contacts: a quadruped jumps, and a humanoid squats.

Both are direct multiple shooting with a given schedule of contacts. A step is one of three
functions of the state x = (q, v) and the torques u, which return the next state and the forces of
the ground:

    stance     dtau.casadi.constrained_dynamics(model, q, v, tau, contacts)
    flight     dtau.casadi.forward_dynamics(model, q, v, tau)
    landing    dtau.casadi.impulse_dynamics(model, q, v, contacts), and then a step of the stance

Forces have to be possible: the ground only pushes, inside of the friction cone, and of a sole also
inside of its edges. Their derivatives are exact too. Torques keep the limits of the motors.

fatrop exploits the structure of optimal control. CasADi finds it if variables and constraints come
stage by stage: x0, u0, x1, u1, ..., and first the equation of the next state, then what else holds
at the stage. IPOPT solves the same program, with exact Hessians or with BFGS in limited memory.

    python examples/contact_phases.py                    # iterations and times
    python examples/contact_phases.py --plot phases.png  # and the motions (matplotlib)

The humanoid's file comes with the package example-robot-data.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import hop
import humanoid_lqr
import jump
import numpy as np

import dtau
import dtau.casadi

STEP = 0.025  # s
FRICTION, LEAST = 0.6, 0.05  # tangential by normal force; smallest normal force by the weight
LEGS = slice(6, 18)  # joints of the legs, of both robots: trunk and feet determine them
WAYS = {
    "fatrop": ("fatrop", {}),
    "IPOPT, exact": ("ipopt", {}),
    "IPOPT, BFGS": ("ipopt", {"hessian_approximation": "limited-memory"}),
}


@dataclass(frozen=True)
class Task:
    """A motion over steps of given kinds, from rest to rest."""

    title: str
    model: dtau.Model
    contacts: dtau.Contacts
    kinds: list[str]  # "stance", "flight" or "landing", for each step
    q: np.ndarray  # (steps + 1, nq): first guess; its ends are those of the motion
    margins: Callable[[Any], Any]  # at least 0 if the ground can give the forces (nrows)
    waypoint: int  # the step at which `reached` is zero
    reached: Callable[[Any], Any]  # of q


@dataclass(frozen=True)
class Solution:
    """The motion that a solver found; times are CPU times."""

    cost: float
    iterations: int
    build: float  # s: to differentiate the program, and to set up the solver
    functions: float  # s: in the program's functions
    total: float  # s: in the solver, with these functions
    q: np.ndarray  # (steps + 1, nq)
    forces: list[np.ndarray]  # (nrows,) of each step, in parts of the weight


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


def steps_of(task: Task, step: float, weight: float) -> dict[str, Any]:
    """One `casadi.Function` per kind of step: x, u to the next x, and forces / weight."""
    model = task.model
    x, u = ca.MX.sym("x", model.nq + model.nv), ca.MX.sym("u", model.nv - 6)
    q, before = ca.vertsplit(x, [0, model.nq, model.nq + model.nv])
    tau = ca.vertcat(ca.DM.zeros(6), u * model.effort_limits[6:])
    found = {}
    for kind in set(task.kinds):
        v, forces = before, ca.MX(0, 1)
        if kind == "landing":
            v = dtau.casadi.impulse_dynamics(model, q, v, task.contacts).v
        if kind == "flight":
            a = dtau.casadi.forward_dynamics(model, q, v, tau)
        else:
            a, forces, _ = dtau.casadi.constrained_dynamics(model, q, v, tau, task.contacts)
        v = v + step * a
        after = ca.vertcat(dtau.casadi.integrate(model, q, step * v), v)
        found[kind] = ca.Function(kind, [x, u], [after, forces / weight])
    return found


def solve(task: Task, way: str, step: float = STEP) -> Solution:
    """Write the program stage by stage, and let a solver solve it."""
    began = time.process_time()
    model, count, nq = task.model, len(task.kinds), task.model.nq
    n, still = model.nv, np.zeros(model.nv)
    hold = dtau.constrained_inverse_dynamics(model, task.q[:-1], still, still, task.contacts)
    weight = float(np.linalg.norm(dtau.gravity_torque(model, task.q[0])[:3]))
    functions = steps_of(task, step, weight)
    opti = ca.Opti()
    x, u = [opti.variable(nq + n)], []
    for _ in range(count):
        u.append(opti.variable(n - 6))
        x.append(opti.variable(nq + n))

    cost, forces = 0.0, []
    for k, kind in enumerate(task.kinds):
        after, f = functions[kind](x[k], u[k])
        forces.append(f)
        opti.subject_to(x[k + 1] == after)  # first, then the others of the stage
        if k == 0:
            opti.subject_to(x[0] == np.r_[task.q[0], still])
        if k == task.waypoint:
            opti.subject_to(task.reached(x[k][:nq]) == 0)
        opti.subject_to(opti.bounded(-1, u[k], 1))
        if kind != "flight":
            opti.subject_to(task.margins(f) >= 0)
        bent, speed = x[k][7:nq] - task.q[0, 7:], x[k][nq + 6 :]
        cost += step * (ca.sumsqr(u[k]) + 0.5 * ca.sumsqr(bent) + 0.01 * ca.sumsqr(speed))
    trunk = np.delete(np.arange(n), LEGS).tolist()
    left = dtau.casadi.difference(model, task.q[-1], x[-1][:nq])
    opti.subject_to(left[trunk] == 0)
    opti.subject_to(x[-1][nq:][trunk] == 0)
    opti.minimize(cost + 10.0 * ca.sumsqr(x[-1][7:nq] - task.q[-1, 7:]))

    v = np.zeros((count + 1, n))
    v[1:] = dtau.difference(model, task.q[:-1], task.q[1:]) / step
    for k in range(count + 1):
        opti.set_initial(x[k], np.r_[task.q[k], v[k]])
    for k, kind in enumerate(task.kinds):
        opti.set_initial(u[k], (kind != "flight") * hold.tau[k, 6:] / model.effort_limits[6:])
    name, options = WAYS[way]
    detect = {"structure_detection": "auto"} if name == "fatrop" else {}
    quiet = {"print_level": 0, "max_iter": 500, "tol": 1e-6, **options}
    opti.solver(name, {"print_time": False, "record_time": True, **detect}, quiet)
    found = opti.solve()
    spent, stats = time.process_time() - began, opti.stats()
    total = stats["t_proc_total"]
    inside = sum(t for key, t in stats.items() if key.startswith("t_proc_nlp"))
    q = np.array([found.value(each[:nq]) for each in x])
    values = [np.array(found.value(f)).ravel() for f in forces]
    iterations = stats["iter_count"]
    return Solution(found.value(opti.f), iterations, spent - total, inside, total, q, values)


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
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(9, 5.4), layout="constrained")
    grid = figure.add_gridspec(2, 3)
    for row, (task, s) in enumerate(motions):
        film, force = figure.add_subplot(grid[row, :2]), figure.add_subplot(grid[row, 2])
        draw, apart = (jump.draw, 1.0) if len(task.contacts) == 4 else (skeleton, 0.9)
        shown = np.linspace(0, len(task.kinds), 7).round().astype(int)
        for i, k in enumerate(shown):
            draw(film, task.model, s.q[k], apart * i)
            film.text(apart * i, -0.3, f"{step * k:.2f} s", ha="center", fontsize=8)
        film.set_aspect("equal")
        film.set_axis_off()
        film.set_title(task.title, loc="left")
        rows = task.contacts.nrows // len(task.contacts)
        up = [f[2::rows] if len(f) else np.full(len(task.contacts), np.nan) for f in s.forces]
        lines = force.plot(step * np.arange(len(up)), up)
        force.legend(lines, [c.frame.removesuffix("_FOOT") for c in task.contacts], frameon=False)
        force.set_title("force on a foot, up / weight", loc="left")
        force.set_ylim(0.0, None)
        force.spines[["top", "right"]].set_visible(False)
        force.grid(alpha=0.3)
    force.set_xlabel("time (s)")
    figure.savefig(path, dpi=90)
    print(f"\nwritten: {path}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="steps of 0.05 s, and no BFGS")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it (matplotlib)")
    args = parser.parse_args(arguments)
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
