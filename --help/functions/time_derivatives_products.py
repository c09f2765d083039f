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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import ForwardDynamicsTimeDerivativesVJP, InverseDynamicsTimeDerivativesVJP


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
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Jacobian-vector product of the joint torque's time derivatives (forward mode).

        dtau^(k)_dq dq + sum over m of dtau^(k)_dv^(m) dv^(m)    k = 0, 1, ..., r

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v_derivatives : array_like (..., r + 2, nv)
        The velocity and its time derivatives, component by component: row k has order k, in the unit of
        ``v`` divided by s^k; for a free joint [linear, angular] in the body frame. The number of rows
        determines r, at most 20; with ``order`` there may be more rows. The axis of the rows is never a
        batch: a batch of ``v`` is ``v[:, None]``, a batch of ``v`` and ``a`` is
        ``np.stack([v, a], axis=-2)``.
        Row 1 is ``a``.
    dq : array_like (..., nv)
        Variation of ``q`` in the tangent space, along q (+) eps dq; for a free joint a displacement
        [linear, angular] in the body frame.
    dv_derivatives : array_like (..., r + 2, nv)
        Variation of the rows of ``v_derivatives``.
    f_ext_derivatives : array_like (..., r + 1, nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m, and the
        time derivatives of these components: row k has order k.
    df_ext_derivatives : array_like (..., r + 1, nbodies, 6), optional
        Variation of the rows of ``f_ext_derivatives``; zero by default.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    order : int, optional
        Highest order of the time derivatives: the r in these shapes, from 0 to 100. If a stack is
        longer, its first rows are read, in place. So one stack of ``v`` and its derivatives, and one of
        wrenches, serves all functions along a trajectory. By default the length of the stacks
        determines r.
    out : ndarray (..., r + 1, nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    dtau : ndarray (..., r + 1, nv)
        Row k is the variation of row k of `dtau.inverse_dynamics_time_derivatives`.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, a stack is too short or has the shape of a batch, or ``order`` is out of range.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``order`` is not an
        integer.

    Notes
    -----
    [HO-FBS] Algorithm 2 computes the values; the same passes carry the variations. O(N r^2), less
    than three calls of `dtau.inverse_dynamics_time_derivatives`
    (``python -m benchmarks time_products``).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
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
    return _core.inverse_dynamics_time_derivatives_jvp(
        model,
        q,
        v_derivatives,
        dq,
        dv_derivatives,
        f_ext_derivatives,
        df_ext_derivatives,
        f_ext_axes,
        order,
        out,
        threads,
    )


def inverse_dynamics_time_derivatives_vjp(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    lam_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> InverseDynamicsTimeDerivativesVJP:
    """Vector-Jacobian product of the joint torque's time derivatives (reverse mode).

        sum over k of lam_k . tau^(k)    by q, v^(m) and f_ext^(m)

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v_derivatives : array_like (..., r + 2, nv)
        The velocity and its time derivatives, component by component: row k has order k, in the unit of
        ``v`` divided by s^k; for a free joint [linear, angular] in the body frame. The number of rows
        determines r, at most 20; with ``order`` there may be more rows. The axis of the rows is never a
        batch: a batch of ``v`` is ``v[:, None]``, a batch of ``v`` and ``a`` is
        ``np.stack([v, a], axis=-2)``.
        Row 1 is ``a``.
    lam_derivatives : array_like (..., r + 1, nv)
        Weights of the results: row k weights the time derivative of order k.
    f_ext_derivatives : array_like (..., r + 1, nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m, and the
        time derivatives of these components: row k has order k.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    order : int, optional
        Highest order of the time derivatives: the r in these shapes, from 0 to 100. If a stack is
        longer, its first rows are read, in place. So one stack of ``v`` and its derivatives, and one of
        wrenches, serves all functions along a trajectory. By default the length of the stacks
        determines r.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    InverseDynamicsTimeDerivativesVJP
        The adjoint of `dtau.inverse_dynamics_time_derivatives_jvp`.

        by_q : ndarray (..., nv)
            Gradient by ``q`` in the tangent space: entry k along q (+) eps e_k.
        by_v_derivatives : ndarray (..., r + 2, nv)
            Gradient by the rows of ``v_derivatives``: row k by the time derivative of ``v`` of order k.
        by_f_ext_derivatives : ndarray (..., r + 1, nbodies, 6), or None
            Gradient by the rows of ``f_ext_derivatives``, [by force, by moment] in the axes
            ``f_ext_axes``. None without ``f_ext_derivatives``.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, a stack is too short or has the shape of a batch, or ``order`` is out of range.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``order`` is not an
        integer.

    Notes
    -----
    Reverse mode of [HO-FBS] Algorithm 2 in two passes and without a tape: the transpose of a
    product of Taylor series is a product of series whose coefficients are in reverse order.
    O(N r^2), less than three calls of `dtau.inverse_dynamics_time_derivatives`
    (``python -m benchmarks time_products``).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
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
    return _core.inverse_dynamics_time_derivatives_vjp(
        model, q, v_derivatives, lam_derivatives, f_ext_derivatives, f_ext_axes, order, out, threads
    )


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
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Jacobian-vector product of the joint acceleration's time derivatives (forward mode).

        da^(k)_dq dq + da^(k)_dv dv + sum over m of da^(k)_dtau^(m) dtau^(m)    k = 0, 1, ..., r

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    tau_derivatives : array_like (..., r + 1, nv)
        Joint torque and its time derivatives: row k has order k, in N m/s^k and N/s^k; for a free joint
        the components of the wrench [force, moment] in the body frame and their derivatives. The number
        of rows determines r, at most 20; with ``order`` there may be more rows. A batch of ``tau`` is
        ``tau[:, None]``.
    dq : array_like (..., nv)
        Variation of ``q`` in the tangent space, along q (+) eps dq; for a free joint a displacement
        [linear, angular] in the body frame.
    dv : array_like (..., nv)
        Variation of the components of ``v``.
    dtau_derivatives : array_like (..., r + 1, nv)
        Variation of the rows of ``tau_derivatives``.
    f_ext_derivatives : array_like (..., r + 1, nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m, and the
        time derivatives of these components: row k has order k.
    df_ext_derivatives : array_like (..., r + 1, nbodies, 6), optional
        Variation of the rows of ``f_ext_derivatives``; zero by default.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    order : int, optional
        Highest order of the time derivatives: the r in these shapes, from 0 to 100. If a stack is
        longer, its first rows are read, in place. So one stack of ``v`` and its derivatives, and one of
        wrenches, serves all functions along a trajectory. By default the length of the stacks
        determines r.
    out : ndarray (..., r + 1, nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    da : ndarray (..., r + 1, nv)
        Row k is the variation of row k of `dtau.forward_dynamics_time_derivatives`.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, a stack is too short or has the shape of a batch, ``order`` is out of range, or joints
        of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``order`` is not an
        integer.

    Notes
    -----
    The variation of inverse dynamics, along the motion that forward dynamics gives, is solved for
    the accelerations. Every order uses the articulated-body inertias of order 0, as in [HO-FBS]
    Lemma 2. With mimic joints the factorization of the mass matrix is used. O(N r^2), about two to
    three calls of `dtau.forward_dynamics_time_derivatives` (``python -m benchmarks
    time_products``).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, _ = dtau.random_state(model, rng)
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
    return _core.forward_dynamics_time_derivatives_jvp(
        model,
        q,
        v,
        tau_derivatives,
        dq,
        dv,
        dtau_derivatives,
        f_ext_derivatives,
        df_ext_derivatives,
        f_ext_axes,
        order,
        out,
        threads,
    )


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
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsTimeDerivativesVJP:
    """Vector-Jacobian product of the joint acceleration's time derivatives (reverse mode).

        sum over k of lam_k . a^(k)    by q, v, tau^(m) and f_ext^(m)

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    tau_derivatives : array_like (..., r + 1, nv)
        Joint torque and its time derivatives: row k has order k, in N m/s^k and N/s^k; for a free joint
        the components of the wrench [force, moment] in the body frame and their derivatives. The number
        of rows determines r, at most 20; with ``order`` there may be more rows. A batch of ``tau`` is
        ``tau[:, None]``.
    lam_derivatives : array_like (..., r + 1, nv)
        Weights of the results: row k weights the time derivative of order k.
    f_ext_derivatives : array_like (..., r + 1, nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m, and the
        time derivatives of these components: row k has order k.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    order : int, optional
        Highest order of the time derivatives: the r in these shapes, from 0 to 100. If a stack is
        longer, its first rows are read, in place. So one stack of ``v`` and its derivatives, and one of
        wrenches, serves all functions along a trajectory. By default the length of the stacks
        determines r.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ForwardDynamicsTimeDerivativesVJP
        The adjoint of `dtau.forward_dynamics_time_derivatives_jvp`.

        by_q : ndarray (..., nv)
            Gradient by ``q`` in the tangent space: entry k along q (+) eps e_k.
        by_v : ndarray (..., nv)
            Gradient by ``v``.
        by_tau_derivatives : ndarray (..., r + 1, nv)
            Gradient by the rows of ``tau_derivatives``.
        by_f_ext_derivatives : ndarray (..., r + 1, nbodies, 6), or None
            Gradient by the rows of ``f_ext_derivatives``, [by force, by moment] in the axes
            ``f_ext_axes``. None without ``f_ext_derivatives``.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, a stack is too short or has the shape of a batch, ``order`` is out of range, or joints
        of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``order`` is not an
        integer.

    Notes
    -----
    The result is minus the gradient of inverse dynamics with the weights ``by_tau_derivatives``.
    These weights are solved for from the highest order down. Every order uses the articulated-body
    inertias of order 0, as in [HO-FBS] Lemma 2. With mimic joints the factorization of the mass
    matrix is used. O(N r^2), about two to three calls of `dtau.forward_dynamics_time_derivatives`
    (``python -m benchmarks time_products``).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, _ = dtau.random_state(model, rng)
    >>> tau, dtorque, lam = rng.standard_normal((3, 2, model.nv))
    >>> dq, dv = rng.standard_normal((2, model.nv))
    >>> da = dtau.forward_dynamics_time_derivatives_jvp(model, q, v, tau, dq, dv, dtorque)
    >>> by = dtau.forward_dynamics_time_derivatives_vjp(model, q, v, tau, lam)
    >>> change = by.by_q @ dq + by.by_v @ dv + np.sum(by.by_tau_derivatives * dtorque)
    >>> bool(np.isclose(np.sum(lam * da), change))
    True
    """
    return _core.forward_dynamics_time_derivatives_vjp(
        model,
        q,
        v,
        tau_derivatives,
        lam_derivatives,
        f_ext_derivatives,
        f_ext_axes,
        order,
        out,
        threads,
    )
