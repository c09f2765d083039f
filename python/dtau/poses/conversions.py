"""Convert poses from and to matrices, placements, quaternions, and roll, pitch, yaw."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.model.pose import Pose
from dtau.poses.reading import PoseLike, in_order, pose_array, scalar_last
from dtau.results import Placements
from dtau.support.arrays import Array
from dtau.support.checks import class_name
from dtau.support.direct import direct
from dtau.support.options import QuaternionOrder


@direct
def from_matrix(
    matrix: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Poses from homogeneous matrices [rotation, translation; 0 0 0 1].

    Parameters
    ----------
    matrix : array_like (..., 4, 4)
        The rotation is orthonormal within 1e-6, with determinant 1.

    Returns
    -------
    pose
        ... w >= 0.

    Raises
    ------
    ValueError
        ... a matrix is no rotation or has another last row.

    Examples
    --------
    >>> poses.from_matrix(np.eye(4))
    array([0., 0., 0., 0., 0., 0., 1.])
    """


@documented
def to_matrix(pose: PoseLike, *, out: Array | None = None, threads: int | None = None) -> Array:
    """Homogeneous matrices [rotation, translation; 0 0 0 1] of poses.

    Returns
    -------
    matrix : ndarray (..., 4, 4)
        A point ``(x, 1)`` goes to ``matrix @ (x, 1)``.

    Examples
    --------
    >>> poses.to_matrix([1.0, 2, 3, 0, 0, 0, 1])[:, 3]
    array([1., 2., 3., 1.])
    """
    return _core.pose_to_matrix(pose_array(pose), out, threads)


@documented
def from_placements(
    placements: Placements | Pose | tuple[ArrayLike, ArrayLike],
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Poses from rotation matrices and translations, such as `dtau.frame_placements` returns.

    Parameters
    ----------
    placements : Placements, Pose or pair of array_like
        Rotation ``(..., 3, 3)``, orthonormal within 1e-6 and with determinant 1, and translation
        ``(..., 3)`` in m.

    Returns
    -------
    pose
        ... w >= 0.

    Raises
    ------
    ValueError
        ... a matrix is no rotation.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> feet = dtau.frame_placements(model, dtau.neutral(model), ["LF_FOOT", "RF_FOOT"])
    >>> dtau.poses.from_placements(feet).shape
    (2, 7)
    """
    if isinstance(placements, Pose):
        return _core.pose_from_placement(placements.rotation, placements.translation, out, threads)
    if not isinstance(placements, tuple | list) or len(placements) != 2:
        raise TypeError(
            "placements: expected a pair of rotation and translation, or a Pose, "
            f"got {class_name(placements)}; dtau.poses.from_matrix reads 4 x 4 matrices"
        )
    rotation, translation = placements
    return _core.pose_from_placement(rotation, translation, out, threads)


@documented
def to_placements(
    pose: PoseLike, *, out: Sequence[Array] | None = None, threads: int | None = None
) -> Placements:
    """Rotation matrices and translations of poses.

    Returns
    -------
    Placements
    rotation : ndarray (..., 3, 3)
        Takes components along the moved axes to components along the reference axes.
    translation : ndarray (..., 3)
        Position in m.

    Examples
    --------
    >>> import dtau
    >>> pose = dtau.Pose(*dtau.poses.to_placements([1.0, 2, 3, 0, 0, 0, 1]))
    >>> pose.translation
    array([1., 2., 3.])
    """
    return _core.pose_to_placement(pose_array(pose), out, threads)


@documented
def from_quaternion(
    quaternion: ArrayLike,
    translation: ArrayLike = (0.0, 0.0, 0.0),
    *,
    order: QuaternionOrder,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Poses from unit quaternions and translations.

    Parameters
    ----------
    translation : array_like (..., 3)
        Position in m.

    Returns
    -------
    pose
        ... Its quaternion is normalized.

    Examples
    --------
    >>> poses.from_quaternion([0.0, 0, 0, 1], [1.0, 2, 3], order="wxyz")
    array([1., 2., 3., 0., 0., 1., 0.])
    """
    numbers = scalar_last(quaternion, order)
    return _core.pose_from_quaternion(numbers, translation, out, threads)


@documented
def to_quaternion(pose: PoseLike, *, order: QuaternionOrder, threads: int | None = None) -> Array:
    """Unit quaternions of poses.

    Returns
    -------
    quaternion : ndarray (..., 4)
        Unit quaternion in this order.

    Examples
    --------
    >>> poses.to_quaternion([1.0, 2, 3, 0, 0, 1, 0], order="wxyz")
    array([0., 0., 0., 1.])
    """
    return in_order(_core.pose_to_quaternion(pose_array(pose), None, threads), order)


@documented
def from_rpy(
    rpy: ArrayLike,
    translation: ArrayLike = (0.0, 0.0, 0.0),
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Poses from roll, pitch, yaw and translations, as in the origin of a URDF.

    Parameters
    ----------
    translation : array_like (..., 3)
        Position in m.

    Returns
    -------
    pose

    Examples
    --------
    >>> poses.from_rpy([0.0, 0, np.pi], [1.0, 2, 3]).round(12)
    array([1., 2., 3., 0., 0., 1., 0.])
    """
    return _core.pose_from_rpy(rpy, translation, out, threads)


@documented
def to_rpy(pose: PoseLike, *, out: Array | None = None, threads: int | None = None) -> Array:
    """Roll, pitch and yaw of poses.

    Returns
    -------
    rpy : ndarray (..., 3)
        Pitch is in [-pi/2, pi/2], the others in [-pi, pi]. If pitch is at an end of its range, only
        the sum or the difference of the others is determined, and the result is one such pair.

    Examples
    --------
    >>> poses.to_rpy(poses.from_rpy([0.1, -0.2, 3.0])).round(12)
    array([ 0.1, -0.2,  3. ])
    """
    return _core.pose_to_rpy(pose_array(pose), out, threads)
