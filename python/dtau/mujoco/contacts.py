"""Differentiate the forces of contacts at a constant active set: `contact_terms`.

The rows of a contact are combinations of six: the motion J of body 2 relative to body 1 at the
contact point, [velocity, angular velocity] along the contact frame E. With x = dist - margin,

    y = J a - a_ref = J a + B J v + (K I(x) x, 0 ...)

and the force in these axes is  g = -D s'(y),  with MuJoCo's friction cone s and D proportional to
I / (1 - I). The Hessian is H = D s''(y).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.geometry import Differences, Shapes, contact_motion
from dtau.mujoco.pairs import Pairs
from dtau.mujoco.solved import Contacts, Kinematics, Solved
from dtau.mujoco.terms import Terms
from dtau.mujoco.vectors import skew

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_OF_ROWS = np.array([0, 1, 1, 1, 1, 1])


class ConeForces(NamedTuple):
    """Forces g (n, 6), and Hessians H (n, 6, 6)."""

    force: Array
    hessian: Array


def cone_forces(contacts: Contacts, y: Array, elliptic: bool) -> ConeForces:
    """Return the forces and Hessians of contacts at the residuals y, (n, 6)."""
    n = len(y)
    out = ConeForces(np.zeros((n, 6)), np.zeros((n, 6, 6)))
    used = np.arange(5) < contacts.dim[:, np.newaxis] - 1
    friction = np.where(used, contacts.friction, 0.0)
    plain = contacts.dim == 1
    if plain.any():
        weight = np.where(plain & (y[:, 0] < 0.0), contacts.weight, 0.0)
        out.force[:, 0], out.hessian[:, 0, 0] = -weight * y[:, 0], weight
    if elliptic:
        _add_ellipses(out, contacts, y, friction, ~plain)
    else:
        _add_pyramids(out, contacts.weight, y, friction, used)
    return out


def _add_pyramids(
    out: ConeForces, weight: Array, y: Array, friction: Array, used: NDArray[np.bool_]
) -> None:
    """Add the edges  y_0 +- mu_k y_k  that are negative."""
    along = friction * y[:, 1:]
    normal = y[:, :1]
    weight = weight[:, np.newaxis]
    one = np.where(used & (normal + along < 0.0), weight, 0.0)
    other = np.where(used & (normal - along < 0.0), weight, 0.0)
    both, odd = one + other, friction * (one - other)
    index = np.arange(1, 6)
    out.force[:, 0] -= (both * normal + (one - other) * along).sum(axis=1)
    out.force[:, 1:] -= odd * normal + friction * both * along
    out.hessian[:, 0, 0] += both.sum(axis=1)
    out.hessian[:, 0, 1:] += odd
    out.hessian[:, 1:, 0] += odd
    out.hessian[:, index, index] += friction**2 * both


def _add_ellipses(
    out: ConeForces, contacts: Contacts, y: Array, friction: Array, cones: NDArray[np.bool_]
) -> None:
    """Add the distance to the cone, in the scaled variables u = (mu y_0, friction y)."""
    mu = contacts.mu
    scale = np.concatenate([mu[:, np.newaxis], friction], axis=1)
    u = scale * y
    normal, tangent = u[:, 0], np.sqrt((u[:, 1:] ** 2).sum(axis=1))
    satisfied = (normal >= mu * tangent) | ~cones
    sticking = ~satisfied & ((mu * normal + tangent <= 0.0) | (tangent <= 0.0))
    sliding = ~satisfied & ~sticking
    safe = np.where(cones, mu, 1.0) ** 2
    weight = np.where(sticking, contacts.weight / safe, 0.0)[:, np.newaxis] * scale**2
    index = np.arange(6)
    out.force[:] -= weight * y
    out.hessian[:, index, index] += weight
    if not sliding.any():
        return
    # s = (normal - mu tangent)^2 / 2
    weight = np.where(sliding, contacts.weight / (safe * (1.0 + safe)), 0.0)
    length = np.where(sliding, tangent, 1.0)
    unit = u / length[:, np.newaxis]
    gap = normal - mu * tangent
    gradient = -mu[:, np.newaxis] * unit
    gradient[:, 0] = 1.0
    out.force[:] -= (weight * gap)[:, np.newaxis] * gradient * scale
    curved = gradient[:, :, np.newaxis] * gradient[:, np.newaxis]
    bend = (-mu * gap / length)[:, np.newaxis]
    unit[:, 0] = 0.0
    curved -= bend[..., np.newaxis] * (unit[:, :, np.newaxis] * unit[:, np.newaxis])
    curved[:, index[1:], index[1:]] += bend
    scales = scale[:, :, np.newaxis] * scale[:, np.newaxis]
    out.hessian[:] += weight[:, np.newaxis, np.newaxis] * curved * scales


def contact_terms(
    kinematics: Kinematics, mj_model: Any, solved: Solved, differences: Differences | None
) -> Terms | None:
    """Return the terms of contacts that have a force; None if there are none."""
    contacts, plan = solved.contacts, solved.plan
    if contacts is None:
        return None
    shapes = Shapes(plan, mj_model, solved, contacts)
    pairs, jacobian, y = _residual(kinematics, contacts, shapes)
    cone = cone_forces(contacts, y, plan.elliptic)
    active = cone.hessian.any(axis=(1, 2))
    if not active.all():
        if not active.any():
            return None
        contacts = contacts.chosen(active)
        shapes = shapes.chosen(active)
        pairs, jacobian = pairs.chosen(active), jacobian[active]
        cone = ConeForces(cone.force[active], cone.hessian[active])
    nv, frame = plan.nv, contacts.frame[:, np.newaxis]
    moved = contact_motion(shapes, contacts, pairs.jacobian, differences)
    twists = pairs.rates_by_q(moved.point[:, np.newaxis])
    relative = twists[:, 1] - twists[:, 0]
    apart = pairs.rates[:, 1] - pairs.rates[:, 0]  # (n, 6, 2)
    apart = apart.reshape(-1, 2, 3, 2).transpose(0, 3, 1, 2)  # rate, linear or angular
    parts = relative.reshape(-1, 2, 2, 3, nv) + skew(apart) @ moved.turn[:, np.newaxis, np.newaxis]
    a_by_q, v_by_q = (frame @ parts[:, k] for k in (0, 1))
    y_by_q = (a_by_q + _dampings(contacts)[..., np.newaxis] * v_by_q).reshape(-1, 6, nv)
    x = contacts.dist - contacts.margin
    stiffness = contacts.stiffness * (contacts.impedance + contacts.slope * x)
    y_by_q[:, 0] += stiffness[:, np.newaxis] * moved.distance

    right = np.empty((len(x), 6, 3 * nv))
    right[..., :nv] = jacobian
    right[..., nv : 2 * nv] = y_by_q
    right[..., 2 * nv :] = _dampings(contacts).reshape(-1, 6, 1) * jacobian
    right = -cone.hessian @ right
    # D varies with the distance, the force turns with the frame and moves with the point.
    by_distance = contacts.slope / (contacts.impedance * (1.0 - contacts.impedance))
    scaled = cone.force * by_distance[:, np.newaxis]
    by_q = right[..., nv : 2 * nv]
    by_q += scaled[..., np.newaxis] * moved.distance[:, np.newaxis]
    force = cone.force.reshape(-1, 2, 3)
    turn = contacts.frame @ moved.turn
    shift = contacts.frame @ moved.point
    crosses = skew(force)
    by_q[:, :3] -= crosses[:, 0] @ turn
    by_q[:, 3:] -= crosses[:, 1] @ turn + crosses[:, 0] @ shift
    along = np.matvec(frame.swapaxes(-1, -2), force)
    wrench = along.reshape(-1, 6)
    wrench[:, 3:] += np.matvec(skew(contacts.pos), along[:, 0])
    signs = shapes.masks[:, 1] - shapes.masks[:, 0]
    return Terms(contacts.state, jacobian, right, signs[..., np.newaxis] * wrench[:, np.newaxis])


def _residual(
    kinematics: Kinematics, contacts: Contacts, shapes: Shapes
) -> tuple[Pairs, Array, Array]:
    """Return the motion of the bodies, and J and y along the frame."""
    points = np.repeat(contacts.pos[:, np.newaxis], 2, axis=1)
    pairs = Pairs(kinematics, shapes.masks, contacts.state, points)
    apart = pairs.jacobian[:, 1] - pairs.jacobian[:, 0]
    n, _, nv = apart.shape
    jacobian = (contacts.frame[:, np.newaxis] @ apart.reshape(n, 2, 3, nv)).reshape(n, 6, nv)
    rates = jacobian @ kinematics.of(contacts.state)[1]
    y = rates[..., 0] + _dampings(contacts).reshape(n, 6) * rates[..., 1]
    y[:, 0] += contacts.stiffness * contacts.impedance * (contacts.dist - contacts.margin)
    return pairs, jacobian, y


def _dampings(contacts: Contacts) -> Array:
    """Return B of the six rows, (n, 2, 3)."""
    return contacts.damping[:, _OF_ROWS].reshape(-1, 2, 3)
