"""Time derivatives, of any order, of the terms of the equation of motion along a trajectory.

With them the differentiated equation holds term by term, by Leibniz' rule:

    tau^(k) = sum over m of binomial(k, m) M^(m) a^(k-m) + bias^(k)

See `dtau.functions.time_derivatives` for how trajectories are given.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.options import Axes


@documented
def mass_matrix_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Mass matrix along a trajectory and its time derivatives of order 1 to r.

        d^k/dt^k M(q(t))    k = 0, 1, ..., r

    Parameters
    ----------
    v_derivatives : array_like (..., r, nv)
        ... ``order=0`` takes no rows.

    Returns
    -------
    M : ndarray (..., r + 1, nv, nv)
        Row k is the time derivative of order k of the mass matrix, complete and symmetric, with the
        armature on the diagonal of order 0.

    Notes
    -----
    [HO-FBS] eq. 11, which Proposition 1 has at orders 0 and 1, at any order; O(N d r^2) with the
    depth d of the tree.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> jerk = rng.standard_normal(model.nv)
    >>> M = dtau.mass_matrix_time_derivatives(model, q, [v])
    >>> bias = dtau.bias_torque_time_derivatives(model, q, [v, a])
    >>> tau = dtau.inverse_dynamics_time_derivatives(model, q, [v, a, jerk])
    >>> bool(np.allclose(tau[1], M[0] @ jerk + M[1] @ a + bias[1]))
    True
    """
    return _core.mass_matrix_time_derivatives(model, q, v_derivatives, order, out, threads)


@documented
def coriolis_matrix_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Admissible Coriolis matrix along a trajectory and its time derivatives of order 1 to r.

        d^k/dt^k C(q(t), v(t))    k = 0, 1, ..., r

    Returns
    -------
    C : ndarray (..., r + 1, nv, nv)
        Row k is the time derivative of order k of `dtau.coriolis_matrix`: with it dM/dt = C + C^T
        at every order.

    Notes
    -----
    The matrix of [Echeandia] algorithm 1, at any order; O(N d r^2). That of [HO-FBS] Lemma 1 is
    another admissible one; its Proposition 1 has h = C v, and the rate of h, as vectors.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> C = dtau.coriolis_matrix_time_derivatives(model, q, [v, a])
    >>> M = dtau.mass_matrix_time_derivatives(model, q, [v, a])
    >>> bool(np.allclose(M[1:], C + C.swapaxes(-1, -2)))
    True
    """
    return _core.coriolis_matrix_time_derivatives(model, q, v_derivatives, order, out, threads)


@documented
def gravity_torque_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Gravity torque along a trajectory and its time derivatives of order 1 to r.

        d^k/dt^k g(q(t))    k = 0, 1, ..., r

    Parameters
    ----------
    v_derivatives : array_like (..., r, nv)
        ... ``order=0`` takes no rows.

    Returns
    -------
    tau : ndarray (..., r + 1, nv)
        Row k is the time derivative of order k of `dtau.gravity_torque`.

    Notes
    -----
    g of [HO-FBS] Proposition 1, which has orders 0 and 1, at any order and in body coordinates;
    O(N r^2).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> g = dtau.gravity_torque_time_derivatives(model, q, [v])
    >>> bool(np.allclose(g[0], dtau.gravity_torque(model, q)))
    True
    """
    return _core.gravity_torque_time_derivatives(model, q, v_derivatives, order, out, threads)


@documented
def bias_torque_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Bias torque along a trajectory and its time derivatives of order 1 to r.

        d^k/dt^k (C v + D v + g - sum of J^T f_ext)    k = 0, 1, ..., r

    Returns
    -------
    tau : ndarray (..., r + 1, nv)
        Row k is the time derivative of order k of `dtau.bias_torque` along the trajectory: of C v +
        D v + g, less the torque of external wrenches.

    Notes
    -----
    h + g + tau_ext of [HO-FBS] Proposition 1, and damping, at any order and in body coordinates;
    O(N r^2). The rate of h-bar in its eq. 14 has M' v' too.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> bias = dtau.bias_torque_time_derivatives(model, q, [v, a])
    >>> C = dtau.coriolis_matrix_time_derivatives(model, q, [v, a])
    >>> g = dtau.gravity_torque_time_derivatives(model, q, [v])
    >>> bool(np.allclose(bias[1], C[1] @ v + C[0] @ a + model.damping * a + g[1]))
    True
    """
    return _core.bias_torque_time_derivatives(
        model, q, v_derivatives, f_ext_derivatives, f_ext_axes, order, out, threads
    )
