"""Rotations in batches: exponential and logarithm of SO(3), Jacobians, composition, conversions.

A rotation is a unit quaternion x y z w, ``(..., 4)``, the configuration of a spherical joint. The
leading axes are the batch and broadcast against each other. `dtau.poses` has the same functions for
poses, SE(3).

A rotation vector is ``(..., 3)``, axis times angle in rad. The angle of a logarithm is at most pi;
where it is exactly pi, both directions are valid, and the logarithm is one of them.

Examples
--------
>>> import numpy as np
>>> from dtau import rotations
>>> start, end = rotations.exp([0.1, 0.2, 0.3]), rotations.from_rpy([0.0, 0.0, np.pi / 2])
>>> rotations.to_matrix(rotations.interpolate(start, end, np.linspace(0, 1, 5))).shape
(5, 3, 3)
"""

from dtau.rotations.conversions import (
    from_matrix,
    from_quaternion,
    from_rpy,
    to_matrix,
    to_quaternion,
    to_rpy,
)
from dtau.rotations.group import act, compose, difference, interpolate, inverse
from dtau.rotations.maps import (
    exp,
    exp_jacobian,
    exp_jacobian_derivative,
    log,
    log_jacobian,
    log_jacobian_derivative,
)

__all__ = [
    "act", "compose", "difference", "exp", "exp_jacobian", "exp_jacobian_derivative", "from_matrix",
    "from_quaternion", "from_rpy", "interpolate", "inverse", "log", "log_jacobian",
    "log_jacobian_derivative", "to_matrix", "to_quaternion", "to_rpy",
]  # fmt: skip
