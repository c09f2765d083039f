"""Vectors and quaternions in the operations of an array library."""

from __future__ import annotations

from typing import Any

from dtau.autodiff.library import Array


def dot(a: Array, b: Array) -> Array:
    """Return the dot product, keeping the last axis."""
    return (a * b).sum(-1)[..., None]


def cross(xp: Any, a: Array, b: Array) -> Array:
    """Return the cross product of vectors (..., 3)."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return xp.stack((y * w - z * v, z * u - x * w, x * v - y * u), axis=-1)


def product(xp: Any, a: Array, b: Array) -> Array:
    """Return the product of quaternions x y z w."""
    v = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + cross(xp, a[..., :3], b[..., :3])
    w = a[..., 3:] * b[..., 3:] - dot(a[..., :3], b[..., :3])
    return xp.concatenate((v, w), axis=-1)


def conjugate(xp: Any, a: Array) -> Array:
    """Return the conjugate quaternion."""
    return xp.concatenate((-a[..., :3], a[..., 3:]), axis=-1)


def unit(xp: Any, a: Array) -> Array:
    """Return the quaternion scaled to unit norm."""
    return a / xp.sqrt(dot(a, a))


def rotated(xp: Any, a: Array, b: Array) -> Array:
    """Return a vector b rotated by a unit quaternion a."""
    t = 2.0 * cross(xp, a[..., :3], b)
    return b + a[..., 3:] * t + cross(xp, a[..., :3], t)


def turned(xp: Any, angle: Array, b: Array) -> Array:
    """Return a vector (..., 2) rotated by an angle (..., 1)."""
    c, s, x, y = xp.cos(angle), xp.sin(angle), b[..., :1], b[..., 1:]
    return xp.concatenate((c * x - s * y, s * x + c * y), axis=-1)
