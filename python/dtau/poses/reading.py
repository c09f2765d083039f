"""Read poses and twists in all forms that functions take: `pose_array`, `is_left`, `mirrored`."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.model.pose import Pose
from dtau.results import Placements
from dtau.support.arrays import Array
from dtau.support.checks import real_numbers
from dtau.support.options import QuaternionOrder, Side, require_option

PoseLike: TypeAlias = ArrayLike | Placements | Pose


def pose_array(pose: PoseLike) -> Any:
    """Return a pose as an array (..., 7); arrays are returned unchanged and without a check."""
    if isinstance(pose, Placements | Pose):
        return _core.pose_from_placement(pose.rotation, pose.translation)
    return pose


def is_left(side: Side) -> bool:
    """Return whether a side is the left one; raise ValueError if it is neither."""
    if side == "right":
        return False
    require_option("side", side, Side)
    return True


def mirrored(argument: str, vector: ArrayLike) -> Array:
    """Return minus a twist: the right Jacobian there is the left Jacobian here."""
    return np.negative(real_numbers(argument, vector).astype(np.float64, copy=False))


def scalar_last(quaternion: ArrayLike, order: QuaternionOrder) -> ArrayLike:
    """Return a quaternion in the order x y z w."""
    require_option("order", order, QuaternionOrder)
    if order == "xyzw":
        return quaternion
    numbers = real_numbers("quaternion", quaternion)
    if numbers.ndim == 0 or numbers.shape[-1] != 4:
        raise ValueError(f"quaternion has shape {numbers.shape}, expected (..., 4)")
    return np.roll(numbers, -1, axis=-1)


def in_order(quaternion: Array, order: QuaternionOrder) -> Array:
    """Return a quaternion x y z w in another order."""
    require_option("order", order, QuaternionOrder)
    return quaternion if order == "xyzw" else np.roll(quaternion, 1, axis=-1)
