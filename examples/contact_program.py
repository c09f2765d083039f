"""Optimal control with a schedule of contacts for fatrop and IPOPT; see contact_phases.py.

It is direct multiple shooting. A step is a function of the state x = (q, v) and the torques u, and
returns the next state and the forces of the ground. There are three kinds:

    stance     dtau.casadi.step(model, q, v, tau, h, contacts=contacts), with the forces of
               dtau.casadi.constrained_dynamics(model, q, v, tau, contacts)
    flight     dtau.casadi.step(model, q, v, tau, h)
    landing    dtau.casadi.impulse_dynamics(model, q, v, contacts), and then a step of the stance

docs/array_libraries_casadi.md#contact-phases says why they are inlined, and which order of
variables and constraints fatrop asks for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

import dtau
import dtau.casadi

STEP = 0.025  # s
LEGS = slice(6, 18)  # joints of the legs, of both robots: trunk and feet determine them
WAYS = {
    "fatrop": ("fatrop", {}),
    "IPOPT, exact": ("ipopt", {"sb": "yes"}),
    "IPOPT, BFGS": ("ipopt", {"sb": "yes", "hessian_approximation": "limited-memory"}),
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
    v: np.ndarray
    u: np.ndarray  # (steps, nv - 6), in parts of the largest torques
    forces: list[np.ndarray]  # (nrows,) of each step, in parts of the weight


def steps_of(task: Task, step: float, weight: float) -> dict[str, Any]:
    """One `casadi.Function` per kind of step: x, u to the next x, and forces / weight."""
    model = task.model
    x, u = ca.MX.sym("x", model.nq + model.nv), ca.MX.sym("u", model.nv - 6)
    q, before = ca.vertsplit(x, [0, model.nq, model.nq + model.nv])
    tau = ca.vertcat(ca.DM.zeros(6), u * model.effort_limits[6:])
    found = {}
    for kind in set(task.kinds):
        v, forces, contacts = before, ca.MX(0, 1), None
        if kind == "landing":
            v = dtau.casadi.impulse_dynamics(model, q, v, task.contacts).v
        if kind != "flight":
            contacts = task.contacts
            _, forces, _ = dtau.casadi.constrained_dynamics(model, q, v, tau, contacts)
        after = dtau.casadi.step(model, q, v, tau, step, "semi_implicit", contacts=contacts)
        results = [ca.vertcat(*after), forces / weight]
        found[kind] = ca.Function(kind, [x, u], results, {"always_inline": True})
    return found


def solve(task: Task, way: str, step: float = STEP) -> Solution:
    """Write the program stage by stage, and let a solver solve it."""
    began = time.process_time()
    model, count, nq = task.model, len(task.kinds), task.model.nq
    n, still = model.nv, np.zeros(model.nv)
    hold = dtau.constrained_inverse_dynamics(model, task.q[:-1], still, still, task.contacts)
    weight = float(np.linalg.norm(dtau.gravity_torque(model, task.q[0])[:3]))
    functions = steps_of(task, step, weight)
    force = ca.SX.sym("force", task.contacts.nrows)  # scalars, which CasADi differentiates at once
    margins = ca.Function("margins", [force], [task.margins(force)])
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
            opti.subject_to(margins(f) >= 0)
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
    states, inputs = (np.array([found.value(each) for each in rows]) for rows in (x, u))
    return Solution(
        cost=found.value(opti.f),
        iterations=stats["iter_count"],
        build=spent - total,
        functions=inside,
        total=total,
        q=states[:, :nq],
        v=states[:, nq:],
        u=inputs,
        forces=[np.array(found.value(f)).ravel() for f in forces],
    )
