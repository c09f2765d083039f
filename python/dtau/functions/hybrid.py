"""Hybrid dynamics: of some joints the motion is given, of the others the torque."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require, tuple_of, unknown_name
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import HybridDynamics


@documented
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
    a
        ... Only the entries of joints in ``prescribed`` matter; the others must be finite.
    tau
        ... Only the entries of joints that are not in ``prescribed`` matter; the others must be
        finite.

    Returns
    -------
    HybridDynamics
        Both are complete: what was given is copied.

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


@documented
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
    a_derivatives
        ... Only the entries of joints in ``prescribed`` matter; the others must be finite.
    tau_derivatives
        ... Only the entries of joints that are not in ``prescribed`` matter; the others must be
        finite.

    Returns
    -------
    HybridDynamics
        Both are complete: what was given is copied.
    a : ndarray (..., r + 1, nv)
        Row k is the time derivative of order k of the joint acceleration.
    tau : ndarray (..., r + 1, nv)
        Row k is the time derivative of order k of the joint torque.

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
