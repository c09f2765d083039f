"""Products with the first derivatives of inverse and forward dynamics, without forming a matrix.

With the function's result y(q, v, x, f_ext), x the acceleration or the torque: a Jacobian-vector
product (`_jvp`) is the variation of y along variations of the arguments, and a vector-Jacobian
product (`_vjp`) is the gradient of lam . y by the arguments. Each costs about two calls of the
function itself; the derivatives as matrices cost more, O(N d) with the depth d of the tree, and
must be written and read. The articulated-body algorithm cannot solve the equations of mimic joints:
with these, forward dynamics and its products take O(N d^2).

Variations of the configuration are taken in the tangent space, q (+) eps dq (`dtau.integrate`), and
gradients by it likewise. The components of external wrenches along ``f_ext_axes`` stay constant.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.results import ForwardDynamicsVJP, InverseDynamicsVJP
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates


@direct
def inverse_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    da: ArrayLike,
    f_ext: ArrayLike | None = None,
    df_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Variation of the joint torque along variations of its arguments.

        dtau_dq dq + dtau_dv dv + M da - sum of J^T df_ext

    Returns
    -------
    dtau
        ... It is ``dtau_dq @ dq + dtau_dv @ dv + dtau_da @ da``, less the joint torque of
        ``df_ext``, with the matrices of `dtau.inverse_dynamics_derivatives`; springs, damping,
        friction and armature are included.

    Notes
    -----
    [IDSVA] eqs. 30 and 32, summed over the columns on the way through the tree; O(N), at about two
    calls of `dtau.inverse_dynamics`.

    Examples
    --------
    >>> dq, dv, da = rng.standard_normal((3, model.nv))
    >>> product = dtau.inverse_dynamics_jvp(model, q, v, a, dq, dv, da)
    >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
    >>> bool(np.allclose(product, d.dtau_dq @ dq + d.dtau_dv @ dv + d.dtau_da @ da))
    True
    """


@direct
def inverse_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> InverseDynamicsVJP:
    """Gradient of ``lam . tau`` by the arguments of inverse dynamics.

        by_q = dtau_dq^T lam    by_v = dtau_dv^T lam    by_a = M lam    by_f_ext = -J lam

    Returns
    -------
    InverseDynamicsVJP
        The transposed matrices of `dtau.inverse_dynamics_derivatives` times ``lam``; springs,
        damping, friction and armature are included. ``by_f_ext`` is minus the twists that the
        bodies would have if ``lam`` were the velocity.

    Notes
    -----
    [IDSVA] eqs. 30 and 32, summed over the rows on the way through the tree; O(N), at about two
    calls of `dtau.inverse_dynamics`.

    Examples
    --------
    >>> lam = rng.standard_normal(model.nv)
    >>> gradient = dtau.inverse_dynamics_vjp(model, q, v, a, lam)
    >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
    >>> bool(np.allclose(gradient.by_q, d.dtau_dq.T @ lam))
    True

    With external wrenches (here zeros) the gradient by them is a result too:

    >>> f_ext = np.zeros((model.nbodies, 6))
    >>> dtau.inverse_dynamics_vjp(model, q, v, a, lam, f_ext).by_f_ext.shape
    (13, 6)
    """


@direct
def forward_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    dtau: ArrayLike,
    f_ext: ArrayLike | None = None,
    df_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Variation of the joint acceleration along variations of its arguments.

        M^-1 (dtau - dtau_dq dq - dtau_dv dv + sum of J^T df_ext)

    Returns
    -------
    da
        ... It is ``da_dq @ dq + da_dv @ dv + da_dtau @ dtau``, and the acceleration that ``df_ext``
        gives, with the matrices of `dtau.forward_dynamics_derivatives`.

    Notes
    -----
    [IDSVA] eq. 5: the variation of inverse dynamics at the acceleration that forward dynamics
    gives, solved for by the articulated-body algorithm, [RBDA] section 7.3; O(N), at about two
    calls of `dtau.forward_dynamics`, which see for singular configurations: they are not detected.

    Examples
    --------
    >>> dq, dv, dtorque = rng.standard_normal((3, model.nv))
    >>> product = dtau.forward_dynamics_jvp(model, q, v, tau, dq, dv, dtorque)
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(product, d.da_dq @ dq + d.da_dv @ dv + d.da_dtau @ dtorque))
    True
    """


@direct
def forward_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ForwardDynamicsVJP:
    """Gradient of ``lam . a`` by the arguments of forward dynamics.

        by_q = da_dq^T lam    by_v = da_dv^T lam    by_tau = M^-1 lam    by_f_ext = J M^-1 lam

    Returns
    -------
    ForwardDynamicsVJP
        The transposed matrices of `dtau.forward_dynamics_derivatives` times ``lam``. ``by_f_ext``
        is the twists that the bodies would have if ``by_tau`` were the velocity.

    Notes
    -----
    [IDSVA] eq. 5: minus the products of inverse dynamics with ``by_tau``, which the
    articulated-body algorithm solves for, [RBDA] section 7.3; O(N), at about two calls of
    `dtau.forward_dynamics`, which see for singular configurations: they are not detected.

    Examples
    --------
    >>> lam = rng.standard_normal(model.nv)
    >>> gradient = dtau.forward_dynamics_vjp(model, q, v, tau, lam)
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(gradient.by_q, d.da_dq.T @ lam))
    True
    """
