"""First-order partial derivatives of inverse and forward dynamics.

Derivatives by the configuration are taken in the tangent space: column k is the derivative along q
(+) eps e_k (`dtau.integrate`), at fixed v and a or tau. The components of external wrenches along
``f_ext_axes`` stay constant.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.results import ForwardDynamicsDerivatives, InverseDynamicsDerivatives
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates, Layout


@direct
def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    layout: Layout = "dense",
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> InverseDynamicsDerivatives:
    """Derivatives of the joint torque by configuration, velocity and acceleration.

        dtau = dtau_dq dq + dtau_dv dv + dtau_da da
        dtau_da = M

    The matrices are the partial derivatives with respect to q, v and a. M is the mass matrix.

    Notes
    -----
    IDSVA (inverse dynamics derivatives by spatial vector algebra), [IDSVA] algorithm 1; O(N d) for
    N bodies and a tree of depth d.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
    >>> d.dtau_dq.shape
    (256, 18, 18)
    >>> bool(np.allclose(d.dtau_da, dtau.mass_matrix(model, q)))
    True

    By the numbers of q, of which a quaternion has four:

    >>> by_numbers = dtau.inverse_dynamics_derivatives(model, q, v, a, coordinates="numbers")
    >>> by_numbers.dtau_dq.shape
    (256, 18, 19)
    >>> T = dtau.tangent_map(model, q).to_tangent
    >>> bool(np.allclose(by_numbers.dtau_dq, d.dtau_dq @ T))
    True
    """


@direct
def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    layout: Layout = "dense",
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsDerivatives:
    """Derivatives of the joint acceleration by configuration, velocity and torque.

        da_dq = -M^-1 dtau_dq    da_dv = -M^-1 dtau_dv    da_dtau = M^-1

    Notes
    -----
    FDSVA, [IDSVA] eq. 5: minus the inverse of the mass matrix times the derivatives of inverse
    dynamics, with a factorization that keeps the zeros of the tree, [RBDA] section 6.5; O(N^2 d)
    with the depth d of the tree. A singular configuration is not detected and gives huge numbers or
    NaN: see `dtau.forward_dynamics`.

    Examples
    --------
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(d.da_dtau, dtau.mass_matrix_inverse(model, q)))
    True
    """


@direct
def inverse_dynamics_wrench_derivatives(
    model: Model,
    q: ArrayLike,
    *,
    f_ext_axes: Axes = "body",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Derivatives of the joint torque by the external wrenches.

        dtau/df_b = -J_b^T    J_b the Jacobian of body b, in the axes of f_ext

    The torque is linear in the wrenches, so these derivatives depend on the configuration alone.

    Returns
    -------
    dtau_df_ext : ndarray (..., nv, nbodies, 6)
        Entry [i, b, c] is the derivative of torque i by component c, [force, moment], of the wrench
        on body b: minus the transposed Jacobians of the bodies. Joints' own forces do not enter.

    Notes
    -----
    The columns of the motion subspaces in the axes of each body, [RBDA] section 4.4; O(N d) with
    the depth d of the tree, plus writing the zeros. `dtau.inverse_dynamics_jvp` and
    `dtau.inverse_dynamics_vjp` give products in O(N).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> f_ext = rng.standard_normal((model.nbodies, 6))
    >>> by_wrenches = dtau.inverse_dynamics_wrench_derivatives(model, q)
    >>> by_wrenches.shape
    (18, 13, 6)
    >>> pushed = dtau.inverse_dynamics(model, q, v, a, f_ext)
    >>> free = dtau.inverse_dynamics(model, q, v, a)
    >>> bool(np.allclose(pushed - free, np.einsum("ibc,bc->i", by_wrenches, f_ext)))
    True
    """


@direct
def forward_dynamics_wrench_derivatives(
    model: Model,
    q: ArrayLike,
    *,
    f_ext_axes: Axes = "body",
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Derivatives of the joint acceleration by the external wrenches.

        da/df_b = M^-1 J_b^T    J_b the Jacobian of body b, in the axes of f_ext

    The acceleration is affine in the wrenches, so these derivatives depend on the configuration
    alone.

    Returns
    -------
    da_df_ext : ndarray (..., nv, nbodies, 6)
        Entry [i, b, c] is the derivative of acceleration i by component c, [force, moment], of the
        wrench on body b: the inverse mass matrix times the transposed Jacobians of the bodies.

    Notes
    -----
    The factors of the mass matrix solve for all columns, [RBDA] section 6.5; O(N^2 d) with the
    depth d of the tree. `dtau.forward_dynamics_jvp` and `dtau.forward_dynamics_vjp` give products
    in O(N).

    Examples
    --------
    >>> q = dtau.random_state(model, np.random.default_rng(0)).q
    >>> by_wrenches = dtau.forward_dynamics_wrench_derivatives(model, q)
    >>> J_T = -dtau.inverse_dynamics_wrench_derivatives(model, q)
    >>> want = np.tensordot(dtau.mass_matrix_inverse(model, q), J_T, axes=1)
    >>> bool(np.allclose(by_wrenches, want))
    True
    """
