"""Find roll, pitch and yaw that reproduce a rotation, to the last bit if possible: `angles_of`."""

from __future__ import annotations

import itertools
import math

import numpy as np

from dtau.model.pose import Pose
from dtau.support.arrays import Array

Angles = tuple[float, float, float]

_NEIGHBORS = 3  # floating-point numbers on either side of a guess


def angles_of(pose: Pose) -> tuple[Angles, bool]:
    """Return (roll, pitch, yaw), and whether `Pose.from_rpy` reproduces the rotation exactly.

    Every element of Rz(yaw) Ry(pitch) Rx(roll) has the relative accuracy of the sines and cosines
    in it, also where the pitch is near a right angle. So angles that made a rotation are among the
    floating-point neighbors of the angles computed from it: the search finds angles that were read
    from a file.
    """
    rotation = pose.rotation
    r = rotation.tolist()
    if r == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]:
        return (0.0, 0.0, 0.0), True
    for sign in (1.0, -1.0):  # sign of the cosine of the pitch
        cosine = math.hypot(r[2][1], r[2][2])
        guess = (
            math.atan2(sign * r[2][1], sign * r[2][2]),
            math.atan2(-r[2][0], sign * cosine),
            math.atan2(sign * r[1][0], sign * r[0][0]),
        )
        found = _exact(rotation, [_candidates(angle) for angle in guess])
        if found is not None:
            return found, True
    roll, pitch, yaw = pose.rpy().tolist()
    return (roll, pitch, yaw), False


def _candidates(guess: float) -> list[float]:
    """List numbers near an angle, numbers with few digits first; also one full turn away."""
    near = [guess]
    for direction in (-math.inf, math.inf):
        angle = guess
        for _ in range(_NEIGHBORS):
            angle = math.nextafter(angle, direction)
            near.append(angle)
    turned = [guess - math.copysign(2 * math.pi, guess)]
    rounded = [float(f"{angle:.{digits}g}") for angle in (guess, *turned) for digits in (12, 15)]
    return list(dict.fromkeys([*rounded, *near]))


def _exact(rotation: Array, candidates: list[list[float]]) -> Angles | None:
    """Find candidates for roll, pitch and yaw that make exactly this rotation."""
    (cr, sr), (cp, sp), (cy, sy) = (
        (np.cos(angles).reshape(shape), np.sin(angles).reshape(shape))
        for angles, shape in zip(candidates, ((-1, 1, 1), (1, -1, 1), (1, 1, -1)), strict=True)
    )
    r = rotation
    right = (-sp == r[2, 0]) & (cp * sr == r[2, 1]) & (cp * cr == r[2, 2])
    right = right & (cy * cp == r[0, 0]) & (sy * cp == r[1, 0])
    for i, j, k in itertools.islice(np.argwhere(right), 10):
        angles = candidates[0][i], candidates[1][j], candidates[2][k]
        if np.array_equal(Pose.from_rpy(angles).rotation, rotation):
            return angles
    return None
