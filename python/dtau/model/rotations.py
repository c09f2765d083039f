"""Convert quaternions, angles and axes to rotation matrices: `rotation_of_quaternion`.

Quaternions are x y z w; the core makes them of rotations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dtau.support.arrays import Array
from dtau.support.checks import real_array

_UNIT = 1e-6  # how far from 1 the norm of a quaternion may be
_ROUNDING = 4 * float(np.finfo(np.float64).eps)  # an axis this close to unit length is unchanged

NO_ROTATION = np.eye(3).tolist()
# The identity that poses share: nobody can make this memory writable.
IDENTITY = np.frombuffer(np.eye(3).tobytes()).reshape(3, 3)

Vector = tuple[float, float, float]


def rotation_rows(quaternion: Iterable[Any], scale: Any = 2.0) -> list[list[Any]]:
    """Return the rows of the rotation matrix of a quaternion.

    The four numbers may be floats, arrays or CasADi scalars. `scale` is 2 over the squared norm.
    """
    x, y, z, w = quaternion
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    xw, yw, zw = x * w, y * w, z * w
    return [
        [1 - scale * (yy + zz), scale * (xy - zw), scale * (xz + yw)],
        [scale * (xy + zw), 1 - scale * (xx + zz), scale * (yz - xw)],
        [scale * (xz - yw), scale * (yz + xw), 1 - scale * (xx + yy)],
    ]


def rotation_of_quaternion(quaternion: Array) -> Array:
    """Return the rotation matrix of a quaternion whose norm is 1 within 1e-6."""
    norm = math.hypot(*quaternion)
    if not abs(norm - 1) <= _UNIT:
        raise ValueError(f"quaternion: expected norm 1 within {_UNIT:g}, got norm {norm:.9g}")
    return np.array(rotation_rows(quaternion / norm))


def rotation_of_angles(angles: Array) -> Array:
    """Return the rotation Rz(yaw) Ry(pitch) Rx(roll) of roll, pitch and yaw, read-only."""
    cr, cp, cy = np.cos(angles).tolist()
    sr, sp, sy = np.sin(angles).tolist()
    rotation = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    rotation.setflags(write=False)
    return rotation


def rotations_of_quaternions(quaternion: Array) -> Array:
    """Return rotation matrices (..., 3, 3) of quaternions (..., 4) of any norm but zero."""
    unit = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    out = np.empty((*quaternion.shape[:-1], 3, 3))
    for i, row in enumerate(rotation_rows(unit[..., k] for k in range(4))):
        for k, entry in enumerate(row):
            out[..., i, k] = entry
    return out


def angle_about(axis: Vector, rotation: Array) -> float:
    """Return the angle in (-pi, pi] of a rotation about a unit vector."""
    x, y, z = axis
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    sine = 0.5 * (x * (h - f) + y * (c - g) + z * (d - b))
    return math.atan2(sine, 0.5 * (a + e + i - 1.0))


def rotation_about(axis: Vector, angle: float) -> Array:
    """Return the rotation by `angle` about a unit vector, by Rodrigues' formula."""
    x, y, z = axis
    s, c = math.sin(angle), math.cos(angle)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return c * np.eye(3) + s * cross + (1 - c) * np.outer(axis, axis)


def unit_vector(argument: str, value: ArrayLike) -> Vector:
    """Read a direction of any length but zero."""
    x, y, z = vector = real_array(argument, value, (3,)).tolist()
    largest = max(map(abs, vector))
    if largest == 0:
        raise ValueError(f"{argument}: expected a nonzero vector, got {vector}")
    if abs(math.hypot(x, y, z) - 1) > _ROUNDING:
        # squares of very small or large numbers would under- or overflow
        x, y, z = x / largest, y / largest, z / largest
        norm = math.hypot(x, y, z)
        x, y, z = x / norm, y / norm, z / norm
    return x, y, z


def plane_axes(normal: Vector) -> tuple[Array, Array]:
    """Return the axes x and y of the plane with this unit normal; the core computes the same.

    x is the coordinate axis furthest from the normal (the first of several), made orthogonal to it;
    y = normal x x.
    """
    n = np.array(normal)
    if n[2] == 1.0:
        return np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    far = int(np.argmin(np.abs(n)))
    x = np.eye(3)[far] - n[far] * n
    x /= math.sqrt(x @ x)
    return x, np.cross(n, x)


def skew(x: Array) -> Array:
    """Return the matrices of the cross product x times."""
    out = np.zeros((*x.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i, j] = -x[..., k]
        out[..., j, i] = x[..., k]
    return out
