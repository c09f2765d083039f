"""Velocities of free root joints along other axes and at another point: v' = A(q) v.

6-vectors are [linear, angular]. With the body's pose (R, p) in the world,

    A = ( R   s [p]x R )        R' = R if angular velocities are along world axes, else 1
        ( 0      R'    )        s  = 1 if the point is the world's origin, 0 if it is the body's

    convention         R'   s
    MuJoCo             1    0     linear along world axes, angular along body axes
    mixed              R    0
    spatial            R    1     A is the adjoint of the pose

A also maps displacements, and its inverse transpose maps forces. Derivatives also need the
following, for a displacement d = [dp, dr] of the body along its own axes:

    A^-1 dA/dt = Omega(v)                Omega(v) v = N(v), so that a' = A (a + N(v))
    A^-1 (dA along d) x = -W(x) d        W(v) d is the change of v at constant v'
    A^T (d(A^-T) along d) f = U(f) d     -U(f) d is the change of f at constant f'
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dtau.model.joints import Free
from dtau.model.model import Model
from dtau.model.rotations import rotations_of_quaternions, skew
from dtau.support.arrays import Array, Indices
from dtau.support.immutable import Immutable


class Variations(NamedTuple):
    """Variations of a state while its other form is fixed; blocks ``(..., nroots, 6, 6)``."""

    v_by_q: Array  # W(v), at fixed v'
    a_by_q: Array  # at fixed v' and a'
    rate_by_v: Array  # dN/dv; minus the derivative of a by v, at fixed a'
    force_by_q: Array  # U(tau)


class UnitBlocks(NamedTuple):
    """The linear maps of 6-vectors to 6 x 6 blocks: ``[b]`` is the block of the unit vector b."""

    shift: Array  # W, (6, 6, 6)
    rate: Array  # dN/dv
    force: Array  # U


class TwistMap(Immutable):
    """The map A(q) for the free root joints of a model; all other velocities are unchanged.

    Parameters
    ----------
    model : Model
    changed : bool
        False: all velocities stay the same, including root joints.
    angular_in_world : bool
        True: angular velocities are along the world's axes, else along the body's.
    at_world_origin : bool
        True: linear velocities are velocities of the point at the world's origin, else of the
        body's origin.
    """

    _v: Indices  # (nroots, 6): indices of the velocities
    _p: Indices  # (nroots, 3): indices of the positions
    _quaternion: Indices  # (nroots, 4)
    _rotation: Array  # (nroots, 3, 3): of the joints' placements
    _translation: Array  # (nroots, 3)
    _angular_in_world: bool
    _at_world_origin: bool

    def __init__(
        self,
        model: Model,
        *,
        changed: bool = True,
        angular_in_world: bool = False,
        at_world_origin: bool = False,
    ) -> None:
        self._require_new()
        roots = [
            joint
            for joint in model.joints
            if changed and isinstance(joint.type, Free) and joint.parent < 0
        ]
        n = len(roots)
        vars(self).update(
            _v=np.array([np.r_[j.v] for j in roots], dtype=np.intp).reshape(n, 6),
            _p=np.array([np.r_[j.q][:3] for j in roots], dtype=np.intp).reshape(n, 3),
            _quaternion=np.array([np.r_[j.q][3:] for j in roots], dtype=np.intp).reshape(n, 4),
            _rotation=np.array([j.placement.rotation for j in roots]).reshape(n, 3, 3),
            _translation=np.array([j.placement.translation for j in roots]).reshape(n, 3),
            _angular_in_world=angular_in_world,
            _at_world_origin=at_world_origin,
        )

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Return R ``(..., nroots, 3, 3)`` and p ``(..., nroots, 3)``."""
        position = (self._rotation @ q[..., self._p, np.newaxis])[..., 0]
        turns = rotations_of_quaternions(q[..., self._quaternion])
        return self._rotation @ turns, position + self._translation

    def matrices(self, q: Array) -> tuple[Array, Array]:
        """Return A and its inverse, each ``(..., nroots, 6, 6)``."""
        return self.matrices_of(*self.poses(q))

    def matrices_of(self, rotation: Array, translation: Array) -> tuple[Array, Array]:
        """Return A and its inverse for these poses."""
        back, cross = np.swapaxes(rotation, -1, -2), skew(translation)
        forward = self.blocks(rotation, cross @ rotation, np.eye(3))
        return forward, self.blocks(back, -back @ cross, np.eye(3))

    def blocks(self, rotation: Array, moved: Array, angular: Array) -> Array:
        """Return 6 x 6 matrices from R and [p]x R or their derivatives, and R' if it is fixed.

        ``angular`` is R' for conventions with angular velocities along body axes.
        """
        out = np.zeros((*rotation.shape[:-2], 6, 6))
        out[..., :3, :3] = rotation
        out[..., 3:, 3:] = rotation if self._angular_in_world else angular
        if self._at_world_origin:
            out[..., :3, 3:] = moved
        return out

    def take(self, x: Array) -> Array:
        """Return the velocities of the roots ``(..., nroots, 6)`` from ``(..., nv)``."""
        return x[..., self._v]

    def take_rows(self, x: Array) -> Array:
        """Return the rows of the roots ``(..., nroots, 6, any)`` from ``(..., nv, any)``."""
        return x[..., self._v, :]

    def put(self, x: Array, part: Array) -> None:
        """Overwrite the velocities of the roots in ``x``."""
        x[..., self._v] = part

    def rate(self, v: Array) -> Array:
        """Return N(v) in the shape of ``v``."""
        out = np.zeros_like(v)
        if not self._at_world_origin:
            twist = v[..., self._v]
            out[..., self._v[:, :3]] = np.cross(twist[..., 3:], twist[..., :3])
        return out

    def variations(self, v: Array, a: Array, tau: Array) -> Variations:
        """Return the variations that first derivatives need, at a state without ``'``."""
        twist = v[..., self._v]
        rate_by_v, v_by_q = self._rate(twist), self._shift(twist)
        a_by_q = self._shift((a + self.rate(v))[..., self._v]) - rate_by_v @ v_by_q
        return Variations(v_by_q, a_by_q, rate_by_v, self._force_shift(tau[..., self._v]))

    def unit_blocks(self) -> UnitBlocks:
        """Return the blocks that second derivatives need in addition."""
        unit = np.eye(6)
        return UnitBlocks(self._shift(unit), self._rate(unit), self._force_shift(unit))

    def _rate(self, x: Array) -> Array:
        """Return dN/dv at 6-vectors ``(..., nroots, 6)``."""
        out = np.zeros((*x.shape, 6))
        if not self._at_world_origin:
            out[..., :3, :3] = skew(x[..., 3:])
            out[..., :3, 3:] = -skew(x[..., :3])
        return out

    def _force_shift(self, f: Array) -> Array:
        """Return U(f) for 6-vectors ``(..., nroots, 6)``."""
        out = np.zeros((*f.shape, 6))
        out[..., :3, 3:] = -skew(f[..., :3])
        if self._angular_in_world:
            out[..., 3:, 3:] = -skew(f[..., 3:])
        if self._at_world_origin:
            out[..., 3:, :3] = -skew(f[..., :3])
        return out

    def _shift(self, x: Array) -> Array:
        """Return W(x) for 6-vectors ``(..., nroots, 6)``."""
        out = np.zeros((*x.shape, 6))
        out[..., :3, 3:] = skew(x[..., :3])
        if self._angular_in_world:
            out[..., 3:, 3:] = skew(x[..., 3:])
        if self._at_world_origin:
            out[..., :3, :3] = skew(x[..., 3:])
        return out

    def shift(self, v: Array) -> Array:
        """Return W(v), blocks (..., nroots, 6, 6)."""
        return self._shift(v[..., self._v])

    def map_rate(self, v: Array) -> Array:
        """Return Omega(v) = A^-1 dA/dt, blocks (..., nroots, 6, 6)."""
        twist = v[..., self._v]
        out = np.zeros((*twist.shape, 6))
        out[..., :3, :3] = skew(twist[..., 3:])
        if self._angular_in_world:
            out[..., 3:, 3:] = skew(twist[..., 3:])
        if self._at_world_origin:
            out[..., :3, 3:] = skew(twist[..., :3])
        return out

    # Products with matrices (nv, nv): the identity or zero, except for these blocks.

    def apply(self, blocks: Array, x: Array) -> Array:
        """Multiply vectors ``(..., nv)`` by the identity with these blocks."""
        out = x.copy()
        out[..., self._v] = (blocks @ x[..., self._v, np.newaxis])[..., 0]
        return out

    def multiply_rows(self, left: Array, matrix: Array) -> None:
        """Multiply ``(..., nv, any)`` by the identity with blocks from the left, in place."""
        matrix[..., self._v, :] = left @ matrix[..., self._v, :]

    def product(self, matrix: Array, blocks: Array) -> Array:
        """Multiply matrices by the zero matrix with blocks, from the right."""
        out = np.zeros_like(matrix)
        out[..., self._v] = self.columns(matrix, blocks)
        return out

    def embedded(self, blocks: Array, nv: int) -> Array:
        """Return the zero matrix with blocks."""
        out = np.zeros((*blocks.shape[:-3], nv, nv))
        self.add_blocks(out, blocks)
        return out

    def columns(self, matrix: Array, blocks: Array) -> Array:
        """Return the columns of the roots times blocks: ``(..., nv, nroots, 6)``."""
        columns = np.swapaxes(matrix[..., self._v], -3, -2) @ blocks
        return np.swapaxes(columns, -3, -2)

    def add_columns(self, matrix: Array, columns: Array) -> None:
        """Add ``(..., nv, nroots, 6)`` to the columns of the roots, in place."""
        matrix[..., self._v] += columns

    def add_blocks(self, matrix: Array, blocks: Array) -> None:
        """Add blocks to a matrix, in place."""
        matrix[..., self._v[:, :, np.newaxis], self._v[:, np.newaxis, :]] += blocks
