"""Plans of a trotting quadruped by iLQR over 50 knots, for one robot or for many; see trot_mpc.py.

Diagonal pairs of feet stand in turns, by a mask of contacts for each knot. The gain kd = 1/h of a
contact stops a foot within the step in which it touches down. Arrays have the axes (robots, knots,
...), and each call takes all robots at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import ddp
import hop
import numpy as np

import dtau

KNOTS, H = 50, 0.025  # of a plan, seconds between them
STANCE = 10  # knots that a pair of feet stands
SPEED, LIFT = 0.4, 0.08  # m/s forward; m: height of swinging feet
TRIALS = np.array([1.0, 0.5, 0.25, 0.0])  # step lengths
FEET = dtau.robots.QUADRUPED_FEET
INPUT_COST, FOOT_COST = 3e-3, np.array([20.0, 20.0, 2e3])  # of N² m², and of m²
STATE_COST = np.repeat([10.0, 500.0, 100.0, 1.0, 20.0, 2.0, 0.01], [2, 1, 3, 12, 3, 3, 12])


@dataclass(frozen=True)
class Plan:
    """States at knots, inputs and gains between them; axes are (robots, knots, ...)."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    gains: np.ndarray


@dataclass(frozen=True)
class Gait:
    """Contacts at each knot, and goals of trunk and feet, relative to the trunk."""

    active: np.ndarray  # (knots, 4)
    goal: np.ndarray  # (knots + 1, nq)
    feet: np.ndarray  # (knots, 4, 3)


model = dtau.robots.quadruped()
stand = hop.crouch(model)
drive = np.eye(model.nv)[:, 6:]
held = dtau.Contacts(model, [dtau.PointContact(foot, axes="mixed", kd=1.0 / H) for foot in FEET])
speed = SPEED * (np.arange(model.nv) == 0)


def gait(first: int, count: int = KNOTS) -> Gait:
    """A trot from a knot on."""
    k = first + np.arange(count + 1)
    goal = stand + np.outer(SPEED * H * k, np.arange(model.nq) == 0)
    part = ((k[:-1, None] + STANCE * np.array([0, 1, 1, 0])) % (2 * STANCE)) / STANCE
    active, swing = part < 1.0, np.maximum(part - 1.0, 0.0)
    feet = np.tile(dtau.frame_placements(model, stand, FEET).translation, (count, 1, 1))
    along = np.where(active, 1.0 - 2.0 * part, -np.cos(np.pi * swing))
    feet[..., 0] += 0.5 * SPEED * H * STANCE * along
    feet[..., 2] = LIFT * np.sin(np.pi * swing)
    return Gait(active.astype(float), goal, feet)


def state_errors(g: Gait, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.concatenate([dtau.difference(model, g.goal, q), v - speed], axis=-1)


def foot_errors(g: Gait, q: np.ndarray) -> np.ndarray:
    """Of swinging feet, (..., knots, 4, 3); sideways and forward relative to the trunk."""
    trunk = q[..., :-1, None, :3] * [1.0, 1.0, 0.0]
    away = dtau.frame_placements(model, q[..., :-1, :], FEET).translation - trunk - g.feet
    return (1.0 - g.active)[..., None] * away


def cost(g: Gait, q: np.ndarray, v: np.ndarray, u: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Of plans, leading axes are a batch."""
    x = state_errors(g, q, v) ** 2 @ STATE_COST
    on_the_way = (
        x[..., :-1].sum(-1)
        + (foot_errors(g, q) ** 2 @ FOOT_COST).sum((-1, -2))
        + INPUT_COST * (u**2).sum((-1, -2))
        + hop.TORQUE_COST * (hop.too_strong(model, u) ** 2).sum((-1, -2))
        + hop.FORCE_COST * (hop.beyond(g.active, f)[0] ** 2).sum((-1, -2, -3))
    )
    return 0.5 * (H * on_the_way + x[..., -1])


def inputs(plan: Plan, k: int, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Inputs of a plan at a knot, with its gains on the distance from it."""
    away = [dtau.difference(model, plan.q[:, k], q), v - plan.v[:, k]]
    return plan.u[:, k] + np.einsum("rij,...rj->...ri", plan.gains[:, k], np.concatenate(away, -1))


def follow(
    g: Gait,
    plan: Plan,
    q: np.ndarray,
    v: np.ndarray,
    knots: int = KNOTS,
    changes: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Roll a plan out from states (robots, ...), with several changes of its inputs at once."""
    states, us = [(q, v)], []
    for k in range(knots):
        u = inputs(plan, k, q, v)
        if changes is not None:
            u = u + changes[:, :, k]
        now = (model, q, v, u @ drive.T)
        q, v = dtau.step(*now, H, "semi_implicit", contacts=held, active=g.active[k])
        states.append((q, v))
        us.append(u)
    q, v = (np.stack(np.broadcast_arrays(*x), axis=-2) for x in zip(*states, strict=True))
    return q, v, np.stack(us, axis=-2)


def ground(g: Gait, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Forces (..., knots, 4, 3) of the ground."""
    now = (model, q[..., :-1, :], v[..., :-1, :], u @ drive.T, held)
    return dtau.constrained_dynamics(*now, active=g.active).forces.reshape(*u.shape[:-1], 4, 3)


def sweep(g: Gait, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gains and changes of inputs, by the quadratic problem about a trajectory with gaps."""
    n, robots = model.nv, len(u)
    now = (model, q[:, :-1], v[:, :-1], u @ drive.T, H, "semi_implicit")
    feet = {"contacts": held, "active": g.active}
    lin = dtau.linearize_discrete(*now, inputs=drive, forces=True, **feet)
    gaps = np.concatenate([dtau.difference(model, q[:, 1:], lin.q), lin.v - v[:, 1:]], axis=-1)

    # The cost: sums of weights . residuals², with Jacobians by z = (q, v, u)
    x = state_errors(g, q, v)
    to_x = np.tile(np.eye(2 * n), (*q.shape[:2], 1, 1))
    to_x[..., :n, :n] = dtau.difference_jacobians(model, g.goal, q).by_q1
    weights = np.where(np.arange(KNOTS + 1) < KNOTS, H, 1.0)[:, None] * STATE_COST
    slopes = np.einsum("rki,rkij->rkj", weights * x, to_x)
    hessians = ddp.transposed(to_x) @ (weights[..., None] * to_x)
    moves = dtau.frame_jacobians(model, q[:, :-1], (*FEET, "base"), "mixed")[..., :3, :]
    moves = moves[:, :, :4] - moves[:, :, 4:] * np.array([1.0, 1.0, 0.0])[:, None]
    moves = (moves * (1.0 - g.active)[..., None, None]).reshape(robots, KNOTS, 12, n)
    moves_cost = H * np.tile(FOOT_COST, 4)
    away = foot_errors(g, q).reshape(robots, KNOTS, 12) * moves_cost
    slopes[:, :-1, :n] += np.einsum("rki,rkij->rkj", away, moves)
    hessians[:, :-1, :n, :n] += ddp.transposed(moves) @ (moves_cost[:, None] * moves)

    beyond, by_f = hop.beyond(g.active, lin.forces.reshape(robots, KNOTS, 4, 3))
    by_z = np.concatenate([lin.dforces_dz, lin.dforces_du], axis=-1)
    by_z = (by_f @ by_z.reshape(robots, KNOTS, 4, 3, -1)).reshape(robots, KNOTS, 8, -1)
    slope = H * hop.FORCE_COST * np.einsum("rki,rkij->rkj", beyond.reshape(robots, KNOTS, 8), by_z)
    bend = H * hop.FORCE_COST * ddp.transposed(by_z) @ by_z
    strong = hop.too_strong(model, u)
    r = H * (INPUT_COST * u + hop.TORQUE_COST * strong) + slope[..., 2 * n :]
    by_u = H * (INPUT_COST + hop.TORQUE_COST * (strong != 0.0))[..., None] * np.eye(12)
    bend[..., : 2 * n, : 2 * n] += hessians[:, :-1]
    bend[..., 2 * n :, 2 * n :] += by_u
    found = dtau.lqr(
        lin.A,
        lin.B,
        bend[..., : 2 * n, : 2 * n],
        bend[..., 2 * n :, 2 * n :],
        hessians[:, -1],
        S=bend[..., 2 * n :, : 2 * n],
        c=gaps,
        q=slopes[:, :-1] + slope[..., : 2 * n],
        r=r,
        q_final=slopes[:, -1],
    )
    return -found.gains, -found.feedforward


def improve(g: Gait, plan: Plan, q: np.ndarray, v: np.ndarray) -> Plan:
    """An iteration of iLQR for all robots at once, from where they are."""
    q, v, u = follow(g, plan, q, v)
    gains, changes = sweep(g, q, v, u)
    at, steps = Plan(q, v, u, gains), TRIALS[:, None, None, None] * changes
    with np.errstate(all="ignore"):  # long steps may diverge
        trials = follow(g, at, q[:, 0], v[:, 0], changes=steps)
        costs = cost(g, *trials, ground(g, *trials))
    best = np.argmin(np.nan_to_num(costs, nan=np.inf), axis=0)
    return Plan(*(x[best, np.arange(len(u))] for x in trials), gains)


def first_plan(g: Gait, robots: int) -> Plan:
    """A plan from standing still; the problem about standing, with gaps, gives its first guess."""
    still = np.zeros((robots, KNOTS + 1, model.nv))
    hold = dtau.constrained_inverse_dynamics(model, stand, still[0, 0], still[0, 0], held).tau[6:]
    q, u = np.tile(stand, (robots, KNOTS + 1, 1)), np.tile(hold, (robots, KNOTS, 1))
    gains, changes = sweep(g, q, still, u)
    plan = Plan(q, still, u + changes, gains)
    for _ in range(8):
        plan = improve(g, plan, q[:, 0], still[:, 0])
    return plan
