"""Differentiate steps of MuJoCo's integrators: `step_derivatives`.

The core differentiates the solution of a state, and the steps of Euler and implicitfast
(``src/mujoco/step.cpp``). The Runge-Kutta method composes four accelerations here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco
import numpy as np

from dtau import _core
from dtau.model.rotations import skew
from dtau.mujoco.geometry_differences import GeometryDifferences
from dtau.mujoco.names import Names
from dtau.mujoco.plan import Plan
from dtau.mujoco.scope import RK4, jumps, names_of, not_covered, spatial_tendons
from dtau.mujoco.solved import Solved
from dtau.mujoco.spatial_tendons import Pull
from dtau.support.arrays import Array

STAGES = (0.5, 0.5, 1.0)  # of the Runge-Kutta method: fractions of the step
_WEIGHTS = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
_SERIES = 1.0 / np.array([12.0, 720.0, 30240.0, 1209600.0])  # of c in `turning_rates`, by r^2
_SMALL_SQUARE = 0.01
# What a step is refused for whose velocities, or accelerations after the sweeps, are not MuJoCo's.
_NEW_TERMS = f"terms that MuJoCo {mujoco.__version__} adds to this step"
_UNCONVERGED = (
    "solutions of the noslip solver that the main solver has not converged for, unless "
    "option/tolerance is smaller or option/iterations larger"
)


def step_derivatives(
    plan: Plan,
    mj_model: Any,
    constants: Any,
    stages: list[Solved],
    following: Array,
    names: list[Names],
    differences: list[GeometryDifferences | None],
) -> Array:
    """Return derivatives of the state after the step by state, control and parameters.

    Parameters
    ----------
    plan : Plan
    mj_model : mujoco.MjModel
    constants
        Of the plan, with the parameters.
    stages : list of Solved
        One, or the four of RK4.
    following : ndarray (n, nv)
        MuJoCo's velocities after the step.
    names, differences : list
        For each stage, the names for errors, and the differences of its contact geometry.

    Returns
    -------
    ndarray (n, 2 nv + na, 2 nv + na + nu + columns)
    """
    found = []
    for k, solved in enumerate(stages):
        arguments = plan, mj_model, constants, solved, following, names[k], differences[k]
        found.append(_differentiated(*arguments))
    if plan.integrator == RK4:
        return _runge_kutta_step(plan, constants, stages, found, following)
    return found[0]


def _differentiated(
    plan: Plan,
    mj_model: Any,
    constants: Any,
    solved: Solved,
    following: Array,
    names: Names,
    differences: GeometryDifferences | None,
) -> Array:
    """Return derivatives of the next states, or for RK4 of rates of velocities and activations."""
    noslip = solved.noslip
    before = noslip.a if noslip else None
    *state, accelerations, by_velocity = _core.mujoco_accelerations(
        constants, solved.arrays, before
    )
    smooth = _core.inverse_dynamics_derivatives(plan.model, *state)
    function: Callable[..., Any] = _core.mujoco_step_derivatives
    if noslip:
        function = partial(function, sweeps=noslip.sweeps())
    arguments = constants, solved, accelerations, following, by_velocity
    return np.asarray(
        with_motions(function, mj_model, *arguments, smooth, names, differences, before)
    )


def with_motions(
    function: Callable[..., Any],
    mj_model: Any,
    constants: Any,
    solved: Solved,
    accelerations: Array,
    following: Array,
    by_velocity: Array,
    last: Any,
    names: Names,
    differences: GeometryDifferences | None,
    before: Array | None = None,
) -> Any:
    """Call a function of the core, and again with the motion of contacts that it does not know.

    `before`: the accelerations before the noslip solver, if it runs.
    """
    terms, spatial = None, solved.plan.spatial_tendons
    if spatial is not None:
        if differences is None:
            where = names_of(mj_model, "tendon", spatial_tendons(mj_model))
            raise not_covered("spatial tendons, unless geometry='differences'", where)
        a = solved.a if before is None else before
        motion, actuators = (solved.q, solved.v, a), solved.plan.actuators
        low, high = actuators.joint_low, actuators.joint_high
        free = (low < solved.actuation) & (solved.actuation < high)
        pull = Pull(solved.force, by_velocity, free)
        terms = spatial.terms(mj_model, differences.data, motion, solved.plain_rows(), pull)
    arguments = constants, solved.arrays, accelerations, following, terms
    out, (unknown, contact, row, same, swept) = function(*arguments, None, None, last)
    if contact >= 0:
        where = names.contact(solved.contacts(np.array([contact])), 0)
        raise jumps(where, "a contact")
    if row >= 0:
        raise jumps(names.joint(*solved.limited_joint(row)), "a limit")
    if unknown is not None:
        contacts = solved.contacts(unknown)
        if differences is None:
            kinds = f"contacts of {names.kinds(contacts, 0)}, unless geometry='differences'"
            raise not_covered(kinds, names.contact(contacts, 0))
        out, (*_, same, swept) = function(*arguments, unknown, differences(contacts), last)
    if not swept:
        raise not_covered(_UNCONVERGED)
    if not same:
        raise not_covered(_NEW_TERMS)
    return out


def turning_rates(plan: Plan, displacement: Array, v: Array) -> tuple[Array, list[Array]]:
    """Return d/dt of the displacement from the start, and the factors of its derivatives.

    For the angular velocity w of quaternions that have turned by the vector r, MuJoCo takes
    k = w + r x w / 2 + c r x (r x w) with  c = (1 - x cot x) / r^2,  x = |r| / 2. The factors
    [by w, by r] follow joint by joint.
    """
    out, factors = v.copy(), []
    for start in plan.angles:
        angles = slice(start, start + 3)
        r, w = displacement[..., angles], v[..., angles]
        turn, spin = skew(r), skew(w)
        c, slope = (x[..., np.newaxis, np.newaxis] for x in _second_order((r**2).sum(axis=-1)))
        twice = np.matvec(turn, np.matvec(turn, w))
        by_w = np.eye(3) + 0.5 * turn + c * turn @ turn
        by_r = -0.5 * spin - c * (skew(np.matvec(turn, w)) + turn @ spin)
        by_r += slope * twice[..., np.newaxis] * r[..., np.newaxis, :]
        out[..., angles] = np.matvec(by_w, w)
        factors.append(np.concatenate([by_w, by_r], axis=-1))
    return out, factors


def _second_order(squares: Array) -> tuple[Array, Array]:
    """Return c of `turning_rates`, and s of its derivative  s r,  by r^2."""
    small = squares < _SMALL_SQUARE
    square = np.where(small, 1.0, squares)
    angle = np.sqrt(square)
    half = 0.5 * angle
    cotangent = 1.0 / np.tan(half)
    c = (1.0 - half * cotangent) / square
    slope = (0.5 * (half * (1.0 + cotangent**2) - cotangent) / angle - 2.0 * c) / square
    series = np.polynomial.polynomial.polyval
    return (
        np.where(small, series(squares, _SERIES), c),
        np.where(small, series(squares, 2.0 * np.polynomial.polynomial.polyder(_SERIES)), slope),
    )


def _runge_kutta_step(
    plan: Plan, constants: Any, stages: list[Solved], found: list[Array], following: Array
) -> Array:
    """Compose steps of the Runge-Kutta method of fourth order.

    `found`: derivatives of the accelerations and of the rates of activations, at the stages.
    """
    h, nv, na, n = plan.timestep, plan.nv, plan.na, stages[0].n
    width = found[0].shape[-1]
    first = np.broadcast_to(np.eye(width), (n, width, width))
    rates: list[Array] = []  # by q, v, act and ctrl at the start, and parameters
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
        rate[:, nv : 2 * nv + na] = stage @ states
        rates.append(rate)
        if k < len(STAGES):
            states = first + h * STAGES[k] * rate
            states[:, :nv] = h * STAGES[k] * rate[:, :nv]
            _core.mujoco_move(constants, h * STAGES[k] * velocities[-1], states)
    mean, v_mean, a_mean, act_mean = (
        np.tensordot(_WEIGHTS, parts, axes=1)
        for parts in (
            rates,
            velocities,
            [solved.a for solved in stages],
            [solved.act_dot for solved in stages],
        )
    )
    v_next, v = stages[0].v + h * a_mean, stages[0].v
    if not np.abs(following - v_next).max() <= 1e-9 * (np.abs(v_next).max() + np.abs(v).max()):
        raise not_covered(_NEW_TERMS)
    out = first + h * mean
    out[:, :nv] = h * mean[:, :nv]
    _core.mujoco_move(constants, h * v_mean, out)
    if na:
        out[:, 2 * nv : 2 * nv + na] = plan.actuators.advanced(
            stages[0].act, act_mean, mean[:, 2 * nv : 2 * nv + na], first[:, 2 * nv : 2 * nv + na]
        )
    return out[:, : 2 * nv + na]
