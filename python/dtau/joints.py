"""The kinds of joint: how a body can move against the one that carries it.

The joint's frame is fixed in the parent; the body's own frame coincides with it in the neutral
configuration. Every kind has a motion subspace that is constant in the body's axes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.checks import real_array, real_numbers
from dtau.spatial import Pose

_UNIT = 1e-6  # how far from 1 the norm of a quaternion may be
_ROUNDING = 4 * float(np.finfo(np.float64).eps)  # an axis this close to unit length is kept


class JointType(ABC):
    """What all kinds of joint have in common.

    Attributes
    ----------
    nq : int
        Number of coordinates.
    nv : int
        Number of velocities (degrees of freedom).
    """

    nq: ClassVar[int]
    nv: ClassVar[int]
    _code: ClassVar[int]  # how the compiled core calls this kind

    def placement(self, q: ArrayLike) -> Pose:
        """Return the pose of the body in the joint's frame.

        Parameters
        ----------
        q : array_like (nq,)
            Joint coordinates; a plain number will do for a joint with one.

        Returns
        -------
        Pose

        Raises
        ------
        ValueError
            If the shape is wrong, a number is not finite, or a quaternion is further than 1e-6
            from unit norm.
        TypeError
            If the numbers are not real.

        Examples
        --------
        >>> import dtau
        >>> dtau.Prismatic(axis=(0, 0, 1)).placement(0.5).translation
        array([0. , 0. , 0.5])
        """
        if self.nq == 1:
            q = real_numbers("q", q, "a number")
            if q.shape not in ((), (1,)):
                raise ValueError(f"q: expected a number, got shape {q.shape}")
            q = q.reshape(1)
        return self._placement(real_array("q", q, (self.nq,)))

    @abstractmethod
    def _placement(self, q: NDArray[np.float64]) -> Pose: ...

    def motion_subspace(self) -> NDArray[np.float64]:
        """Return the body's twist per unit of joint velocity.

        Returns
        -------
        ndarray (6, nv)
            Linear components first, along the body's axes, at the body's origin.

        Examples
        --------
        >>> import dtau
        >>> dtau.Revolute(axis=(0, 0, 1)).motion_subspace().T
        array([[0., 0., 0., 0., 0., 1.]])
        """
        return self._motion_subspace()

    @abstractmethod
    def _motion_subspace(self) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class Fixed(JointType):
    """No motion: the link is welded to its parent, and remains as a frame.

    Examples
    --------
    >>> import dtau
    >>> dtau.Fixed().nv
    0
    """

    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0

    def _placement(self, q: NDArray[np.float64]) -> Pose:
        return Pose()

    def _motion_subspace(self) -> NDArray[np.float64]:
        return np.zeros((6, 0))


@dataclass(frozen=True, init=False)
class Revolute(JointType):
    """Rotation about an axis; q is the angle in radians. Without limits: a continuous joint.

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

    axis: tuple[float, float, float]

    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    _code: ClassVar[int] = 0

    def __init__(self, axis: ArrayLike) -> None:
        object.__setattr__(self, "axis", _unit_vector("axis", axis))

    def _placement(self, q: NDArray[np.float64]) -> Pose:
        return Pose(_rotation_about(self.axis, float(q[0])))

    def _motion_subspace(self) -> NDArray[np.float64]:
        return np.array([[0.0, 0.0, 0.0, *self.axis]]).T


@dataclass(frozen=True, init=False)
class Prismatic(JointType):
    """Translation along an axis; q is the distance in metres.

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

    axis: tuple[float, float, float]

    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    _code: ClassVar[int] = 1

    def __init__(self, axis: ArrayLike) -> None:
        object.__setattr__(self, "axis", _unit_vector("axis", axis))

    def _placement(self, q: NDArray[np.float64]) -> Pose:
        return Pose(translation=q[0] * np.array(self.axis))

    def _motion_subspace(self) -> NDArray[np.float64]:
        return np.array([[*self.axis, 0.0, 0.0, 0.0]]).T


@dataclass(frozen=True, init=False)
class Helical(JointType):
    """A screw: rotation about an axis and translation along it; q is the angle in radians.

    Parameters
    ----------
    axis : array_like (3,)
        Direction of the axis in the joint's frame, of any length but zero; kept as a tuple of
        unit length.
    pitch : float
        Advance along the axis, in metres **per radian**.

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

    axis: tuple[float, float, float]
    pitch: float

    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    _code: ClassVar[int] = 2

    def __init__(self, axis: ArrayLike, pitch: float) -> None:
        object.__setattr__(self, "axis", _unit_vector("axis", axis))
        object.__setattr__(self, "pitch", float(real_array("pitch", pitch, ())))

    def _placement(self, q: NDArray[np.float64]) -> Pose:
        angle = float(q[0])
        return Pose(_rotation_about(self.axis, angle), self.pitch * angle * np.array(self.axis))

    def _motion_subspace(self) -> NDArray[np.float64]:
        axis = np.array(self.axis)
        return np.concatenate([self.pitch * axis, axis])[:, None]


@dataclass(frozen=True)
class Spherical(JointType):
    """Rotation about a point.

    q is a unit quaternion (x, y, z, w); v is the angular velocity along the body's axes.

    Examples
    --------
    >>> import dtau
    >>> dtau.Spherical().placement((0, 0, 0, 1)) == dtau.Pose()
    True
    """

    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    _code: ClassVar[int] = 3

    def _placement(self, q: NDArray[np.float64]) -> Pose:
        return Pose(rotation_of_quaternion(q))

    def _motion_subspace(self) -> NDArray[np.float64]:
        return np.eye(6)[:, 3:]


@dataclass(frozen=True)
class Free(JointType):
    """No constraint: a floating body.

    q is the position in metres, then a unit quaternion (x, y, z, w); v is the linear, then the
    angular velocity, both along the body's axes.

    Examples
    --------
    >>> import dtau
    >>> dtau.Free().placement((1, 2, 3, 0, 0, 0, 1)).translation
    array([1., 2., 3.])
    """

    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6
    _code: ClassVar[int] = 4

    def _placement(self, q: NDArray[np.float64]) -> Pose:
        return Pose(rotation_of_quaternion(q[3:]), q[:3])

    def _motion_subspace(self) -> NDArray[np.float64]:
        return np.eye(6)


def rotation_of_quaternion(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rotation matrix of a quaternion (x, y, z, w) whose norm is 1 within 1e-6."""
    norm = math.hypot(*quaternion)
    if not abs(norm - 1) <= _UNIT:
        raise ValueError(f"quaternion: expected norm 1 within {_UNIT:g}, got norm {norm:.9g}")
    x, y, z, w = quaternion / norm
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _rotation_about(axis: tuple[float, float, float], angle: float) -> NDArray[np.float64]:
    """Rodrigues' formula: the rotation by `angle` about a unit vector."""
    x, y, z = axis
    s, c = math.sin(angle), math.cos(angle)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return c * np.eye(3) + s * cross + (1 - c) * np.outer(axis, axis)


def _unit_vector(argument: str, value: ArrayLike) -> tuple[float, float, float]:
    vector = real_array(argument, value, (3,))
    largest = float(np.abs(vector).max())
    if largest == 0:
        raise ValueError(f"{argument}: expected a nonzero vector, got {vector.tolist()}")
    norm = math.hypot(*vector)
    if abs(norm - 1) > _ROUNDING:
        vector = vector / largest  # squares of very small or large numbers would not fit
        vector = vector / math.hypot(*vector)
    x, y, z = vector.tolist()
    return x, y, z
