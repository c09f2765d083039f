"""First-order partial derivatives of inverse and forward dynamics.

Derivatives by the configuration are taken in the tangent space: column k is the derivative along q
(+) eps e_k (`dtau.integrate`), at fixed v and a or tau. The components of external wrenches along
``f_ext_axes`` stay constant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import ForwardDynamicsDerivatives, InverseDynamicsDerivatives


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> InverseDynamicsDerivatives:
    """Derivatives of the joint torque by configuration, velocity and acceleration.

        dtau = dtau_dq dq + dtau_dv dv + dtau_da da
        dtau_da = M

    The matrices are the partial derivatives with respect to q, v and a. M is the mass matrix.

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
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    InverseDynamicsDerivatives
        dtau_dq : ndarray (..., nv, nv)
            Entry [i, k] is the derivative of torque i along q (+) eps e_k, in the tangent space; for a
            free joint along a displacement [linear, angular] in the body frame.
        dtau_dv : ndarray (..., nv, nv)
            Entry [i, k] is the derivative of torque i by velocity k.
        dtau_da : ndarray (..., nv, nv)
            The mass matrix M, the derivative by the acceleration.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, or ``f_ext_axes`` is
        unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    IDSVA (inverse dynamics derivatives by spatial vector algebra), [IDSVA] algorithm 1; O(N d) for
    N bodies and a tree of depth d.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
    >>> d.dtau_dq.shape
    (256, 18, 18)
    >>> bool(np.allclose(d.dtau_da, dtau.mass_matrix(model, q)))
    True
    """
    return _core.inverse_dynamics_derivatives(model, q, v, a, f_ext, f_ext_axes, out, threads)


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsDerivatives:
    """Derivatives of the joint acceleration by configuration, velocity and torque.

        da_dq = -M^-1 dtau_dq    da_dv = -M^-1 dtau_dv    da_dtau = M^-1

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
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ForwardDynamicsDerivatives
        da_dq : ndarray (..., nv, nv)
            Entry [i, k] is the derivative of acceleration i along q (+) eps e_k, in the tangent space;
            for a free joint along a displacement [linear, angular] in the body frame.
        da_dv : ndarray (..., nv, nv)
            Entry [i, k] is the derivative of acceleration i by velocity k.
        da_dtau : ndarray (..., nv, nv)
            The inverse of the mass matrix, the derivative by the torque.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    FDSVA, [IDSVA] eq. 5: minus the inverse of the mass matrix times the derivatives of inverse
    dynamics, with a factorization that keeps the zeros of the tree, [RBDA] section 6.5; O(N^2 d)
    with the depth d of the tree. A singular configuration is not detected and gives huge numbers or
    NaN: see `dtau.forward_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(d.da_dtau, dtau.mass_matrix_inverse(model, q)))
    True
    """
    return _core.forward_dynamics_derivatives(model, q, v, tau, f_ext, f_ext_axes, out, threads)


def inverse_dynamics_wrench_derivatives(
    model: Model,
    q: ArrayLike,
    *,
    f_ext_axes: Axes = "body",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Derivatives of the joint torque by the external wrenches.

        dtau/df_b = -J_b^T    J_b the Jacobian of body b, in the axes of f_ext

    The torque is linear in the wrenches, so these derivatives depend on the configuration alone.

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    out : ndarray (..., nv, nbodies, 6), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    dtau_df_ext : ndarray (..., nv, nbodies, 6)
        Entry [i, b, c] is the derivative of torque i by component c, [force, moment], of the wrench
        on body b: minus the transposed Jacobians of the bodies. Armature and damping do not enter.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, or ``f_ext_axes`` is
        unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    The columns of the motion subspaces in the axes of each body, [RBDA] section 4.4; O(N d) with
    the depth d of the tree, plus writing the zeros. `dtau.inverse_dynamics_jvp` and
    `dtau.inverse_dynamics_vjp` give products in O(N).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> f_ext = rng.standard_normal((model.nbodies, 6))
    >>> by_wrenches = dtau.inverse_dynamics_wrench_derivatives(model, q)
    >>> by_wrenches.shape
    (18, 13, 6)
    >>> pushed = dtau.inverse_dynamics(model, q, v, a, f_ext)
    >>> free = dtau.inverse_dynamics(model, q, v, a)
    >>> bool(np.allclose(pushed - free, np.einsum("ibc,bc->i", by_wrenches, f_ext)))
    True
    """
    return _core.inverse_dynamics_wrench_derivatives(model, q, f_ext_axes, out, threads)


def forward_dynamics_wrench_derivatives(
    model: Model,
    q: ArrayLike,
    *,
    f_ext_axes: Axes = "body",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Derivatives of the joint acceleration by the external wrenches.

        da/df_b = M^-1 J_b^T    J_b the Jacobian of body b, in the axes of f_ext

    The acceleration is affine in the wrenches, so these derivatives depend on the configuration
    alone.

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    out : ndarray (..., nv, nbodies, 6), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    da_df_ext : ndarray (..., nv, nbodies, 6)
        Entry [i, b, c] is the derivative of acceleration i by component c, [force, moment], of the
        wrench on body b: the inverse mass matrix times the transposed Jacobians of the bodies.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    The factors of the mass matrix solve for all columns, [RBDA] section 6.5; O(N^2 d) with the
    depth d of the tree. `dtau.forward_dynamics_jvp` and `dtau.forward_dynamics_vjp` give products
    in O(N).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.random_state(model, np.random.default_rng(0)).q
    >>> by_wrenches = dtau.forward_dynamics_wrench_derivatives(model, q)
    >>> J_T = -dtau.inverse_dynamics_wrench_derivatives(model, q)
    >>> want = np.tensordot(dtau.mass_matrix_inverse(model, q), J_T, axes=1)
    >>> bool(np.allclose(by_wrenches, want))
    True
    """
    return _core.forward_dynamics_wrench_derivatives(model, q, f_ext_axes, out, threads)
