"""Time derivatives, of any order, of the dynamics and its terms along a trajectory.

A trajectory is given at one instant by the configuration and a stack of derivatives: ``v`` and its
time derivatives, component by component, along the axis before the last. For revolute and other
joints of one coordinate these are the derivatives of ``q``; for free, spherical and planar joints
they are the derivatives of the twist in the body's own moving axes. By default every function
returns all orders that the length of the stack determines, up to 20. ``order=`` sets the highest
order, up to 100; then one stack that is long enough serves all functions.

The axis before the last always counts the derivatives, never a batch: ``v`` of twelve states is
``v[:, None]``, of shape ``(12, 1, nv)``. A stack of shape ``(12, nv)`` beside a batch of twelve
``q`` is refused; one stack for all of them is ``stack[None]``.

The terms satisfy the differentiated equation by Leibniz' rule:

    tau^(k) = sum over m of binomial(k, m) M^(m) a^(k-m) + bias^(k)
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.functions.dynamics import prescribed_mask
from dtau.model.model import Model
from dtau.results import HybridDynamics
from dtau.support.arrays import Array, Mask
from dtau.support.direct import direct
from dtau.support.options import Axes


@direct
def inverse_dynamics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Joint torque along a trajectory and its time derivatives of order 1 to r.

        d^k/dt^k (M a + C v + D v + g - sum of J^T f_ext)    k = 0, 1, ..., r

    Returns
    -------
    tau : ndarray (..., r + 1, nv)
        Row k is the time derivative of order k of the torque, in N m/s^k or N/s^k, armature,
        damping, friction and springs included; for a free joint, of the components of the wrench in
        the body frame.

    Notes
    -----
    The problem of [HO-FBS] Algorithm 2, solved in body coordinates, where only vectors are
    convolved; O(N r^2).

    With contacts: `dtau.constrained_inverse_dynamics_time_derivatives`, which returns forces too.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> jerk, snap = rng.standard_normal((2, model.nv))
    >>> tau = dtau.inverse_dynamics_time_derivatives(model, q, [v, a, jerk, snap])
    >>> tau.shape
    (3, 18)

    Its rate is the chain rule through the first derivatives:

    >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
    >>> bool(np.allclose(tau[1], d.dtau_dq @ v + d.dtau_dv @ a + d.dtau_da @ jerk))
    True

    One stack serves all functions:

    >>> motion = [v, a, jerk, snap]
    >>> bias = dtau.bias_torque_time_derivatives(model, q, motion, order=2)
    >>> C = dtau.coriolis_matrix_time_derivatives(model, q, motion, order=2)
    >>> M = dtau.mass_matrix_time_derivatives(model, q, motion, order=2)
    >>> g = dtau.gravity_torque_time_derivatives(model, q, motion, order=2)
    >>> kinematics = dtau.kinematics_time_derivatives(model, q, motion, order=2)
    >>> len(tau), len(bias), len(C), len(M), len(g), len(kinematics.rotation)
    (3, 3, 3, 3, 3, 3)
    >>> bool(np.allclose(tau[2], M[2] @ a + 2 * M[1] @ jerk + M[0] @ snap + bias[2]))
    True
    """


@direct
def forward_dynamics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Joint acceleration under given torques and its time derivatives of order 1 to r.

        d^k/dt^k M^-1 (tau - C v - D v - g + sum of J^T f_ext)    k = 0, 1, ..., r

    Returns
    -------
    a : ndarray (..., r + 1, nv)
        Row k is the time derivative of order k of the acceleration, component by component. ``v``
        and these rows together are ``v_derivatives`` of `dtau.inverse_dynamics_time_derivatives`.

    Notes
    -----
    The problem of [HO-FBS] Algorithm 3, solved in body coordinates; O(N r^2). The articulated
    inertias of order 0 serve every order ([HO-FBS] Lemma 2) and are computed once. Errors of
    low orders enter the higher ones: the result solves the differentiated equation to rounding, but
    its own error grows by about a digit per order.

    With mimic joints the mass matrix is factorized instead, O(N d^2 + N r^2 + N d r) with the depth
    d of the tree.

    With contacts and closed loops: `dtau.constrained_dynamics_time_derivatives`, which returns the
    forces too.

    Examples
    --------
    >>> tau = rng.standard_normal((4, model.nv))
    >>> a = dtau.forward_dynamics_time_derivatives(model, q, v, tau)
    >>> v_derivatives = np.concatenate([[v], a])
    >>> again = dtau.inverse_dynamics_time_derivatives(model, q, v_derivatives)
    >>> bool(np.allclose(again, tau, rtol=0.0, atol=1e-11 * abs(a).max()))
    True
    """


@documented
def hybrid_dynamics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a_derivatives: ArrayLike,
    tau_derivatives: ArrayLike,
    prescribed: Sequence[str] | Mask,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> HybridDynamics:
    """Hybrid dynamics along a trajectory, with time derivatives of order 1 to r.

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
    >>> a, tau = rng.standard_normal((2, 3, model.nv))
    >>> legs = np.arange(model.nv) >= 6
    >>> result = dtau.hybrid_dynamics_time_derivatives(model, q, v, a, tau, legs)
    >>> bool((result.a[:, 6:] == a[:, 6:]).all() and (result.tau[:, :6] == tau[:, :6]).all())
    True
    """
    mask = prescribed_mask(model, prescribed)
    return _core.hybrid_dynamics_time_derivatives(
        model, q, v, a_derivatives, tau_derivatives, mask, f_ext_derivatives, f_ext_axes, order,
        out, threads,
    )  # fmt: skip


@direct
def mass_matrix_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
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
    [HO-FBS] eq. 11, extended from orders 0 and 1 (Proposition 1) to any order; O(N d r^2) with the
    depth d of the tree.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> jerk = rng.standard_normal(model.nv)
    >>> M = dtau.mass_matrix_time_derivatives(model, q, [v])
    >>> bias = dtau.bias_torque_time_derivatives(model, q, [v, a])
    >>> tau = dtau.inverse_dynamics_time_derivatives(model, q, [v, a, jerk])
    >>> bool(np.allclose(tau[1], M[0] @ jerk + M[1] @ a + bias[1]))
    True
    """


@direct
def coriolis_matrix_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Admissible Coriolis matrix along a trajectory and its time derivatives of order 1 to r.

        d^k/dt^k C(q(t), v(t))    k = 0, 1, ..., r

    Returns
    -------
    C : ndarray (..., r + 1, nv, nv)
        Row k is the time derivative of order k of `dtau.coriolis_matrix`: dM/dt = C + C^T holds at
        every order.

    Notes
    -----
    The matrix of [Echeandia] algorithm 1, at any order; O(N d r^2). The matrix of [HO-FBS] Lemma 1
    is another admissible one. [HO-FBS] Proposition 1 gives h = C v and its rate as vectors.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> C = dtau.coriolis_matrix_time_derivatives(model, q, [v, a])
    >>> M = dtau.mass_matrix_time_derivatives(model, q, [v, a])
    >>> bool(np.allclose(M[1:], C + C.swapaxes(-1, -2)))
    True
    """


@direct
def gravity_torque_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    *,
    order: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
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
    g of [HO-FBS] Proposition 1, extended from orders 0 and 1 to any order, in body coordinates; O(N
    r^2).

    Examples
    --------
    >>> g = dtau.gravity_torque_time_derivatives(model, q, [v])
    >>> bool(np.allclose(g[0], dtau.gravity_torque(model, q)))
    True
    """


@direct
def bias_torque_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    order: int | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Bias torque along a trajectory and its time derivatives of order 1 to r.

        d^k/dt^k (C v + D v + g - sum of J^T f_ext)    k = 0, 1, ..., r

    Returns
    -------
    tau : ndarray (..., r + 1, nv)
        Row k is the time derivative of order k of `dtau.bias_torque` along the trajectory: of C v +
        D v + g minus the torque of external wrenches.

    Notes
    -----
    h + g + tau_ext of [HO-FBS] Proposition 1, with damping and friction, at any order and in body
    coordinates; O(N r^2). The rate of h-bar in [HO-FBS] eq. 14 also contains M' v'.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> bias = dtau.bias_torque_time_derivatives(model, q, [v, a])
    >>> C = dtau.coriolis_matrix_time_derivatives(model, q, [v, a])
    >>> g = dtau.gravity_torque_time_derivatives(model, q, [v])
    >>> bool(np.allclose(bias[1], C[1] @ v + C[0] @ a + model.damping * a + g[1]))
    True
    """
