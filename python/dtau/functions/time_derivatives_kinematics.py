"""Time derivatives, of any order, of poses, twists, Jacobians and momentum along a trajectory.

`dtau.functions.time_derivatives` explains how trajectories are given; `dtau.functions.frames` and
`dtau.functions.centroidal_momentum` explain the axes of the results.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.results import KinematicsTimeDerivatives
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes


@direct
def kinematics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> KinematicsTimeDerivatives:
    """Poses and twists of all bodies along a trajectory, and their time derivatives.

        d^k/dt^k of T_i and of t_i    the pose and the twist of body i, k = 0, 1, ..., r

    Parameters
    ----------
    v_derivatives : array_like (..., r, nv)
        ... ``order=0`` takes no rows.

    Returns
    -------
    KinematicsTimeDerivatives
    rotation : ndarray (..., r + 1, nbodies, 3, 3)
        Rotation of each body's frame in the world and its time derivatives, entry by entry, row
        k of order k. Bodies as in ``model.bodies``.
    translation : ndarray (..., r + 1, nbodies, 3)
        Position of each body's frame in the world and its time derivatives, so that row 1 is
        the velocity of the body's origin along world axes.
    twist : ndarray (..., r, nbodies, 6)
        [linear, angular] in the body frame at its origin, and the time derivatives of these
        components of order 1 to r - 1 (row 1 is not the classical acceleration).

    Notes
    -----
    [HO-FBS] Algorithm 1 and eq. 20 in body coordinates; O(N r^2).

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> k = dtau.kinematics_time_derivatives(model, q, [v, a])
    >>> k.rotation.shape, k.translation.shape, k.twist.shape
    ((3, 13, 3, 3), (3, 13, 3), (2, 13, 6))
    >>> bool(np.allclose(k.translation[1, 4], k.rotation[0, 4] @ k.twist[0, 4, :3]))
    True
    """


@direct
def frame_kinematics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    order: int | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> KinematicsTimeDerivatives:
    """Poses and twists of frames along a trajectory, and their time derivatives.

        d^k/dt^k of T and of J v    k = 0, 1, ..., r

    Parameters
    ----------
    v_derivatives : array_like (..., r, nv)
        ... ``order=0`` takes no rows.

    Returns
    -------
    KinematicsTimeDerivatives
    rotation : ndarray (..., r + 1, nframes, 3, 3)
        Rotation of each frame in the world and its time derivatives, entry by entry, row k of
        order k.
    translation : ndarray (..., r + 1, nframes, 3)
        Position of each frame in the world and its time derivatives.
    twist : ndarray (..., r, nframes, 6)
        [linear, angular] in ``axes``, and the time derivatives of these components of order 1
        to r - 1. With ``"mixed"`` row 1 is the classical acceleration of the frame's origin,
        and the angular acceleration, along world axes; then jerk, and so on.

    Notes
    -----
    [HO-FBS] Algorithm 1 for any frame, from joints in body coordinates and poses in the world;
    O(d r^2) with the depth d of the frame.

    Examples
    --------
    Acceleration and jerk of a foot, along world axes:

    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> jerk = rng.standard_normal(model.nv)
    >>> foot = dtau.frame_kinematics_time_derivatives(model, q, [v, a, jerk], "LF_FOOT", "mixed")
    >>> foot.rotation.shape, foot.translation.shape, foot.twist.shape
    ((4, 3, 3), (4, 3), (3, 6))
    >>> bool(np.allclose(foot.twist[:, :3], foot.translation[1:]))
    True
    """


@direct
def frame_jacobians_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    order: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Jacobians of frames along a trajectory, and their time derivatives of order 1 to r.

        d^k/dt^k J(q(t))    k = 0, 1, ..., r

    Parameters
    ----------
    v_derivatives : array_like (..., r, nv)
        ... ``order=0`` takes no rows.

    Returns
    -------
    J : ndarray (..., r + 1, nframes, 6, nv)
        Row 0 is `dtau.frame_jacobians`, row k its time derivative of order k, entry by entry. Rows
        of each [linear, angular].

    Notes
    -----
    [HO-FBS] Algorithm 1 for any frame; O(d r^2) for all columns together, with the depth d of the
    frame.

    Examples
    --------
    The acceleration of a foot from J and its rate:

    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> J, J_dot = dtau.frame_jacobians_time_derivatives(model, q, [v], "LF_FOOT", "mixed")
    >>> foot = dtau.frame_kinematics_time_derivatives(model, q, [v, a], "LF_FOOT", "mixed")
    >>> bool(np.allclose(J @ a + J_dot @ v, foot.twist[1]))
    True

    For twelve states; the axis before the last of ``v_derivatives`` counts the orders:

    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(12,))
    >>> dtau.frame_jacobians_time_derivatives(model, q, v[:, None], "LF_FOOT").shape
    (12, 2, 6, 18)
    """


@direct
def momentum_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Momentum about the world's origin along a trajectory and its time derivatives to order r.

        d^k/dt^k h_0    k = 0, 1, ..., r

    Returns
    -------
    h : ndarray (..., r + 1, 6)
        Row k is the time derivative of order k of the components of `dtau.momentum`. Row 1 is the
        external wrench [force, moment] on the robot about the world's origin; it includes gravity
        and the world's reaction at the joints.

    Notes
    -----
    The sum over the bodies of [HO-FBS] eq. 62, by vectors instead of the matrices of its eq. 61:
    [Derivations] eqs. 13.18 to 13.20; O(N r^2).

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> h = dtau.momentum_time_derivatives(model, q, [v, a])
    >>> bool(np.allclose(h[0], dtau.momentum(model, q, v)))
    True

    The rate of the linear momentum is the force on the trunk plus the weight:

    >>> R = dtau.forward_kinematics(model, q).rotation[0]
    >>> force = R @ dtau.inverse_dynamics(model, q, v, a)[:3]
    >>> bool(np.allclose(h[1, :3], force + model.mass * model.gravity))
    True
    """


@direct
def centroidal_momentum_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Momentum about the center of mass along a trajectory and its time derivatives to order r.

        d^k/dt^k h    k = 0, 1, ..., r

    Returns
    -------
    h : ndarray (..., r + 1, 6)
        Row k is the time derivative of order k of the components of `dtau.centroidal_momentum`,
        along fixed axes and about the moving center of mass. The angular components are NaN for a
        model without mass.

    Notes
    -----
    [Derivations] eqs. 13.18 to 13.20; O(N r^2). No digit is lost far from the world's origin.

    Examples
    --------
    The rate of momentum has a part from the matrix and a part from the acceleration:

    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> h = dtau.centroidal_momentum_time_derivatives(model, q, [v, a])
    >>> without_a = dtau.centroidal_momentum_time_derivatives(model, q, [v, 0.0 * a])
    >>> A = dtau.centroidal_momentum_matrix(model, q)
    >>> bool(np.allclose(h[1], without_a[1] + A @ a))
    True
    """
