"""The configuration manifold in the operations of an array library: `integrate`, `difference`.

Every function normalizes q, so quaternions need not have unit norm.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dtau.autodiff.joint_groups import FREE, PLAIN, PLANAR, SPHERICAL, JointGroup
from dtau.autodiff.library import Array
from dtau.model.joints import Free, Planar, Spherical
from dtau.model.model import Model
from dtau.support.arrays import Indices

_GROUPS: dict[type, JointGroup] = {Free: FREE, Spherical: SPHERICAL, Planar: PLANAR}


class _Joints(NamedTuple):
    """Joints of one group: indices of their coordinates and velocities, (joints, coordinates)."""

    group: JointGroup
    q: Indices
    v: Indices
    q_slice: slice | None  # None: they are not neighbors
    v_slice: slice | None


class _Layout(NamedTuple):
    joints: tuple[_Joints, ...]
    q_order: Indices | None  # index of each coordinate in the concatenated groups; None: as it is
    v_order: Indices | None


def _indices(rows: list[slice]) -> Indices:
    return np.array([np.arange(row.start, row.stop) for row in rows])


def _slice(indices: Indices) -> slice | None:
    first, stop = int(indices[0, 0]), int(indices[0, 0]) + indices.size
    return slice(first, stop) if np.array_equal(indices.ravel(), np.arange(first, stop)) else None


def _order(groups: list[Indices]) -> Indices | None:
    order = np.argsort(np.concatenate([indices.ravel() for indices in groups]))
    return None if np.array_equal(order, np.arange(order.size)) else order


@functools.lru_cache(maxsize=64)
def _layout(model: Model) -> _Layout:
    slices: dict[JointGroup, tuple[list[slice], list[slice]]] = {}
    for joint in model.joints:
        if joint.mimic is not None:
            continue
        group = _GROUPS.get(type(joint.type), PLAIN)
        q, v = slices.setdefault(group, ([], []))
        if group is PLAIN:  # each coordinate counts as a joint, with one velocity
            q += [slice(k, k + 1) for k in range(joint.q.start, joint.q.stop)]
            v += [slice(k, k + 1) for k in range(joint.v.start, joint.v.stop)]
        else:
            q.append(joint.q)
            v.append(joint.v)
    indices = [(group, _indices(q), _indices(v)) for group, (q, v) in slices.items()]
    joints = tuple(_Joints(group, q, v, _slice(q), _slice(v)) for group, q, v in indices)
    return _Layout(joints, _order([j.q for j in joints]), _order([j.v for j in joints]))


def is_vector_space(model: Model) -> bool:
    """Whether displacements of all joints add: then the tangent map is 1."""
    joints = _layout(model).joints
    return len(joints) == 1 and joints[0].group is PLAIN


def _taken(x: Array, indices: Indices, neighbors: slice | None) -> Array:
    """Return the numbers of each joint, (..., joints, numbers).

    Libraries differentiate a slice in less time than an index array.
    """
    if neighbors is None:
        return x[..., indices]
    return x[..., neighbors].reshape((*x.shape[:-1], *indices.shape))


def _q(joints: _Joints, x: Array) -> Array:
    return _taken(x, joints.q, joints.q_slice)


def _v(joints: _Joints, x: Array) -> Array:
    return _taken(x, joints.v, joints.v_slice)


def _joined(xp: Any, parts: list[Array], order: Indices | None) -> Array:
    flat = [part.reshape((*part.shape[:-2], part.shape[-2] * part.shape[-1])) for part in parts]
    if len(flat) == 1:
        return flat[0]
    joined = xp.concatenate(flat, axis=-1)
    return joined if order is None else joined[..., order]


def _of_one_batch(xp: Any, *arrays: Array) -> list[Array]:
    shape = xp.broadcast_shapes(*(tuple(a.shape[:-1]) for a in arrays))
    return [
        a if tuple(a.shape[:-1]) == shape else xp.broadcast_to(a, (*shape, a.shape[-1]))
        for a in arrays
    ]


def to_tangent(xp: Any, model: Model, q: Array, dq: Array) -> Array:
    """Return T(q) dq: the velocity (..., nv) at which the numbers of q (..., nq) change by dq.

    A change of a quaternion along itself has no effect.
    """
    if is_vector_space(model):
        return dq
    q, dq = _of_one_batch(xp, q, dq)
    at = _layout(model)
    parts = [j.group.to_tangent(xp, _q(j, q), _q(j, dq)) for j in at.joints]
    return _joined(xp, parts, at.v_order)


def from_tangent(xp: Any, model: Model, q: Array, v: Array) -> Array:
    """Return the rates of the numbers of normalize(q) at velocity v."""
    if is_vector_space(model):
        return v
    q, v = _of_one_batch(xp, q, v)
    at = _layout(model)
    parts = [j.group.from_tangent(xp, _q(j, q), _v(j, v)) for j in at.joints]
    return _joined(xp, parts, at.q_order)


def normalize(xp: Any, model: Model, q: Array) -> Array:
    """Return the configuration with unit quaternions."""
    if is_vector_space(model):
        return q
    at = _layout(model)
    return _joined(xp, [j.group.normalize(xp, _q(j, q)) for j in at.joints], at.q_order)


def integrate(xp: Any, model: Model, q: Array, dq: Array) -> Array:
    """Return the configuration q (+) dq."""
    q, dq = _of_one_batch(xp, q, dq)
    if is_vector_space(model):
        return q + dq
    at = _layout(model)
    parts = [j.group.integrate(xp, _q(j, q), _v(j, dq)) for j in at.joints]
    return _joined(xp, parts, at.q_order)


def difference(xp: Any, model: Model, q0: Array, q1: Array) -> Array:
    """Return the displacement dq with q0 (+) dq = q1."""
    q0, q1 = _of_one_batch(xp, q0, q1)
    if is_vector_space(model):
        return q1 - q0
    at = _layout(model)
    parts = [j.group.difference(xp, _q(j, q0), _q(j, q1)) for j in at.joints]
    return _joined(xp, parts, at.v_order)


LinearMap = Callable[[Any, Model, Array, Array], Array]


def matrix(xp: Any, model: Model, q: Array, units: Array, apply: LinearMap) -> Array:
    """Return the matrix at q of `to_tangent` or `from_tangent`, from unit vectors (n, n)."""
    columns = apply(xp, model, q[..., None, :], units)
    columns = xp.broadcast_to(columns, (*q.shape[:-1], *columns.shape[-2:]))
    return xp.swapaxes(columns, -1, -2)


def pulled_back(xp: Any, model: Model, q: Array, gradient: Array, numbers: Array) -> Array:
    """Return T(q)^T times a gradient in the tangent space, with unit vectors ``numbers`` (nq, nq).

    [Derivations] eq. 16.4
    """
    if is_vector_space(model):
        return gradient
    return (gradient[..., None, :] @ matrix(xp, model, q, numbers, to_tangent))[..., 0, :]
