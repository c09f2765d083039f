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
from numpy.typing import NDArray

from dtau import _core
from dtau.mujoco.constraints import other_terms
from dtau.mujoco.geometry_differences import GeometryDifferences
from dtau.mujoco.names import Names
from dtau.mujoco.noslip import Noslip
from dtau.mujoco.plan import Plan
from dtau.mujoco.scope import RK4, jumps, not_covered
from dtau.mujoco.solved import Solved
from dtau.mujoco.vectors import skew

Array = NDArray[np.float64]

STAGES = (0.5, 0.5, 1.0)  # of the Runge-Kutta method: fractions of the step
_WEIGHTS = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0


def step_derivatives(
    plan: Plan,
    mj_model: Any,
    constants: tuple[Any, ...],
    stages: list[Solved],
    noslip: list[Noslip],
    following: Array,
    names: list[Names],
    differences: list[GeometryDifferences | None],
) -> Array:
    """Return derivatives of the state after the step by state, control and parameters.

    Parameters
    ----------
    plan : Plan
    mj_model : mujoco.MjModel
    constants : tuple
        Of the plan, with the parameters.
    stages : list of Solved
        One, or the four of RK4.
    noslip : list of Noslip
        For each stage, the solutions before the noslip solver; none if it does not run.
    following : ndarray (n, nv)
        MuJoCo's velocities after the step.
    names, differences : list
        For each stage, the names for errors, and the differences of its contact geometry.

    Returns
    -------
    ndarray (n, 2 nv + na, 2 nv + na + nu + columns)
    """
    found = []
    for k, (solved, of_stage, geometry) in enumerate(zip(stages, names, differences, strict=True)):
        rates = None
        if noslip:
            rates = _rates(plan, mj_model, solved, noslip[k], of_stage, geometry)
        arguments = plan, mj_model, constants, solved, following, of_stage, geometry
        found.append(_differentiated(*arguments, rates=rates))
    if plan.integrator == RK4:
        return _runge_kutta_step(plan, constants, stages, found, following)
    return found[0]


def _differentiated(
    plan: Plan,
    mj_model: Any,
    constants: tuple[Any, ...],
    solved: Solved,
    following: Array,
    names: Names,
    differences: GeometryDifferences | None,
    *,
    rates: Array | None = None,
    contact_rows: Array | None = None,
) -> Array:
    """Return derivatives of the next states, or for RK4 of rates of velocities and activations.

    `rates`: derivatives of the accelerations, if they are known. The core fills `contact_rows`.
    """
    *state, accelerations, by_velocity = _core.mujoco_accelerations(constants, solved.arrays)
    smooth = _core.inverse_dynamics_derivatives(plan.model, *state)
    arguments = constants, solved, accelerations, following, by_velocity
    function = partial(_core.mujoco_step_derivatives, rates=rates, contact_rows=contact_rows)
    return np.asarray(with_motions(function, mj_model, *arguments, smooth, names, differences))


def _rates(
    plan: Plan,
    mj_model: Any,
    solved: Solved,
    noslip: Noslip,
    names: Names,
    differences: GeometryDifferences | None,
) -> Array:
    """Return derivatives of the accelerations after the noslip solver."""
    before, constants = noslip.before, plan.constants_of_stage(mj_model)
    contact_rows = np.zeros((before.contact_count(), 48 + 13 * plan.nv))
    by = _differentiated(
        *(plan, mj_model, constants, before, np.zeros_like(before.v), names, differences),
        contact_rows=contact_rows,
    )
    return noslip.rates(solved, contact_rows, by[:, : plan.nv])


def with_motions(
    function: Callable[..., Any],
    mj_model: Any,
    constants: tuple[Any, ...],
    solved: Solved,
    accelerations: Array,
    following: Array,
    by_velocity: Array,
    last: Any,
    names: Names,
    differences: GeometryDifferences | None,
) -> Any:
    """Call a function of the core, and again with the motion of contacts that it does not know."""
    arguments = (
        *(constants, solved.arrays, accelerations, following),
        *other_terms(mj_model, solved, differences, by_velocity),
    )
    out, (unknown, contact, row, same) = function(*arguments, None, None, last)
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
        out, (*_, same) = function(*arguments, unknown, differences(contacts), last)
    if not same:
        raise _unknown_terms()
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
    plan: Plan,
    constants: tuple[Any, ...],
    stages: list[Solved],
    found: list[Array],
    following: Array,
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
        raise _unknown_terms()
    out = first + h * mean
    out[:, :nv] = h * mean[:, :nv]
    _core.mujoco_move(constants, h * v_mean, out)
    if na:
        out[:, 2 * nv : 2 * nv + na] = plan.actuators.advanced(
            stages[0].act, act_mean, mean[:, 2 * nv : 2 * nv + na], first[:, 2 * nv : 2 * nv + na]
        )
    return out[:, : 2 * nv + na]


def _unknown_terms() -> NotImplementedError:
    """Return the error if MuJoCo's velocity after the step is not the one expected.

    A new version of MuJoCo may take terms into account that this package does not know.
    """
    return not_covered(f"terms that MuJoCo {mujoco.__version__} adds to this step")
