"""Hessians of constrained dynamics and of impacts, contracted with weights, without a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.results import ConstrainedDynamicsHessian, ImpulseDynamicsHessian
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates


@direct
def constrained_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Contacts,
    lam: ArrayLike,
    lam_forces: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    symmetric: bool = False,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsHessian:
    """Hessian of constrained dynamics, contracted with weights of accelerations and forces.

        dqdv[j, k] = d/dv_k (d (lam . a + lam_forces . forces) / dq_j)    the other blocks likewise

    DDP and exact-Hessian SQP need these second derivatives; Gauss-Newton methods drop them. Pass
    the gradients of a cost by the accelerations and by the forces as ``lam`` and ``lam_forces``,
    for example of a cost on friction cones.

    Parameters
    ----------
    lam
        Weight of each acceleration, held constant.
    lam_forces
        Weight of each force along the axes of its contact, held constant.

    Returns
    -------
    ConstrainedDynamicsHessian
        Second derivatives of the weighted sum, Baumgarte gains included. The blocks by tau and v
        and by tau twice are zero and not returned.

    Notes
    -----
    [Derivations] section 23: the second derivatives of [IDSVA-SO], summed over their outputs, give
    the Hessian of the weighted equations of motion and constraint rows. One solve with the factors
    of the value and two matrix products turn it into the Hessian of accelerations and forces:
    O(N d + nv^2 (d + nrows)). With ``regularization`` the results are the second derivatives of the
    forces G^+ b of `dtau.constrained_dynamics`, and of the acceleration under them, for any
    ``residual``. They exist where the rank of J is constant near q.

    Examples
    --------
    >>> feet = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
    >>> contacts = dtau.Contacts(model, feet)
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> lam, lam_forces = rng.standard_normal(model.nv), rng.standard_normal(contacts.nrows)
    >>> h = dtau.constrained_dynamics_hessian(model, q, v, tau, contacts, lam, lam_forces)
    >>> dv = 1e-6 * rng.standard_normal(model.nv)
    >>> weights = contacts, lam, lam_forces
    >>> more = dtau.constrained_dynamics_vjp(model, q, v + dv, tau, *weights)
    >>> less = dtau.constrained_dynamics_vjp(model, q, v - dv, tau, *weights)
    >>> bool(np.allclose(more.by_q - less.by_q, 2.0 * h.dqdv @ dv, atol=1e-9))
    True
    """


@direct
def impulse_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    lam: ArrayLike,
    lam_impulses: ArrayLike,
    restitution: ArrayLike = 0.0,
    *,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    symmetric: bool = False,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ImpulseDynamicsHessian:
    """Hessian of an impact, contracted with weights of the velocity after it and of the impulses.

        dqdv[j, k] = d/dv_k (d (lam . v_after + lam_impulses . impulses) / dq_j)    dqdq likewise

    Parameters
    ----------
    v
        ... This is the velocity before the impact.
    lam
        Weight of each velocity after the impact, held constant.
    lam_impulses
        ... The impulses are along the axes of the contacts. The weights are held constant.

    Returns
    -------
    ImpulseDynamicsHessian
        Second derivatives of the weighted sum. The block by v twice is zero and not returned.

    Notes
    -----
    [Derivations] eq. 23.19: the algorithm of `dtau.constrained_dynamics_hessian`, at rest and
    without gravity, with v_after - v as the acceleration. O(N d + nv^2 (d + nrows)).

    Examples
    --------
    >>> contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> lam, lam_impulses = np.ones(model.nv), np.zeros(3)
    >>> h = dtau.impulse_dynamics_hessian(model, q, v, contacts, lam, lam_impulses)
    >>> d = dtau.impulse_dynamics_derivatives(model, q, v, contacts)
    >>> bool(np.allclose(h.dqdv @ v, lam @ d.dv_dq))  # velocities after are linear in v
    True
    """
