"""Hybrid dynamics: of some joints the motion is given, of the others the torque."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require, tuple_of, unknown_name
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import HybridDynamics


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
    """Acceleration and torque of all joints, where one of the two is given for each.

        M a + C v + D v + g = tau + sum of J^T f_ext    for a where tau is given, for tau where a is

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``. Only the entries of joints in ``prescribed`` matter; the others
        must be finite.
    tau : array_like (..., nv)
        Joint torque; of a free joint the wrench [force, moment] in the body frame. Only the entries
        of joints that are not in ``prescribed`` matter; the others must be finite.
    prescribed : sequence of str, or ndarray of bool (nv,)
        The joints whose acceleration is given, by name or by degree of freedom. A joint is
        prescribed as a whole; a free base is a joint like any other.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, see `dtau.inverse_dynamics`.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the two arrays of the results.

    Returns
    -------
    HybridDynamics
        ``a`` and ``tau``, each ``(..., nv)`` and complete: what was given is copied.

    Raises
    ------
    ValueError
        If a shape does not fit, a name is unknown, a mask has another length than ``v`` or divides
        a joint, a quaternion is further than 1e-6 from unit norm, or joints that are not prescribed
        have no inertia to accelerate (they are named).
    TypeError
        If an array is complex or holds objects, or ``prescribed`` is neither names nor a boolean
        array.

    Notes
    -----
    Articulated-body algorithm that leaves prescribed joints rigid, [RBDA] section 9.2; O(N). With
    every joint prescribed this is `dtau.inverse_dynamics`, with none `dtau.forward_dynamics`.

    Examples
    --------
    The legs follow a plan and nothing holds the base:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> legs = [joint.name for joint in model.joints if joint.name != model.joints[0].name]
    >>> result = dtau.hybrid_dynamics(model, q, v, a, np.zeros(model.nv), legs)
    >>> tau = dtau.inverse_dynamics(model, q, v, result.a)
    >>> bool(np.allclose(tau, result.tau) and abs(tau[:6]).max() < 1e-10)
    True
    """
    mask = _mask(model, prescribed)
    return _core.hybrid_dynamics(model, q, v, a, tau, mask, f_ext, f_ext_axes, out, threads)


def hybrid_dynamics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a_derivatives: ArrayLike,
    tau_derivatives: ArrayLike,
    prescribed: Sequence[str] | NDArray[np.bool_],
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> HybridDynamics:
    """Accelerations and torques of all joints, where one is given, with time derivatives.

        d^k/dt^k (M a + C v + D v + g = tau + sum of J^T f_ext)    k = 0, 1, ..., r

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    a_derivatives : array_like (..., r + 1, nv)
        Time derivatives of ``v`` of order 1 to r + 1, component by component. Only the columns of
        joints in ``prescribed`` matter; the others must be finite. At most 21 rows; with ``order``
        any number. A batch of ``a`` is ``a[:, None]``.
    tau_derivatives : array_like (..., r + 1, nv)
        Joint torque and its time derivatives of order 1 to r. Only the columns of joints that are
        not in ``prescribed`` matter; the others must be finite.
    prescribed : sequence of str, or ndarray of bool (nv,)
        The joints whose motion is given; see `dtau.hybrid_dynamics`.
    f_ext_derivatives : array_like (..., r + 1, nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m, and the
        time derivatives of these components of order 1 to r.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext_derivatives``. ``"body"``: in the body frame, at the body's origin.
        ``"mixed"``: in world axes, at the body's origin. ``"world"``: in world axes, moment about
        the world's origin (the spatial wrenches of [HO-FBS]); derivatives are then those of these
        components.
    order : int, optional
        How far: the r of these shapes, from 0 to 100. Longer stacks are cut, see
        `dtau.inverse_dynamics_time_derivatives`; without it their length says r.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the two arrays of the results.

    Returns
    -------
    HybridDynamics
        ``a`` and ``tau``, each ``(..., r + 1, nv)`` and complete: row k is the time derivative of
        order k; what was given is copied.

    Raises
    ------
    ValueError, TypeError
        As `dtau.hybrid_dynamics` and `dtau.forward_dynamics_time_derivatives`.

    Notes
    -----
    The problem of [HO-FBS] Algorithm 4, solved in body coordinates; O(N r^2), see
    `dtau.forward_dynamics_time_derivatives`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, _ = dtau.random_state(model, rng)
    >>> a, tau = rng.standard_normal((2, 3, model.nv))
    >>> legs = np.arange(model.nv) >= 6
    >>> result = dtau.hybrid_dynamics_time_derivatives(model, q, v, a, tau, legs)
    >>> bool((result.a[:, 6:] == a[:, 6:]).all() and (result.tau[:, :6] == tau[:, :6]).all())
    True
    """
    mask = _mask(model, prescribed)
    return _core.hybrid_dynamics_time_derivatives(
        model,
        q,
        v,
        a_derivatives,
        tau_derivatives,
        mask,
        f_ext_derivatives,
        f_ext_axes,
        order,
        out,
        threads,
    )


def _mask(model: Model, prescribed: Sequence[str] | NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Degrees of freedom of the joints that are meant, of whole joints."""
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
