"""Derivatives by inertial parameters: the regressor of inverse dynamics, and products.

Torques are linear in the inertial parameters pi of the bodies, `Model.parameters`, and in the
joints' armature and damping:

    tau = Y pi      pi = model.parameters.ravel(), external wrenches apart

Y is the regressor. With ``joint_parameters=True`` armature and damping are parameters too, pi =
[parameters, armature, damping] of ``10 nbodies + 2 nv`` numbers; else ``Y pi`` is without them. The
torque of a mimic joint acts on the joint that it mimics; `Model.armature` and `Model.damping` of
that joint include the mimic joint's share, and so do these parameters.

Y does not have full rank: torques determine only some of a body's ten parameters, or sums of them
with parameters of its parent.

The functions of forward dynamics differentiate the acceleration by the same parameters, at the
model's own values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
from dtau.model.model import Model
from dtau.options import Axes


def inverse_dynamics_regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Regressor of inverse dynamics: the derivative of the joint torque by inertial parameters.

        tau = Y(q, v, a) pi    without armature and damping, or with these among pi

    Parameters
    ----------
    model : Model
        The robot.
        Its inertias, armature and damping are not read.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    joint_parameters : bool, optional
        Whether the armature and the damping of the ``nv`` velocities are parameters too, after the
        parameters of the bodies.
    out : ndarray (..., nv, nparameters), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    Y : ndarray (..., nv, nparameters)
        Columns ``10 i`` to ``10 i + 9`` belong to body i, in the order of `Model.parameters`: m, m
        c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz about the origin of the body's frame,
        along its axes. They are zero in the rows of joints that do not carry the body. With
        ``joint_parameters`` the columns of the armature and of the damping of the ``nv`` velocities
        follow. nparameters is 10 nbodies, or 10 nbodies + 2 nv with ``joint_parameters``.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``joint_parameters`` is
        not a bool.

    Notes
    -----
    [Derivations] section 18; O(N d) with the depth d of the tree, plus writing the zeros.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, a, joint_parameters=True)
    >>> pi = np.concatenate([model.parameters.ravel(), model.armature, model.damping])
    >>> bool(np.allclose(Y @ pi, dtau.inverse_dynamics(model, q, v, a)))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.inverse_dynamics_regressor(model, q, v, a, joint_parameters, out, threads)


def inverse_dynamics_parameter_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    dparameters: ArrayLike,
    *,
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Variation of the joint torque along a variation of inertial parameters: Y dpi, without Y.

        dtau = Y dpi

    Parameters
    ----------
    model : Model
        The robot.
        Its inertias, armature and damping are not read.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    dparameters : array_like (..., nparameters)
        Variation of the parameters, in the order of the columns of `dtau.inverse_dynamics_regressor`:
        10 nbodies numbers, or 10 nbodies + 2 nv with ``joint_parameters``. Any numbers are valid, even
        ones that no rigid body can have. A batch of parameters with one state is a batch of models.
    joint_parameters : bool, optional
        Whether the armature and the damping of the ``nv`` velocities are parameters too, after the
        parameters of the bodies.
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
        It is ``Y @ dparameters``.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``joint_parameters`` is
        not a bool.

    Notes
    -----
    [Derivations] section 18; O(N), at about one and a half calls of `dtau.inverse_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> heavier = np.zeros((model.nbodies, 10))
    >>> heavier[0] = dtau.Inertia(1.0, com=(0.2, 0, 0.1)).parameters  # a kilogram on the base
    >>> more = dtau.inverse_dynamics_parameter_jvp(model, q, v, a, heavier.ravel())
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, a)
    >>> bool(np.allclose(more, Y @ heavier.ravel()))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.inverse_dynamics_parameter_jvp(
        model, q, v, a, dparameters, joint_parameters, out, threads
    )


def inverse_dynamics_parameter_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    lam: ArrayLike,
    *,
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Gradient of ``lam . tau`` by inertial parameters: Y^T lam, without Y.

        Y^T lam

    Parameters
    ----------
    model : Model
        The robot.
        Its inertias, armature and damping are not read.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    lam : array_like (..., nv)
        Weight of each result, in the order of ``v``. In backpropagation: the gradient of the cost by
        this result.
    joint_parameters : bool, optional
        Whether the armature and the damping of the ``nv`` velocities are parameters too, after the
        parameters of the bodies.
    out : ndarray (..., nparameters), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    by_parameters : ndarray (..., nparameters)
        Gradient by the parameters, in the order of the columns of
        `dtau.inverse_dynamics_regressor`: 10 nbodies numbers, or 10 nbodies + 2 nv with
        ``joint_parameters``.
        It is ``Y.T @ lam``.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``joint_parameters`` is
        not a bool.

    Notes
    -----
    [Derivations] section 18; O(N), at about one and a half calls of `dtau.inverse_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> lam = rng.standard_normal(model.nv)
    >>> gradient = dtau.inverse_dynamics_parameter_vjp(model, q, v, a, lam)
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, a)
    >>> bool(np.allclose(gradient, Y.T @ lam))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.inverse_dynamics_parameter_vjp(model, q, v, a, lam, joint_parameters, out, threads)


def forward_dynamics_parameter_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Derivatives of the joint acceleration by inertial parameters, at the model's own values.

        da/dpi = -M^-1 Y

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
    joint_parameters : bool, optional
        Whether the armature and the damping of the ``nv`` velocities are parameters too, after the
        parameters of the bodies.
    out : ndarray (..., nv, nparameters), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    da_dparameters : ndarray (..., nv, nparameters)
        Minus the inverse of the mass matrix times the regressor at the acceleration that forward
        dynamics gives; columns as in `dtau.inverse_dynamics_regressor`. nparameters is 10 nbodies,
        or 10 nbodies + 2 nv with ``joint_parameters``.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``joint_parameters`` is
        not a bool.

    Notes
    -----
    [Derivations] section 18: inverse dynamics at this acceleration must stay ``tau`` when
    parameters vary; O(N^2 d) with the depth d of the tree. A singular configuration is not
    detected: see `dtau.forward_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.forward_dynamics_parameter_derivatives(model, q, v, tau)
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, dtau.forward_dynamics(model, q, v, tau))
    >>> bool(np.allclose(dtau.mass_matrix(model, q) @ d, -Y))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.forward_dynamics_parameter_derivatives(
        model, q, v, tau, f_ext, f_ext_axes, joint_parameters, out, threads
    )


def forward_dynamics_parameter_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dparameters: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Variation of the joint acceleration along a variation of inertial parameters.

        da = -M^-1 Y dpi

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
    dparameters : array_like (..., nparameters)
        Variation of the parameters, in the order of the columns of `dtau.inverse_dynamics_regressor`:
        10 nbodies numbers, or 10 nbodies + 2 nv with ``joint_parameters``. Any numbers are valid, even
        ones that no rigid body can have. A batch of parameters with one state is a batch of models.
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
    joint_parameters : bool, optional
        Whether the armature and the damping of the ``nv`` velocities are parameters too, after the
        parameters of the bodies.
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
        It is `dtau.forward_dynamics_parameter_derivatives` times ``dparameters``.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``joint_parameters`` is
        not a bool.

    Notes
    -----
    [Derivations] section 18, solved by the articulated-body algorithm, [RBDA] section 7.3; O(N), at
    about two calls of `dtau.forward_dynamics`, which see for singular configurations: they are not
    detected. With joints that mimic others it takes O(N d^2).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> dpi = 0.01 * rng.standard_normal(10 * model.nbodies)
    >>> product = dtau.forward_dynamics_parameter_jvp(model, q, v, tau, dpi)
    >>> d = dtau.forward_dynamics_parameter_derivatives(model, q, v, tau)
    >>> bool(np.allclose(product, d @ dpi))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.forward_dynamics_parameter_jvp(
        model, q, v, tau, dparameters, f_ext, f_ext_axes, joint_parameters, out, threads
    )


def forward_dynamics_parameter_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Gradient of ``lam . a`` by inertial parameters.

        -Y^T M^-1 lam

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
    joint_parameters : bool, optional
        Whether the armature and the damping of the ``nv`` velocities are parameters too, after the
        parameters of the bodies.
    out : ndarray (..., nparameters), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    by_parameters : ndarray (..., nparameters)
        Gradient by the parameters, in the order of the columns of
        `dtau.inverse_dynamics_regressor`: 10 nbodies numbers, or 10 nbodies + 2 nv with
        ``joint_parameters``.
        It is the transpose of `dtau.forward_dynamics_parameter_derivatives` times ``lam``.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``joint_parameters`` is
        not a bool.

    Notes
    -----
    [Derivations] section 18, solved by the articulated-body algorithm, [RBDA] section 7.3; O(N), at
    about two calls of `dtau.forward_dynamics`, which see for singular configurations: they are not
    detected. With joints that mimic others it takes O(N d^2).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> lam = rng.standard_normal(model.nv)
    >>> gradient = dtau.forward_dynamics_parameter_vjp(model, q, v, tau, lam)
    >>> d = dtau.forward_dynamics_parameter_derivatives(model, q, v, tau)
    >>> bool(np.allclose(gradient, d.T @ lam))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.forward_dynamics_parameter_vjp(
        model, q, v, tau, lam, f_ext, f_ext_axes, joint_parameters, out, threads
    )
