"""Poses in batches: exponential and logarithm of SE(3), Jacobians, composition, conversions.

A pose is an array ``(..., 7)``: [position, quaternion x y z w], the configuration of a free joint
and of a frame in the world. Every function also takes what `dtau.frame_placements` returns, or a
`dtau.Pose`. The leading axes are the batch and broadcast against each other. `dtau.rotations` has
the same functions for rotations, SO(3).

A twist is ``(..., 6)``, [linear, angular], along the axes of the moving frame. The angle of a
logarithm is at most pi; where it is exactly pi, both directions are valid, and the logarithm is one
of them.

Examples
--------
>>> import dtau, numpy as np
>>> from dtau import poses
>>> arm = dtau.robots.chain(7)
>>> q, _, _ = dtau.random_state(arm, np.random.default_rng(0), shape=(1000,))
>>> start, end = dtau.neutral(arm), q
>>> first = poses.from_placements(dtau.frame_placements(arm, start, arm.bodies[-1]))
>>> last = poses.from_placements(dtau.frame_placements(arm, end, arm.bodies[-1]))
>>> halfway = poses.interpolate(first, last, 0.5)
>>> halfway.shape
(1000, 7)
>>> bool(np.allclose(poses.difference(first, halfway), 0.5 * poses.difference(first, last)))
True
"""

from dtau.poses.conversions import (
    from_matrix,
    from_placements,
    from_quaternion,
    from_rpy,
    to_matrix,
    to_placements,
    to_quaternion,
    to_rpy,
)
from dtau.poses.group import act, compose, difference, interpolate, inverse
from dtau.poses.maps import (
    adjoint,
    exp,
    exp_jacobian,
    exp_jacobian_derivative,
    log,
    log_jacobian,
    log_jacobian_derivative,
)

__all__ = [
    "act", "adjoint", "compose", "difference", "exp", "exp_jacobian", "exp_jacobian_derivative",
    "from_matrix", "from_placements", "from_quaternion", "from_rpy", "interpolate", "inverse",
    "log", "log_jacobian", "log_jacobian_derivative", "to_matrix", "to_placements", "to_quaternion",
    "to_rpy",
]  # fmt: skip
