"""Differentiate the forces of equality constraints: `equality_terms`.

A connect holds a point of body 1 at a point of body 2; a weld also holds the orientations, by the
vector part of the quaternion  conj(q_2) q_1.  With the error c, of norm |c|, the rows have
a_ref = -B J v - K I(|c|) c - (dJ/dt) v,  and their forces are always active.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.accelerations import PointAccelerations, point_accelerations
from dtau.mujoco.pairs import Pairs
from dtau.mujoco.rows import Rows
from dtau.mujoco.scope import not_covered
from dtau.mujoco.solved import Kinematics, Solved
from dtau.mujoco.tendons import polynomial
from dtau.mujoco.terms import Terms
from dtau.mujoco.vectors import skew

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_CONNECT, _WELD, _JOINT, _TENDON = (
    int(getattr(mujoco.mjtEq, f"mjEQ_{name}")) for name in ("CONNECT", "WELD", "JOINT", "TENDON")
)


def equality_terms(mj_model: Any, solved: Solved, rows: Rows) -> list[Terms]:
    """Return the terms of rows of equality constraints."""
    kinds = mj_model.eq_type[rows.id]
    if not {_CONNECT, _WELD, _JOINT, _TENDON}.issuperset(kinds.tolist()):
        raise not_covered("equality constraints other than connect, weld, joint and tendon")
    out = []
    kinematics = Kinematics(solved) if np.isin(kinds, (_CONNECT, _WELD)).any() else None
    for kind, size in ((_CONNECT, 3), (_WELD, 6)):
        chosen = np.flatnonzero(kinds == kind).reshape(-1, size)
        if len(chosen) and kinematics is not None:
            out.append(_body_terms(kinematics, mj_model, solved, rows.chosen(chosen)))
    for kind, second in ((_JOINT, _second_joints), (_TENDON, _second_tendons)):
        some = rows.chosen(kinds == kind)
        if len(some.id):
            out.append(_polynomial_terms(mj_model, solved, some, *second(mj_model, solved, some)))
    return out


def _body_terms(kinematics: Kinematics, mj_model: Any, solved: Solved, rows: Rows) -> Terms:
    """Return the terms of connects (n, 3) or welds (n, 6)."""
    state, equality = rows.state[:, 0], rows.id[:, 0].astype(np.intp)
    n, size = rows.id.shape
    nv, welds = solved.plan.nv, size == 6
    bodies, points, quaternions = _places(mj_model, solved, state, equality, welds)
    masks = solved.plan.ancestors[bodies]
    pairs = Pairs(kinematics, masks, state, points)
    jacobian, moved = rows.jacobian, pairs.jacobian[:, :, :3]
    motion = point_accelerations(kinematics, solved, pairs, state, points)
    damping = rows.parameters[..., 1, np.newaxis]
    residual = np.empty((2, n, size, nv))  # by q and by v
    residual[:, :, :3] = [(x[:, 1] - x[:, 0])[:, :3] for x in (motion.by_q, motion.by_v)]
    by_velocity = motion.velocity_by_q[:, 1] - motion.velocity_by_q[:, 0]
    residual[0, :, :3] += damping[:, :3] * by_velocity[:, :3]
    if welds:
        scale = 0.5 * mj_model.eq_data[equality, 10, np.newaxis, np.newaxis]
        product = scale * _products(quaternions)
        one, other = pairs.jacobian[:, 1, 3:], pairs.jacobian[:, 0, 3:]
        residual[:, :, 3:] = product @ _turning(motion, one, other, damping[:, 3:4])
    residual[1] += damping * jacobian
    residual_by_q, residual_by_v = residual
    acceleration = np.matvec(jacobian, solved.a[state])
    force = -rows.weight * (acceleration - rows.reference)
    stiffness, _, impedance, slope = (rows.parameters[..., k] for k in range(4))
    error = rows.position
    norm = np.sqrt((error**2).sum(axis=1))
    along = error / np.where(norm > 0.0, norm, 1.0)[:, np.newaxis]
    by_norm = along[:, np.newaxis] @ jacobian  # (n, 1, nv)
    residual_by_q += (stiffness * impedance)[..., np.newaxis] * jacobian
    residual_by_q += (stiffness * slope * error)[..., np.newaxis] * by_norm
    weight = rows.weight[..., np.newaxis]

    left = np.concatenate([jacobian, pairs.jacobian[:, 1, 3:], pairs.jacobian[:, 0, 3:]], axis=1)
    right = np.zeros((n, size + 6, 3 * nv))
    right[:, :size, :nv] = -weight * jacobian
    right[:, :size, nv : 2 * nv] = -weight * residual_by_q
    right[:, :size, 2 * nv :] = -weight * residual_by_v
    scaled = force * slope / (impedance * (1.0 - impedance))
    right[:, :size, nv : 2 * nv] += scaled[..., np.newaxis] * by_norm
    # The forces move with the points, and the moment of a weld turns with the bodies.
    across = skew(force[:, :3])
    right[:, size : size + 3, nv : 2 * nv] = -across @ moved[:, 1]
    right[:, size + 3 :, nv : 2 * nv] = across @ moved[:, 0]
    moments = np.cross(points, force[:, np.newaxis, :3])
    if welds:
        along = np.vecmat(force[:, 3:], product)
        moments += along[:, np.newaxis, 1:]
        turned = along[:, :1, np.newaxis] * (other - one) - skew(along[:, 1:]) @ (one + other)
        right[:, size : size + 3, nv : 2 * nv] += 0.5 * turned
        right[:, size + 3 :, nv : 2 * nv] -= 0.5 * turned
    wrenches = np.zeros((n, nv, 6))
    for side, sign in ((1, 1.0), (0, -1.0)):
        wrench = np.concatenate([force[:, :3], moments[:, side]], axis=1)
        wrenches += sign * masks[:, side, :, np.newaxis] * wrench[:, np.newaxis]
    return Terms(state, left, right, wrenches)


def _turning(motion: PointAccelerations, one: Array, other: Array, damping: Array) -> Array:
    """Return derivatives by q and v of the quaternions Z (n, 4) of the rates of a weld.

    The error r, a product of the quaternions of the bodies, has the second derivative  P Z, with
    Z = (0, dw/dt) + (-|w|^2 / 2, w_1 x w_2)  of the relative angular velocity  w = w_1 - w_2.
    """
    (w2, w1), (a2, a1) = (x[..., 3:].swapaxes(0, 1) for x in (motion.velocity, motion.acceleration))
    w, out = w1 - w2, np.zeros((2, len(w1), 4, one.shape[-1]))
    rates = motion.velocity_by_q[:, 1, 3:], motion.velocity_by_q[:, 0, 3:]
    for k, by, (by_1, by_2) in ((0, motion.by_q, rates), (1, motion.by_v, (one, other))):
        out[k, :, :1] = -w[:, np.newaxis] @ (by_1 - by_2)
        out[k, :, 1:] = (by[:, 1] - by[:, 0])[:, 3:] - skew(w2) @ by_1 + skew(w1) @ by_2
    out[0, :, 1:] += damping * (rates[0] - rates[1])
    # The quaternions on both sides turn.
    vector = a1 - a2 + np.cross(w1, w2) + damping[..., 0] * w
    real = -0.5 * (w**2).sum(axis=1)[:, np.newaxis, np.newaxis]
    out[0, :, :1] += 0.5 * vector[:, np.newaxis] @ (other - one)
    out[0, :, 1:] += 0.5 * (real * (one - other) + skew(vector) @ (one + other))
    return out


def _places(
    m: Any, solved: Solved, state: Indices, equality: Indices, welds: bool
) -> tuple[Indices, Array, tuple[Array, Array]]:
    """Return bodies (n, 2), points (n, 2, 3) and quaternions, of object 2, then of object 1."""
    n = len(equality)
    objects = np.stack([m.eq_obj2id[equality], m.eq_obj1id[equality]], axis=1)
    data = m.eq_data[equality]
    sites = m.eq_objtype[equality] == int(mujoco.mjtObj.mjOBJ_SITE)
    bodies = objects.astype(np.intp)
    anchors = np.stack([data[:, :3], data[:, 3:6]] if welds else [data[:, 3:6], data[:, :3]], 1)
    own = np.zeros((n, 2, 4))
    own[..., 0] = 1.0
    own[:, 1] = data[:, 6:10] if welds else own[:, 1]
    if sites.any():
        places = objects[sites]
        bodies[sites] = m.site_bodyid[places]
        anchors[sites], own[sites] = m.site_pos[places], m.site_quat[places]
    positions, quaternions = (x[np.arange(n)[:, np.newaxis], bodies] for x in solved.poses(state))
    w, u = quaternions[..., :1], quaternions[..., 1:]
    turned = anchors + 2.0 * np.cross(u, np.cross(u, anchors) + w * anchors)
    points = positions + turned
    of_objects = np.matvec(_left(quaternions), own)
    return bodies, points, (of_objects[:, 0], of_objects[:, 1])


def _products(quaternions: tuple[Array, Array]) -> Array:
    """Return the matrices (n, 3, 4) of the vector part of  conj(q_2) x q_1,  by x."""
    other, one = quaternions
    return np.asarray((_left(other * (1.0, -1.0, -1.0, -1.0)) @ _right(one))[:, 1:])


def _left(q: Array) -> Array:
    """Return the matrices of  q x,  (..., 4, 4)."""
    return _matrices(q, 1.0)


def _right(q: Array) -> Array:
    """Return the matrices of  x q."""
    return _matrices(q, -1.0)


def _matrices(q: Array, sign: float) -> Array:
    out = np.empty((*q.shape, 4))
    out[..., 0, 0] = q[..., 0]
    out[..., 0, 1:] = -q[..., 1:]
    out[..., 1:, 0] = q[..., 1:]
    out[..., 1:, 1:] = sign * skew(q[..., 1:]) + q[..., 0, np.newaxis, np.newaxis] * np.eye(3)
    return out


def _second_joints(m: Any, solved: Solved, rows: Rows) -> tuple[Array, Array]:
    """Return position and moment arms of the second joint of each row."""
    second = m.eq_obj2id[rows.id]
    arms = np.zeros((len(second), solved.plan.nv))
    arms[np.arange(len(second)), m.jnt_dofadr[second]] = 1.0
    place = m.jnt_qposadr[second]
    return solved.q[rows.state, place] - m.qpos0[place], arms


def _second_tendons(m: Any, solved: Solved, rows: Rows) -> tuple[Array, Array]:
    """Return length and moment arms of the second tendon of each row."""
    second, index = m.eq_obj2id[rows.id], np.arange(len(rows.id))
    lengths, arms = solved.tendons(rows.state)
    return lengths[index, second] - m.tendon_length0[second], arms[index, second]


def _polynomial_terms(m: Any, solved: Solved, rows: Rows, x: Array, arms: Array) -> Terms:
    """Return the terms of polynomials  x_1 = p(x_2)  of positions or lengths.

    `x`, `arms`: of the second one. Arms of spatial tendons turn in `SpatialTendons`.
    """
    n, nv = len(rows.id), solved.plan.nv
    _, bend = polynomial(m.eq_data[rows.id], x)
    bend[m.eq_obj2id[rows.id] < 0] = 0.0
    jacobian, a = rows.jacobian, solved.a[rows.state]
    stiffness, damping, impedance, slope = rows.parameters.T
    force = -rows.weight * (np.vecdot(jacobian, a) - rows.reference)
    by_error = -rows.weight * stiffness * (impedance + slope * rows.position)
    by_error += force * slope / (impedance * (1.0 - impedance))
    rate = np.vecdot(arms, a + damping[:, np.newaxis] * solved.v[rows.state])
    left, right = np.stack([jacobian, arms], axis=1), np.zeros((n, 2, 3 * nv))
    factors = np.stack([-rows.weight, by_error, -rows.weight * damping], axis=1)
    right[:, 0] = (factors[:, :, np.newaxis] * jacobian[:, np.newaxis]).reshape(n, -1)
    right[:, 0, nv : 2 * nv] += (rows.weight * bend * rate)[:, np.newaxis] * arms
    right[:, 1, nv : 2 * nv] = -(bend * force)[:, np.newaxis] * arms
    return Terms(rows.state, left, right, None)
