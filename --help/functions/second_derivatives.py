"""Second-order partial derivatives of inverse and forward dynamics.

Tensors are indexed [i, j, k]: output i, differentiated by the variable named first along j and then
by the second along k. A `_hessian` contracts them with a covector lam over the outputs to a matrix
[j, k] for each block. It forms no tensor and costs about as much as first derivatives; most
optimizers need only this.

Derivatives by the configuration are taken in the tangent space, along q (+) eps e_k
(`dtau.integrate`), at fixed v and a or tau. The components of external wrenches along
``f_ext_axes`` stay constant.

Within one joint of several degrees of freedom, derivatives along its columns do not commute: a
rotation about x, then y, differs from a rotation about y, then x. So second derivatives by q are
not symmetric there: X[j, k] - X[k, j] is the first derivative along the bracket [s_k, s_j] of the
columns. With ``symmetric=True`` they are the derivatives of xi -> tau(q (+) xi) at xi = 0, the
Hessian in the exponential chart, which an optimizer on the manifold needs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import (
    ForwardDynamicsHessian,
    ForwardDynamicsSecondDerivatives,
    InverseDynamicsHessian,
    InverseDynamicsSecondDerivatives,
)


def inverse_dynamics_second_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    symmetric: bool = False,
    packed: bool = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> InverseDynamicsSecondDerivatives:
    """Second derivatives of the joint torque by configuration, velocity and acceleration.

        d2tau_dqdv[i, j, k] = d/dv_k (d tau_i / dq_j)    and the others alike

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
    symmetric : bool, optional
        True: within a joint of several degrees of freedom, second derivatives by ``q`` are taken in the
        exponential chart, which makes them symmetric in their last two indices. By default they are
        repeated derivatives, by the first of these indices first.
    packed : bool, optional
        True: return only the entries that can differ from zero, as vectors in the order of
        `dtau.packed_indices`.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    InverseDynamicsSecondDerivatives
        Dense, or packed: each ``(..., entries)``.

        d2tau_dqdq : ndarray (..., nv, nv, nv)
            Entry [i, j, k] is the derivative of torque i by ``q`` along j, then by ``q`` along k.
        d2tau_dqdv : ndarray (..., nv, nv, nv)
            Entry [i, j, k] is the derivative of torque i by ``q`` along j, then by velocity k.
        d2tau_dvdv : ndarray (..., nv, nv, nv)
            Entry [i, j, k] is the derivative of torque i by velocity j, then by velocity k.
        d2tau_dadq : ndarray (..., nv, nv, nv)
            Entry [i, j, k] is the derivative of torque i by acceleration j, then by ``q`` along k: the
            derivative of entry [i, j] of the mass matrix.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, or ``f_ext_axes`` is
        unknown.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, ``symmetric`` is not a
        bool, or ``packed`` is not a bool.
    MemoryError
        If the results would not fit into the memory available; nothing is allocated then.

    Notes
    -----
    IDSVA-SO, [IDSVA-SO] algorithm 1; O(N d^2) with the depth d of the tree. Dense tensors take
    4 nv^3 numbers a state.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(16,))
    >>> d2 = dtau.inverse_dynamics_second_derivatives(model, q, v, a)
    >>> d2.d2tau_dqdv.shape
    (16, 18, 18, 18)

    The packed result has the same numbers:

    >>> packed = dtau.inverse_dynamics_second_derivatives(model, q, v, a, packed=True)
    >>> i, j, k = dtau.packed_indices(model)
    >>> bool((d2.d2tau_dqdv[:, i, j, k] == packed.d2tau_dqdv).all())
    True

    ``symmetric=True`` makes the block of the free root symmetric:

    >>> def asymmetry(x):
    ...     return float(np.abs(x - np.swapaxes(x, -1, -2)).max())
    >>> chart = dtau.inverse_dynamics_second_derivatives(model, q, v, a, symmetric=True)
    >>> asymmetry(d2.d2tau_dqdq) > 1.0, asymmetry(chart.d2tau_dqdq)
    (True, 0.0)
    """
    require("symmetric", symmetric, bool)
    require("packed", packed, bool)
    return _core.inverse_dynamics_second_derivatives(
        model, q, v, a, f_ext, f_ext_axes, symmetric, packed, out, threads
    )


def packed_indices(model: Model) -> NDArray[np.intp]:
    """Indices of the entries of packed second derivatives, in their order.

    An entry [i, j, k] of a tensor of second derivatives of inverse dynamics can differ from zero
    only if its three degrees of freedom lie on one path to the world.

    Parameters
    ----------
    model : Model
        The robot.

    Returns
    -------
    indices : ndarray of intp (3, entries)
        Rows i, j and k: ``tensor[..., i, j, k]`` are the packed entries of a dense tensor.

    Raises
    ------
    TypeError
        If ``model`` is not a `Model`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> packed = dtau.inverse_dynamics_second_derivatives(model, q, v, a, packed=True)
    >>> i, j, k = dtau.packed_indices(model)
    >>> dense = np.zeros((model.nv,) * 3)
    >>> dense[i, j, k] = packed.d2tau_dqdq
    >>> len(i), dense.size
    (2268, 5832)
    """
    return _core.packed_indices(model)


def forward_dynamics_second_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    symmetric: bool = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsSecondDerivatives:
    """Second derivatives of the joint acceleration by configuration, velocity and torque.

        d2a_dqdv[i, j, k] = d/dv_k (d a_i / dq_j)    and the others alike

    The second derivatives by velocity and torque, and by torque twice, vanish.

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
    symmetric : bool, optional
        True: within a joint of several degrees of freedom, second derivatives by ``q`` are taken in the
        exponential chart, which makes them symmetric in their last two indices. By default they are
        repeated derivatives, by the first of these indices first.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ForwardDynamicsSecondDerivatives
        d2a_dqdq : ndarray (..., nv, nv, nv)
            Entry [i, j, k] is the derivative of acceleration i by ``q`` along j, then by ``q`` along k.
        d2a_dqdv : ndarray (..., nv, nv, nv)
            Entry [i, j, k] is the derivative of acceleration i by ``q`` along j, then by velocity k.
        d2a_dvdv : ndarray (..., nv, nv, nv)
            Entry [i, j, k] is the derivative of acceleration i by velocity j, then by velocity k.
        d2a_dtaudq : ndarray (..., nv, nv, nv)
            Entry [i, j, k] is the derivative of acceleration i by torque j, then by ``q`` along k: the
            derivative of entry [i, j] of the inverse mass matrix.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``symmetric`` is not a
        bool.
    MemoryError
        If the results would not fit into the memory available; nothing is allocated then.

    Notes
    -----
    From the second derivatives of inverse dynamics ([IDSVA-SO]) and first derivatives of forward
    dynamics, O(nv^3 d). The tensors are dense: prefer `dtau.forward_dynamics_hessian` where a
    contraction is enough.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> d2 = dtau.forward_dynamics_second_derivatives(model, q, v, tau)
    >>> d2.d2a_dvdv.shape
    (18, 18, 18)
    """
    require("symmetric", symmetric, bool)
    return _core.forward_dynamics_second_derivatives(
        model, q, v, tau, f_ext, f_ext_axes, symmetric, out, threads
    )


def inverse_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    symmetric: bool = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> InverseDynamicsHessian:
    """Hessian of ``lam . tau``, the weighted sum of joint torques, without a tensor.

        dqdv[j, k] = sum over i of lam_i d/dv_k (d tau_i / dq_j)    and the others alike

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
        Weight of each torque, held constant: a multiplier of the dynamics in an optimizer.
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
    symmetric : bool, optional
        True: within a joint of several degrees of freedom, second derivatives by ``q`` are taken in the
        exponential chart, which makes them symmetric in their last two indices. By default they are
        repeated derivatives, by the first of these indices first.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    InverseDynamicsHessian
        Second derivatives of lam . tau.

        dqdq : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by ``q`` along j, then by ``q`` along k, in the tangent
            space.
        dqdv : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by ``q`` along j, then by velocity k.
        dvdv : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by velocity j, then by velocity k.
        dadq : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by acceleration j, then by ``q`` along k.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, or ``f_ext_axes`` is
        unknown.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``symmetric`` is not a
        bool.

    Notes
    -----
    The contraction of [IDSVA-SO] in O(N d), the order of first derivatives: [Derivations] section
    8.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> lam = np.linspace(-1.0, 1.0, model.nv)
    >>> hessian = dtau.inverse_dynamics_hessian(model, q, v, a, lam)
    >>> tensors = dtau.inverse_dynamics_second_derivatives(model, q, v, a)
    >>> bool(np.allclose(hessian.dqdv, np.einsum("i,ijk->jk", lam, tensors.d2tau_dqdv)))
    True
    """
    require("symmetric", symmetric, bool)
    return _core.inverse_dynamics_hessian(
        model, q, v, a, lam, f_ext, f_ext_axes, symmetric, out, threads
    )


def forward_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    symmetric: bool = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsHessian:
    """Hessian of ``lam . a``, the weighted sum of joint accelerations, without a tensor.

        dqdv[j, k] = sum over i of lam_i d/dv_k (d a_i / dq_j)    and the others alike

    DDP needs this term, and Gauss-Newton methods drop it. There, lam is the gradient of the value
    function by the next state's velocity, times the time step.

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
        Weight of each acceleration, held constant.
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
    symmetric : bool, optional
        True: within a joint of several degrees of freedom, second derivatives by ``q`` are taken in the
        exponential chart, which makes them symmetric in their last two indices. By default they are
        repeated derivatives, by the first of these indices first.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ForwardDynamicsHessian
        Second derivatives of lam . a.

        dqdq : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by ``q`` along j, then by ``q`` along k, in the tangent
            space.
        dqdv : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by ``q`` along j, then by velocity k.
        dvdv : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by velocity j, then by velocity k.
        dtaudq : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by torque j, then by ``q`` along k.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``symmetric`` is not a
        bool.

    Notes
    -----
    From `dtau.inverse_dynamics_hessian` with M^-1 lam, one solve with the factors of the mass
    matrix and two sparse products, [Derivations] section 8; O(N d + nv^2 d).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> lam = np.linspace(-1.0, 1.0, model.nv)
    >>> hessian = dtau.forward_dynamics_hessian(model, q, v, tau, lam)
    >>> tensors = dtau.forward_dynamics_second_derivatives(model, q, v, tau)
    >>> bool(np.allclose(hessian.dvdv, np.einsum("i,ijk->jk", lam, tensors.d2a_dvdv)))
    True
    """
    require("symmetric", symmetric, bool)
    return _core.forward_dynamics_hessian(
        model, q, v, tau, lam, f_ext, f_ext_axes, symmetric, out, threads
    )
