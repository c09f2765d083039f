"""Time derivatives, of any order, of the terms of the equation of motion along a trajectory.

With them the differentiated equation holds term by term, by Leibniz' rule:

    tau^(k) = sum over m of binomial(k, m) M^(m) a^(k-m) + bias^(k)

See `dtau.functions.time_derivatives` for how trajectories are given.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.model import Model
from dtau.options import Axes


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
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v_derivatives : array_like (..., r, nv)
        The velocity and its time derivatives of order 1 to r - 1, component by component: to begin
        with, ``v[..., None, :]`` for the first derivative, which a batch of ``v`` needs, too. At
        least one row, at most 20; with ``order`` any number, of which ``order=0`` needs none.
    order : int, optional
        How far: the r of these shapes, from 0 to 100. Longer stacks are cut, see
        `dtau.inverse_dynamics_time_derivatives`; without it their length says r.
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., r + 1, nv, nv)
        Complete and symmetric, with the armature on the diagonal of order 0.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics_time_derivatives`.

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

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v_derivatives : array_like (..., r + 1, nv)
        The velocity and its time derivatives of order 1 to r, component by component. At least one
        row, at most 21; with ``order`` any number. A batch of ``v`` is ``v[:, None]``.
    order : int, optional
        How far: the r of these shapes, from 0 to 100. Longer stacks are cut, see
        `dtau.inverse_dynamics_time_derivatives`; without it their length says r.
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., r + 1, nv, nv)
        Order 0 is `dtau.coriolis_matrix`: with it dM/dt = C + C^T at every order.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics_time_derivatives`.

    Notes
    -----
    The matrix of [Echeandia] algorithm 1, at any order; O(N d r^2). The matrix of [HO-FBS] Lemma 1
    is another admissible one; its Proposition 1 has h = C v, and the rate of h, as vectors.

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
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v_derivatives : array_like (..., r, nv)
        The velocity and its time derivatives of order 1 to r - 1, component by component. At least
        one row, at most 20; with ``order`` any number, of which ``order=0`` needs none. A batch of
        ``v`` is ``v[:, None]``.
    order : int, optional
        How far: the r of these shapes, from 0 to 100. Longer stacks are cut, see
        `dtau.inverse_dynamics_time_derivatives`; without it their length says r.
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., r + 1, nv)

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics_time_derivatives`.

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

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v_derivatives : array_like (..., r + 1, nv)
        The velocity and its time derivatives of order 1 to r, component by component. At least one
        row, at most 21; with ``order`` any number. A batch of ``v`` is ``v[:, None]``.
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
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., r + 1, nv)
        Derivatives of C v + D v + g, less the torque of external wrenches: of `dtau.bias_torque`
        along the trajectory.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics_time_derivatives`.

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
