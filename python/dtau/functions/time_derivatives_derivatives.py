"""Time derivatives of first derivatives along a trajectory, and derivatives of time derivatives.

Derivatives by the configuration are taken in the tangent space, at each instant along
q(t) (+) eps e_k (`dtau.integrate`), with the components of all other arguments fixed. In the
functions ``..._derivatives_time_derivatives``, row 0 is the result of the function in
`dtau.functions.derivatives`, and row k is the time derivative of order k of row 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.model.motor_feedback import feedback_of
from dtau.results import (
    ForwardDynamicsDerivatives,
    ForwardDynamicsTimeDerivativesDerivatives,
    InverseDynamicsDerivatives,
    InverseDynamicsTimeDerivativesDerivatives,
    LinearizationTimeDerivatives,
)
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates


@direct
def inverse_dynamics_derivatives_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> InverseDynamicsDerivatives:
    """First derivatives of the joint torque along a motion, and their time derivatives.

        d^k/dt^k dtau_dq, d^k/dt^k dtau_dv, d^k/dt^k dtau_da    k = 0, 1, ..., r

    Returns
    -------
    InverseDynamicsDerivatives
        Row k of each array is the time derivative of order k of the same array of
        `dtau.inverse_dynamics_derivatives`.
    dtau_dq : ndarray (..., r + 1, nv, nv)
        Entry [k, i, j] is the k-th time derivative of the derivative of torque i along
        q (+) eps e_j, in the tangent space; for a free joint along a displacement
        [linear, angular] in the body frame.
    dtau_dv : ndarray (..., r + 1, nv, nv)
        Entry [k, i, j] is the k-th time derivative of the derivative of torque i by
        velocity j.
    dtau_da : ndarray (..., r + 1, nv, nv)
        The mass matrix and its time derivatives, as in `dtau.mass_matrix_time_derivatives`.

    Notes
    -----
    [IDSVA] algorithm 1 on truncated Taylor series, [Derivations] eq. 21.1; O(N d r^2) for a tree of
    depth d.

    Examples
    --------
    The matrices multiply variations of a motion. By the product rule, the variation of the torque's
    rate contains their rates:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.chain(6)
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> jerk, dq, dv, da, djerk = rng.standard_normal((5, model.nv))
    >>> d = dtau.inverse_dynamics_derivatives_time_derivatives(model, q, [v, a, jerk])
    >>> d.dtau_dq.shape == (2, model.nv, model.nv)
    True
    >>> by_q, by_v, by_a = (x[1] @ y for x, y in zip(d, (dq, dv, da)))
    >>> rate = by_q + by_v + by_a + d.dtau_dq[0] @ dv + d.dtau_dv[0] @ da + d.dtau_da[0] @ djerk
    >>> eps = 1e-6
    >>> near = [[v + s * dv, a + s * da, jerk + s * djerk] for s in (-eps, eps)]
    >>> left, right = (
    ...     dtau.inverse_dynamics_time_derivatives(model, q + s * dq, x)[1]
    ...     for s, x in zip((-eps, eps), near)
    ... )
    >>> bool(np.allclose((right - left) / (2.0 * eps), rate, atol=1e-6))
    True
    """


@direct
def forward_dynamics_derivatives_time_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsDerivatives:
    """First derivatives of the joint acceleration along a motion, and their time derivatives.

        d^k/dt^k da_dq, d^k/dt^k da_dv, d^k/dt^k da_dtau    k = 0, 1, ..., r

    The torques and their time derivatives determine the motion, as in
    `dtau.forward_dynamics_time_derivatives`.

    Returns
    -------
    ForwardDynamicsDerivatives
        Row k of each array is the time derivative of order k of the same array of
        `dtau.forward_dynamics_derivatives`.
    da_dq : ndarray (..., r + 1, nv, nv)
        Entry [k, i, j] is the k-th time derivative of the derivative of acceleration i along
        q (+) eps e_j, in the tangent space; for a free joint along a displacement
        [linear, angular] in the body frame.
    da_dv : ndarray (..., r + 1, nv, nv)
        Entry [k, i, j] is the k-th time derivative of the derivative of acceleration i by
        velocity j.
    da_dtau : ndarray (..., r + 1, nv, nv)
        The inverse of the mass matrix and its time derivatives, symmetric up to rounding.

    Notes
    -----
    M X = -Y relates the derivatives X of the acceleration to the derivatives Y of the torque. Its
    time derivatives are solved order by order with one factorization of M, [Derivations] eq. 21.3;
    O(N^2 d r^2) for a tree of depth d. Errors of low orders enter higher orders, as in
    `dtau.forward_dynamics_time_derivatives`.

    Examples
    --------
    >>> tau = rng.standard_normal((2, model.nv))
    >>> d = dtau.forward_dynamics_derivatives_time_derivatives(model, q, v, tau)
    >>> M = dtau.mass_matrix_time_derivatives(model, q, [v])
    >>> bool(np.allclose(d.da_dtau[1], -d.da_dtau[0] @ M[1] @ d.da_dtau[0]))
    True
    """


@direct
def inverse_dynamics_time_derivatives_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> InverseDynamicsTimeDerivativesDerivatives:
    """First derivatives of the joint torque and of its time derivatives, orders 0 to r.

        dtau^(k) = dtau_dq[k] dq + sum over m of dtau_dv_derivatives[k, m] dv^(m)

    These are the derivatives of `dtau.inverse_dynamics_time_derivatives` by its arguments at one
    instant. Along q (+) eps e_j, the components of v and of all its time derivatives are constant,
    and so are the components of the wrenches along their axes.

    Returns
    -------
    InverseDynamicsTimeDerivativesDerivatives
        One row for each order k = 0, 1, ..., r of the torque.
    dtau_dq : ndarray (..., r + 1, nv, nv)
        Entry [k, i, j] is the derivative of the k-th time derivative of torque i along
        q (+) eps e_j, in the tangent space; for a free joint along a displacement
        [linear, angular] in the body frame.
    dtau_dv_derivatives : ndarray (..., r + 1, r + 2, nv, nv)
        Entry [k, m, i, j] is the derivative of the k-th time derivative of torque i by entry
        [m, j] of ``v_derivatives``. It is zero if m is larger than k + 1.

    Notes
    -----
    Leibniz' rule on the matrices of `dtau.inverse_dynamics_derivatives_time_derivatives`. For
    joints whose displacements do not commute, the rate of a displacement adds terms with Lie
    brackets, [Derivations] eqs. 21.4, 21.5. Cost: O(N d r^2) for a tree of depth d, O(N^2 r^2) for
    the zeros in the results, and O(N r^3) for each joint whose displacements do not commute.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> jerk = rng.standard_normal(model.nv)
    >>> d = dtau.inverse_dynamics_time_derivatives_derivatives(model, q, [v, a, jerk])
    >>> d.dtau_dq.shape, d.dtau_dv_derivatives.shape
    ((2, 18, 18), (2, 3, 18, 18))
    >>> dq, djerk = 1e-6 * rng.standard_normal((2, model.nv))
    >>> left, right = (
    ...     dtau.inverse_dynamics_time_derivatives(
    ...         model, dtau.integrate(model, q, s * dq), [v, a, jerk + s * djerk]
    ...     )
    ...     for s in (-1.0, 1.0)
    ... )
    >>> rate = d.dtau_dq[1] @ dq + d.dtau_dv_derivatives[1, 2] @ djerk
    >>> bool(np.allclose((right - left)[1] / 2.0, rate, rtol=1e-6, atol=1e-8))
    True
    """


@direct
def forward_dynamics_time_derivatives_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsTimeDerivativesDerivatives:
    """First derivatives of the joint acceleration and of its time derivatives, orders 0 to r.

        da^(k) = da_dq[k] dq + da_dv[k] dv + sum over m of da_dtau_derivatives[k, m] dtau^(m)

    These are the derivatives of `dtau.forward_dynamics_time_derivatives` by its arguments at one
    instant. Along q (+) eps e_j, the components of v, of the torque and of all time derivatives of
    the torque are constant, and so are the components of the wrenches along their axes. The
    acceleration and its time derivatives vary.

    Returns
    -------
    ForwardDynamicsTimeDerivativesDerivatives
        One row for each order k = 0, 1, ..., r of the acceleration.
    da_dq : ndarray (..., r + 1, nv, nv)
        Entry [k, i, j] is the derivative of the k-th time derivative of acceleration i along
        q (+) eps e_j, in the tangent space; for a free joint along a displacement
        [linear, angular] in the body frame.
    da_dv : ndarray (..., r + 1, nv, nv)
        Entry [k, i, j] is the derivative of the k-th time derivative of acceleration i by
        velocity j.
    da_dtau_derivatives : ndarray (..., r + 1, r + 1, nv, nv)
        Entry [k, m, i, j] is the derivative of the k-th time derivative of acceleration i by
        entry [m, j] of ``tau_derivatives``. It is zero if m is larger than k.

    Notes
    -----
    The variation of a motion obeys a linear equation with the matrices of
    `dtau.forward_dynamics_derivatives_time_derivatives`. The equation is differentiated order by
    order, [Derivations] eq. 21.6; O(N^3 r^3). Errors of low orders enter higher orders.

    Examples
    --------
    >>> tau = rng.standard_normal((2, model.nv))
    >>> d = dtau.forward_dynamics_time_derivatives_derivatives(model, q, v, tau)
    >>> d.da_dv.shape, d.da_dtau_derivatives.shape
    ((2, 18, 18), (2, 2, 18, 18))

    The torque's rate acts on the acceleration's rate as the torque acts on the acceleration:

    >>> by_torques = d.da_dtau_derivatives
    >>> bool(np.allclose(by_torques[1, 1], dtau.mass_matrix_inverse(model, q)))
    True
    """


@documented
def linearize_time_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> LinearizationTimeDerivatives:
    """Linearization of the equations of motion along a motion, and its time derivatives.

        d^k/dt^k A, d^k/dt^k B    k = 0, 1, ..., r    of dz/dt = A z + B u

    The torques and their time derivatives determine the motion, as in
    `dtau.forward_dynamics_time_derivatives`.

    Parameters
    ----------
    inputs
        ... The map from inputs to torques is constant in time, and so is the law of motors.

    Returns
    -------
    LinearizationTimeDerivatives
        Row k of each array is the time derivative of order k of the same array of `dtau.linearize`,
        with z = [xi, dv] in the tangent space at each instant.
    A : ndarray (..., r + 1, 2 nv, 2 nv)
        The upper nv rows are [-ad_v, 1] for k = 0 and [-ad of d^k v/dt^k, 0] for higher orders. The
        lower nv rows are [da_dq, da_dv] of `dtau.forward_dynamics_derivatives_time_derivatives`.
    B : ndarray (..., r + 1, 2 nv, nu)
        Derivative by the inputs u.
    a : ndarray (..., r + 1, nv)
        Joint acceleration and its time derivatives, component by component.

    Notes
    -----
    [Bos] propositions 1 to 3 and [Derivations] eq. 21.3; O(N^2 d r^2) for a tree of depth d.
    Contacts are not supported.

    Examples
    --------
    Approximate the discrete linearization over a short step to second order:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.chain(4)
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> lin = dtau.linearize_time_derivatives(model, q, v, [tau, np.zeros(model.nv)])
    >>> lin.A.shape, lin.B.shape
    ((2, 8, 8), (2, 8, 4))
    >>> h = 1e-3
    >>> A = np.eye(8) + h * lin.A[0] + h**2 / 2.0 * (lin.A[1] + lin.A[0] @ lin.A[0])
    >>> step = dtau.linearize_discrete(model, q, v, tau, h, "rk4")
    >>> bool(np.allclose(A, step.A, rtol=0.0, atol=1e-6))
    True
    """
    law = feedback_of(model, inputs)
    room = out
    if law is not None:
        q, inputs, room = law.states(q), law.torques, law.room(out, 1)
    result = _core.linearize_time_derivatives(
        model, q, v, tau_derivatives, f_ext_derivatives, inputs, f_ext_axes, order, room, threads
    )
    return result if law is None else law.close(result, out, further=1)
