"""Differentiate accelerations of points of bodies, with the part of the velocities.

With dS_i/dq_j = S_j x S_i for the axes i that j moves, V and A the twist and spatial acceleration
of a body, and V_j, A_j their parts before j:

    dA/dq_j = S_j x (A - A_j) + (V_j x S_j) x (V - V_j)
    dA/dv_j = S_j x (V - V_j) + dS_j/dt
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.pairs import Pairs
from dtau.mujoco.solved import Kinematics, Solved
from dtau.mujoco.vectors import skew, twist_cross

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class PointAccelerations(NamedTuple):
    """Motion [point, angular] of n pairs of points that move with their bodies, (n, 2, 6, ...)."""

    velocity: Array
    velocity_by_q: Array
    acceleration: Array
    by_q: Array
    by_v: Array


def point_accelerations(
    kinematics: Kinematics, solved: Solved, pairs: Pairs, state: Indices, points: Array
) -> PointAccelerations:
    """Return accelerations, as second derivatives by time, and their derivatives."""
    plan, axes, cross = solved.plan, solved.axes, kinematics.cross
    masks, jacobian = pairs.masks, pairs.jacobian
    velocity, rates_by_q = pairs.rates[..., 1], pairs.rates_by_q(jacobian[:, :, :3])
    moving = axes * solved.v[..., np.newaxis]
    turned = np.matvec(twist_cross(plan.moves.T @ moving), axes)  # dS/dt
    spatial = axes * solved.a[..., np.newaxis] + turned * solved.v[..., np.newaxis]
    slow = plan.still @ moving  # V_j
    turning = -np.matvec(cross, slow)  # V_j x S_j
    before = np.matvec(cross, plan.still @ spatial) + np.matvec(twist_cross(turning), slow)
    cross, before, turned, turning = (
        x[state][:, np.newaxis] for x in (cross, before, turned, turning)
    )
    total = np.stack([masks @ x[state] for x in (spatial, moving)])  # at the world's origin
    by_q = np.matvec(cross, total[0][:, :, np.newaxis]) - before
    by_q += np.matvec(twist_cross(turning), total[1][:, :, np.newaxis])
    arms = skew(points)

    def to_points(x: Array) -> Array:
        """Move twists (n, 2, nv, 6) of the axes of a path to the points: (n, 2, 6, nv)."""
        out = (x * masks[..., np.newaxis]).swapaxes(-1, -2)
        out[:, :, :3] -= arms @ out[:, :, 3:]
        return out

    acceleration = total[0].copy()
    acceleration[..., :3] -= np.matvec(arms, acceleration[..., 3:])
    by_q = to_points(by_q)
    by_q[:, :, :3] += skew(acceleration[..., 3:]) @ jacobian[:, :, :3]
    by_v = rates_by_q[:, :, 1].copy()
    by_v[:, :, :3] -= skew(velocity[..., 3:]) @ jacobian[:, :, :3]  # the points stay
    by_v += to_points(np.broadcast_to(turned, (*masks.shape, 6)))
    # A point's acceleration has the part w x v.
    spin, fast = skew(velocity[..., 3:]), skew(velocity[..., :3])
    acceleration[..., :3] += np.matvec(spin, velocity[..., :3])
    for out, by in ((by_q, rates_by_q[:, :, 1]), (by_v, jacobian)):
        out[:, :, :3] += spin @ by[:, :, :3] - fast @ by[:, :, 3:]
    return PointAccelerations(velocity, rates_by_q[:, :, 1], acceleration, by_q, by_v)
