"""Products with the first derivatives of constrained dynamics, without forming a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import (
    ConstrainedDynamicsProducts,
    ConstrainedDynamicsProductsWithWrenches,
    ConstrainedDynamicsVariation,
)


def constrained_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    dtau: ArrayLike,
    contacts: Contacts,
    f_ext: ArrayLike | None = None,
    df_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsVariation:
    """Variation of accelerations and contact forces along variations of the arguments.

        da = da_dq dq + da_dv dv + da_dtau dtau,    dforces the same

    Parameters
    ----------
    model, q, v, tau
        As `dtau.constrained_dynamics`.
    dq : array_like (..., nv)
        Variation of ``q`` in the tangent space, of q (+) eps dq.
    dv, dtau : array_like (..., nv)
        Variations of the components of ``v`` and ``tau``.
    contacts : Contacts
        As `dtau.constrained_dynamics`.
    f_ext, df_ext : array_like (..., nbodies, 6), optional
        Other external wrenches along ``f_ext_axes``, and the variation of their components.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of both, see `dtau.inverse_dynamics`.
    active, damping
        As `dtau.constrained_dynamics`.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the two arrays of the results.

    Returns
    -------
    ConstrainedDynamicsVariation
        ``da (..., nv)`` and ``dforces (..., nrows)``: the matrices of
        `dtau.constrained_dynamics_derivatives` times the variations.

    Raises
    ------
    ValueError, TypeError
        As `dtau.constrained_dynamics`.

    Notes
    -----
    [Notes] section 20: the product of inverse dynamics, [Notes] section 6, and one more solve with
    the factors that the value has; O(N d^2) for the tree of depth d and O(nrows^3), as the value.
    Rows that contradict each other, with a ``damping``: `dtau.constrained_dynamics_derivatives`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> feet = [dtau.PointContact("LF_FOOT"), dtau.PointContact("RH_FOOT")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> dq, dv, dtorque = rng.standard_normal((3, model.nv))
    >>> x = dtau.constrained_dynamics_jvp(model, q, v, tau, dq, dv, dtorque, contacts)
    >>> d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts)
    >>> want = d.dforces_dq @ dq + d.dforces_dv @ dv + d.dforces_dtau @ dtorque
    >>> bool(np.allclose(x.dforces, want))
    True
    """
    return _core.constrained_dynamics_jvp(
        model,
        q,
        v,
        tau,
        dq,
        dv,
        dtau,
        contacts,
        f_ext,
        df_ext,
        f_ext_axes,
        active,
        damping,
        out,
        threads,
    )


@overload
def constrained_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    lam_forces: ArrayLike,
    contacts: Contacts,
    f_ext: None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsProducts: ...
@overload
def constrained_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    lam_forces: ArrayLike,
    contacts: Contacts,
    f_ext: ArrayLike,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsProductsWithWrenches: ...
def constrained_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    lam_forces: ArrayLike,
    contacts: Contacts,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsProducts | ConstrainedDynamicsProductsWithWrenches:
    """Gradient of ``lam . a + lam_forces . forces`` by the arguments of constrained dynamics.

    Parameters
    ----------
    model, q, v, tau
        As `dtau.constrained_dynamics`.
    lam : array_like (..., nv)
        Weight of each acceleration.
    lam_forces : array_like (..., nrows)
        Weight of each force.
    contacts : Contacts
        As `dtau.constrained_dynamics`.
    f_ext : array_like (..., nbodies, 6), optional
        Other external wrenches along ``f_ext_axes``.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, along which its components are held constant.
    active, damping
        As `dtau.constrained_dynamics`.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the three arrays of the results, or four with
        ``f_ext``.

    Returns
    -------
    ConstrainedDynamicsProducts
        ``by_q``, ``by_v``, ``by_tau``, each ``(..., nv)``: the transposed matrices of
        `dtau.constrained_dynamics_derivatives` times the weights.
    ConstrainedDynamicsProductsWithWrenches
        Where ``f_ext`` is given: also ``by_f_ext (..., nbodies, 6)``, along ``f_ext_axes``.

    Raises
    ------
    ValueError, TypeError
        As `dtau.constrained_dynamics`.

    Notes
    -----
    [Notes] section 20: one solve with the factors that the value has, and the product of inverse
    dynamics, [Notes] section 6, with its result; O(N d^2) for the tree of depth d and O(nrows^3),
    as the value. Rows that contradict each other, with a ``damping``:
    `dtau.constrained_dynamics_derivatives`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> feet = [dtau.PointContact("LF_FOOT"), dtau.PointContact("RH_FOOT")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> lam, lam_forces = rng.standard_normal(model.nv), rng.standard_normal(contacts.nrows)
    >>> x = dtau.constrained_dynamics_vjp(model, q, v, tau, lam, lam_forces, contacts)
    >>> d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts)
    >>> bool(np.allclose(x.by_q, lam @ d.da_dq + lam_forces @ d.dforces_dq))
    True
    """
    return _core.constrained_dynamics_vjp(
        model,
        q,
        v,
        tau,
        lam,
        lam_forces,
        contacts,
        f_ext,
        f_ext_axes,
        active,
        damping,
        out,
        threads,
    )
