"""Second derivatives of constrained dynamics and of impacts, as full tensors."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.results import ConstrainedDynamicsSecondDerivatives, ImpulseDynamicsSecondDerivatives
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates


@direct
def constrained_dynamics_second_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Contacts,
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
) -> ConstrainedDynamicsSecondDerivatives:
    """Second derivatives of constrained accelerations and forces, as full tensors.

        d2a_dqdv[i, j, k] = d/dv_k (d a_i / dq_j)    the others and the forces' likewise

    For a weighted sum of them `dtau.constrained_dynamics_hessian` takes a small part of the time
    and memory.

    Returns
    -------
    ConstrainedDynamicsSecondDerivatives
        Baumgarte gains included. The tensors by tau and v and by tau twice are zero and not
        returned.

    Notes
    -----
    [Derivations] section 23: the Hessian of each acceleration and force; they share the value and
    the derivatives of the constraint rows. O((nv + nrows) nv^2 (d + nrows)).

    Examples
    --------
    Weighted and summed, they are the Hessian:

    >>> feet = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
    >>> contacts = dtau.Contacts(model, feet)
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> lam, lam_forces = rng.standard_normal(model.nv), rng.standard_normal(contacts.nrows)
    >>> d = dtau.constrained_dynamics_second_derivatives(model, q, v, tau, contacts)
    >>> h = dtau.constrained_dynamics_hessian(model, q, v, tau, contacts, lam, lam_forces)
    >>> dqdv = np.tensordot(lam, d.d2a_dqdv, 1) + np.tensordot(lam_forces, d.d2forces_dqdv, 1)
    >>> bool(np.allclose(dqdv, h.dqdv, rtol=0.0, atol=1e-10 * abs(h.dqdv).max()))
    True
    """


@direct
def impulse_dynamics_second_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    restitution: ArrayLike = 0.0,
    *,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    symmetric: bool = False,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ImpulseDynamicsSecondDerivatives:
    """Second derivatives of the velocity after an impact and of its impulses, as full tensors.

        d2v_dqdv[i, j, k] = d/dv_k (d v_i / dq_j)    the others and the impulses' likewise

    Returns
    -------
    ImpulseDynamicsSecondDerivatives
        The tensors by v twice are zero and not returned.

    Notes
    -----
    [Derivations] section 23: the Hessian of each velocity and impulse, which share the value.
    O((nv + nrows) nv^2 (d + nrows)).

    Examples
    --------
    >>> feet = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
    >>> contacts = dtau.Contacts(model, feet)
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.impulse_dynamics_second_derivatives(model, q, v, contacts)
    >>> d.d2impulses_dqdv.shape
    (12, 18, 18)
    """
