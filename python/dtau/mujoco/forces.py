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
    for i in range(mj_model.nactuator if not disabled(mj_model, "ACTUATION") else 0):
        _add_actuator(mj_model, data, i, (by_q, by_v, by_u, implicit_by_u))
    if mj_model.opt.integrator == int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST):
        implicit = by_v - damping
    else:
        implicit = -damping if not disabled(mj_model, "EULERDAMP") else np.zeros(nv)
        implicit_by_u[:] = 0.0
    return ForceDerivatives(by_q - stiffness, by_v - damping, by_u, implicit, implicit_by_u)


def _add_actuator(mj_model: Any, data: Any, i: int, out: tuple[Array, ...]) -> None:
    """Add the actuator  gear (gain u + bias), with gain and bias affine in length and velocity."""
    by_q, by_v, by_u, v_by_u = out
    low, high = mj_model.actuator_forcerange[i]
    force = data.actuator_force[i]
    if mj_model.actuator_forcelimited[i] and not low < force < high:
        return
    joint, column = mj_model.actuator_trnid[i, 0], mj_model.actuator_ctrladr[i]
    dof, gear = mj_model.jnt_dofadr[joint], mj_model.actuator_gear[i, 0]
    u, follows = data.ctrl[column], True
    if mj_model.actuator_ctrllimited[i] and not disabled(mj_model, "CLAMPCTRL"):
        low, high = mj_model.actuator_ctrlrange[i]
        follows = low <= u <= high
        u = min(max(u, low), high)
    gain, bias = mj_model.actuator_gainprm[i, :3].copy(), mj_model.actuator_biasprm[i, :3]
    if mj_model.actuator_gaintype[i] == int(mujoco.mjtGain.mjGAIN_FIXED):
        gain[1:] = 0.0
    affine = mj_model.actuator_biastype[i] == int(mujoco.mjtBias.mjBIAS_AFFINE)
    by_q[dof] += gear**2 * (gain[1] * u + affine * bias[1])
    by_v[dof] += gear**2 * (gain[2] * u + affine * bias[2])
    if follows:
        at = (1.0, data.actuator_length[i], data.actuator_velocity[i])
        by_u[dof, column] += gear * (gain @ at)
        v_by_u[dof, column] += gear**2 * gain[2]
