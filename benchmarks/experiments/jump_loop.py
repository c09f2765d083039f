"""The jump of `jump_knots` by a loop of one's own: multiple shooting with `dtau.lqr`: `solve`.

Every iteration linearizes all knots in three calls, solves the quadratic problem by one, and
evaluates trial steps of all knots in three calls. The gaps between knots close on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array
from benchmarks.experiments.jump_knots import BRAKE, FEET, PHASES, STEP, Jump

CONVERGED = 1e-9  # of the decrease that the quadratic problem promises, and of all gaps
SHORTEST = 1e-3
LAST_DIGITS = 1e-7  # the cost cannot tell improvements below
GAP_PRICE = 10.0  # of a unit of gaps, in units of the cost


@dataclass(frozen=True)
class Found:
    """A trajectory, its cost, and how many iterations it took."""

    q: Array
    v: Array
    u: Array
    cost: float
    iterations: int


@dataclass(frozen=True)
class Point:
    """A trajectory with its cost and the gaps between knots."""

    q: Array
    v: Array
    u: Array
    cost: float
    gaps: Array

    def merit(self) -> float:
        """What trial steps have to decrease."""
        return self.cost + GAP_PRICE * float(np.abs(self.gaps).sum())


class Loop:
    """The jump in arrays over knots."""

    def __init__(self, jump: Jump) -> None:
        self.model = model = jump.model
        before, flight, after = PHASES
        self.impact = before + flight
        self.count = self.impact + 1 + after
        stance = np.concatenate([np.arange(before), np.arange(self.impact + 1, self.count)])
        feet = [dtau.PointContact(foot, axes="mixed", kd=BRAKE) for foot in FEET]
        self.feet = dtau.Contacts(model, feet)
        self.phases = ((stance, self.feet), (np.arange(before, self.impact), None))
        self.drive = np.eye(model.nv)[:, 6:]
        w = jump.weights
        steps = np.array([STEP * w.stance] * before + [STEP * w.flight] * flight)
        landed = np.array([STEP * w.stance] * after + [w.landing])
        self.weights = np.concatenate([steps, [w.landing], landed])
        self.control = np.full((self.count, 1), STEP * w.control)
        self.control[self.impact] = 1.0  # an impact has no controls: they stay zero
        self.goal_q = jump.references[:, : model.nq]
        self.goal_v = jump.references[:, model.nq :]
        self.R = self.control[:, :, None] * np.eye(12)

    def after(self, q: Array, v: Array, u: Array) -> tuple[Array, Array]:
        """The states after all knots."""
        tau = u @ self.drive.T
        next_q, next_v = np.empty_like(q), np.empty_like(v)
        for knots, held in self.phases:
            next_q[knots], next_v[knots] = dtau.step(
                self.model, q[knots], v[knots], tau[knots], STEP, "semi_implicit", contacts=held
            )
        k = self.impact
        next_q[k] = q[k]
        next_v[k] = dtau.impulse_dynamics(self.model, q[k], v[k], self.feet).v
        return next_q, next_v

    def errors(self, q: Array, v: Array) -> Array:
        """Displacements from the references."""
        away = dtau.difference(self.model, self.goal_q, q)
        return np.concatenate([away, v - self.goal_v], axis=-1)

    def point(self, q: Array, v: Array, u: Array) -> Point:
        """Evaluate a trajectory."""
        next_q, next_v = self.after(q[:-1], v[:-1], u)
        jumps = dtau.difference(self.model, q[1:], next_q)
        gaps = np.concatenate([jumps, next_v - v[1:]], axis=-1)
        cost = (self.weights * self.errors(q, v) ** 2).sum() + (self.control * u**2).sum()
        return Point(q, v, u, 0.5 * float(cost), gaps)

    def jacobians(self, at: Point) -> tuple[Array, Array]:
        """Derivatives of the gaps by states and controls of the knots before them."""
        model, n = self.model, self.model.nv
        A, B = np.empty((self.count, 2 * n, 2 * n)), np.zeros((self.count, 2 * n, 12))  # noqa: N806
        tau = at.u @ self.drive.T
        for knots, held in self.phases:
            step = dtau.linearize_discrete(
                model,
                at.q[knots],
                at.v[knots],
                tau[knots],
                STEP,
                "semi_implicit",
                inputs=self.drive,
                contacts=held,
            )
            A[knots], B[knots] = step.A, step.B
        k = self.impact
        impact = dtau.impulse_dynamics_derivatives(model, at.q[k], at.v[k], self.feet)
        A[k] = np.eye(2 * n)
        A[k, n:] = np.concatenate([impact.dv_dq, impact.dv_dv], axis=-1)
        reached = dtau.integrate(model, at.q[1:], at.gaps[:, :n])
        turn = dtau.difference_jacobians(model, at.q[1:], reached).by_q1
        A[:, :n], B[:, :n] = turn @ A[:, :n], turn @ B[:, :n]
        return A, B

    def costs(self, at: Point) -> tuple[Array, Array]:
        """Gradients and Gauss-Newton Hessians of the cost by the states."""
        n, w = self.model.nv, self.weights
        slopes = w * self.errors(at.q, at.v)
        turn = dtau.difference_jacobians(self.model, self.goal_q, at.q).by_q1
        slopes[:, :n] = np.einsum("ki,kij->kj", slopes[:, :n], turn)
        hessians = w[:, :, None] * np.eye(2 * n)
        hessians[:, :n, :n] = np.swapaxes(turn, 1, 2) @ (w[:, :n, None] * turn)
        return slopes, hessians

    def direction(self, A: Array, B: Array, gaps: Array, plan: Any) -> tuple[Array, Array]:  # noqa: N803
        """Changes of states and controls that solve the quadratic problem."""
        dx, du = np.zeros((self.count + 1, A.shape[-1])), np.empty((self.count, 12))
        for k in range(self.count):
            du[k] = -plan.feedforward[k] - plan.gains[k] @ dx[k]
            dx[k + 1] = A[k] @ dx[k] + B[k] @ du[k] + gaps[k]
        return dx, du


def solve(loop: Loop, q: Array, v: Array, u: Array, limit: int = 100) -> Found:
    """Solve the jump from a guess of states and controls."""
    n, at = loop.model.nv, loop.point(q, v, u)
    for iteration in range(limit):
        A, B = loop.jacobians(at)  # noqa: N806
        slopes, hessians = loop.costs(at)
        r = loop.control * at.u
        plan = dtau.lqr(
            A,
            B,
            hessians[:-1],
            loop.R,
            hessians[-1],
            c=at.gaps,
            q=slopes[:-1],
            r=r,
            q_final=slopes[-1],
        )
        dx, du = loop.direction(A, B, at.gaps, plan)
        slope = float((slopes * dx).sum() + (r * du).sum())
        bend = float(np.einsum("ki,kij,kj->", dx, hessians, dx) + (loop.control * du**2).sum())
        gap = float(np.abs(at.gaps).sum())
        if abs(slope) + bend < CONVERGED and gap < CONVERGED:
            return Found(at.q, at.v, at.u, at.cost, iteration)
        length, promised = 1.0, GAP_PRICE * gap - slope
        while True:
            trial = loop.point(
                dtau.integrate(loop.model, at.q, length * dx[:, :n]),
                at.v + length * dx[:, n:],
                at.u + length * du,
            )
            least = at.merit() - 1e-4 * length * promised
            if trial.merit() < least or length < SHORTEST or bend < LAST_DIGITS:
                break
            length *= 0.5
        at = trial
    return Found(at.q, at.v, at.u, at.cost, limit)
