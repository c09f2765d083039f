"""Inverse, forward and hybrid dynamics: torques and accelerations, without derivatives.

Hybrid dynamics takes the motion of some joints and the torque of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require, tuple_of, unknown_name
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import HybridDynamics


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Inverse dynamics: the joint torque that gives the acceleration ``a``.

        tau = M a + C v + D v + g - sum of J^T f_ext

    M is the mass matrix with armature, C the Coriolis matrix, D viscous damping, g the gravity
    torque, and J the Jacobian of a body.

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
    out : ndarray (..., nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    tau : ndarray (..., nv)
        Joint torque in N m and force in N, per degree of freedom; for a free joint the wrench
        [force, moment] in the body frame.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, or ``f_ext_axes`` is
        unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N). A NaN or infinite
    number in a state makes the results of this state NaN, and of no other state.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> dtau.inverse_dynamics(model, q, v, a).shape
    (256, 18)

    A force that is constant in the world lifts the trunk at its origin:

    >>> f_ext = np.zeros((model.nbodies, 6))
    >>> f_ext[model.bodies.index("base"), 2] = 200.0
    >>> tau = dtau.inverse_dynamics(model, q, v, a, f_ext, f_ext_axes="mixed")

    The ground pushes a foot upwards:

    >>> f_ext = dtau.wrench_at_frame(model, q, "LF_FOOT", [0, 0, 200, 0, 0, 0], axes="mixed")
    >>> tau = dtau.inverse_dynamics(model, q, v, a, f_ext)
    """
    return _core.inverse_dynamics(model, q, v, a, f_ext, f_ext_axes, out, threads)


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Forward dynamics: the joint acceleration under the torque ``tau``.

        a = M^-1 (tau - C v - D v - g + sum of J^T f_ext)

    M is the mass matrix with armature, C the Coriolis matrix, D viscous damping, g the gravity
    torque, and J the Jacobian of a body.

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
    out : ndarray (..., nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    a : ndarray (..., nv)
        Joint acceleration in rad/s^2 and m/s^2: the time derivative of ``v``, component by
        component.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    Articulated-body algorithm, [RBDA] section 7.3; O(N).

    A joint that moves no mass in any configuration raises ValueError; this includes mimic joints
    that cancel each other's motion. A model can also be singular in single configurations,
    for example where the axes of two joints without inertia of their own align. This is not
    detected: the results of this state are huge, infinite or NaN, and other states of the batch are
    not affected.

    Examples
    --------
    A released robot falls:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> still = np.zeros(model.nv)
    >>> a = dtau.forward_dynamics(model, dtau.neutral(model), still, still)
    >>> print(a[:3].round(3) + 0.0)
    [ 0.    0.   -9.81]
    """
    return _core.forward_dynamics(model, q, v, tau, f_ext, f_ext_axes, out, threads)


def hybrid_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    prescribed: Sequence[str] | NDArray[np.bool_],
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> HybridDynamics:
    """Hybrid dynamics: acceleration and torque of all joints, one of the two given for each joint.

        M a + C v + D v + g = tau + sum of J^T f_ext    solved for a where tau is given, else for
        tau

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
        Only the entries of joints in ``prescribed`` matter; the others must be finite.
    tau : array_like (..., nv)
        Joint torque in N m and force in N; for a free joint the wrench [force, moment] in the body
        frame.
        Only the entries of joints that are not in ``prescribed`` matter; the others must be
        finite.
    prescribed : sequence of str, or ndarray of bool (nv,)
        The joints whose motion is given: their names, or a mask of their degrees of freedom. A joint is
        prescribed as a whole; this holds for a free base too.
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
    HybridDynamics
        Both arrays are complete: the given entries are copied.

        a : ndarray (..., nv)
            Joint acceleration in rad/s^2 and m/s^2: the time derivative of ``v``, component by
            component.
        tau : ndarray (..., nv)
            Joint torque in N m and force in N, per degree of freedom; for a free joint the wrench
            [force, moment] in the body frame.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, a name is unknown, a
        mask has another length than ``v`` or splits a joint, ``f_ext_axes`` is unknown, or joints that
        are not prescribed have no inertia to accelerate (they are named).
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``prescribed`` is
        neither names nor a boolean array.

    Notes
    -----
    Articulated-body algorithm in which prescribed joints stay rigid, [RBDA] section 9.2; O(N). With
    every joint prescribed the result equals `dtau.inverse_dynamics`, with none it equals
    `dtau.forward_dynamics`.

    Examples
    --------
    The legs move as planned, and no torque acts on the base:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> legs = [joint.name for joint in model.joints if joint.name != model.joints[0].name]
    >>> result = dtau.hybrid_dynamics(model, q, v, a, np.zeros(model.nv), legs)
    >>> tau = dtau.inverse_dynamics(model, q, v, result.a)
    >>> bool(np.allclose(tau, result.tau) and abs(tau[:6]).max() < 1e-10)
    True
    """
    mask = prescribed_mask(model, prescribed)
    return _core.hybrid_dynamics(model, q, v, a, tau, mask, f_ext, f_ext_axes, out, threads)


def prescribed_mask(
    model: Model, prescribed: Sequence[str] | NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the mask of the prescribed degrees of freedom; it never splits a joint."""
    require("model", model, Model)
    expected = "names of joints or a boolean array"
    if not isinstance(prescribed, np.ndarray):
        chosen = [False] * model.nv
        known = {joint.name: joint.v for joint in model.joints}
        for name in tuple_of("prescribed", prescribed, str, expected):
            if name not in known:
                raise ValueError(f"prescribed: {unknown_name('joint', name, known)}")
            dofs = known[name]
            chosen[dofs] = [True] * (dofs.stop - dofs.start)
        return np.array(chosen)
    if prescribed.dtype != np.bool_:
        raise TypeError(f"prescribed: expected {expected}, got dtype {prescribed.dtype}")
    if prescribed.shape != (model.nv,):
        raise ValueError(f"prescribed: expected shape ({model.nv},), got {prescribed.shape}")
    chosen = prescribed.tolist()
    for joint in model.joints:
        if joint.v.stop - joint.v.start > 1 and len(set(chosen[joint.v])) > 1:
            raise ValueError(
                f"prescribed: expected the same for all degrees of freedom of joint "
                f"{joint.name!r}, got {chosen[joint.v]}"
            )
    return np.ascontiguousarray(prescribed)
