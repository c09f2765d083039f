"""Differentiate steps of MuJoCo's integrators: `step_derivatives`.

MuJoCo solves  M a + c = f + J^T lambda,  lambda = -s'(J a - a_ref),  with the convex costs s of its
constraints. At a constant active set, the acceleration changes by

    (M + J^T H J) da = df - d(M a + c) + d(J^T lambda) at constant a,    H = s''

Integrators that are implicit in the velocity replace a by a', (M - h V) a' = M a, with the
part V of df/dv that they take into account:

    (M - h V) da' = M da + (dM/dq) (a - a') dq + h dV a'

Velocities become v' = v + h a', and configurations q' = q (+) h v'. The Runge-Kutta method composes
four accelerations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.constraints import constraint_terms
from dtau.mujoco.geometry import Differences
from dtau.mujoco.plan import Plan
from dtau.mujoco.scope import IMPLICITFAST, RK4, not_covered
from dtau.mujoco.smooth import smooth_derivatives
from dtau.mujoco.solved import Solved
from dtau.mujoco.vectors import skew

Array = NDArray[np.float64]

STAGES = (0.5, 0.5, 1.0)  # of the Runge-Kutta method: fractions of the step
_WEIGHTS = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0


def step_derivatives(
    plan: Plan,
    mj_model: Any,
    stages: list[Solved],
    following: Array,
    differences: list[Differences | None],
) -> Array:
    """Return derivatives by state and control of the state after the step.

    Parameters
    ----------
    plan : Plan
    mj_model : mujoco.MjModel
    stages : list of Solved
        One, or the four of RK4.
    following : ndarray (n, nv)
        MuJoCo's velocities after the step.
    differences : list
        For each stage, the differences of its contact geometry.

    Returns
    -------
    ndarray (n, 2 nv + na, 2 nv + na + nu)
    """
    found = [
        _accelerations(plan, mj_model, solved, geometry)
        for solved, geometry in zip(stages, differences, strict=True)
    ]
    if plan.integrator == RK4:
        return _runge_kutta_step(plan, stages, found, following)
    return _implicit_step(plan, stages[0], found[0], following)


class _Accelerations(NamedTuple):
    """Derivatives of the acceleration, and arrays that the integrator uses."""

    by: Array  # (n, nv, 2 nv + na + nu): by q, v, act and ctrl
    torque_by_q: Array  # of M a + c
    by_v: Array  # (n, nv): the diagonal derivative of the actuators' forces
    by_v_and_inputs: Array


def _accelerations(
    plan: Plan, mj_model: Any, solved: Solved, differences: Differences | None
) -> _Accelerations:
    """Differentiate the acceleration that solves the constraints."""
    nv = plan.nv
    # The armature is part of the mass matrix and of no derivative.
    torque = solved.torque + solved.bias - plan.armature * solved.a
    by_q, by_v = smooth_derivatives(plan, solved.q, solved.v, solved.a, torque, solved.rotations)
    forces = plan.actuators.derivatives(solved.act, solved.act_dot, solved.ctrl, solved.moved)
    right = np.empty((solved.n, nv, 2 * nv + plan.na + plan.nu))
    right[..., :nv], right[..., nv : 2 * nv] = -by_q, -by_v
    right[..., 2 * nv :] = forces.by_inputs
    index = np.arange(nv)
    right[:, index, index] += forces.by_q - plan.stiffness
    right[:, index, nv + index] += forces.by_v - plan.damping
    if plan.tendons is not None:
        right[..., :nv] -= plan.tendons.stiffness(solved.q)
        right[..., nv : 2 * nv] -= plan.tendons.damping
    matrix = solved.mass
    constraints = constraint_terms(mj_model, solved, differences)
    if constraints is not None:
        matrix = matrix + constraints.by_a
        right[..., :nv] += constraints.by_q
        right[..., nv : 2 * nv] += constraints.by_v
    return _Accelerations(np.linalg.solve(matrix, right), by_q, forces.by_v, forces.by_v_and_inputs)


def _implicit_step(plan: Plan, solved: Solved, found: _Accelerations, following: Array) -> Array:
    """Differentiate steps of Euler and implicitfast."""
    h, nv, n = plan.timestep, plan.nv, solved.n
    by, a = found.by, solved.a
    implicit = None
    if plan.integrator == IMPLICITFAST:
        implicit = found.by_v - plan.damping
    elif plan.damps_implicitly and plan.damping.any():
        implicit = -plan.damping[np.newaxis]
    if implicit is not None:
        matrix = solved.mass.copy()
        index = np.arange(nv)
        matrix[:, index, index] -= h * implicit
        if plan.tendons is not None and plan.integrator == IMPLICITFAST:
            matrix += h * plan.tendons.damping
        inverse = np.linalg.inv(matrix)
        a = np.matvec(inverse, solved.torque)
        right = solved.mass @ by
        torque = np.matvec(solved.mass, a) + solved.bias - plan.armature * a
        right[..., :nv] += (
            found.torque_by_q
            - smooth_derivatives(plan, solved.q, solved.v, a, torque, solved.rotations)[0]
        )
        if plan.integrator == IMPLICITFAST:
            right[..., 2 * nv :] += h * found.by_v_and_inputs * a[..., np.newaxis]
        by = np.asarray(inverse @ right)
    v_next = solved.v + h * a
    _require_same(following, v_next, solved.v)

    width = 2 * nv + plan.na
    out = np.zeros((n, width, width + plan.nu))
    speeds = out[:, nv : 2 * nv]
    np.multiply(h, by, out=speeds)
    index = np.arange(nv)
    speeds[:, index, nv + index] += 1.0
    np.multiply(h, speeds, out=out[:, :nv])
    _move(plan, out[:, :nv], h * v_next)
    if plan.na:
        out[:, 2 * nv :, 2 * nv :] = plan.actuators.activation(
            solved.act, solved.act_dot, solved.ctrl
        )[1]
    return out


def turning_rates(plan: Plan, displacement: Array, v: Array) -> tuple[Array, list[Array]]:
    """Return d/dt of the displacement from the start, and the factors of its derivatives.

    For the angular velocity w of quaternions that have turned by the vector r, MuJoCo takes
    k = w + r x w / 2 + r x (r x w) / 12. The factors [by w, by r] follow joint by joint.
    """
    out, factors = v.copy(), []
    for start in plan.angles:
        angles = slice(start, start + 3)
        r, w = displacement[..., angles], v[..., angles]
        turn, spin = skew(r), skew(w)
        by_w = np.eye(3) + 0.5 * turn + turn @ turn / 12.0
        by_r = -0.5 * spin - (skew(np.matvec(turn, w)) + turn @ spin) / 12.0
        out[..., angles] = np.matvec(by_w, w)
        factors.append(np.concatenate([by_w, by_r], axis=-1))
    return out, factors


def _runge_kutta_step(
    plan: Plan, stages: list[Solved], found: list[_Accelerations], following: Array
) -> Array:
    """Differentiate steps of the Runge-Kutta method of fourth order."""
    h, nv, na, n = plan.timestep, plan.nv, plan.na, stages[0].n
    width = 2 * nv + na + plan.nu
    first = np.broadcast_to(np.eye(width), (n, width, width))
    rates: list[Array] = []  # by q, v, act and ctrl at the start
    states, velocities = first, [stages[0].v]
    for k, (solved, stage) in enumerate(zip(stages, found, strict=True)):
        rate = np.zeros((n, width, width))
        rate[:, :nv] = states[:, nv : 2 * nv]
        if k:
            step = h * STAGES[k - 1]
            v, factors = turning_rates(plan, step * velocities[-1], solved.v)
            velocities.append(v)
            for start, factor in zip(plan.angles, factors, strict=True):
                angles = slice(start, start + 3)
                parts = rate[:, angles], step * rates[-1][:, angles]
                rate[:, angles] = factor @ np.concatenate(parts, axis=1)
        rate[:, nv : 2 * nv] = stage.by @ states
        if na:
            by_inputs = plan.actuators.activation(solved.act, solved.act_dot, solved.ctrl)[0]
            rate[:, 2 * nv : 2 * nv + na] = by_inputs @ states[:, 2 * nv :]
        rates.append(rate)
        if k < len(STAGES):
            states = first + h * STAGES[k] * rate
            states[:, :nv] = h * STAGES[k] * rate[:, :nv]
            _move(plan, states[:, :nv], h * STAGES[k] * velocities[-1])
    mean, v_mean, a_mean, act_mean = (
        np.tensordot(_WEIGHTS, parts, axes=1)
        for parts in (
            rates,
            velocities,
            [solved.a for solved in stages],
            [solved.act_dot for solved in stages],
        )
    )
    _require_same(following, stages[0].v + h * a_mean, stages[0].v)
    out = first + h * mean
    out[:, :nv] = h * mean[:, :nv]
    _move(plan, out[:, :nv], h * v_mean)
    if na:
        out[:, 2 * nv : 2 * nv + na] = plan.actuators.advanced(
            stages[0].act, act_mean, mean[:, 2 * nv : 2 * nv + na], first[:, 2 * nv : 2 * nv + na]
        )
    return out[:, : 2 * nv + na]


def _move(plan: Plan, by: Array, displacement: Array) -> None:
    """Replace derivatives of a displacement by those of  q (+) displacement, in place.

    The first columns of `by` (n, nv, ...) are the derivatives by q.
    """
    for start in plan.angles:
        angles = slice(start, start + 3)
        turned, right = _exponential(displacement[:, angles])
        by[:, angles] = right @ by[:, angles]
        by[:, angles, angles] += turned.swapaxes(-1, -2)
    by[:, plan.plain, plan.plain] += 1.0


def _require_same(following: Array, expected: Array, v: Array) -> None:
    """Raise NotImplementedError if MuJoCo's velocity after the step is not the one expected.

    A new version of MuJoCo may take terms into account that this package does not know.
    """
    change = np.abs(expected).max() + np.abs(v).max()
    if not np.abs(following - expected).max() <= 1e-9 * change:
        raise not_covered(f"terms that MuJoCo {mujoco.__version__} adds to this step")


def _exponential(vector: Array) -> tuple[Array, Array]:
    """Return the rotations exp(vector) and their right Jacobians."""
    cross = skew(vector)
    angle = np.sqrt((vector**2).sum(axis=-1))
    small = angle < 1e-4  # the next terms are below 1e-16
    safe = np.where(small, 1.0, angle)
    first = np.where(small, 1.0 - angle**2 / 6.0, np.sin(safe) / safe)
    second = np.where(small, 0.5 - angle**2 / 24.0, 2.0 * (np.sin(safe / 2.0) / safe) ** 2)
    third = np.where(small, 1.0 / 6.0, (1.0 - first) / safe**2)
    first, second, third = (x[:, np.newaxis, np.newaxis] for x in (first, second, third))
    square = cross @ cross
    eye = np.eye(3)
    turned = eye + first * cross + second * square
    return turned, np.asarray(eye - second * cross + third * square)
