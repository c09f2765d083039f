"""Dynamics of robots whose contacts and closed loops hold, forward and inverse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import listing, require
from dtau.control_inputs import driven as driven_by_default
from dtau.docstrings import documented
from dtau.functions.row_rank import dependent_row, unreached_joints
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes, Integrator
from dtau.results import (
    ConstrainedDynamics,
    ConstrainedDynamicsDerivatives,
    ConstrainedInverseDynamics,
)


@documented
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

    Notes
    -----
    [Derivations] section 20, with the factors of [RBDA] section 6.5: O(N d^2) for the tree of depth
    d and O(nrows^3) for the contacts. The rows constrain accelerations: errors of their velocities
    and positions stay, unless the gains ``kd`` and ``kp`` remove them.

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
    result = _core.constrained_dynamics(
        model, q, v, tau, contacts, f_ext, f_ext_axes, active, damping, out, threads
    )
    if holds_nan(result.a):
        raise_of_rank(model, q, contacts, active, damping, (v, tau, f_ext))
    return result


@documented
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

    Returns
    -------
    ConstrainedDynamicsDerivatives
        The gains of the contacts are part of them. Rows of contacts that are not active are 0.

    Notes
    -----
    [Derivations] section 20: the derivatives of inverse dynamics, [IDSVA] algorithm 1, with the
    wrenches of the contacts, and those of their rows, solved for together; O(N^2 d) for the tree of
    depth d and O(N nrows (d + nrows)) for the contacts. With a ``damping`` they are the derivatives
    of the forces G^+ b of `dtau.constrained_dynamics` and their acceleration, whatever the
    ``residual``: the full derivative of the pseudo-inverse, [Golub-Pereyra], which exists where the
    rank of J is the same in all configurations around. In a batch, a state whose rows depend on
    each other has NaN for all derivatives in which its contacts take part.

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
    result = _core.constrained_dynamics_derivatives(
        model, q, v, tau, contacts, f_ext, f_ext_axes, active, damping, out, threads
    )
    if holds_nan(result.dforces_dtau, 2):
        raise_of_rank(model, q, contacts, active, damping, (v, tau, f_ext))
    return result


@documented
def constrained_inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    contacts: Contacts,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    inputs: NDArray[np.bool_] | None = None,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedInverseDynamics:
    """Torques of the driven joints, and the shortest contact forces, that give ``a``.

        tau + J^T forces = M a + bias - sum of J_ext^T f_ext,    tau = 0 where nothing drives

    Parameters
    ----------
    a
        ... That contacts hold in it is not checked.
    inputs : ndarray of bool (nv,), optional
        Mask of the torques that are driven; by default those of all joints but free roots.

    Returns
    -------
    ConstrainedInverseDynamics
    tau : ndarray (..., nv)
        Joint torque, 0 but for rounding at joints that nothing drives.
    forces : ndarray (..., nrows)
        Forces of the contacts as `dtau.constrained_dynamics` gives them: of all that do so
        those with the least sum of squares.

    Raises
    ------
    ValueError
        ... the call holds one state and no forces of its contacts move what is not driven (one
        point cannot hold a base; the joints are named). In a batch such a state has NaN for its
        results.

    Notes
    -----
    [Derivations] section 20; O(N) for the tree and O(nrows) for each torque that is not driven.

    Examples
    --------
    What holds a robot on its feet:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> feet = dtau.robots.QUADRUPED_FEET
    >>> contacts = dtau.Contacts(model, [dtau.PointContact(foot, axes="mixed") for foot in feet])
    >>> q, still = dtau.neutral(model), np.zeros(model.nv)
    >>> result = dtau.constrained_inverse_dynamics(model, q, still, still, contacts)
    >>> weight = result.forces[2::3].sum()
    >>> bool(np.isclose(weight, 9.81 * model.mass) and abs(result.tau[:6]).max() < 1e-9)
    True
    """
    result = _core.constrained_inverse_dynamics(
        model, q, v, a, contacts, f_ext, f_ext_axes, active, inputs, out, threads
    )
    if holds_nan(result.tau) and are_finite(q, v, a, active, f_ext):
        on = active_contacts(contacts, active)
        names = listing([contacts.names[k] for k in on])
        why = f"no forces of {names} move all" if names else "none holds, which leaves all"
        driven = driven_by_default(model) if inputs is None else np.flatnonzero(inputs)
        loose = np.delete(np.arange(model.nv), driven)
        joints = listing(unreached_joints(model, q, contacts, on, loose))
        raise ValueError(
            f"contacts: {why} that nothing drives in this state (of joint {joints}); add contacts, "
            "or inputs"
        )
    return result


def require_contacts(model: Model, contacts: Contacts) -> None:
    """Raise unless these are contacts of this model, or of an equal one, as the core does."""
    require("model", model, Model)
    require("contacts", contacts, Contacts)
    if not contacts._is_of(model):
        raise ValueError("contacts: expected those of this model, got another model's")


def holds_nan(result: NDArray[np.float64], axes: int = 1) -> bool:
    """Whether the result of a call of one state, of so many axes, begins with NaN."""
    return result.ndim == axes and result.size > 0 and math.isnan(result.item(0))


def raise_of_rank(
    model: Model,
    q: ArrayLike,
    contacts: Contacts,
    active: ArrayLike | None,
    damping: float,
    arrays: Iterable[ArrayLike | None],
) -> None:
    """Raise for rows of a state that depend on others, unless the state is not finite."""
    if not are_finite(active, q, *arrays):
        return
    held = np.zeros(len(contacts))
    still = np.zeros(model.nv)
    before: list[int] = []
    for k in active_contacts(contacts, active):
        held[k] = 1.0
        tried = _core.impulse_dynamics(model, q, still, contacts, 0.0, held, damping)
        if math.isnan(tried.impulses.item(0)):
            row, nothing = dependent_row(model, q, contacts, before, k)
            names = [contacts.names[i] for i in before]
            others = f"those of {listing(names)}" if names else "each other"
            why = f"rows of {contacts.names[k]!r} depend on {others} in this state, first {row},"
            if nothing:
                why = f"nothing moves {row} in this state, but for rounding errors,"
            raise ValueError(
                f"contacts: {why} so that forces are not determined; leave some contacts out with "
                f"active=, or give {'a larger ' if damping else ''}damping="
            )
        before.append(k)


def raise_of_stage(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    integrator: Integrator,
    f_ext: ArrayLike | None,
    f_ext_axes: Axes,
    contacts: Contacts,
    active: ArrayLike | None,
    damping: float,
    *others: ArrayLike | None,
) -> None:
    """Raise for rows that depend on others, at the state of a step or at a later stage of it."""
    arrays = (v, tau, dt, f_ext, *others)
    raise_of_rank(model, q, contacts, active, damping, arrays)
    if not are_finite(active, q, *arrays):
        return
    plain, damped = (
        _core.step(model, q, v, tau, dt, integrator, f_ext, f_ext_axes, contacts, active, mu).v
        for mu in (damping, damping + 1.0)
    )
    if holds_nan(plain) and np.isfinite(damped).all():  # numbers that are too large stay so
        raise ValueError(
            "contacts: rows depend on each other at a later stage of this step, so that forces are "
            "not determined; take a shorter dt, leave some out with active=, or give damping="
        )


def are_finite(*arrays: ArrayLike | None) -> bool:
    """Whether no number of the arguments of a call can have made its results NaN."""
    return all(np.isfinite(x).all() for x in arrays if x is not None)


def active_contacts(contacts: Contacts, active: ArrayLike | None) -> list[int]:
    """Return the numbers of contacts that hold in a single state."""
    return [k for k in range(len(contacts)) if active is None or np.asarray(active)[k] >= 0.5]
