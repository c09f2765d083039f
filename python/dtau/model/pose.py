"""Poses of a frame in another, and conversions from and to other representations: `Pose`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.model.rotations import NO_ROTATION, rotation_of_angles, rotation_of_quaternion
from dtau.support.arrays import Array
from dtau.support.checks import real_array
from dtau.support.immutable import Immutable, checking
from dtau.support.options import QuaternionOrder, require_option

_ORTHONORMAL = 1e-6  # a matrix further than this from orthonormal is no rotation
_ROUNDING = 10 * float(np.finfo(np.float64).eps)  # a matrix closer than this is unchanged
_LARGEST = 1e100  # of a twist: products of three larger numbers could overflow
_LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])  # last row of a homogeneous matrix


class Pose(Immutable):
    """Pose of a frame B in a frame A: rotation and translation.

    A point x of B is at ``rotation @ x + translation`` in A. ``a @ b`` composes poses: b in B
    becomes a pose in A. `dtau.poses` computes with many poses at once.

    Parameters
    ----------
    rotation : array_like (3, 3)
        Rotation matrix: takes components in B to components in A. A matrix that is orthonormal only
        to 1e-6 is replaced by the nearest rotation.
    translation : array_like (3,)
        Origin of B in A, in meters.

    Raises
    ------
    ValueError
        If a shape is wrong, a number is not finite, or `rotation` is not a rotation to 1e-6.
    TypeError
        If the numbers are not real.

    Examples
    --------
    >>> import dtau
    >>> knee = dtau.Pose(translation=(0, 0, -0.25))
    >>> foot = knee @ dtau.Pose(translation=(0.1, 0, -0.5))
    >>> foot.translation
    array([ 0.1 ,  0.  , -0.75])
    >>> foot @ foot.inverse() == dtau.Pose()
    True
    """

    rotation: Array
    translation: Array

    __array_ufunc__ = None  # refuse products with arrays

    def __init__(
        self,
        rotation: ArrayLike = ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        translation: ArrayLike = (0, 0, 0),
    ) -> None:
        self._require_new()
        if getattr(rotation, "shape", ()) == (4, 4):
            raise ValueError(
                "rotation: expected shape (3, 3), got (4, 4); Pose.from_matrix reads such a matrix"
            )
        vars(self).update(
            rotation=_nearest_rotation(real_array("rotation", rotation, (3, 3))),
            translation=real_array("translation", translation, (3,)),
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._require_new()
        with checking(state, ("rotation", "translation")):
            rotation = real_array("rotation", state["rotation"], (3, 3))
            vars(self).update(
                # a matrix that was rounded to a rotation keeps its bits
                rotation=_nearest_rotation(rotation, 10 * _ROUNDING),
                translation=real_array("translation", state["translation"], (3,)),
            )

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Pose:
        """Make a pose from a homogeneous matrix [rotation, translation; 0 0 0 1].

        Parameters
        ----------
        matrix : array_like (4, 4)

        Returns
        -------
        Pose

        Raises
        ------
        ValueError, TypeError
            In the same cases as the constructor; or if the last row is not (0, 0, 0, 1) within
            1e-6.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> dtau.Pose.from_matrix(np.eye(4)) == dtau.Pose()
        True
        """
        numbers = real_array("matrix", matrix, (4, 4))
        if np.abs(numbers[3] - _LAST_ROW).max() > _ORTHONORMAL:
            raise ValueError(
                f"matrix: expected the last row (0, 0, 0, 1), got {tuple(numbers[3].tolist())}"
            )
        try:
            return cls(numbers[:3, :3], numbers[:3, 3])
        except ValueError as error:
            raise ValueError(f"matrix: {error}") from None

    @classmethod
    def from_rpy(cls, rpy: ArrayLike = (0, 0, 0), xyz: ArrayLike = (0, 0, 0)) -> Pose:
        """Make a pose from roll, pitch, yaw and a translation, as in the origin of a URDF.

        The rotation is Rz(yaw) Ry(pitch) Rx(roll), then comes the translation.

        Parameters
        ----------
        rpy : array_like (3,)
            Roll, pitch and yaw in radians.
        xyz : array_like (3,)
            Translation in meters.

        Returns
        -------
        Pose

        Raises
        ------
        ValueError, TypeError
            In the same cases as the constructor.

        Examples
        --------
        >>> import dtau
        >>> dtau.Pose.from_rpy((0, 0, 0), (1, 2, 3)).translation
        array([1., 2., 3.])
        """
        return cls._of_angles(real_array("rpy", rpy, (3,)), real_array("xyz", xyz, (3,)))

    @classmethod
    def _of_angles(cls, rpy: Array, xyz: Array) -> Pose:
        rotation = _nearest_rotation(rotation_of_angles(rpy))
        return cls._trusted(rotation=rotation, translation=xyz)

    @classmethod
    def from_quaternion(
        cls, quaternion: ArrayLike, translation: ArrayLike = (0, 0, 0), *, order: QuaternionOrder
    ) -> Pose:
        """Make a pose from a unit quaternion and a translation.

        Parameters
        ----------
        quaternion : array_like (4,)
            Quaternion of norm 1 within 1e-6.
        translation : array_like (3,)
            Translation in meters.
        order : {"xyzw", "wxyz"}
            Order of the numbers: "xyzw" as in this package's configurations, Pinocchio and ROS, or
            "wxyz" as in MuJoCo and Drake. There is no default, because four numbers in the wrong
            order are a valid but different rotation.

        Returns
        -------
        Pose

        Raises
        ------
        ValueError, TypeError
            In the same cases as the constructor; or if the norm or the order is not valid.

        Examples
        --------
        >>> import dtau
        >>> half_a_turn = dtau.Pose.from_quaternion((0, 0, 0, 1), order="wxyz")
        >>> half_a_turn.rotation.diagonal()
        array([-1., -1.,  1.])
        """
        require_option("order", order, QuaternionOrder)
        numbers = real_array("quaternion", quaternion, (4,))
        if order == "wxyz":
            numbers = np.roll(numbers, -1)
        return cls(rotation_of_quaternion(numbers), translation)

    @classmethod
    def exp(cls, twist: ArrayLike) -> Pose:
        """Exponential of SE(3): pose of a frame after moving with a constant twist for a second.

        Parameters
        ----------
        twist : array_like (6,)
            [linear, angular] along the frame's own axes, in m/s and rad/s; or a displacement in m
            and rad. Along the axes of the start the twist has the same components.

        Returns
        -------
        Pose
            Accurate to rounding for angles of any size. `dtau.integrate` moves a free joint by
            ``Pose.exp(xi)``.

        Raises
        ------
        ValueError, TypeError
            In the same cases as the constructor.

        Notes
        -----
        [Sola]; [Derivations] eq. 12.4.

        Examples
        --------
        >>> import dtau, math
        >>> quarter_circle = dtau.Pose.exp((1.0, 0, 0, 0, 0, math.pi / 2))
        >>> quarter_circle.translation.round(6)
        array([0.63662, 0.63662, 0.     ])
        """
        numbers = real_array("twist", twist, (6,))
        if max(math.hypot(*numbers[3:]), math.hypot(*numbers[:3])) > _LARGEST:
            raise ValueError(f"twist: expected numbers up to {_LARGEST:g}, got {numbers.tolist()}")
        return cls(*_core.pose_to_placement(_core.pose_exp(numbers)))

    def matrix(self) -> Array:
        """Return the homogeneous matrix (4, 4): [rotation, translation; 0 0 0 1].

        Examples
        --------
        >>> import dtau
        >>> dtau.Pose(translation=(1, 2, 3)).matrix()[:, 3]
        array([1., 2., 3., 1.])
        """
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.rotation, self.translation
        return matrix

    def rpy(self) -> Array:
        """Return roll, pitch and yaw (3,) in radians: rotation = Rz(yaw) Ry(pitch) Rx(roll).

        Pitch is in [-pi/2, pi/2], the others in [-pi, pi]. If pitch is at an end of its range, only
        the sum or the difference of the others is determined; the result is one such pair and gives
        the same rotation.

        Examples
        --------
        >>> import dtau
        >>> dtau.Pose.from_rpy((0.1, -0.2, 3.0)).rpy()
        array([ 0.1, -0.2,  3. ])
        """
        (a, b, c), (d, e, f), (g, _, _) = self.rotation.tolist()
        yaw = math.atan2(d, a)
        sine, cosine = math.sin(yaw), math.cos(yaw)
        # from the rotation without yaw, so that the angles fit together where yaw is undetermined
        roll = math.atan2(sine * c - cosine * f, cosine * e - sine * b)
        return np.array([roll, math.atan2(-g, math.hypot(a, d)), yaw]) + 0.0

    def quaternion(self, *, order: QuaternionOrder) -> Array:
        """Return the unit quaternion (4,) of the rotation, with w >= 0.

        Parameters
        ----------
        order : {"xyzw", "wxyz"}
            Order of the numbers, see `from_quaternion`.

        Raises
        ------
        ValueError
            If the order is none of these.

        Examples
        --------
        >>> import dtau
        >>> dtau.Pose().quaternion(order="xyzw")
        array([0., 0., 0., 1.])
        """
        require_option("order", order, QuaternionOrder)
        quaternion = _core.rotation_from_matrix(self.rotation)
        return quaternion if order == "xyzw" else np.roll(quaternion, 1)

    def log(self) -> Array:
        """Return the logarithm of SE(3) (6,): the twist with ``Pose.exp(twist) == self``.

        [linear, angular], the angle at most pi. At an angle of exactly pi both directions are
        valid, and one of them is returned. Accurate to rounding at all angles. `dtau.difference`
        gives this twist for a free joint between its neutral configuration and this pose.

        Examples
        --------
        >>> import dtau
        >>> dtau.Pose.exp((0.1, 0.2, 0.3, 0, 0, 2.5)).log().round(12)
        array([0.1, 0.2, 0.3, 0. , 0. , 2.5])
        """
        return _core.pose_log(_core.pose_from_placement(self.rotation, self.translation))

    def __matmul__(self, other: Pose) -> Pose:
        """Compose poses: return the pose in A of a frame C whose pose in B is `other`."""
        if not isinstance(other, Pose):
            raise TypeError(
                f"expected a Pose behind @, got {type(other).__name__}; a point x goes to "
                "pose.rotation @ x + pose.translation, a 4x4 matrix to pose.matrix() @ matrix"
            )
        return Pose(
            self.rotation @ other.rotation, self.rotation @ other.translation + self.translation
        )

    def inverse(self) -> Pose:
        """Return the pose of A in B.

        Examples
        --------
        >>> import dtau
        >>> dtau.Pose(translation=(1, 2, 3)).inverse().translation
        array([-1., -2., -3.])
        """
        return Pose(self.rotation.T, -self.rotation.T @ self.translation)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        return np.array_equal(self.rotation, other.rotation) and np.array_equal(
            self.translation, other.translation
        )

    def __hash__(self) -> int:
        return hash((*self.rotation.ravel().tolist(), *self.translation.tolist()))

    def __repr__(self) -> str:
        return f"Pose(rotation={self.rotation.tolist()}, translation={self.translation.tolist()})"


def _nearest_rotation(matrix: Array, rounding: float = _ROUNDING) -> Array:
    """Return `matrix` if it is a rotation up to a few roundings, else the nearest rotation."""
    rows = matrix.tolist()
    if rows == NO_ROTATION:
        return matrix
    (a, b, c), (d, e, f), (g, h, i) = rows
    error = max(  # of the elements of R^T R - 1
        *(abs(a * a + d * d + g * g - 1), abs(a * b + d * e + g * h), abs(a * c + d * f + g * i)),
        *(abs(b * b + e * e + h * h - 1), abs(b * c + e * f + h * i)),
        abs(c * c + f * f + i * i - 1),
    )
    if not error <= _ORTHONORMAL:
        raise ValueError(
            f"rotation: expected R^T R = 1 within {_ORTHONORMAL:g}, got a matrix that is off "
            f"by {error:.3g}: {rows}"
        )
    if a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) < 0:
        raise ValueError("rotation: expected determinant 1, got a reflection (determinant -1)")
    if error > rounding:
        for _ in range(2):  # Newton's method for the polar factor: errors 1e-6, 1e-12, rounding
            matrix = matrix @ (1.5 * np.eye(3) - 0.5 * matrix.T @ matrix)
        matrix.flags.writeable = False
    return matrix
