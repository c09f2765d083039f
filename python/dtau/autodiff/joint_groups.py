"""Displacements of four groups of joints, PLAIN, SPHERICAL, FREE and PLANAR, in array operations.

The formulas come from the core's manifold.hpp, in the operations of an array library.
Configurations x, y have the shape (..., joints, nq) and tangents d, e (..., joints, nv), for joints
of one group. Quaternions need not have unit norm: every function normalizes them.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

from dtau.autodiff.library import Array
from dtau.autodiff.series import angle_functions, log_function, rotation_per_sine
from dtau.autodiff.vectors import conjugate, cross, dot, product, rotated, turned, unit


class JointGroup(Protocol):
    """A group of joints with the same displacements."""

    def __hash__(self) -> int: ...

    def to_tangent(self, xp: Any, x: Array, dx: Array) -> Array:
        """Return the velocity for the rates dx of the numbers of x. [Derivations] eq. 16.4."""

    def from_tangent(self, xp: Any, x: Array, d: Array) -> Array:
        """Return the rates of the numbers of normalize(x) at velocity d. [Derivations] eq. 16.3."""

    def normalize(self, xp: Any, x: Array) -> Array:
        """Return x with unit quaternions."""

    def integrate(self, xp: Any, x: Array, d: Array) -> Array:
        """Return the coordinates after the displacement d."""

    def difference(self, xp: Any, x: Array, y: Array) -> Array:
        """Return the displacement from x to y."""


class _Plain:
    """Displacements add."""

    def to_tangent(self, xp: Any, x: Array, dx: Array) -> Array:
        return dx

    def from_tangent(self, xp: Any, x: Array, d: Array) -> Array:
        return d

    def normalize(self, xp: Any, x: Array) -> Array:
        return x

    def integrate(self, xp: Any, x: Array, d: Array) -> Array:
        return x + d

    def difference(self, xp: Any, x: Array, y: Array) -> Array:
        return y - x


class _Spherical:
    """x: a quaternion; d: a rotation vector in body axes."""

    def to_tangent(self, xp: Any, x: Array, dx: Array) -> Array:
        return 2.0 * product(xp, conjugate(xp, x), dx)[..., :3] / dot(x, x)

    def from_tangent(self, xp: Any, x: Array, d: Array) -> Array:
        pure = xp.concatenate((d, 0.0 * d[..., :1]), axis=-1)
        return 0.5 * product(xp, unit(xp, x), pure)

    def normalize(self, xp: Any, x: Array) -> Array:
        return unit(xp, x)

    def integrate(self, xp: Any, x: Array, d: Array) -> Array:
        f = angle_functions(xp, dot(d, d))
        turn = xp.concatenate((f.half_sine * d, f.half_cosine), axis=-1)
        return unit(xp, product(xp, x, turn))

    def difference(self, xp: Any, x: Array, y: Array) -> Array:
        turn = product(xp, conjugate(xp, unit(xp, x)), unit(xp, y))
        turn = xp.where(turn[..., 3:] < 0.0, -turn, turn)
        v = turn[..., :3]
        return rotation_per_sine(xp, dot(v, v), turn[..., 3:]) * v


def _carried(xp: Any, w: Array, u: Array) -> Array:
    """Return the translation of the exponential of the twist [u, w]."""
    f = angle_functions(xp, dot(w, w))
    wu = cross(xp, w, u)
    return u + f.first * wu + f.second * cross(xp, w, wu)


def _carried_back(xp: Any, w: Array, p: Array) -> Array:
    """Return the u for which the exponential of [u, w] translates by p."""
    wp = cross(xp, w, p)
    return p - 0.5 * wp + log_function(xp, dot(w, w)) * cross(xp, w, wp)


class _Free:
    """x: [position, quaternion]; d: a twist [linear, angular] in body axes."""

    def to_tangent(self, xp: Any, x: Array, dx: Array) -> Array:
        back = conjugate(xp, unit(xp, x[..., 3:]))
        linear = rotated(xp, back, dx[..., :3])
        angular = SPHERICAL.to_tangent(xp, x[..., 3:], dx[..., 3:])
        return xp.concatenate((linear, angular), axis=-1)

    def from_tangent(self, xp: Any, x: Array, d: Array) -> Array:
        linear = rotated(xp, unit(xp, x[..., 3:]), d[..., :3])
        angular = SPHERICAL.from_tangent(xp, x[..., 3:], d[..., 3:])
        return xp.concatenate((linear, angular), axis=-1)

    def normalize(self, xp: Any, x: Array) -> Array:
        return xp.concatenate((x[..., :3], unit(xp, x[..., 3:])), axis=-1)

    def integrate(self, xp: Any, x: Array, d: Array) -> Array:
        move = rotated(xp, unit(xp, x[..., 3:]), _carried(xp, d[..., 3:], d[..., :3]))
        turn = SPHERICAL.integrate(xp, x[..., 3:], d[..., 3:])
        return xp.concatenate((x[..., :3] + move, turn), axis=-1)

    def difference(self, xp: Any, x: Array, y: Array) -> Array:
        w = SPHERICAL.difference(xp, x[..., 3:], y[..., 3:])
        back = conjugate(xp, unit(xp, x[..., 3:]))
        u = _carried_back(xp, w, rotated(xp, back, y[..., :3] - x[..., :3]))
        return xp.concatenate((u, w), axis=-1)


def _turn(xp: Any, d: Array) -> Array:
    """Return the rotation vector of a planar joint's tangent."""
    return xp.concatenate((0.0 * d[..., :2], d[..., 2:]), axis=-1)


def _slide(xp: Any, p: Array) -> Array:
    """Embed a vector in the plane into space."""
    return xp.concatenate((p, 0.0 * p[..., :1]), axis=-1)


class _Planar:
    """x: [x, y, angle]; d: [linear x, y, angular] along body axes."""

    def to_tangent(self, xp: Any, x: Array, dx: Array) -> Array:
        return xp.concatenate((turned(xp, -x[..., 2:], dx[..., :2]), dx[..., 2:]), axis=-1)

    def from_tangent(self, xp: Any, x: Array, d: Array) -> Array:
        return xp.concatenate((turned(xp, x[..., 2:], d[..., :2]), d[..., 2:]), axis=-1)

    def normalize(self, xp: Any, x: Array) -> Array:
        return x

    def integrate(self, xp: Any, x: Array, d: Array) -> Array:
        move = _carried(xp, _turn(xp, d), _slide(xp, d[..., :2]))[..., :2]
        return x + xp.concatenate((turned(xp, x[..., 2:], move), d[..., 2:]), axis=-1)

    def difference(self, xp: Any, x: Array, y: Array) -> Array:
        step = y - x
        angle = step[..., 2:] - 2.0 * math.pi * xp.round(step[..., 2:] / (2.0 * math.pi))
        back = turned(xp, -x[..., 2:], step[..., :2])
        w = xp.concatenate((0.0 * back, angle), axis=-1)
        return xp.concatenate((_carried_back(xp, w, _slide(xp, back))[..., :2], angle), axis=-1)


PLAIN: JointGroup = _Plain()
FREE: JointGroup = _Free()
SPHERICAL: JointGroup = _Spherical()
PLANAR: JointGroup = _Planar()
