"""Differentiate the forces of MuJoCo's constraints at a constant active set: `constraint_terms`.

With x = pos - margin and MuJoCo's stiffness K, damping B and impedance I(x), a row has
a_ref = -B J v - K I x  and  D proportional to I / (1 - I).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.contacts import contact_terms
from dtau.mujoco.equalities import equality_terms
from dtau.mujoco.geometry import Differences
from dtau.mujoco.solved import Kinematics, Rows, Solved
from dtau.mujoco.terms import Terms
from dtau.mujoco.vectors import skew

Array = NDArray[np.float64]

_EQUALITY = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
_LIMITS = tuple(
    int(getattr(mujoco.mjtConstraint, f"mjCNSTR_LIMIT_{name}")) for name in ("JOINT", "TENDON")
)
_BALL = int(mujoco.mjtJoint.mjJNT_BALL)


class ConstraintTerms(NamedTuple):
    """J^T H J, and the derivatives of J^T lambda at constant acceleration; all (n, nv, nv)."""

    by_a: Array
    by_q: Array
    by_v: Array


def constraint_terms(
    mj_model: Any, solved: Solved, differences: Differences | None
) -> ConstraintTerms | None:
    """Return the derivatives of the forces of constraints; None if there are none."""
    found: list[Terms] = []
    rows, equalities = solved.rows, None
    if rows is not None:
        of_joints = rows.kind != _EQUALITY
        if of_joints.all():
            found += _joint_terms(mj_model, solved, rows)
        else:
            equalities = rows.chosen(~of_joints)
            if of_joints.any():
                found += _joint_terms(mj_model, solved, rows.chosen(of_joints))
    moving = solved.contacts is not None or equalities is not None
    kinematics = Kinematics(solved) if moving else None
    if kinematics is not None and equalities is not None:
        found += equality_terms(kinematics, mj_model, solved, equalities)
    if kinematics is not None:
        terms = contact_terms(kinematics, mj_model, solved, differences)
        if terms is not None:
            found.append(terms)
    if not found:
        return None
    nv = mj_model.nv
    total = np.zeros((solved.n, nv, 3 * nv))
    for part in found:
        total += _summed(part, solved.n)
    by_q = total[:, :, nv : 2 * nv]
    if kinematics is not None:
        on_axes = np.zeros((solved.n, nv, 6))
        for terms in found:
            if terms.wrenches is not None:
                first = np.flatnonzero(np.diff(terms.state, prepend=-1))
                on_axes[terms.state[first]] += np.add.reduceat(terms.wrenches, first)
        # dS_i/dq_j = S_j x S_i
        turned = np.vecmat(on_axes, kinematics.cross)
        by_q -= solved.plan.moves.T * (turned @ kinematics.axes)
    return ConstraintTerms(-total[:, :, :nv], by_q, total[:, :, 2 * nv :])


def _summed(terms: Terms, n: int) -> Array:
    """Return the sums of left^T right over the rows of each of `n` states."""
    k, nv = terms.left.shape[1:]
    left, right = terms.left.reshape(-1, nv), terms.right.reshape(-1, 3 * nv)
    if n == 1:
        return np.asarray(left.T @ right)[np.newaxis]
    ends = k * np.searchsorted(terms.state, np.arange(n + 1))
    parts = [slice(*ends[i : i + 2]) for i in range(n)]
    return np.stack([left[part].T @ right[part] for part in parts])


def _joint_terms(mj_model: Any, solved: Solved, rows: Rows) -> list[Terms]:
    """Return the terms of limits and of friction loss, of joints and fixed tendons."""
    limits = (rows.kind == _LIMITS[0]) | (rows.kind == _LIMITS[1])
    jacobian, a = rows.jacobian, solved.a
    acceleration = jacobian @ a[0] if len(a) == 1 else np.vecdot(jacobian, a[rows.state])
    # The solver's efc_state may be of its last but one iterate.
    force = -rows.weight * (acceleration - rows.reference)
    active = np.where(limits, force > 0.0, np.abs(force) < rows.loss)
    weight = np.where(active, rows.weight, 0.0)
    stiffness, damping, impedance, slope = rows.parameters.T
    x = rows.position - rows.margin
    by_position = -weight * stiffness * (impedance + slope * x)
    by_position += np.where(active, force, 0.0) * slope / (impedance * (1.0 - impedance))
    by_position[~limits] = 0.0
    factors = np.stack([-weight, by_position, -weight * damping], axis=1)
    right = (factors[:, :, np.newaxis] * jacobian[:, np.newaxis]).reshape(len(x), 1, -1)
    found = [Terms(rows.state, jacobian[:, np.newaxis], right, None)]
    if (mj_model.jnt_type == _BALL).any():
        of_joints = np.flatnonzero(active & (rows.kind == _LIMITS[0]))
        balls = of_joints[mj_model.jnt_type[rows.id[of_joints]] == _BALL]
        if len(balls):
            found.append(_ball_terms(mj_model, solved, rows.chosen(balls), force[balls]))
    return found


def _ball_terms(mj_model: Any, solved: Solved, rows: Rows, force: Array) -> Terms:
    """Return the terms of active limits of ball joints by the motion of their axes.

    The row is  J = -n,  where n is the axis of the rotation by the angle x, along the body's axes.
    A displacement d turns it by  dn = (cot(x / 2) (d - n n.d) + n x d) / 2.
    """
    n, nv = rows.jacobian.shape
    dofs = mj_model.jnt_dofadr[rows.id][:, np.newaxis] + np.arange(3)
    index = np.arange(n)[:, np.newaxis]
    axis = -rows.jacobian[index, dofs]
    ranges = mj_model.jnt_range[rows.id].max(axis=1)
    cotangent = 1.0 / np.tan(0.5 * (ranges - rows.position))[:, np.newaxis, np.newaxis]
    across = np.eye(3) - axis[:, :, np.newaxis] * axis[:, np.newaxis]
    turned = 0.5 * (cotangent * across + skew(axis))
    rate = solved.a[rows.state] + rows.parameters[:, 1:2] * solved.v[rows.state]
    left, right = np.zeros((n, 4, nv)), np.zeros((n, 4, 3 * nv))
    left[:, 0] = rows.jacobian
    left[index, 1 + np.arange(3), dofs] = 1.0
    right[index, 0, nv + dofs] = rows.weight[:, np.newaxis] * np.vecmat(rate[index, dofs], turned)
    places = index[..., np.newaxis], 1 + np.arange(3)[:, np.newaxis], nv + dofs[:, np.newaxis]
    right[places] = -force[:, np.newaxis, np.newaxis] * turned
    return Terms(rows.state, left, right, None)
