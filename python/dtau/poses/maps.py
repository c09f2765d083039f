"""Exponential and logarithm of SE(3), their Jacobians, and the derivatives of these."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.poses.reading import PoseLike, is_left, mirrored, pose_array
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Side


@direct
def exp(twist: ArrayLike, *, out: Array | None = None, threads: int | None = None) -> Array:
    """Exponential of SE(3): the pose of a frame after moving with a constant twist for a second.

    Returns
    -------
    pose
        ... Accurate to rounding for angles of any size, also beyond pi.

    Notes
    -----
    [Sola]; [Derivations] eq. 12.4. Pinocchio's ``exp6``.

    Examples
    --------
    A quarter of a circle:

    >>> poses.exp([1.0, 0, 0, 0, 0, np.pi / 2]).round(3)
    array([0.637, 0.637, 0.   , 0.   , 0.   , 0.707, 0.707])
    """


@documented
def log(pose: PoseLike, *, out: Array | None = None, threads: int | None = None) -> Array:
    """Logarithm of SE(3): the twist with ``exp(twist) == pose``.

    Returns
    -------
    twist
        ... The angle is at most pi. At an angle of exactly pi both directions are valid, and one of
        them is returned. The sign of the quaternion does not matter.

    Notes
    -----
    [Derivations] eqs. 16.2 and 16.5. Accurate to rounding at all angles. Pinocchio's ``log6``.

    Examples
    --------
    >>> poses.log(poses.exp([0.1, 0.2, 0.3, 0, 0, 2.5])).round(12)
    array([0.1, 0.2, 0.3, 0. , 0. , 2.5])
    """
    return _core.pose_log(pose_array(pose), out, threads)


@documented
def exp_jacobian(
    twist: ArrayLike, side: Side = "right", *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Jacobian of the exponential of SE(3): its derivative by the twist.

        right    exp(twist + d) = exp(twist) exp(J d)
        left     exp(twist + d) = exp(J d) exp(twist)

    for small d.

    Returns
    -------
    jacobian : ndarray (..., 6, 6)
        Rows and columns [linear, angular].

    Notes
    -----
    [Sola]; [Derivations] eq. 12.5. Singular at angles 2 pi, 4 pi, ... Pinocchio's ``Jexp6`` is the
    right one.

    Examples
    --------
    >>> x, d = np.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5]), 1e-6 * np.arange(6)
    >>> moved = poses.compose(poses.exp(x), poses.exp(poses.exp_jacobian(x) @ d))
    >>> bool(np.allclose(poses.exp(x + d), moved, atol=1e-10))
    True
    """
    at = mirrored("twist", twist) if is_left(side) else twist
    return _core.pose_exp_jacobian(at, out, threads)


@documented
def log_jacobian(
    pose: PoseLike, side: Side = "right", *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Jacobian of the logarithm of SE(3): its derivative by a displacement of the pose.

        right    log(pose exp(d)) = log(pose) + J d
        left     log(exp(d) pose) = log(pose) + J d

    for small d: the inverse of `exp_jacobian` at ``log(pose)``.

    Returns
    -------
    jacobian : ndarray (..., 6, 6)
        Rows and columns [linear, angular]. At an angle of exactly pi, the derivative along the
        direction of the logarithm that `log` returns.

    Notes
    -----
    [Derivations] eqs. 16.1 and 16.2. Pinocchio's ``Jlog6`` is the right one.

    Examples
    --------
    >>> x = [0.1, 0.2, 0.3, 1.0, -2.0, 0.5]
    >>> J, inverse = poses.exp_jacobian(x), poses.log_jacobian(poses.exp(x))
    >>> bool(np.allclose(J @ inverse, np.eye(6)))
    True
    """
    at = pose_array(pose)
    return _core.pose_log_jacobian(_core.pose_inverse(at) if is_left(side) else at, out, threads)


@documented
def exp_jacobian_derivative(
    twist: ArrayLike,
    direction: ArrayLike,
    side: Side = "right",
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Derivative of `exp_jacobian` along a direction.

        d/ds exp_jacobian(twist + s direction)    at s = 0

    With the rate of a twist as direction it is the time derivative of the Jacobian. All partial
    derivatives at once: ``exp_jacobian_derivative(twist[..., None, :], np.eye(6))``.

    Parameters
    ----------
    direction : array_like (..., 6)
        Change of the twist.

    Returns
    -------
    jacobian : ndarray (..., 6, 6)
        Derivatives of the entries.

    Notes
    -----
    [Derivations] eq. 24.3.

    Examples
    --------
    >>> x = np.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5])
    >>> partial = poses.exp_jacobian_derivative(x, np.eye(6))
    >>> step = (poses.exp_jacobian(x + 1e-6 * np.eye(6)) - poses.exp_jacobian(x)) / 1e-6
    >>> bool(np.allclose(partial, step, atol=1e-5))
    True
    """
    at, along = twist, direction
    if is_left(side):
        at, along = mirrored("twist", twist), mirrored("direction", direction)
    return _core.pose_exp_jacobian_derivative(at, along, out, threads)


@documented
def log_jacobian_derivative(
    pose: PoseLike,
    direction: ArrayLike,
    side: Side = "right",
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Derivative of `log_jacobian` along a displacement of the pose.

        right    d/ds log_jacobian(pose exp(s direction))    at s = 0
        left     d/ds log_jacobian(exp(s direction) pose, side="left")

    The Hessian of a tracking cost needs it: the second derivative of ``|log(pose)|^2 / 2``. All
    partial derivatives at once: give ``np.eye(6)`` as direction and ``pose[..., None, :]``.

    Parameters
    ----------
    direction : array_like (..., 6)
        Twist of the displacement.

    Returns
    -------
    jacobian : ndarray (..., 6, 6)
        Derivatives of the entries.

    Notes
    -----
    [Derivations] eq. 25.2.

    Examples
    --------
    >>> X = poses.exp([0.1, 0.2, 0.3, 1.0, -2.0, 0.5])
    >>> partial = poses.log_jacobian_derivative(X, np.eye(6))
    >>> moved = poses.compose(X, poses.exp(1e-6 * np.eye(6)))
    >>> step = (poses.log_jacobian(moved) - poses.log_jacobian(X)) / 1e-6
    >>> bool(np.allclose(partial, step, atol=1e-5))
    True
    """
    at, along = pose_array(pose), direction
    if is_left(side):
        at, along = _core.pose_inverse(at), mirrored("direction", direction)
    return _core.pose_log_jacobian_derivative(at, along, out, threads)


@documented
def adjoint(pose: PoseLike, *, out: Array | None = None, threads: int | None = None) -> Array:
    """Adjoint matrix of a pose: takes twists in the moved frame to twists in the reference frame.

        pose exp(d) = exp(adjoint d) pose

    Its transpose takes wrenches the other way.

    Returns
    -------
    matrix : ndarray (..., 6, 6)
        Rows and columns [linear, angular].

    Notes
    -----
    Pinocchio's ``SE3.action``.

    Examples
    --------
    >>> poses.adjoint([1.0, 2, 3, 0, 0, 0, 1])[:3, 3:]
    array([[ 0., -3.,  2.],
           [ 3.,  0., -1.],
           [-2.,  1.,  0.]])
    """
    return _core.pose_adjoint(pose_array(pose), out, threads)
