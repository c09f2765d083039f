"""The kinds of joint: how a body can move relative to its parent.

The joint's frame is fixed in the parent; the body's own frame coincides with it in the neutral
configuration. Every kind except the universal joint (two revolute joints) has a motion subspace
that is constant in the body's axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau._core import JointKind
from dtau.model.joint_type import JointType
from dtau.model.pose import Pose
from dtau.model.rotations import (
    Vector,
    angle_about,
    plane_axes,
    rotation_about,
    rotation_of_quaternion,
    unit_vector,
)
from dtau.support.arrays import Array
from dtau.support.checks import real_array


@dataclass(frozen=True)
class Fixed(JointType):
    """Fixed joint: the link is welded to its parent and remains as a frame.

    Examples
    --------
    >>> import dtau
    >>> dtau.Fixed().nv
    0
    """

    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0

    def _placement(self, q: Array) -> Pose:
        return Pose()

    def _of_pose(self, pose: Pose) -> Array:
        return np.zeros(0)

    def _motion_subspace(self, q: Array | None) -> Array:
        return np.zeros((6, 0))


@dataclass(frozen=True, init=False)
class _OneAxis:
    """Base of joints that one axis describes."""

    axis: Vector

    def __init__(self, axis: ArrayLike) -> None:
        object.__setattr__(self, "axis", unit_vector("axis", axis))


@dataclass(frozen=True, init=False)
class Revolute(_OneAxis, JointType):
    """Revolute joint: rotation about an axis; q is the angle in radians, continuous without limits.

    Parameters
    ----------
    axis : array_like (3,)
        Direction of the axis in the joint's frame, of any length but zero; kept as a tuple of
        unit length.

    Raises
    ------
    ValueError
        If the axis is zero or not finite.

    Examples
    --------
    >>> import dtau
    >>> dtau.Revolute(axis=(0, 3, 4)).axis
    (0.0, 0.6, 0.8)
    """

    _kind: ClassVar[JointKind] = JointKind.revolute

    def _placement(self, q: Array) -> Pose:
        return Pose(rotation_about(self.axis, float(q[0])))

    def _of_pose(self, pose: Pose) -> Array:
        return np.array([angle_about(self.axis, pose.rotation)])

    def _motion_subspace(self, q: Array | None) -> Array:
        return np.array([[0.0, 0.0, 0.0, *self.axis]]).T


@dataclass(frozen=True, init=False)
class Prismatic(_OneAxis, JointType):
    """Prismatic joint: translation along an axis; q is the distance in meters.

    Parameters
    ----------
    axis : array_like (3,)
        Direction in the joint's frame, of any length but zero; kept as a tuple of unit length.

    Raises
    ------
    ValueError
        If the axis is zero or not finite.

    Examples
    --------
    >>> import dtau
    >>> dtau.Prismatic(axis=(1, 0, 0)).motion_subspace().T
    array([[1., 0., 0., 0., 0., 0.]])
    """

    _kind: ClassVar[JointKind] = JointKind.prismatic

    def _placement(self, q: Array) -> Pose:
        return Pose(translation=q[0] * np.array(self.axis))

    def _of_pose(self, pose: Pose) -> Array:
        return np.array([pose.translation @ self.axis])

    def _motion_subspace(self, q: Array | None) -> Array:
        return np.array([[*self.axis, 0.0, 0.0, 0.0]]).T


@dataclass(frozen=True, init=False)
class Helical(JointType):
    """Helical joint, a screw: rotation about and translation along an axis; q is the angle (rad).

    Parameters
    ----------
    axis : array_like (3,)
        Direction of the axis in the joint's frame, of any length but zero; kept as a tuple of
        unit length.
    pitch : float
        Advance along the axis, in meters **per radian**.

    Raises
    ------
    ValueError
        If the axis is zero, or a number is not finite.

    Examples
    --------
    >>> import dtau
    >>> dtau.Helical(axis=(0, 0, 1), pitch=0.01).motion_subspace().T
    array([[0.  , 0.  , 0.01, 0.  , 0.  , 1.  ]])
    """

    axis: Vector
    pitch: float

    _kind: ClassVar[JointKind] = JointKind.helical

    def __init__(self, axis: ArrayLike, pitch: float) -> None:
        object.__setattr__(self, "axis", unit_vector("axis", axis))
        object.__setattr__(self, "pitch", float(real_array("pitch", pitch, ())))

    def _placement(self, q: Array) -> Pose:
        angle = float(q[0])
        return Pose(rotation_about(self.axis, angle), self.pitch * angle * np.array(self.axis))

    def _of_pose(self, pose: Pose) -> Array:
        angle = angle_about(self.axis, pose.rotation)
        if self.pitch != 0.0:
            turned = float(pose.translation @ self.axis) / self.pitch
            angle += 2.0 * math.pi * round((turned - angle) / (2.0 * math.pi))
        return np.array([angle])

    def _motion_subspace(self, q: Array | None) -> Array:
        axis = np.array(self.axis)
        return np.concatenate([self.pitch * axis, axis])[:, None]


@dataclass(frozen=True)
class Spherical(JointType):
    """Spherical joint, a ball joint: rotation about a point.

    q is a unit quaternion (x, y, z, w); v is the angular velocity along the body's axes.

    Examples
    --------
    >>> import dtau
    >>> dtau.Spherical().placement((0, 0, 0, 1)) == dtau.Pose()
    True
    """

    _kind: ClassVar[JointKind] = JointKind.spherical

    def _placement(self, q: Array) -> Pose:
        return Pose(rotation_of_quaternion(q))

    def _of_pose(self, pose: Pose) -> Array:
        return _core.rotation_from_matrix(pose.rotation)

    def _motion_subspace(self, q: Array | None) -> Array:
        return np.eye(6)[:, 3:]


@dataclass(frozen=True)
class Free(JointType):
    """Free joint, without constraint: a floating body.

    q is the position in meters, then a unit quaternion (x, y, z, w); v is the linear, then the
    angular velocity, both along the body's axes.

    Examples
    --------
    >>> import dtau
    >>> dtau.Free().placement((1, 2, 3, 0, 0, 0, 1)).translation
    array([1., 2., 3.])
    """

    _kind: ClassVar[JointKind] = JointKind.free

    def _placement(self, q: Array) -> Pose:
        return Pose(rotation_of_quaternion(q[3:]), q[:3])

    def _of_pose(self, pose: Pose) -> Array:
        return np.concatenate([pose.translation, _core.rotation_from_matrix(pose.rotation)])

    def _motion_subspace(self, q: Array | None) -> Array:
        return np.eye(6)


@dataclass(frozen=True, init=False)
class Cylindrical(_OneAxis, JointType):
    """Cylindrical joint: translation along and rotation about an axis; q is (meters, radians).

    Parameters
    ----------
    axis : array_like (3,)
        Direction in the joint's frame, of any length but zero; kept as a tuple of unit length.

    Raises
    ------
    ValueError
        If the axis is zero or not finite.

    Examples
    --------
    >>> import dtau
    >>> dtau.Cylindrical(axis=(0, 0, 1)).placement((0.5, 3.0)).translation
    array([0. , 0. , 0.5])
    """

    _kind: ClassVar[JointKind] = JointKind.cylindrical

    def _placement(self, q: Array) -> Pose:
        return Pose(rotation_about(self.axis, float(q[1])), q[0] * np.array(self.axis))

    def _of_pose(self, pose: Pose) -> Array:
        return np.array([pose.translation @ self.axis, angle_about(self.axis, pose.rotation)])

    def _motion_subspace(self, q: Array | None) -> Array:
        return np.array([[*self.axis, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, *self.axis]]).T


@dataclass(frozen=True, init=False)
class Planar(JointType):
    """Planar joint: q is the position (x, y) in meters, then the angle about the normal.

    v is the linear velocity along the **body's** axes x and y, then the angular velocity. The axis
    x of the plane is the axis of the joint's frame that is furthest from the normal (the first of
    several), made orthogonal to it, and y = normal × x. For the normal (0, 0, 1) these are x and y
    of the joint's frame. The body's axes coincide with them at angle zero.

    Parameters
    ----------
    normal : array_like (3,)
        Direction in the joint's frame, of any length but zero; kept as a tuple of unit length.

    Raises
    ------
    ValueError
        If the normal is zero or not finite.

    Examples
    --------
    >>> import dtau
    >>> dtau.Planar(normal=(0, 0, 1)).placement((1.0, 2.0, 0.3)).translation
    array([1., 2., 0.])
    """

    normal: Vector

    _kind: ClassVar[JointKind] = JointKind.planar

    def __init__(self, normal: ArrayLike = (0, 0, 1)) -> None:
        object.__setattr__(self, "normal", unit_vector("normal", normal))

    def _placement(self, q: Array) -> Pose:
        x, y = plane_axes(self.normal)
        return Pose(rotation_about(self.normal, float(q[2])), q[0] * x + q[1] * y)

    def _of_pose(self, pose: Pose) -> Array:
        x, y = plane_axes(self.normal)
        place, angle = pose.translation, angle_about(self.normal, pose.rotation)
        return np.array([place @ x, place @ y, angle])

    def _motion_subspace(self, q: Array | None) -> Array:
        x, y = plane_axes(self.normal)
        return np.array([[*x, 0.0, 0.0, 0.0], [*y, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, *self.normal]]).T


@dataclass(frozen=True, init=False)
class Universal(JointType):
    """Universal joint: a rotation about `axis1`, then one about `axis2`.

    q is the two angles in radians. The first axis is fixed in the joint's frame, the second in the
    body.

    Parameters
    ----------
    axis1, axis2 : array_like (3,)
        Directions in the joint's frame at zero angles, of any length but zero and not parallel;
        kept as tuples of unit length.

    Raises
    ------
    ValueError
        If an axis is zero or not finite, or the axes are parallel.

    Examples
    --------
    >>> import dtau
    >>> import math
    >>> joint = dtau.Universal(axis1=(0, 0, 1), axis2=(1, 0, 0))
    >>> joint.motion_subspace((0.5, math.pi / 2)).round(3).T + 0.0
    array([[0., 0., 0., 0., 1., 0.],
           [0., 0., 0., 1., 0., 0.]])
    """

    axis1: Vector
    axis2: Vector

    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2

    def __init__(self, axis1: ArrayLike, axis2: ArrayLike) -> None:
        first, second = unit_vector("axis1", axis1), unit_vector("axis2", axis2)
        if np.abs(np.cross(first, second)).max() < 1e-9:
            raise ValueError(f"axis2: expected an axis not parallel to axis1 {first}, got {second}")
        object.__setattr__(self, "axis1", first)
        object.__setattr__(self, "axis2", second)

    def _placement(self, q: Array) -> Pose:
        first = rotation_about(self.axis1, float(q[0]))
        return Pose(first @ rotation_about(self.axis2, float(q[1])))

    def _of_pose(self, pose: Pose) -> Array:
        # The first rotation moves the second axis to its place; the inverse of the second moves the
        # first.
        first = _angle_between(self.axis1, np.array(self.axis2), pose.rotation @ self.axis2)
        second = _angle_between(self.axis2, self.axis1 @ pose.rotation, np.array(self.axis1))
        return np.array([first, second])

    def _motion_subspace(self, q: Array | None) -> Array:
        if q is None:
            raise ValueError("q: expected the coordinates of the universal joint, got None")
        first = rotation_about(self.axis2, -float(q[1])) @ np.array(self.axis1)
        return np.array([[0.0, 0.0, 0.0, *first], [0.0, 0.0, 0.0, *self.axis2]]).T


def _angle_between(axis: Vector, start: Array, end: Array) -> float:
    """Return the angle of the rotation about a unit vector that takes `start` to `end`."""
    side = np.cross(axis, start)
    # `side` is orthogonal to start; subtracting start makes an angle of zero exactly zero.
    return math.atan2((end - start) @ side, end @ np.cross(side, axis))
