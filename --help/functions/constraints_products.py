"""Products with the first derivatives of constrained dynamics, without forming a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.former_keywords import hides_former, refuse
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import (
    ConstrainedDynamicsJVP,
    ConstrainedDynamicsVJP,
)


@hides_former
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
    regularization: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> ConstrainedDynamicsJVP:
    """Variation of constrained accelerations and contact forces along variations of the arguments.

        da = da_dq dq + da_dv dv + da_dtau dtau,    dforces likewise

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
    dq : array_like (..., nv)
        Variation of ``q`` in the tangent space, along q (+) eps dq; for a free joint a displacement
        [linear, angular] in the body frame.
    dv : array_like (..., nv)
        Variation of the components of ``v``.
    dtau : array_like (..., nv)
        Variation of the components of ``tau``.
    contacts : Contacts
        Contacts and loops of this model. Their forces act in addition to ``f_ext``.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
        `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
        numbers, in body axes.
    df_ext : array_like (..., nbodies, 6), optional
        Variation of the components of ``f_ext``; zero by default.
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
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ConstrainedDynamicsJVP
        The matrices of `dtau.constrained_dynamics_derivatives` times the variations.

        da : ndarray (..., nv)
            Variation of the joint acceleration.
        dforces : ndarray (..., nrows)
            Variation of the constraint forces.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the contacts belong
        to another model, ``f_ext_axes`` is unknown, or joints of the model have no inertia to
        accelerate (they are named). In a call of one state also if the rows of its contacts depend on
        each other or on nothing but rounding errors (the first such row is named). In a batch such a
        state has NaN for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``contacts`` is not a
        `Contacts`.

    Notes
    -----
    [Derivations] section 20: the JVP of inverse dynamics, [Derivations] section 6, and one more
    solve with the factors of `dtau.constrained_dynamics`, whose order of cost it has: O(N d^2) for
    the tree of depth d and O(nrows^3). For rows that contradict each other, with
    ``regularization``, see `dtau.constrained_dynamics_derivatives`.

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
    if former:
        refuse("constrained_dynamics_jvp", former)
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
        regularization,
        out,
        threads,
    )


@hides_former
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
    regularization: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> ConstrainedDynamicsVJP:
    """Gradient of ``lam . a + lam_forces . forces`` by the arguments of constrained dynamics.

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
        Weight of each acceleration, in the order of ``v``.
    lam_forces : array_like (..., nrows)
        Weight of each force.
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
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ConstrainedDynamicsVJP
        The transposed matrices of `dtau.constrained_dynamics_derivatives` times the weights.

        by_q : ndarray (..., nv)
            Gradient by ``q`` in the tangent space: entry k along q (+) eps e_k.
        by_v : ndarray (..., nv)
            Gradient by ``v``.
        by_tau : ndarray (..., nv)
            Gradient by ``tau``.
        by_f_ext : ndarray (..., nbodies, 6), or None
            Gradient by ``f_ext``, [by force, by moment] in the axes ``f_ext_axes``. None without
            ``f_ext``.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the contacts belong
        to another model, ``f_ext_axes`` is unknown, or joints of the model have no inertia to
        accelerate (they are named). In a call of one state also if the rows of its contacts depend on
        each other or on nothing but rounding errors (the first such row is named). In a batch such a
        state has NaN for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``contacts`` is not a
        `Contacts`.

    Notes
    -----
    [Derivations] section 20: one solve with the factors of `dtau.constrained_dynamics`, then the
    VJP of inverse dynamics, [Derivations] section 6, with the solution; the same order of cost, O(N
    d^2) for the tree of depth d and O(nrows^3). For rows that contradict each other, with
    ``regularization``, see `dtau.constrained_dynamics_derivatives`.

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
    if former:
        refuse("constrained_dynamics_vjp", former)
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
        regularization,
        out,
        threads,
    )
