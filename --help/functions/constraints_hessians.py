"""Hessians of constrained dynamics and of impacts, contracted with weights, without a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
from dtau.former_keywords import hides_former, refuse
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import ConstrainedDynamicsHessian, ImpulseDynamicsHessian


@hides_former
def constrained_dynamics_hessian(
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
    regularization: float = 0.0,
    symmetric: bool = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> ConstrainedDynamicsHessian:
    """Hessian of constrained dynamics, contracted with weights of accelerations and forces.

        dqdv[j, k] = d/dv_k (d (lam . a + lam_forces . forces) / dq_j)    the other blocks likewise

    DDP and exact-Hessian SQP need these second derivatives; Gauss-Newton methods drop them. Pass
    the gradients of a cost by the accelerations and by the forces as ``lam`` and ``lam_forces``,
    for example of a cost on friction cones.

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    tau : array_like (..., nv)
        Joint torque in N m and force in N; for a free joint the wrench [force, moment] in the body
        frame.
    lam : array_like (..., nv)
        Weight of each acceleration, held constant.
    lam_forces : array_like (..., nrows)
        Weight of each force along the axes of its contact, held constant.
    contacts : Contacts
        Contacts and loops of this model. Their forces act in addition to ``f_ext``.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
        `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
        numbers, in body axes.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
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
    symmetric : bool, optional
        True: within a joint of several degrees of freedom, second derivatives by ``q`` are taken in the
        exponential chart, which makes them symmetric in their last two indices. By default they are
        repeated derivatives, by the first of these indices first.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ConstrainedDynamicsHessian
        Second derivatives of the weighted sum, Baumgarte gains included. The blocks by tau and v
        and by tau twice are zero and not returned.

        dqdq : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by ``q`` along j, then by ``q`` along k, in the tangent
            space.
        dqdv : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by ``q`` along j, then by velocity k.
        dvdv : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by velocity j, then by velocity k.
        dtaudq : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by torque j, then by ``q`` along k.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the contacts belong
        to another model, ``f_ext_axes`` is unknown, or joints of the model have no inertia to
        accelerate (they are named). In a call of one state also if the rows of its contacts depend on
        each other or on nothing but rounding errors (the first such row is named). In a batch such a
        state has NaN for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, ``contacts`` is not a
        `Contacts`, or ``symmetric`` is not a bool.

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
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> feet = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
    >>> contacts = dtau.Contacts(model, feet)
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> lam, lam_forces = rng.standard_normal(model.nv), rng.standard_normal(contacts.nrows)
    >>> h = dtau.constrained_dynamics_hessian(model, q, v, tau, lam, lam_forces, contacts)
    >>> dv = 1e-6 * rng.standard_normal(model.nv)
    >>> weights = lam, lam_forces, contacts
    >>> more = dtau.constrained_dynamics_vjp(model, q, v + dv, tau, *weights)
    >>> less = dtau.constrained_dynamics_vjp(model, q, v - dv, tau, *weights)
    >>> bool(np.allclose(more.by_q - less.by_q, 2.0 * h.dqdv @ dv, atol=1e-9))
    True
    """
    if former:
        refuse("constrained_dynamics_hessian", former)
    require("symmetric", symmetric, bool)
    return _core.constrained_dynamics_hessian(
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
        regularization,
        symmetric,
        out,
        threads,
    )


@hides_former
def impulse_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    lam: ArrayLike,
    lam_impulses: ArrayLike,
    contacts: Contacts,
    restitution: ArrayLike = 0.0,
    *,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    symmetric: bool = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> ImpulseDynamicsHessian:
    """Hessian of an impact, contracted with weights of the velocity after it and of the impulses.

        dqdv[j, k] = d/dv_k (d (lam . v_after + lam_impulses . impulses) / dq_j)    dqdq likewise

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
        This is the velocity before the impact.
    lam : array_like (..., nv)
        Weight of each velocity after the impact, held constant.
    lam_impulses : array_like (..., nrows)
        Weight of each impulse.
        The impulses are along the axes of the contacts. The weights are held constant.
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
    symmetric : bool, optional
        True: within a joint of several degrees of freedom, second derivatives by ``q`` are taken in the
        exponential chart, which makes them symmetric in their last two indices. By default they are
        repeated derivatives, by the first of these indices first.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ImpulseDynamicsHessian
        Second derivatives of the weighted sum. The block by v twice is zero and not returned.

        dqdq : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by ``q`` along j, then by ``q`` along k, in the tangent
            space.
        dqdv : ndarray (..., nv, nv)
            Entry [j, k] is the derivative by ``q`` along j, then by velocity k.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the contacts belong
        to another model, or joints of the model have no inertia to accelerate (they are named). In a
        call of one state also if the rows of its contacts depend on each other or on nothing but
        rounding errors (the first such row is named). In a batch such a state has NaN for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, ``contacts`` is not a
        `Contacts`, or ``symmetric`` is not a bool.

    Notes
    -----
    [Derivations] eq. 23.19: the algorithm of `dtau.constrained_dynamics_hessian`, at rest and
    without gravity, with v_after - v as the acceleration. O(N d + nv^2 (d + nrows)).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> lam, lam_impulses = np.ones(model.nv), np.zeros(3)
    >>> h = dtau.impulse_dynamics_hessian(model, q, v, lam, lam_impulses, contacts)
    >>> d = dtau.impulse_dynamics_derivatives(model, q, v, contacts)
    >>> bool(np.allclose(h.dqdv @ v, lam @ d.dv_dq))  # velocities after are linear in v
    True
    """
    if former:
        refuse("impulse_dynamics_hessian", former)
    require("symmetric", symmetric, bool)
    return _core.impulse_dynamics_hessian(
        model,
        q,
        v,
        lam,
        lam_impulses,
        contacts,
        restitution,
        active,
        regularization,
        symmetric,
        out,
        threads,
    )
