"""Second-order partial derivatives of inverse and forward dynamics.

Tensors are indexed [i, j, k]: output i, differentiated by the variable named first along j and then
by the second along k. A `_hessian` contracts them with a covector lam over the outputs to a matrix
[j, k] for each block. It forms no tensor and costs about as much as first derivatives; most
optimizers need only this.

Derivatives by the configuration are taken in the tangent space, along q (+) eps e_k
(`dtau.integrate`), at fixed v and a or tau. The components of external wrenches along
``f_ext_axes`` stay constant.

Within one joint of several degrees of freedom, derivatives along its columns do not commute: a
rotation about x, then y, differs from a rotation about y, then x. So second derivatives by q are
not symmetric there: X[j, k] - X[k, j] is the first derivative along the bracket [s_k, s_j] of the
columns. With ``symmetric=True`` they are the derivatives of xi -> tau(q (+) xi) at xi = 0, the
Hessian in the exponential chart, which an optimizer on the manifold needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.results import (
    ForwardDynamicsHessian,
    ForwardDynamicsSecondDerivatives,
    InverseDynamicsHessian,
    InverseDynamicsSecondDerivatives,
)
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates, Layout


@direct
def inverse_dynamics_second_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    symmetric: bool = False,
    layout: Layout = "dense",
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> InverseDynamicsSecondDerivatives:
    """Second derivatives of the joint torque by configuration, velocity and acceleration.

        d2tau_dqdv[i, j, k] = d/dv_k (d tau_i / dq_j)    and the others alike

    Returns
    -------
    InverseDynamicsSecondDerivatives
        Dense, or on their pattern.

    Raises
    ------
    MemoryError
        If the results would not fit into the memory available; nothing is allocated then.

    Notes
    -----
    IDSVA-SO, [IDSVA-SO] algorithm 1; O(N d^2) with the depth d of the tree. Dense tensors take
    4 nv^3 numbers a state.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(16,))
    >>> d2 = dtau.inverse_dynamics_second_derivatives(model, q, v, a)
    >>> d2.d2tau_dqdv.shape
    (16, 18, 18, 18)

    On their pattern the tensors have the same numbers, and fewer zeros:

    >>> values = dtau.inverse_dynamics_second_derivatives(model, q, v, a, layout="pattern")
    >>> pattern = dtau.pattern(model, "inverse_dynamics_second_derivatives")
    >>> i, j, k = pattern.coordinates
    >>> bool((d2.d2tau_dqdv[:, i, j, k] == values.d2tau_dqdv).all())
    True
    >>> pattern
    <Pattern: 2268 of 5832 numbers, shape (18, 18, 18)>

    ``symmetric=True`` makes the block of the free root symmetric:

    >>> def asymmetry(x):
    ...     return float(np.abs(x - np.swapaxes(x, -1, -2)).max())
    >>> chart = dtau.inverse_dynamics_second_derivatives(model, q, v, a, symmetric=True)
    >>> asymmetry(d2.d2tau_dqdq) > 1.0, asymmetry(chart.d2tau_dqdq)
    (True, 0.0)
    """


@direct
def forward_dynamics_second_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    symmetric: bool = False,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsSecondDerivatives:
    """Second derivatives of the joint acceleration by configuration, velocity and torque.

        d2a_dqdv[i, j, k] = d/dv_k (d a_i / dq_j)    and the others alike

    The second derivatives by velocity and torque, and by torque twice, vanish.

    Raises
    ------
    MemoryError
        If the results would not fit into the memory available; nothing is allocated then.

    Notes
    -----
    From the second derivatives of inverse dynamics ([IDSVA-SO]) and first derivatives of forward
    dynamics, O(nv^3 d). The tensors are dense: prefer `dtau.forward_dynamics_hessian` where a
    contraction is enough.

    Examples
    --------
    >>> d2 = dtau.forward_dynamics_second_derivatives(model, q, v, tau)
    >>> d2.d2a_dvdv.shape
    (18, 18, 18)
    """


@direct
def inverse_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    symmetric: bool = False,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> InverseDynamicsHessian:
    """Hessian of ``lam . tau``, the weighted sum of joint torques, without a tensor.

        dqdv[j, k] = sum over i of lam_i d/dv_k (d tau_i / dq_j)    and the others alike

    Parameters
    ----------
    lam
        Weight of each torque, held constant: a multiplier of the dynamics in an optimizer.

    Returns
    -------
    InverseDynamicsHessian
        Second derivatives of lam . tau.

    Notes
    -----
    The contraction of [IDSVA-SO] in O(N d), the order of first derivatives: [Derivations] section
    8.

    Examples
    --------
    >>> lam = np.linspace(-1.0, 1.0, model.nv)
    >>> hessian = dtau.inverse_dynamics_hessian(model, q, v, a, lam)
    >>> tensors = dtau.inverse_dynamics_second_derivatives(model, q, v, a)
    >>> bool(np.allclose(hessian.dqdv, np.einsum("i,ijk->jk", lam, tensors.d2tau_dqdv)))
    True
    """


@direct
def forward_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    symmetric: bool = False,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsHessian:
    """Hessian of ``lam . a``, the weighted sum of joint accelerations, without a tensor.

        dqdv[j, k] = sum over i of lam_i d/dv_k (d a_i / dq_j)    and the others alike

    DDP needs this term, and Gauss-Newton methods drop it. There, lam is the gradient of the value
    function by the next state's velocity, times the time step.

    Parameters
    ----------
    lam
        Weight of each acceleration, held constant.

    Returns
    -------
    ForwardDynamicsHessian
        Second derivatives of lam . a.

    Notes
    -----
    From `dtau.inverse_dynamics_hessian` with M^-1 lam, one solve with the factors of the mass
    matrix and two sparse products, [Derivations] section 8; O(N d + nv^2 d).

    Examples
    --------
    >>> lam = np.linspace(-1.0, 1.0, model.nv)
    >>> hessian = dtau.forward_dynamics_hessian(model, q, v, tau, lam)
    >>> tensors = dtau.forward_dynamics_second_derivatives(model, q, v, tau)
    >>> bool(np.allclose(hessian.dvdv, np.einsum("i,ijk->jk", lam, tensors.d2a_dvdv)))
    True
    """
