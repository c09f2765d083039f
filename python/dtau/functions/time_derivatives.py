"""Time derivatives, of any order, of the dynamics along a trajectory.

A trajectory is given at one instant by the configuration and a stack of derivatives: ``v`` and its
time derivatives, component by component, along the axis before the last. For revolute and other
joints of one coordinate these are the derivatives of ``q``; for free, spherical and planar joints
they are those of the twist in the body's own moving axes. The length of the stack is the order:
every function returns all orders that the stack determines, up to 20. Or ``order=`` says how far,
up to 100, and one stack that is long enough serves all functions.

The axis before the last is always that of the derivatives, never a batch: ``v`` of twelve states is
``v[:, None]``, of shape ``(12, 1, nv)``. A stack of shape ``(12, nv)`` beside a batch of twelve
``q`` is refused; one stack for all of them is ``stack[None]``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import KinematicsTimeDerivatives


@documented
def inverse_dynamics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Joint torque along a trajectory and its time derivatives of order 1 to r.

        d^k/dt^k (M a + C v + D v + g - sum of J^T f_ext)    k = 0, 1, ..., r

    Parameters
    ----------
    v_derivatives : array_like (..., r + 2, nv)
        ... Row 1 is ``a``.

    Returns
    -------
    tau : ndarray (..., r + 1, nv)
        Row k is the time derivative of order k of the torque, N m/s^k or N/s^k, armature and
        damping included; of a free joint that of the components of the wrench in the body frame.

    Notes
    -----
    The problem of [HO-FBS] Algorithm 2, solved in body coordinates, where only vectors are
    convolved; O(N r^2).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> jerk, snap = rng.standard_normal((2, model.nv))
    >>> tau = dtau.inverse_dynamics_time_derivatives(model, q, [v, a, jerk, snap])
    >>> tau.shape
    (3, 18)

    Its rate is the chain rule through the first derivatives:

    >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
    >>> bool(np.allclose(tau[1], d.dtau_dq @ v + d.dtau_dv @ a + d.dtau_da @ jerk))
    True

    One stack serves all functions:

    >>> motion = [v, a, jerk, snap]
    >>> bias = dtau.bias_torque_time_derivatives(model, q, motion, order=2)
    >>> C = dtau.coriolis_matrix_time_derivatives(model, q, motion, order=2)
    >>> M = dtau.mass_matrix_time_derivatives(model, q, motion, order=2)
    >>> g = dtau.gravity_torque_time_derivatives(model, q, motion, order=2)
    >>> kinematics = dtau.kinematics_time_derivatives(model, q, motion, order=2)
    >>> len(tau), len(bias), len(C), len(M), len(g), len(kinematics.rotation)
    (3, 3, 3, 3, 3, 3)
    >>> bool(np.allclose(tau[2], M[2] @ a + 2 * M[1] @ jerk + M[0] @ snap + bias[2]))
    True
    """
    return _core.inverse_dynamics_time_derivatives(
        model, q, v_derivatives, f_ext_derivatives, f_ext_axes, order, out, threads
    )


@documented
def forward_dynamics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Joint acceleration under given torques and its time derivatives of order 1 to r.

        d^k/dt^k M^-1 (tau - C v - D v - g + sum of J^T f_ext)    k = 0, 1, ..., r

    Returns
    -------
    a : ndarray (..., r + 1, nv)
        Row k is the time derivative of order k of the acceleration, component by component. ``v``
        and these rows together are ``v_derivatives`` of `dtau.inverse_dynamics_time_derivatives`.

    Notes
    -----
    The problem of [HO-FBS] Algorithm 3, solved in body coordinates; O(N r^2). The articulated
    inertias are those of order 0 at every order ([HO-FBS] Lemma 2) and are computed once. Errors of
    low orders enter the higher ones: the result solves the differentiated equation to rounding, but
    its own error grows by about a digit an order.

    Where joints mimic others the mass matrix is factorized instead, O(N d^2 + N r^2 + N d r) with
    the depth d of the tree.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, _ = dtau.random_state(model, rng)
    >>> tau = rng.standard_normal((4, model.nv))
    >>> a = dtau.forward_dynamics_time_derivatives(model, q, v, tau)
    >>> v_derivatives = np.concatenate([[v], a])
    >>> again = dtau.inverse_dynamics_time_derivatives(model, q, v_derivatives)
    >>> bool(np.allclose(again, tau, rtol=0.0, atol=1e-11 * abs(a).max()))
    True
    """
    return _core.forward_dynamics_time_derivatives(
        model, q, v, tau_derivatives, f_ext_derivatives, f_ext_axes, order, out, threads
    )


@documented
def kinematics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> KinematicsTimeDerivatives:
    """Poses and twists of all bodies along a trajectory, and their time derivatives.

        d^k/dt^k of T_i and of t_i    of each body the pose and the twist, k = 0, 1, ..., r

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
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> k = dtau.kinematics_time_derivatives(model, q, [v, a])
    >>> k.rotation.shape, k.translation.shape, k.twist.shape
    ((3, 13, 3, 3), (3, 13, 3), (2, 13, 6))
    >>> bool(np.allclose(k.translation[1, 4], k.rotation[0, 4] @ k.twist[0, 4, :3]))
    True
    """
    return _core.kinematics_time_derivatives(model, q, v_derivatives, order, out, threads)
