"""Inverse and forward dynamics: the values of the table in docs/functions.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.model import Model
from dtau.options import Axes


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
    """Joint torque that gives the acceleration ``a``.

        tau = M a + C v + D v + g - sum of J^T f_ext

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``. ``"body"``: in the body frame, at the body's origin. ``"mixed"``: in
        world axes, at the body's origin. ``"world"``: in world axes, moment about the world's
        origin. A force at another point of a body, such as a foot's, comes from
        `dtau.wrench_at_frame`, in body axes; derivatives by q of one that keeps to the world take
        `dtau.wrench_at_frame_derivatives` too.
    out : ndarray (..., nv), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no
        memory with the arguments. Functions with several results take a tuple of such arrays, which
        share no memory with each other either.
    threads : int, optional
        Number of threads; by default one for a small batch, and one a processor for a batch that
        would take one thread more than about 0.2 ms.

    Returns
    -------
    ndarray (..., nv)
        Torque in N m and force in N, per degree of freedom; of a free joint the wrench
        [force, moment] in the body frame.

    Raises
    ------
    ValueError
        If a shape does not fit, ``f_ext_axes`` is unknown, or a quaternion is further than 1e-6
        from unit norm.
    TypeError
        If an array is complex or holds objects.

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N). A state with a number that is not
    finite gives NaN in its own results only.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> dtau.inverse_dynamics(model, q, v, a).shape
    (256, 18)

    Something lifts the trunk at its origin, wherever the robot turns:

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
    """Joint acceleration under the torque ``tau``.

        a = M^-1 (tau - C v - D v - g + sum of J^T f_ext)

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    tau : array_like (..., nv)
        Joint torque; of a free joint the wrench [force, moment] in the body frame.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, see `dtau.inverse_dynamics`.
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., nv)
        Time derivative of ``v``, component by component.

    Raises
    ------
    ValueError
        If a shape does not fit, ``f_ext_axes`` is unknown, a quaternion is further than 1e-6 from
        unit norm, or joints of the model have no inertia to accelerate (they are named).
    TypeError
        If an array is complex or holds objects.

    Notes
    -----
    Articulated-body algorithm, [RBDA] section 7.3; O(N).

    Massless joints are found where they are massless in every configuration, among them joints that
    mimic others and take back what these move. A configuration that is singular by itself (two
    joints without inertia of their own whose axes align, for example) is not detected: it gives
    huge numbers, infinite ones or NaN, for its own state alone.

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
