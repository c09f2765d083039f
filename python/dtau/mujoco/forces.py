"""Differentiate MuJoCo's passive and actuator forces: `force_derivatives`."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.scope import disabled

Array = NDArray[np.float64]


class ForceDerivatives(NamedTuple):
    """Derivatives of ``qfrc_passive + qfrc_actuator``; each force depends on its own joint only.

    Attributes
    ----------
    by_q, by_v : ndarray (nv,)
        Diagonals of the derivatives by configuration and velocity.
    by_u : ndarray (nv, nu)
        Derivative by ``ctrl``.
    implicit : ndarray (nv,)
        Diagonal V that the integrator takes into account.
    implicit_by_u : ndarray (nv, nu)
        Derivative of V by ``ctrl``.
    """

    by_q: Array
    by_v: Array
    by_u: Array
    implicit: Array
    implicit_by_u: Array


def force_derivatives(mj_model: Any, data: Any) -> ForceDerivatives:
    """Return the derivatives of joint springs, dampers and actuators."""
    nv, nu = mj_model.nv, mj_model.nu
    damping, stiffness = np.zeros(nv), np.zeros(nv)
    if not disabled(mj_model, "DAMPER"):
        damping += mj_model.dof_damping
    if not disabled(mj_model, "SPRING"):
        stiffness += mj_model.jnt_stiffness[mj_model.dof_jntid]
    by_q, by_v, by_u = np.zeros(nv), np.zeros(nv), np.zeros((nv, nu))
    implicit_by_u = np.zeros((nv, nu))
    if mj_model.nactuator and not disabled(mj_model, "ACTUATION"):
        _add_actuators(mj_model, data, (by_q, by_v, by_u, implicit_by_u))
    if mj_model.opt.integrator == int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST):
        implicit = by_v - damping
    else:
        implicit = -damping if not disabled(mj_model, "EULERDAMP") else np.zeros(nv)
        implicit_by_u[:] = 0.0
    return ForceDerivatives(by_q - stiffness, by_v - damping, by_u, implicit, implicit_by_u)


def _add_actuators(mj_model: Any, data: Any, out: tuple[Array, ...]) -> None:
    """Add actuators  gear (gain u + bias), with gain and bias affine in length and velocity."""
    by_q, by_v, by_u, v_by_u = out
    dofs = mj_model.jnt_dofadr[mj_model.actuator_trnid[:, 0]]
    columns, gear = mj_model.actuator_ctrladr, mj_model.actuator_gear[:, 0]
    low, high = mj_model.actuator_forcerange.T
    within = (low < data.actuator_force) & (data.actuator_force < high)
    unsaturated = within | (mj_model.actuator_forcelimited == 0)

    u = data.ctrl[columns]
    limited = (mj_model.actuator_ctrllimited != 0) & (not disabled(mj_model, "CLAMPCTRL"))
    low, high = mj_model.actuator_ctrlrange.T
    follows = unsaturated & (~limited | ((low <= u) & (u <= high)))
    u = np.where(limited, np.clip(u, low, high), u)

    gain = mj_model.actuator_gainprm[:, :3].copy()
    gain[mj_model.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_FIXED), 1:] = 0.0
    affine = mj_model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)
    bias = mj_model.actuator_biasprm[:, :3] * affine[:, np.newaxis]
    factors = gear**2 * unsaturated
    np.add.at(by_q, dofs, factors * (gain[:, 1] * u + bias[:, 1]))
    np.add.at(by_v, dofs, factors * (gain[:, 2] * u + bias[:, 2]))
    by_control = gain[:, 0] + gain[:, 1] * data.actuator_length
    by_control += gain[:, 2] * data.actuator_velocity
    np.add.at(by_u, (dofs, columns), gear * follows * by_control)
    np.add.at(v_by_u, (dofs, columns), gear**2 * follows * gain[:, 2])
