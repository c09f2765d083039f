"""Differentiate one step of MuJoCo: `transition_derivatives`.

MuJoCo solves  M a + c = f + J^T lambda,  lambda = -W (J a - a_ref),  where W is D on the active
rows of its constraints and 0 elsewhere. At a constant active set, the acceleration changes by

    (M + J^T W J) da = df - d(M a + c) + J^T (W da_ref + lambda dD / D)

Integrators that are implicit in the velocity replace a by a', (M - h V) a' = M a, with the diagonal
V = df/dv that they take into account:

    (M - h V) da' = M da + (dM/dq) (a - a') dq + h dV a'

Velocities become v' = v + h a', and configurations q' = q (+) h v'.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.functions.derivatives import inverse_dynamics_derivatives
from dtau.functions.dynamics import inverse_dynamics
from dtau.mujoco.constraints import constraint_terms
from dtau.mujoco.forces import force_derivatives
from dtau.mujoco.scope import QUATERNIONS, not_covered, require_covered, smooth_model

Array = NDArray[np.float64]


class TransitionDerivatives(NamedTuple):
    """Derivatives of the state after MuJoCo's step, of `transition_derivatives`.

    Attributes
    ----------
    A : ndarray (2 nv, 2 nv)
        By the state before it: the displacement of ``qpos`` in its tangent space, then ``qvel``.
    B : ndarray (2 nv, nu)
        By ``ctrl``.
    """

    A: Array
    B: Array


def transition_derivatives(mj_model: Any, mj_data: Any) -> TransitionDerivatives:
    """Exact derivatives of MuJoCo's time step by state and control, as `mujoco.mjd_transitionFD`.

    Parameters
    ----------
    mj_model : mujoco.MjModel
        MuJoCo's model, with the integrator Euler or implicitfast.
    mj_data : mujoco.MjData
        State, control and applied joint torques. It is only read: the constraints are solved in a
        copy, from its warm start.

    Returns
    -------
    TransitionDerivatives
        A ``(2 nv, 2 nv)`` and B ``(2 nv, nu)``, in the order of `mujoco.mjd_transitionFD`. Rows of
        joint limits and of friction that are active stay active. A control beyond its range, or a
        force at its limit, has the derivative 0.

    Raises
    ------
    TypeError
        If an argument is not MuJoCo's.
    NotImplementedError
        If the model or an active constraint has a part that is not covered. The message names it.

    Examples
    --------
    >>> import dtau.mujoco, mujoco
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint name="pivot" axis="0 1 0"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody>'
    ...     '<actuator><motor joint="pivot"/></actuator></mujoco>'
    ... )
    >>> A, B = dtau.mujoco.transition_derivatives(mj_model, mujoco.MjData(mj_model))
    >>> A.round(4)
    array([[ 1.    ,  0.002 ],
           [-0.0195,  1.    ]])
    """
    for name, value, kind in (
        ("mj_model", mj_model, mujoco.MjModel),
        ("mj_data", mj_data, mujoco.MjData),
    ):
        if not isinstance(value, kind):
            raise TypeError(
                f"{name}: expected a mujoco.{kind.__name__}, got {type(value).__name__}"
            )
    require_covered(mj_model, mj_data)
    data = copy.copy(mj_data)
    mujoco.mj_normalizeQuat(mj_model, data.qpos)
    mujoco.mj_forward(mj_model, data)
    h, nv = mj_model.opt.timestep, mj_model.nv

    forces = force_derivatives(mj_model, data)
    constraints = constraint_terms(mj_model, data)
    mass = np.zeros((nv, nv))
    mujoco.mj_fullM(mj_model, data, mass)
    implicit = mass - h * np.diag(forces.implicit)
    torque = data.qfrc_smooth + data.qfrc_constraint
    a = np.stack([data.qacc, np.linalg.solve(implicit, torque)])
    by_q, by_v = _smooth_derivatives(mj_model, data.qpos, data.qvel, a)
    v_next = data.qvel + h * a[1]
    _require_same_step(mj_model, data, v_next)

    right = np.hstack(
        [
            np.diag(forces.by_q) - by_q[0] + constraints.by_q,
            np.diag(forces.by_v) - by_v + constraints.by_v,
            forces.by_u,
        ]
    )
    solved = mass @ np.linalg.solve(mass + constraints.by_a, right)
    solved[:, :nv] += by_q[0] - by_q[1]
    solved[:, 2 * nv :] += h * forces.implicit_by_u * a[1, :, np.newaxis]
    v_after = h * np.linalg.solve(implicit, solved)
    v_after[:, nv : 2 * nv] += np.eye(nv)

    from_q, from_v = _position_maps(mj_model, h * v_next)
    q_after = h * from_v @ v_after
    q_after[:, :nv] += from_q
    both = np.vstack([q_after, v_after])
    return TransitionDerivatives(both[:, : 2 * nv].copy(), both[:, 2 * nv :].copy())


def _require_same_step(mj_model: Any, data: Any, v_next: Array) -> None:
    """Advance `data`; raise NotImplementedError if MuJoCo's velocity is not the one expected.

    A new version of MuJoCo may take terms into account that this package does not know.
    """
    euler = mj_model.opt.integrator == int(mujoco.mjtIntegrator.mjINT_EULER)
    speed = np.abs(data.qvel).max()
    (mujoco.mj_Euler if euler else mujoco.mj_implicit)(mj_model, data)
    change = np.abs(v_next).max() + speed
    if not np.abs(data.qvel - v_next).max() <= 1e-9 * change:
        raise not_covered(f"terms that MuJoCo {mujoco.__version__} adds to this step")


def _smooth_derivatives(mj_model: Any, qpos: Array, qvel: Array, a: Array) -> tuple[Array, Array]:
    """Return d(M a + c)/dq for each row of `a`, and d(M a + c)/dv, in MuJoCo's convention."""
    model, convention = smooth_model(mj_model)
    state = convention.to_dtau(qpos, qvel, a)
    d = convention.inverse_dynamics_derivatives_from_dtau(
        *state, inverse_dynamics(model, *state), inverse_dynamics_derivatives(model, *state)
    )
    return d.dtau_dq, d.dtau_dv[0]


def _position_maps(mj_model: Any, displacement: Array) -> tuple[Array, Array]:
    """Return the derivatives of  q (+) displacement  by q and by the displacement."""
    by_q, by_displacement = np.eye(mj_model.nv), np.eye(mj_model.nv)
    for kind, start in zip(mj_model.jnt_type, mj_model.jnt_dofadr, strict=True):
        if kind in QUATERNIONS:
            first = start + 3 * (kind == QUATERNIONS[0])
            angles = slice(first, first + 3)
            turned, right = _exponential(displacement[angles])
            by_q[angles, angles], by_displacement[angles, angles] = turned.T, right
    return by_q, by_displacement


def _exponential(vector: Array) -> tuple[Array, Array]:
    """Return the rotation exp(vector) and its right Jacobian."""
    x, y, z = vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = float(np.linalg.norm(vector))
    if angle < 1e-4:  # the next terms are below 1e-16
        first, second, third = 1.0 - angle**2 / 6.0, 0.5 - angle**2 / 24.0, 1.0 / 6.0
    else:
        first = np.sin(angle) / angle
        second = 2.0 * (np.sin(angle / 2.0) / angle) ** 2
        third = (1.0 - first) / angle**2
    eye, square = np.eye(3), cross @ cross
    return eye + first * cross + second * square, eye - second * cross + third * square
