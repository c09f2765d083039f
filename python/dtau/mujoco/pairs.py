"""Differentiate the motion of points of two bodies: `Pairs`.

A degree of freedom j carries the later axes of its path along: dS_i/dq_j = S_j x S_i. So the
derivative of  sum S_i x_i  over the path of a body is  S_j x (the sum - its part before j).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.solved import Kinematics
from dtau.mujoco.vectors import skew

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Pairs:
    """Motion of a point of each of two bodies, along the world's axes; n pairs.

    Parameters
    ----------
    kinematics : Kinematics
    masks : ndarray (n, 2, nv)
        1 where a degree of freedom moves the body.
    state : ndarray (n,)
    points : ndarray (n, 2, 3)

    Attributes
    ----------
    masks : ndarray (n, 2, nv)
    jacobian : ndarray (n, 2, 6, nv)
        Twist [velocity of the point, angular velocity] of each body.
    rates : ndarray (n, 2, 6, 2)
        Twists of the acceleration (S a, without the part of the velocities) and of the velocity.
    """

    def __init__(self, kinematics: Kinematics, masks: Array, state: Indices, points: Array) -> None:
        axes, rates = kinematics.of(state)
        self.masks, self._kinematics, self._state = masks, kinematics, state
        self.jacobian = masks[:, :, np.newaxis] * axes[:, np.newaxis]
        self._at_origin = self.jacobian @ rates[:, np.newaxis]
        self._arms = skew(points)
        self.jacobian[:, :, :3] -= self._arms @ self.jacobian[:, :, 3:]
        self.rates = self._at_origin.copy()
        self.rates[:, :, :3] -= self._arms @ self.rates[:, :, 3:]

    def chosen(self, some: Any) -> Pairs:
        """Return some of the pairs."""
        out = object.__new__(Pairs)
        for name, value in vars(self).items():
            setattr(out, name, value if name == "_kinematics" else value[some])
        return out

    def rates_by_q(self, points_by_q: Array) -> Array:
        """Return the derivatives of `rates`, (n, 2, 2, 6, nv): bodies, then the two rates.

        `points_by_q`: displacements of the points, (n, 2, 3, nv) or, if they are equal,
        (n, 1, 3, nv).
        """
        n, _, nv = self.masks.shape
        twists = self._at_origin.swapaxes(-1, -2).reshape(n, 4, 6)
        crosses, own = self._kinematics.turning(self._state)
        out = (twists @ crosses).reshape(n, 2, 2, 6, nv)
        out -= own[:, np.newaxis]
        out *= self.masks[:, :, np.newaxis, np.newaxis]
        turning = skew(self.rates[:, :, 3:].swapaxes(-1, -2))
        out[..., :3, :] += turning @ points_by_q[:, :, np.newaxis]
        out[..., :3, :] -= self._arms[:, :, np.newaxis] @ out[..., 3:, :]
        return out
