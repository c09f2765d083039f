"""Exponential and logarithm of SO(3), their Jacobians, and the derivatives of these."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.poses.reading import is_left, mirrored
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Side


@direct
def exp(vector: ArrayLike, *, out: Array | None = None, threads: int | None = None) -> Array:
    """Exponential of SO(3): quaternions of rotation vectors.

    Returns
    -------
    quaternion
        ... Accurate to rounding for angles of any size.

    Notes
    -----
    Pinocchio's ``exp3``.

    Examples
    --------
    >>> rotations.exp([0, 0, np.pi / 2]).round(3)
    array([0.   , 0.   , 0.707, 0.707])
    """


@direct
def log(quaternion: ArrayLike, *, out: Array | None = None, threads: int | None = None) -> Array:
    """Logarithm of SO(3): rotation vectors of quaternions.

    Returns
    -------
    vector
        ... Its norm, the angle, is at most pi. The sign of the quaternion does not matter.

    Notes
    -----
    [Derivations] eq. 16.5. Accurate to rounding at all angles. Pinocchio's ``log3``.

    Examples
    --------
    >>> rotations.log(rotations.exp([0, 0, 2.5])).round(12)
    array([0. , 0. , 2.5])
    """


@documented
def exp_jacobian(
    vector: ArrayLike, side: Side = "right", *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Jacobian of the exponential of SO(3): its derivative by the rotation vector.

        right    exp(vector + d) = exp(vector) exp(J d)
        left     exp(vector + d) = exp(J d) exp(vector)

    for small d.

    Returns
    -------
    jacobian : ndarray (..., 3, 3)
        Rows and columns x, y, z.

    Notes
    -----
    [Sola]; [Derivations] eq. 12.5. Pinocchio's ``Jexp3`` is the right one.

    Examples
    --------
    The angular velocity, along the moving axes, of a rotation vector that changes at a rate:

    >>> rotations.exp_jacobian([0.0, 0, np.pi]) @ [0.0, 0, 2.0]
    array([0., 0., 2.])
    """
    at = mirrored("vector", vector) if is_left(side) else vector
    return _core.rotation_exp_jacobian(at, out, threads)


@documented
def log_jacobian(
    quaternion: ArrayLike,
    side: Side = "right",
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Jacobian of the logarithm of SO(3): its derivative by a small further rotation.

        right    log(quaternion exp(d)) = log(quaternion) + J d
        left     log(exp(d) quaternion) = log(quaternion) + J d

    for small d: the inverse of `exp_jacobian` at ``log(quaternion)``.

    Returns
    -------
    jacobian : ndarray (..., 3, 3)
        Rows and columns x, y, z.

    Notes
    -----
    [Derivations] eqs. 16.1 and 16.2. Pinocchio's ``Jlog3`` is the right one.

    Examples
    --------
    >>> x = [1.0, -2.0, 0.5]
    >>> J, inverse = rotations.exp_jacobian(x), rotations.log_jacobian(rotations.exp(x))
    >>> bool(np.allclose(J @ inverse, np.eye(3)))
    True
    """
    at = _core.rotation_inverse(quaternion) if is_left(side) else quaternion
    return _core.rotation_log_jacobian(at, out, threads)


@documented
def exp_jacobian_derivative(
    vector: ArrayLike,
    direction: ArrayLike,
    side: Side = "right",
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Derivative of `exp_jacobian` along a direction.

        d/ds exp_jacobian(vector + s direction)    at s = 0

    Parameters
    ----------
    direction : array_like (..., 3)
        Change of the rotation vector.

    Returns
    -------
    jacobian : ndarray (..., 3, 3)
        Derivatives of the entries.

    Examples
    --------
    >>> rotations.exp_jacobian_derivative([1.0, -2.0, 0.5], np.eye(3)).shape
    (3, 3, 3)
    """
    at, along = vector, direction
    if is_left(side):
        at, along = mirrored("vector", vector), mirrored("direction", direction)
    return _core.rotation_exp_jacobian_derivative(at, along, out, threads)


@documented
def log_jacobian_derivative(
    quaternion: ArrayLike,
    direction: ArrayLike,
    side: Side = "right",
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Derivative of `log_jacobian` along a further rotation.

        right    d/ds log_jacobian(quaternion exp(s direction))    at s = 0
        left     d/ds log_jacobian(exp(s direction) quaternion, side="left")

    Parameters
    ----------
    direction : array_like (..., 3)
        Rotation vector of the further rotation.

    Returns
    -------
    jacobian : ndarray (..., 3, 3)
        Derivatives of the entries.

    Examples
    --------
    >>> rotations.log_jacobian_derivative(rotations.exp([1.0, -2.0, 0.5]), np.eye(3)).shape
    (3, 3, 3)
    """
    at, along = quaternion, direction
    if is_left(side):
        at, along = _core.rotation_inverse(quaternion), mirrored("direction", direction)
    return _core.rotation_log_jacobian_derivative(at, along, out, threads)
