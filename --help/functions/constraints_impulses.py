"""Impacts of contacts and loops: velocities, impulses and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.former_keywords import hides_former, refuse
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.results import ImpulseDynamics, ImpulseDynamicsDerivatives


@hides_former
def impulse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    restitution: ArrayLike = 0.0,
    *,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> ImpulseDynamics:
    """Impact dynamics: the velocity after an impact, and the impulses of contacts and loops.

        M (v_after - v) = J^T impulses,    J v_after = -restitution J v

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
        It is the velocity before the impact.
    contacts : Contacts
        The contacts and loops that hold afterwards, of this model. Gains and placements do not
        matter.
    restitution : array_like (...)
        Coefficient of restitution: the velocity of each constraint row after the impact is
        ``-restitution`` times the one before. 0 keeps the contact closed, 1 is elastic.
    active : array_like (..., ncontacts), optional
        Which contacts hold in each state: true or 1 if the contact holds, false or 0 if it does not and
        has no force. Other numbers count as true from 0.5 on. By default all contacts hold.
    regularization : float
        Set it if constraint rows depend on each other, as with four flat feet. Choose it small compared
        with the eigenvalues of the Schur complement G = J M^-1 J^T, in 1/kg, but larger than their
        rounding errors: 1e-6 of the eigenvalues works. The result does not depend on its value: the
        forces are G^+ b, the least-squares forces of least norm. Here b is the reference acceleration
        of the rows minus J times the acceleration without contacts. For an impact, read impulses for
        forces and velocities for accelerations.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ImpulseDynamics
        v : ndarray (..., nv)
            Velocity after the impact.
        impulses : ndarray (..., nrows)
            Impulses of the contacts in N s and N m s. Order, origins and axes are the same as for the
            forces of `dtau.constrained_dynamics`.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the contacts belong
        to another model, or joints of the model have no inertia to accelerate (they are named). In a
        call of one state also if the rows of its contacts depend on each other or on nothing but
        rounding errors (the first such row is named). In a batch such a state has NaN for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``contacts`` is not a
        `Contacts`.

    Notes
    -----
    [Derivations] section 20, with the factors of [RBDA] section 6.5: O(N d^2) for the tree of depth
    d and O(nrows^3) for the contacts.

    Examples
    --------
    Two feet touch down:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> feet = ["LF_FOOT", "RH_FOOT"]
    >>> contacts = dtau.Contacts(model, [dtau.PointContact(foot) for foot in feet])
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> after = dtau.impulse_dynamics(model, q, v, contacts)
    >>> bool(abs(dtau.frame_velocities(model, q, after.v, feet)[:, :3]).max() < 1e-12)
    True
    """
    if former:
        refuse("impulse_dynamics", former)
    return _core.impulse_dynamics(
        model, q, v, contacts, restitution, active, regularization, out, threads
    )


@hides_former
def impulse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    restitution: ArrayLike = 0.0,
    *,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> ImpulseDynamicsDerivatives:
    """Derivatives of impact dynamics: velocity and impulses by configuration and velocity.

    With ``K = [[M, -J^T], [J, 0]]``, by q and by v:

        [dv_after - dv; dimpulses] = -K^-1 [d(M (v_after - v) - J^T impulses); d(rows)]

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
        It is the velocity before the impact.
    contacts : Contacts
        The contacts and loops that hold afterwards, of this model. Gains and placements do not
        matter.
    restitution : array_like (...)
        Coefficient of restitution: the velocity of each constraint row after the impact is
        ``-restitution`` times the one before. 0 keeps the contact closed, 1 is elastic.
    active : array_like (..., ncontacts), optional
        Which contacts hold in each state: true or 1 if the contact holds, false or 0 if it does not and
        has no force. Other numbers count as true from 0.5 on. By default all contacts hold.
    regularization : float
        Set it if constraint rows depend on each other, as with four flat feet. Choose it small compared
        with the eigenvalues of the Schur complement G = J M^-1 J^T, in 1/kg, but larger than their
        rounding errors: 1e-6 of the eigenvalues works. The result does not depend on its value: the
        forces are G^+ b, the least-squares forces of least norm. Here b is the reference acceleration
        of the rows minus J times the acceleration without contacts. For an impact, read impulses for
        forces and velocities for accelerations.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ImpulseDynamicsDerivatives
        dv_dq : ndarray (..., nv, nv)
            Entry [i, k] is the derivative of velocity i after the impact along q (+) eps e_k, in the
            tangent space.
        dv_dv : ndarray (..., nv, nv)
            Entry [i, k] is the derivative of velocity i after the impact by velocity k before it.
        dimpulses_dq : ndarray (..., nrows, nv)
            Entry [i, k] is the derivative of impulse i along q (+) eps e_k, in the tangent space.
        dimpulses_dv : ndarray (..., nrows, nv)
            Entry [i, k] is the derivative of impulse i by velocity k before the impact.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the contacts belong
        to another model, or joints of the model have no inertia to accelerate (they are named). In a
        call of one state also if the rows of its contacts depend on each other or on nothing but
        rounding errors (the first such row is named). In a batch such a state has NaN for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``contacts`` is not a
        `Contacts`.

    Notes
    -----
    [Derivations] section 20: the same solve as in `dtau.constrained_dynamics_derivatives`, at rest,
    without gravity, and with the acceleration v_after - v; O(N^2 d) for the tree of depth d and O(N
    nrows (d + nrows)) for the contacts. The right-hand side of the rows of an impact is J times a
    velocity, so rows cannot contradict each other, and there is no residual. In a batch, a state
    whose rows depend on each other has NaN for all derivatives that its contacts affect.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.impulse_dynamics_derivatives(model, q, v, contacts)
    >>> after = dtau.impulse_dynamics(model, q, v, contacts)
    >>> bool(np.allclose(d.dv_dv @ v, after.v))
    True
    """
    if former:
        refuse("impulse_dynamics_derivatives", former)
    return _core.impulse_dynamics_derivatives(
        model, q, v, contacts, restitution, active, regularization, out, threads
    )
