"""Dynamics of robots whose contacts and closed loops hold, forward and inverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NoReturn, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
from dtau.docstrings import documented
from dtau.former_keywords import hides_former, refuse
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import (
    ConstrainedDynamics,
    ConstrainedDynamicsDerivatives,
    ConstrainedDynamicsWithDerivatives,
    ConstrainedInverseDynamics,
)


@documented
@hides_former
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
    regularization: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
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
    if former:
        refuse("constrained_dynamics", former)
    return _core.constrained_dynamics(
        model, q, v, tau, contacts, f_ext, f_ext_axes, active, regularization, out, threads
    )


@overload
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
    regularization: float = 0.0,
    forces: Literal[False] = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsDerivatives: ...
@overload
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
    regularization: float = 0.0,
    forces: Literal[True],
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsWithDerivatives: ...
@documented
@hides_former
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
    regularization: float = 0.0,
    forces: bool = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> ConstrainedDynamicsDerivatives | ConstrainedDynamicsWithDerivatives:
    """Derivatives of accelerations and contact forces by configuration, velocity and torque.

    With ``K = [[M, -J^T], [J, 0]]``, by q and by v:

        [da; dforces] = -K^-1 [d(inverse dynamics); d(rows)]

    Parameters
    ----------
    forces
        Whether the values are results, too: the acceleration and the forces.

    Returns
    -------
    ConstrainedDynamicsDerivatives
        The gains of the contacts are part of them. Rows of contacts that are not active are 0.
    ConstrainedDynamicsWithDerivatives
        With ``forces``, also:

    Notes
    -----
    [Derivations] section 20: the derivatives of inverse dynamics, [IDSVA] algorithm 1, with the
    wrenches of the contacts, and those of their rows, solved for together; O(N^2 d) for the tree of
    depth d and O(N nrows (d + nrows)) for the contacts. With a ``regularization`` they are the
    derivatives of the forces G^+ b of `dtau.constrained_dynamics` and their acceleration, whatever
    the ``residual``: the full derivative of the pseudo-inverse, [Golub-Pereyra], which exists where
    the rank of J is the same in all configurations around. In a batch, a state whose rows depend on
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

    The values of the same call:

    >>> both = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts, forces=True)
    >>> value = dtau.constrained_dynamics(model, q, v, tau, contacts)
    >>> bool(np.allclose(both.a, value.a) and np.allclose(both.forces, value.forces))
    True
    """
    require("forces", forces, bool)
    if former:
        refuse("constrained_dynamics_derivatives", former)
    return _core.constrained_dynamics_derivatives(
        model, q, v, tau, contacts, f_ext, f_ext_axes, active, regularization, forces, out, threads
    )


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
    return _core.constrained_inverse_dynamics(
        model, q, v, a, contacts, f_ext, f_ext_axes, active, inputs, out, threads
    )


def require_contacts(model: Model, contacts: Contacts) -> None:
    """Raise unless these are contacts of this model, or of an equal one, as the core does."""
    require("model", model, Model)
    require("contacts", contacts, Contacts)
    if not contacts._is_of(model):
        raise ValueError("contacts: expected those of this model, got another model's")
