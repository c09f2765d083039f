"""Momentum of a robot along a trajectory, with its time derivatives: see `momentum` for frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model


@documented
def momentum_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Momentum about the world's origin along a trajectory and its time derivatives to order r.

        d^k/dt^k h_0    k = 0, 1, ..., r

    Returns
    -------
    h : ndarray (..., r + 1, 6)
        Row k is the time derivative of order k of the components of `dtau.momentum`. Row 1 is the
        wrench [force, moment] about the world's origin that acts on the robot from outside, the
        world's reaction at its joints and gravity included.

    Notes
    -----
    The sum over the bodies of [HO-FBS] eq. 62, by vectors instead of the matrices of its eq. 61:
    [Notes] eqs. 13.18 to 13.20; O(N r^2).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> h = dtau.momentum_time_derivatives(model, q, [v, a])
    >>> bool(np.allclose(h[0], dtau.momentum(model, q, v)))
    True

    The force on the trunk is what inverse dynamics gives for it, and the weight:

    >>> R = dtau.forward_kinematics(model, q).rotation[0]
    >>> force = R @ dtau.inverse_dynamics(model, q, v, a)[:3]
    >>> bool(np.allclose(h[1, :3], force + model.mass * model.gravity))
    True
    """
    return _core.momentum_time_derivatives(model, q, v_derivatives, order, out, threads)


@documented
def centroidal_momentum_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Momentum about the center of mass along a trajectory and its time derivatives to order r.

        d^k/dt^k h    k = 0, 1, ..., r

    Returns
    -------
    h : ndarray (..., r + 1, 6)
        Row k is the time derivative of order k of the components of `dtau.centroidal_momentum`,
        along fixed axes and about the center of mass as it moves. The angular ones are NaN for a
        model without mass.

    Notes
    -----
    [Notes] eqs. 13.18 to 13.20; O(N r^2). No digit is lost far from the world's origin.

    Examples
    --------
    The rate is that of the matrix and of the velocity together:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> h = dtau.centroidal_momentum_time_derivatives(model, q, [v, a])
    >>> without_a = dtau.centroidal_momentum_time_derivatives(model, q, [v, 0.0 * a])
    >>> A = dtau.centroidal_momentum_matrix(model, q)
    >>> bool(np.allclose(h[1], without_a[1] + A @ a))
    True
    """
    return _core.centroidal_momentum_time_derivatives(model, q, v_derivatives, order, out, threads)
