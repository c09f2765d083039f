"""Forward and inverse dynamics with contacts and closed loops: `constrained_dynamics`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NoReturn, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
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
    """Constrained forward dynamics: the acceleration under ``tau``, and the constraint forces.

        M a - J^T forces = tau - bias + sum of J_ext^T f_ext
        J a + dJ/dt v = -kd (velocities of the rows) - kp (errors of the rows)

    J is the Jacobian of the constraint rows, J_ext the Jacobian of a body, and bias the Coriolis,
    damping and gravity torques.

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
    ConstrainedDynamics
        a : ndarray (..., nv)
            Joint acceleration in rad/s^2 and m/s^2: the time derivative of ``v``, component by
            component.
        forces : ndarray (..., nrows)
            Constraint forces in N and N m, one contact after the other (`Contacts.rows`):
            [force, moment] on the contact's frame at its origin, along the contact's axes. The force of
            a loop is the one on ``frame_a``.
        residual : ndarray (..., nrows)
            Acceleration of each constraint row minus its reference acceleration: 0 up to rounding,
            unless ``regularization`` is given and rows contradict each other.

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
    [Derivations] section 20, with the factors of [RBDA] section 6.5: O(N d^2) for the tree of depth
    d and O(nrows^3) for the contacts. The constraints act on accelerations: errors of velocities
    and positions stay, unless the Baumgarte gains ``kd`` and ``kp`` remove them.

    Examples
    --------
    The feet of a robot do not accelerate:

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
    """Derivatives of constrained accelerations and forces by configuration, velocity and torque.

    With ``K = [[M, -J^T], [J, 0]]``, by q and by v:

        [da; dforces] = -K^-1 [d(inverse dynamics); d(rows)]

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
    forces : bool, optional
        True: also return the acceleration and the constraint forces themselves.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ConstrainedDynamicsDerivatives
        The derivatives include the Baumgarte gains. Rows of inactive contacts are 0.

        da_dq : ndarray (..., nv, nv)
            Entry [i, k] is the derivative of acceleration i along q (+) eps e_k, in the tangent space;
            for a free joint along a displacement [linear, angular] in the body frame.
        da_dv : ndarray (..., nv, nv)
            Entry [i, k] is the derivative of acceleration i by velocity k.
        da_dtau : ndarray (..., nv, nv)
            Entry [i, k] is the derivative of acceleration i by torque k.
        dforces_dq : ndarray (..., nrows, nv)
            Entry [i, k] is the derivative of force i, along the axes of its contact, along q (+) eps
            e_k.
        dforces_dv : ndarray (..., nrows, nv)
            Entry [i, k] is the derivative of force i by velocity k.
        dforces_dtau : ndarray (..., nrows, nv)
            Entry [i, k] is the derivative of force i by torque k.
        residual : ndarray (..., nrows)
            Acceleration of each constraint row minus its reference acceleration: 0 up to rounding,
            unless ``regularization`` is given and rows contradict each other.
    ConstrainedDynamicsWithDerivatives
        With ``forces=True``, also:

        a : ndarray (..., nv)
            Joint acceleration in rad/s^2 and m/s^2: the time derivative of ``v``, component by
            component.
        forces : ndarray (..., nrows)
            Constraint forces in N and N m, one contact after the other (`Contacts.rows`):
            [force, moment] on the contact's frame at its origin, along the contact's axes. The force of
            a loop is the one on ``frame_a``.

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
        `Contacts`, or ``forces`` is not a bool.

    Notes
    -----
    [Derivations] section 20: one solve for the derivatives of inverse dynamics with the contact
    wrenches, [IDSVA] algorithm 1, and the derivatives of the constraint rows; O(N^2 d) for the tree
    of depth d and O(N nrows (d + nrows)) for the contacts. With ``regularization`` the results are
    the derivatives of the forces G^+ b of `dtau.constrained_dynamics`, and of the acceleration
    under them, for any ``residual``: the full derivative of the pseudo-inverse, [Golub-Pereyra]. It
    exists where the rank of J is constant near q. In a batch, a state whose rows depend on each
    other has NaN for all derivatives that its contacts affect.

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

    Get the acceleration and the forces from the same call:

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
    """Constrained inverse dynamics: joint torques and least-norm contact forces that give ``a``.

        tau + J^T forces = M a + bias - sum of J_ext^T f_ext,    tau = 0 where no input drives

    Parameters
    ----------
    model : Model
        The robot.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
        The function does not check that the contacts hold with this acceleration.
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
    inputs : ndarray of bool (nv,), optional
        Mask of the driven torques; by default the torques of all joints except free roots.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    ConstrainedInverseDynamics
        tau : ndarray (..., nv)
            Joint torque; 0 up to rounding where no input drives.
        forces : ndarray (..., nrows)
            Contact forces in the format of `dtau.constrained_dynamics`: of all forces that give ``a``,
            those with the least sum of squares.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the contacts belong
        to another model, ``f_ext_axes`` is unknown, or the call has one state, and no contact forces
        can move the joints that are not driven (one point contact cannot hold a base; the message names
        the joints). In a batch such a state has NaN for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``contacts`` is not a
        `Contacts`.

    Notes
    -----
    [Derivations] section 20; O(N) for the tree and O(nrows) for each torque without an input.

    Examples
    --------
    Torques and contact forces of a standing robot:

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
    """Raise unless these are contacts of this model or an equal one; the core checks the same."""
    require("model", model, Model)
    require("contacts", contacts, Contacts)
    if not contacts._is_of(model):
        raise ValueError("contacts: expected those of this model, got another model's")
