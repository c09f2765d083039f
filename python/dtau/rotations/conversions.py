"""Convert rotations from and to matrices, quaternions in both orders, and roll, pitch, yaw."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.poses.reading import in_order, scalar_last
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import QuaternionOrder


@direct
def from_matrix(
    rotation: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Quaternions of rotation matrices.

    Parameters
    ----------
    rotation : array_like (..., 3, 3)
        Orthonormal within 1e-6, with determinant 1.

    Returns
    -------
    quaternion
        ... w >= 0.

    Raises
    ------
    ValueError
        ... a matrix is no rotation.

    Examples
    --------
    >>> rotations.from_matrix(np.eye(3))
    array([0., 0., 0., 1.])
    """


@direct
def to_matrix(
    quaternion: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Rotation matrices of quaternions.

    Returns
    -------
    rotation : ndarray (..., 3, 3)
        Takes components along the rotated axes to components along the reference axes.

    Examples
    --------
    >>> rotations.to_matrix([0.0, 0, 1, 0]).diagonal()
    array([-1., -1.,  1.])
    """


@documented
def from_quaternion(quaternion: ArrayLike, *, order: QuaternionOrder) -> Array:
    """Quaternions x y z w, normalized, from quaternions in either order.

    Returns
    -------
    quaternion

    Examples
    --------
    >>> rotations.from_quaternion([0.0, 0, 0, 1], order="wxyz")
    array([0., 0., 1., 0.])
    """
    return _core.rotation_normalize(scalar_last(quaternion, order))


@documented
def to_quaternion(quaternion: ArrayLike, *, order: QuaternionOrder) -> Array:
    """Quaternions in either order, normalized, from quaternions x y z w.

    Returns
    -------
    quaternion : ndarray (..., 4)
        Unit quaternion in this order.

    Examples
    --------
    >>> rotations.to_quaternion([0.0, 0, 1, 0], order="wxyz")
    array([0., 0., 0., 1.])
    """
    return in_order(_core.rotation_normalize(quaternion), order)


@direct
def from_rpy(rpy: ArrayLike, *, out: Array | None = None, threads: int | None = None) -> Array:
    """Quaternions of roll, pitch and yaw.

    Returns
    -------
    quaternion

    Examples
    --------
    >>> rotations.from_rpy([0.0, 0, np.pi]).round(12)
    array([0., 0., 1., 0.])
    """


@direct
def to_rpy(quaternion: ArrayLike, *, out: Array | None = None, threads: int | None = None) -> Array:
    """Roll, pitch and yaw of quaternions.

    Returns
    -------
    rpy : ndarray (..., 3)
        Pitch is in [-pi/2, pi/2], the others in [-pi, pi]. If pitch is at an end of its range, only
        the sum or the difference of the others is determined, and the result is one such pair.

    Examples
    --------
    >>> rotations.to_rpy(rotations.from_rpy([0.1, -0.2, 3.0])).round(12)
    array([ 0.1, -0.2,  3. ])
    """
