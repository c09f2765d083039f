"""Products with the first derivatives of inverse and forward dynamics, without forming a matrix.

With the function's result y(q, v, x, f_ext), x the acceleration or the torque: a Jacobian-vector
product (`_jvp`) is the variation of y along variations of the arguments, and a vector-Jacobian
product (`_vjp`) is the gradient of lam . y by the arguments. Each costs about two calls of the
function itself; the derivatives as matrices cost more, O(N d) with the depth d of the tree, and
must be written and read. The articulated-body algorithm cannot solve the equations of mimic joints:
with these, forward dynamics and its products take O(N d^2).

Variations of the configuration are taken in the tangent space, q (+) eps dq (`dtau.integrate`), and
gradients by it likewise. The components of external wrenches along ``f_ext_axes`` stay constant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import (
    ForwardDynamicsVJP,
    InverseDynamicsVJP,
)


def inverse_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    da: ArrayLike,
    f_ext: ArrayLike | None = None,
    df_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Variation of the joint torque along variations of its arguments.

        dtau_dq dq + dtau_dv dv + M da - sum of J^T df_ext

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    dq : array_like (..., nv)
        Variation of ``q`` in the tangent space, along q (+) eps dq; for a free joint a displacement
        [linear, angular] in the body frame.
    dv : array_like (..., nv)
        Variation of the components of ``v``.
    da : array_like (..., nv)
        Variation of the components of ``a``.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
        `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
        numbers, in body axes.
    df_ext : array_like (..., nbodies, 6), optional
        Variation of the components of ``f_ext``; zero by default.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    out : ndarray (..., nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    dtau : ndarray (..., nv)
        Variation of the joint torque.
        It is ``dtau_dq @ dq + dtau_dv @ dv + dtau_da @ da``, less the joint torque of
        ``df_ext``, with the matrices of `dtau.inverse_dynamics_derivatives`; damping and armature
        are included.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, or ``f_ext_axes`` is
        unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [IDSVA] eqs. 30 and 32, summed over the columns on the way through the tree; O(N), at about two
    calls of `dtau.inverse_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> dq, dv, da = rng.standard_normal((3, model.nv))
    >>> product = dtau.inverse_dynamics_jvp(model, q, v, a, dq, dv, da)
    >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
    >>> bool(np.allclose(product, d.dtau_dq @ dq + d.dtau_dv @ dv + d.dtau_da @ da))
    True
    """
    return _core.inverse_dynamics_jvp(
        model, q, v, a, dq, dv, da, f_ext, df_ext, f_ext_axes, out, threads
    )


def inverse_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> InverseDynamicsVJP:
    """Gradient of ``lam . tau`` by the arguments of inverse dynamics.

        by_q = dtau_dq^T lam    by_v = dtau_dv^T lam    by_a = M lam    by_f_ext = -J lam

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    lam : array_like (..., nv)
        Weight of each result, in the order of ``v``. In backpropagation: the gradient of the cost by
        this result.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
        `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
        numbers, in body axes.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    InverseDynamicsVJP
        The transposed matrices of `dtau.inverse_dynamics_derivatives` times ``lam``; damping and
        armature are included. ``by_f_ext`` is minus the twists that the bodies would have if
        ``lam`` were the velocity.

        by_q : ndarray (..., nv)
            Gradient by ``q`` in the tangent space: entry k along q (+) eps e_k.
        by_v : ndarray (..., nv)
            Gradient by ``v``.
        by_a : ndarray (..., nv)
            Gradient by ``a``.
        by_f_ext : ndarray (..., nbodies, 6), or None
            Gradient by ``f_ext``, [by force, by moment] in the axes ``f_ext_axes``. None without
            ``f_ext``.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, or ``f_ext_axes`` is
        unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [IDSVA] eqs. 30 and 32, summed over the rows on the way through the tree; O(N), at about two
    calls of `dtau.inverse_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> lam = rng.standard_normal(model.nv)
    >>> gradient = dtau.inverse_dynamics_vjp(model, q, v, a, lam)
    >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
    >>> bool(np.allclose(gradient.by_q, d.dtau_dq.T @ lam))
    True

    With external wrenches (here zeros) the gradient by them is a result too:

    >>> f_ext = np.zeros((model.nbodies, 6))
    >>> dtau.inverse_dynamics_vjp(model, q, v, a, lam, f_ext).by_f_ext.shape
    (13, 6)
    """
    return _core.inverse_dynamics_vjp(model, q, v, a, lam, f_ext, f_ext_axes, out, threads)


def forward_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    dtau: ArrayLike,
    f_ext: ArrayLike | None = None,
    df_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Variation of the joint acceleration along variations of its arguments.

        M^-1 (dtau - dtau_dq dq - dtau_dv dv + sum of J^T df_ext)

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    tau : array_like (..., nv)
        Joint torque in N m and force in N; for a free joint the wrench [force, moment] in the body
        frame.
    dq : array_like (..., nv)
        Variation of ``q`` in the tangent space, along q (+) eps dq; for a free joint a displacement
        [linear, angular] in the body frame.
    dv : array_like (..., nv)
        Variation of the components of ``v``.
    dtau : array_like (..., nv)
        Variation of the components of ``tau``.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
        `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
        numbers, in body axes.
    df_ext : array_like (..., nbodies, 6), optional
        Variation of the components of ``f_ext``; zero by default.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    out : ndarray (..., nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    da : ndarray (..., nv)
        Variation of the joint acceleration.
        It is ``da_dq @ dq + da_dv @ dv + da_dtau @ dtau``, and the acceleration that ``df_ext``
        gives, with the matrices of `dtau.forward_dynamics_derivatives`.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [IDSVA] eq. 5: the variation of inverse dynamics at the acceleration that forward dynamics
    gives, solved for by the articulated-body algorithm, [RBDA] section 7.3; O(N), at about two
    calls of `dtau.forward_dynamics`, which see for singular configurations: they are not detected.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> dq, dv, dtorque = rng.standard_normal((3, model.nv))
    >>> product = dtau.forward_dynamics_jvp(model, q, v, tau, dq, dv, dtorque)
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(product, d.da_dq @ dq + d.da_dv @ dv + d.da_dtau @ dtorque))
    True
    """
    return _core.forward_dynamics_jvp(
        model, q, v, tau, dq, dv, dtau, f_ext, df_ext, f_ext_axes, out, threads
    )


def forward_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsVJP:
    """Gradient of ``lam . a`` by the arguments of forward dynamics.

        by_q = da_dq^T lam    by_v = da_dv^T lam    by_tau = M^-1 lam    by_f_ext = J M^-1 lam

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    tau : array_like (..., nv)
        Joint torque in N m and force in N; for a free joint the wrench [force, moment] in the body
        frame.
    lam : array_like (..., nv)
        Weight of each result, in the order of ``v``. In backpropagation: the gradient of the cost by
        this result.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
        `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
        numbers, in body axes.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ForwardDynamicsVJP
        The transposed matrices of `dtau.forward_dynamics_derivatives` times ``lam``. ``by_f_ext``
        is the twists that the bodies would have if ``by_tau`` were the velocity.

        by_q : ndarray (..., nv)
            Gradient by ``q`` in the tangent space: entry k along q (+) eps e_k.
        by_v : ndarray (..., nv)
            Gradient by ``v``.
        by_tau : ndarray (..., nv)
            Gradient by ``tau``.
        by_f_ext : ndarray (..., nbodies, 6), or None
            Gradient by ``f_ext``, [by force, by moment] in the axes ``f_ext_axes``. None without
            ``f_ext``.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [IDSVA] eq. 5: minus the products of inverse dynamics with ``by_tau``, which the
    articulated-body algorithm solves for, [RBDA] section 7.3; O(N), at about two calls of
    `dtau.forward_dynamics`, which see for singular configurations: they are not detected.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> lam = rng.standard_normal(model.nv)
    >>> gradient = dtau.forward_dynamics_vjp(model, q, v, tau, lam)
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(gradient.by_q, d.da_dq.T @ lam))
    True
    """
    return _core.forward_dynamics_vjp(model, q, v, tau, lam, f_ext, f_ext_axes, out, threads)
