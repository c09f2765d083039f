"""Dynamics of robots whose contacts and closed loops hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import ConstrainedDynamics, ConstrainedDynamicsDerivatives


def constrained_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Contacts,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamics:
    """Acceleration under the torque ``tau``, and the forces by which contacts and loops hold.

        M a - J^T forces = tau - bias + sum of J_ext^T f_ext
        J a + (what rows have at a = 0) = -kd (their velocities) - kp (their errors)

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity; of a free joint [linear, angular] in the body frame.
    tau : array_like (..., nv)
        Joint torque; of a free joint the wrench [force, moment] in the body frame.
    contacts : Contacts
        What is held, of this model.
    f_ext : array_like (..., nbodies, 6), optional
        Other external wrenches, see `dtau.inverse_dynamics`.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``.
    active : array_like (..., ncontacts), optional
        Which contacts hold, true or 1, and which do not, false or 0, state by state: those have no
        forces. Of other numbers those from 0.5 on hold. By default all hold.
    damping : float
        For rows that depend on each other (four flat feet): small beside the eigenvalues of
        J M^-1 J^T, in 1/kg, but not as small as their rounding errors; 1e-6 of them will do. The
        result does not depend on it: with G = J M^-1 J^T and b the right-hand side of the rows
        less J times the acceleration without contacts, the forces are G^+ b, of all that minimize
        ``|residual|`` the shortest. ``residual`` is 0 but for rounding where rows agree.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the three arrays of the results.

    Returns
    -------
    ConstrainedDynamics
        ``a (..., nv)``; ``forces (..., nrows)``, those of the contacts one after the other
        (`Contacts.rows`): [force, moment] at the origin of the contact's frame, of a loop on
        ``frame_a``, along the contact's axes; and ``residual (..., nrows)``, by how much the
        accelerations of the rows differ from what is wanted of them: 0 but for rounding, unless
        rows contradict each other, with a ``damping``.

    Raises
    ------
    ValueError
        If the call holds one state and the rows of its contacts depend on each other or on nothing
        but rounding errors (the first such row is named), the contacts are another model's, or as
        `dtau.forward_dynamics`. In a batch such a state has NaN for its results.
    TypeError
        As `dtau.forward_dynamics`, or if ``contacts`` are no `Contacts`.

    Notes
    -----
    [Notes] section 20, with the factors of [RBDA] section 6.5: O(N d^2) for the tree of depth d and
    O(nrows^3) for the contacts. Rows are held on the level of accelerations: what of velocity or
    position is wrong stays so, unless gains ``kp`` and ``kd`` say otherwise.

    Examples
    --------
    A robot stands, its torques hold its weight:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> feet = dtau.robots.QUADRUPED_FEET
    >>> contacts = dtau.Contacts(model, [dtau.PointContact(foot, axes="mixed") for foot in feet])
    >>> q, still = dtau.neutral(model), np.zeros(model.nv)
    >>> result = dtau.constrained_dynamics(model, q, still, still, contacts)
    >>> feet_a = dtau.frame_accelerations(model, q, still, result.a, feet, "mixed")[:, :3]
    >>> bool(abs(feet_a).max() < 1e-12)
    True
    """
    return _core.constrained_dynamics(
        model, q, v, tau, contacts, f_ext, f_ext_axes, active, damping, out, threads
    )


def constrained_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Contacts,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsDerivatives:
    """Derivatives of accelerations and contact forces by configuration, velocity and torque.

    With ``K = [[M, -J^T], [J, 0]]``, by q and by v:

        [da; dforces] = -K^-1 [d(inverse dynamics); d(rows)]

    Parameters
    ----------
    model, q, v, tau, contacts
        As `dtau.constrained_dynamics`.
    f_ext : array_like (..., nbodies, 6), optional
        Other external wrenches, see `dtau.inverse_dynamics`.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, along which its components are held constant.
    active, damping
        As `dtau.constrained_dynamics`.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the seven arrays of the results.

    Returns
    -------
    ConstrainedDynamicsDerivatives
        ``da_dq``, ``da_dv``, ``da_dtau``, each ``(..., nv, nv)``, and ``dforces_dq``,
        ``dforces_dv``, ``dforces_dtau``, each ``(..., nrows, nv)``: row the result, column the
        variable, by q (+) dq in the tangent space. The gains of the contacts are part of them.
        Forces are those along the contact's axes; rows of contacts that are not active are 0. And
        ``residual (..., nrows)`` of the state, as in `dtau.constrained_dynamics`.

    Raises
    ------
    ValueError, TypeError
        As `dtau.constrained_dynamics`; in a batch such a state has NaN for all derivatives in which
        its contacts take part.

    Notes
    -----
    [Notes] section 20: the derivatives of inverse dynamics, [IDSVA] algorithm 1, with the wrenches
    of the contacts, and those of their rows, solved for together; O(N^2 d) for the tree of depth d
    and O(N nrows (d + nrows)) for the contacts. With a ``damping`` they are the derivatives of the
    forces G^+ b of `dtau.constrained_dynamics` and their acceleration, whatever the ``residual``:
    the full derivative of the pseudo-inverse, [Golub-Pereyra], which exists where the rank of J is
    the same in all configurations around.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> feet = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
    >>> contacts = dtau.Contacts(model, feet)
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts)
    >>> d.dforces_dq.shape
    (256, 12, 18)
    """
    return _core.constrained_dynamics_derivatives(
        model, q, v, tau, contacts, f_ext, f_ext_axes, active, damping, out, threads
    )


def require_contacts(model: Model, contacts: Contacts) -> None:
    """Raise unless these are contacts of this model, or of an equal one, as the core does."""
    require("model", model, Model)
    require("contacts", contacts, Contacts)
    if not contacts._is_of(model):
        raise ValueError("contacts: expected those of this model, got another model's")
