"""Bodies and frames: placements, Jacobians, velocities, accelerations, and wrenches at frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
from dtau.model.model import Model
from dtau.options import AccelerationKind, Axes
from dtau.results import Placements


def forward_kinematics(
    model: Model,
    q: ArrayLike,
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> Placements:
    """Forward kinematics: poses of all bodies in the world.

        T_i = T_p X_i J_i(q_i)    p the parent, X_i the joint's placement on it, J_i its motion

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    Placements
        rotation : ndarray (..., nbodies, 3, 3)
            Rotation of each body in the world, in the order of ``model.bodies``.
        translation : ndarray (..., nbodies, 3)
            Position of each body in the world, in meters.

    Raises
    ------
    ValueError
        If a shape does not fit or a quaternion is further than 1e-6 from unit norm.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [RBDA] section 4.4; O(N).

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> dtau.forward_kinematics(model, dtau.neutral(model)).translation.shape
    (13, 3)
    """
    return _core.forward_kinematics(model, q, out, threads)


def frame_placements(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> Placements:
    """Poses of frames in the world.

        T = T_b X    b the body that carries the frame, X its placement there

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    frames : str or sequence of str
        Names from ``model.frames``: every link of the robot's file, including links that are fixed to
        bodies or to the world. With a single name the result has no axis for the frames.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    Placements
        rotation : ndarray (..., nframes, 3, 3)
            Rotation of each frame in the world.
        translation : ndarray (..., nframes, 3)
            Position of each frame in the world, in meters.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, or a name is unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [RBDA] section 2.8, for the bodies between a frame and the world alone; O(d) for a frame at
    depth d.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> dtau.frame_placements(model, dtau.neutral(model), "LF_FOOT").translation.shape
    (3,)
    """
    return _core.frame_placements(model, q, frames, out, threads)


def frame_jacobians(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Jacobians of frames: the twist of a frame is ``J @ v``.

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    frames : str or sequence of str
        Names from ``model.frames``: every link of the robot's file, including links that are fixed to
        bodies or to the world. With a single name the result has no axis for the frames.
    axes : {"body", "world", "mixed"}
        Axes of the twists. ``"body"``: in the frame's own axes, at its origin. ``"mixed"``: in world
        axes, at the frame's origin: the rate of its position, and the angular velocity. ``"world"``: in
        world axes, at the world's origin: the velocity of the body's point that passes through it, and
        the angular velocity (the spatial twist).
    out : ndarray (..., nframes, 6, nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    J : ndarray (..., nframes, 6, nv)
        Rows [linear, angular]. The Jacobian of a frame that is fixed to the world is zero.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, a name is unknown, or
        ``axes`` is unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    The columns of the motion subspaces on the path to the frame, [RBDA] section 4.4; O(d) for all
    columns of a frame at depth d, plus writing the zeros.

    Examples
    --------
    The twist of a foot, along world axes at the foot's origin:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> twist = dtau.frame_jacobians(model, q, "LF_FOOT", axes="mixed") @ v
    >>> twist.shape
    (6,)
    """
    return _core.frame_jacobians(model, q, frames, axes, out, threads)


def frame_velocities(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Velocities (twists) of frames.

        J v

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    frames : str or sequence of str
        Names from ``model.frames``: every link of the robot's file, including links that are fixed to
        bodies or to the world. With a single name the result has no axis for the frames.
    axes : {"body", "world", "mixed"}
        Axes of the twists. ``"body"``: in the frame's own axes, at its origin. ``"mixed"``: in world
        axes, at the frame's origin: the rate of its position, and the angular velocity. ``"world"``: in
        world axes, at the world's origin: the velocity of the body's point that passes through it, and
        the angular velocity (the spatial twist).
    out : ndarray (..., nframes, 6), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    twist : ndarray (..., nframes, 6)
        [linear, angular] in m/s and rad/s: ``frame_jacobians(model, q, frames, axes) @ v``. A frame
        of the world has zeros.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, a name is unknown, or
        ``axes`` is unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [RBDA] section 2.10, for the bodies between a frame and the world alone; O(d) for a frame at
    depth d.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> q, v = dtau.neutral(model), [0.0] * model.nv
    >>> v[5] = 1.0  # about the base's vertical axis
    >>> print(dtau.frame_velocities(model, q, v, "LF_FOOT").round(3))
    [-0.246  0.44   0.     0.     0.     1.   ]
    """
    return _core.frame_velocities(model, q, v, frames, axes, out, threads)


def frame_accelerations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    kind: AccelerationKind = "spatial",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Spatial or classical accelerations of frames, without gravity.

        spatial      J a + dJ/dt v    with J in body or world axes
        classical    J a + dJ/dt v    with J in mixed axes: adds omega x u to the linear part

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
    frames : str or sequence of str
        Names from ``model.frames``: every link of the robot's file, including links that are fixed to
        bodies or to the world. With a single name the result has no axis for the frames.
    axes : {"body", "world", "mixed"}
        Axes of the twists. ``"body"``: in the frame's own axes, at its origin. ``"mixed"``: in world
        axes, at the frame's origin: the rate of its position, and the angular velocity. ``"world"``: in
        world axes, at the world's origin: the velocity of the body's point that passes through it, and
        the angular velocity (the spatial twist).
    kind : {"spatial", "classical"}
        Spatial or classical acceleration. With the twist ``[u, w]`` in the same axes, the linear part
        of the classical acceleration is the linear part of the spatial one plus ``w x u``; the angular
        parts are equal.

        ==========  =================================  =========================================
        axes        spatial                            classical
        ==========  =================================  =========================================
        ``body``    rate of the twist's components     of the frame's origin, in its own axes
        ``mixed``   the same, turned into world axes   of the frame's origin: the rate of the
                                                       twist's components
        ``world``   rate of the twist's components     of the point of the body that is at the
                                                       world's origin
        ==========  =================================  =========================================
    out : ndarray (..., nframes, 6), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    acceleration : ndarray (..., nframes, 6)
        [linear, angular] in m/s^2 and rad/s^2. A frame of the world has zeros. An accelerometer
        measures the classical acceleration in body axes minus gravity.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, a name is unknown,
        ``axes`` is unknown, or ``kind`` is unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [RBDA] sections 2.10 and 2.11, for the bodies between a frame and the world alone; O(d) for a
    frame at depth d.

    Examples
    --------
    A foot on a circle accelerates towards its center:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v = dtau.neutral(model), np.zeros(model.nv)
    >>> v[5] = 1.0  # about the base's vertical axis
    >>> a = np.zeros(model.nv)
    >>> foot = dtau.frame_accelerations(model, q, v, a, "LF_FOOT", "mixed", kind="classical")
    >>> print((foot[:3] + dtau.frame_placements(model, q, "LF_FOOT").translation)[:2].round(9))
    [0. 0.]
    """
    return _core.frame_accelerations(model, q, v, a, frames, axes, kind, out, threads)


def wrench_at_frame(
    model: Model,
    q: ArrayLike,
    frame: str,
    wrench: ArrayLike,
    axes: Axes = "body",
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Convert a wrench that acts at a frame to external wrenches ``f_ext``.

        f_b = [R f, R m + p x R f]    R and p: axes and origin of the wrench in body b

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    frame : str
        Name of a moving frame, from ``model.frames``.
    wrench : array_like (..., 6)
        [force, moment] in N and N m.
    axes : {"body", "world", "mixed"}
        Axes of the wrench. ``"body"``: in the frame's own axes, at its origin. ``"mixed"``: in
        world axes, at the frame's origin (a contact force on a foot). ``"world"``: in world axes,
        moment about the world's origin.
    out : ndarray (..., nbodies, 6), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    f_ext : ndarray (..., nbodies, 6)
        [force, moment] on each body in **its own axes** at its origin, for the argument ``f_ext``
        of the dynamics with ``f_ext_axes="body"``, the default. For several wrenches add the
        results. Its torque is ``frame_jacobians(model, q, frame, axes).T @ wrench``.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the name is unknown
        or the frame is fixed to the world, or ``axes`` is unknown.
    TypeError
        If ``model`` is not a `Model` or an array is complex or holds objects.

    Notes
    -----
    [RBDA] section 2.8; O(d) for a frame at depth d. The result is in body axes for every value of
    ``axes``. Use it with ``f_ext_axes="body"``, the default; with another value it means other
    wrenches. Derivatives by q hold the result constant in body axes, so it turns with its body. For
    a wrench that is constant in the world, such as a contact force on a foot, add
    `dtau.wrench_at_frame_derivatives`. A wrench that acts at a body's origin needs no conversion:
    use ``f_ext_axes="mixed"``.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> f_ext = dtau.wrench_at_frame(model, q, "LF_FOOT", [0, 0, 80, 0, 0, 0], axes="mixed")
    >>> f_ext.shape
    (13, 6)
    >>> still = np.zeros(model.nv)
    >>> tau = dtau.inverse_dynamics(model, q, still, still, f_ext)  # f_ext_axes="body"
    """
    require("frame", frame, str)
    return _core.wrench_at_frame(model, q, frame, wrench, axes, out, threads)
