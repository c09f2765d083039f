"""Jacobian-vector and vector-Jacobian products of time derivatives, without forming a matrix.

`dtau.inverse_dynamics_time_derivatives` and `dtau.forward_dynamics_time_derivatives` are functions
of the configuration and of every row of their stacks, as independent arguments. A Jacobian-vector
product (`_jvp`) is the variation of all orders along variations of the arguments. A vector-Jacobian
product (`_vjp`) is the gradient of a weighted sum of all orders. Both take O(N r^2), as the
functions themselves do. Typical uses are limits on torque rates, costs on jerk, and elastic joints,
whose motor torque depends on time derivatives of the joint torque.

Variations of the configuration, and gradients by it, are taken in the tangent space,
q (+) eps dq (`dtau.integrate`). External wrenches keep their components in the axes in which they
are given.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.results import ForwardDynamicsTimeDerivativesVJP, InverseDynamicsTimeDerivativesVJP
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates


@direct
def inverse_dynamics_time_derivatives_jvp(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    dq: ArrayLike,
    dv_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    df_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    coordinates: Coordinates = "tangent",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Jacobian-vector product of the joint torque's time derivatives (forward mode).

        dtau^(k)_dq dq + sum over m of dtau^(k)_dv^(m) dv^(m)    k = 0, 1, ..., r

    Returns
    -------
    dtau : ndarray (..., r + 1, nv)
        Row k is the variation of row k of `dtau.inverse_dynamics_time_derivatives`.

    Notes
    -----
    [HO-FBS] Algorithm 2 computes the values; the same passes carry the variations. O(N r^2), less
    than three calls of `dtau.inverse_dynamics_time_derivatives`
    (``python -m benchmarks time_products``).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> jerk, snap = rng.standard_normal((2, model.nv))

    Along the motion itself, the variation of each order is the next order:

    >>> tau = dtau.inverse_dynamics_time_derivatives(model, q, [v, a, jerk, snap])
    >>> rates = dtau.inverse_dynamics_time_derivatives_jvp(
    ...     model, q, [v, a, jerk], v, [a, jerk, snap]
    ... )
    >>> bool(np.allclose(rates, tau[1:]))
    True
    """


@direct
def inverse_dynamics_time_derivatives_vjp(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    lam_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> InverseDynamicsTimeDerivativesVJP:
    """Vector-Jacobian product of the joint torque's time derivatives (reverse mode).

        sum over k of lam_k . tau^(k)    by q, v^(m) and f_ext^(m)

    Returns
    -------
    InverseDynamicsTimeDerivativesVJP
        The adjoint of `dtau.inverse_dynamics_time_derivatives_jvp`.

    Notes
    -----
    Reverse mode of [HO-FBS] Algorithm 2 in two passes and without a tape: the transpose of a
    product of Taylor series is a product of series whose coefficients are in reverse order.
    O(N r^2), less than three calls of `dtau.inverse_dynamics_time_derivatives`
    (``python -m benchmarks time_products``).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> motion, dq = rng.standard_normal((3, model.nv)), rng.standard_normal(model.nv)
    >>> dmotion, lam = rng.standard_normal((3, model.nv)), rng.standard_normal((2, model.nv))
    >>> product = dtau.inverse_dynamics_time_derivatives_jvp(model, q, motion, dq, dmotion)
    >>> by = dtau.inverse_dynamics_time_derivatives_vjp(model, q, motion, lam)
    >>> change = by.by_q @ dq + np.sum(by.by_v_derivatives * dmotion)
    >>> bool(np.isclose(np.sum(lam * product), change))
    True
    """


@direct
def forward_dynamics_time_derivatives_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau_derivatives: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    dtau_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    df_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    coordinates: Coordinates = "tangent",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Jacobian-vector product of the joint acceleration's time derivatives (forward mode).

        da^(k)_dq dq + da^(k)_dv dv + sum over m of da^(k)_dtau^(m) dtau^(m)    k = 0, 1, ..., r

    Returns
    -------
    da : ndarray (..., r + 1, nv)
        Row k is the variation of row k of `dtau.forward_dynamics_time_derivatives`.

    Notes
    -----
    The variation of inverse dynamics, along the motion that forward dynamics gives, is solved for
    the accelerations. Every order uses the articulated-body inertias of order 0, as in [HO-FBS]
    Lemma 2. With mimic joints the factorization of the mass matrix is used. O(N r^2), about two to
    three calls of `dtau.forward_dynamics_time_derivatives` (``python -m benchmarks
    time_products``).

    Examples
    --------
    >>> tau, dtorque = rng.standard_normal((2, 3, model.nv))
    >>> dq, dv = rng.standard_normal((2, model.nv))
    >>> da = dtau.forward_dynamics_time_derivatives_jvp(model, q, v, tau, dq, dv, dtorque)

    The product of inverse dynamics recovers the variation of the torques:

    >>> a = dtau.forward_dynamics_time_derivatives(model, q, v, tau)
    >>> again = dtau.inverse_dynamics_time_derivatives_jvp(
    ...     model, q, np.vstack([v, a]), dq, np.vstack([dv, da])
    ... )
    >>> bool(np.allclose(again, dtorque, rtol=0.0, atol=1e-9 * abs(da).max()))
    True
    """


@direct
def forward_dynamics_time_derivatives_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau_derivatives: ArrayLike,
    lam_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsTimeDerivativesVJP:
    """Vector-Jacobian product of the joint acceleration's time derivatives (reverse mode).

        sum over k of lam_k . a^(k)    by q, v, tau^(m) and f_ext^(m)

    Returns
    -------
    ForwardDynamicsTimeDerivativesVJP
        The adjoint of `dtau.forward_dynamics_time_derivatives_jvp`.

    Notes
    -----
    The result is minus the gradient of inverse dynamics with the weights ``by_tau_derivatives``.
    These weights are solved for from the highest order down. Every order uses the articulated-body
    inertias of order 0, as in [HO-FBS] Lemma 2. With mimic joints the factorization of the mass
    matrix is used. O(N r^2), about two to three calls of `dtau.forward_dynamics_time_derivatives`
    (``python -m benchmarks time_products``).

    Examples
    --------
    >>> tau, dtorque, lam = rng.standard_normal((3, 2, model.nv))
    >>> dq, dv = rng.standard_normal((2, model.nv))
    >>> da = dtau.forward_dynamics_time_derivatives_jvp(model, q, v, tau, dq, dv, dtorque)
    >>> by = dtau.forward_dynamics_time_derivatives_vjp(model, q, v, tau, lam)
    >>> change = by.by_q @ dq + by.by_v @ dv + np.sum(by.by_tau_derivatives * dtorque)
    >>> bool(np.isclose(np.sum(lam * da), change))
    True
    """
