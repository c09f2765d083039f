"""Differentiate the forces of MuJoCo's constraints at a constant active set: `constraint_terms`."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.scope import not_covered

Array = NDArray[np.float64]

_LIMIT = int(mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT)
_FRICTION = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)
_NAMES = {
    int(mujoco.mjtConstraint.mjCNSTR_EQUALITY): "equality constraints",
    int(mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON): "friction loss of tendons",
    int(mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON): "limits of tendons",
}


class ConstraintTerms(NamedTuple):
    """J^T W J, and the derivatives of J^T lambda at constant acceleration; all (nv, nv)."""

    by_a: Array
    by_q: Array
    by_v: Array


def constraint_terms(mj_model: Any, data: Any) -> ConstraintTerms:
    """Return the derivatives of the forces of joint limits and friction loss.

    With x = pos - margin and MuJoCo's stiffness K, damping B and impedance I(x), a row has
    a_ref = -B J v - K I x  and  D proportional to I / (1 - I).
    """
    nv = mj_model.nv
    if not data.nefc:
        return ConstraintTerms(*np.zeros((3, nv, nv)))
    kinds = data.efc_type
    for kind in kinds:
        if kind not in (_LIMIT, _FRICTION):
            raise not_covered(_NAMES.get(int(kind), "contacts"))
    limits = kinds == _LIMIT
    for joint in data.efc_id[limits]:
        if mj_model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_BALL):
            raise not_covered("limits of ball joints")
    jacobian = _dense_jacobian(mj_model, data)
    # The solver's efc_state may be of its last but one iterate.
    force = -data.efc_D * (jacobian @ data.qacc - data.efc_aref)
    active = np.where(limits, force > 0.0, np.abs(force) < data.efc_frictionloss)
    weight = np.where(active, data.efc_D, 0.0)
    stiffness, damping, impedance, slope = data.efc_KBIP.T
    x = data.efc_pos - data.efc_margin
    by_position = -weight * stiffness * (impedance + slope * x)
    by_position += np.where(active, force, 0.0) * slope / (impedance * (1.0 - impedance))

    def product(diagonal: Array) -> Array:
        return np.asarray((jacobian.T * diagonal) @ jacobian)

    return ConstraintTerms(
        product(weight),
        product(np.where(limits, by_position, 0.0)),
        product(-weight * damping),
    )


def _dense_jacobian(mj_model: Any, data: Any) -> Array:
    out = np.zeros((data.nefc, mj_model.nv))
    if mujoco.mj_isSparse(mj_model):
        mujoco.mju_sparse2dense(
            out, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        )
    else:
        out[:] = data.efc_J.reshape(out.shape)
    return out
