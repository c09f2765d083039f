"""Linearize the equations of motion on the manifold: `linearize`, `linearize_discrete`.

A state (q, v) is perturbed to (q (+) eps xi, v + eps dv), with xi in the tangent space at q as in
`dtau.integrate`: displacements of free, spherical and planar joints along their own body axes. The
perturbation z = (xi, dv) follows a linear system: in continuous time dz/dt = A z + B u, over a time
step z+ = A z + B u. No coordinates of attitude are involved, so no attitude is singular.
"""

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
from dtau.options import Axes, Integrator
from dtau.results import (
    ConstrainedDiscreteLinearization,
    ConstrainedLinearization,
    DiscreteLinearization,
    DiscreteLinearizationWithForces,
    Linearization,
)


@overload
def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: None = None,
    active: None = None,
    regularization: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> Linearization: ...
@overload
def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedLinearization: ...
@hides_former
def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> Linearization | ConstrainedLinearization:
    """Left-trivialized linearization of the equations of motion: dz/dt = A z + B u.

    The state (q, v) is perturbed to (q (+) eps xi, v + eps dv) with `dtau.integrate`'s (+). The
    perturbation is z = [xi, dv], and u is the perturbation of the inputs.

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
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
        `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
        numbers, in body axes.
    inputs : array_like (..., nv, nu), or (nv,) of bool, optional
        The inputs u that drive the robot. None: the torques of all joints except free roots. A mask:
        the torques where it is true. A matrix B, or one for each state: the joint torque is ``B @ u``,
        in N m and N per unit of each input.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    contacts : Contacts, optional
        Contacts and loops that hold while state and inputs vary: the acceleration is the result of
        `dtau.constrained_dynamics`, and the contact forces vary with it. They act in addition to
        ``f_ext``.
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
    Linearization
        With z = [xi, dv]: the upper rows are the kinematics, dxi/dt = -ad_v xi + dv, with ad_v = (v
        x) for a free joint, likewise for spherical and planar joints, zero for all others; the
        lower rows are [da_dq, da_dv] and da_dtau times the map of the inputs, from
        `dtau.forward_dynamics_derivatives` or, with contacts, from
        `dtau.constrained_dynamics_derivatives`.

        A : ndarray (..., 2 nv, 2 nv)
            Derivative by the state, z = [xi, dv].
        B : ndarray (..., 2 nv, nu)
            Derivative by the inputs u.
        a : ndarray (..., nv)
            Joint acceleration in rad/s^2 and m/s^2: the time derivative of ``v``, component by
            component.
    ConstrainedLinearization
        If ``contacts`` are given, also:

        residual : ndarray (..., nrows)
            Acceleration of each constraint row minus its reference acceleration: 0 up to rounding,
            unless ``regularization`` is given and rows contradict each other.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, ``f_ext_axes`` is
        unknown, the contacts belong to another model, joints of the model have no inertia to accelerate
        (they are named), or ``active`` or ``regularization`` are given without contacts. In a call of
        one state also if the rows of its contacts depend on each other or on nothing but rounding
        errors (the first such row is named). In a batch such a state has NaN for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``contacts`` is not a
        `Contacts`.

    Notes
    -----
    [Bos] propositions 1 to 3, for every joint type and root; the twist of the base is along body
    axes (`dtau.conventions` converts to others). FDSVA, [IDSVA] eq. 5; O(N^2 d) with the depth d of
    the tree. Contacts: [Derivations] section 20. The contact force on a foot then varies, so that
    the foot stays in place.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> lin = dtau.linearize(model, q, v, tau)
    >>> lin.A.shape, lin.B.shape
    ((36, 36), (36, 12))
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(lin.A[18:], np.hstack([d.da_dq, d.da_dv])))
    True

    Another kind of input: one thruster that pushes the trunk along its own z axis.

    >>> thruster = np.zeros((model.nv, 1))
    >>> thruster[2] = 1.0
    >>> dtau.linearize(model, q, v, tau, inputs=thruster).B.shape
    (36, 1)

    Thrusters that swivel: one input matrix for each of three knots at this state.

    >>> swivelled = np.zeros((3, model.nv, 1))
    >>> swivelled[:, 0, 0], swivelled[:, 2, 0] = np.sin([0, 0.1, 0.2]), np.cos([0, 0.1, 0.2])
    >>> dtau.linearize(model, q, v, tau, inputs=swivelled).B.shape
    (3, 36, 1)

    With contacts, the gain kd damps the velocity of the feet:

    >>> feet = [dtau.PointContact(f"{leg}_FOOT", kd=20) for leg in ("LF", "RF", "LH", "RH")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> lin = dtau.linearize(model, q, v, tau, contacts=contacts)
    >>> d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts)
    >>> bool(np.allclose(lin.A[18:, 18:], d.da_dv))
    True
    """
    if former:
        refuse("linearize", former)
    return _core.linearize(
        model, q, v, tau, f_ext, inputs, f_ext_axes, contacts, active, regularization, out, threads
    )


@overload
def linearize_discrete(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: None = None,
    active: None = None,
    regularization: float = 0.0,
    forces: Literal[False] = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> DiscreteLinearization: ...
@overload
def linearize_discrete(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    forces: Literal[False] = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedDiscreteLinearization: ...
@overload
def linearize_discrete(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    forces: Literal[True],
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> DiscreteLinearizationWithForces: ...
@hides_former
def linearize_discrete(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    forces: bool = False,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> DiscreteLinearization | ConstrainedDiscreteLinearization | DiscreteLinearizationWithForces:
    """Linearize a time step exactly, by state and inputs: z+ = A z + B u.

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
    dt : array_like (...)
        Length of the step in seconds.
    integrator : {"euler", "semi_implicit", "rk4"}
        With q (+) dq of `dtau.integrate` and the acceleration a(q, v):

        - ``"euler"``: q (+) dt v and v + dt a;
        - ``"semi_implicit"``: v+ = v + dt a and q (+) dt v+;
        - ``"rk4"``: the classical Runge-Kutta method, with order 4 on the manifold too.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
        `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
        numbers, in body axes.
    inputs : array_like (..., nv, nu), or (nv,) of bool, optional
        The inputs u that drive the robot. None: the torques of all joints except free roots. A mask:
        the torques where it is true. A matrix B, or one for each state: the joint torque is ``B @ u``,
        in N m and N per unit of each input.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    contacts : Contacts, optional
        Contacts and loops that hold at every stage while state and inputs vary: the acceleration is
        the result of `dtau.constrained_dynamics`, and the contact forces vary with it. They act in
        addition to ``f_ext``.
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
        True: also return the contact forces and their derivatives, for costs on forces such as friction
        cones.
        The forces and their derivatives belong to the state before the step.
    out : sequence of ndarray, optional
        One array for each result of the call, in their order: float64, C-contiguous, writable, of the
        result's shape, sharing no memory with the arguments or with each other. The tuple that an
        earlier call returned is valid.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    DiscreteLinearization
        z = [xi, dv] is a perturbation of the state before the step, and z+ of the state after it,
        each in its own tangent space. Pass all knots of a trajectory in one call, as a batch.

        A : ndarray (..., 2 nv, 2 nv)
            Derivative by the state, z = [xi, dv].
        B : ndarray (..., 2 nv, nu)
            Derivative by the inputs u.
        q : ndarray (..., nq)
            Configuration after the step.
        v : ndarray (..., nv)
            Velocity after the step.
    ConstrainedDiscreteLinearization
        If ``contacts`` are given, also:

        residual : ndarray (..., nrows)
            Acceleration of each constraint row minus its reference acceleration, in the state before
            the step: 0 up to rounding, unless ``regularization`` is given and rows contradict each
            other.
    DiscreteLinearizationWithForces
        With ``forces=True``, also:

        forces : ndarray (..., nrows)
            Contact forces in the state before the step, in the format of `dtau.constrained_dynamics`.
        dforces_dz : ndarray (..., nrows, 2 nv)
            Derivative of the contact forces by the state, z = [xi, dv].
        dforces_du : ndarray (..., nrows, nu)
            Derivative of the contact forces by the inputs u.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the integrator is
        unknown, ``f_ext_axes`` is unknown, the contacts belong to another model, joints of the model
        have no inertia to accelerate (they are named), or ``active``, ``regularization`` or ``forces``
        are given without contacts. In a call of one state also if the rows of its contacts depend on
        each other or on nothing but rounding errors (the first such row is named). In a batch such a
        state has NaN for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, ``contacts`` is not a
        `Contacts`, or ``forces`` is not a bool.

    Notes
    -----
    The chain rule through all stages and through the exponentials that move free, spherical and
    planar joints, [Sola] appendices B to D; no matrix exponential and no approximation. O(N d) for
    each column and stage. Contacts, with their Baumgarte gains, [Derivations] eq. 20.15, add
    O(nrows d + nrows^2).

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0), shape=(50,))
    >>> lin = dtau.linearize_discrete(model, q, v, tau, 0.01, "rk4")
    >>> lin.A.shape, lin.B.shape
    ((50, 36, 36), (50, 36, 12))
    >>> z = 1e-7 * np.ones(36)
    >>> moved = dtau.integrate(model, q, z[:18]), v + z[18:]
    >>> after = dtau.step(model, *moved, tau, 0.01, "rk4")
    >>> bool(np.allclose(dtau.difference(model, lin.q, after.q), lin.A[:, :18] @ z, atol=1e-11))
    True

    A trot, in which two feet hold in each half:

    >>> feet = [dtau.PointContact(f"{leg}_FOOT") for leg in ("LF", "RF", "LH", "RH")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> active = np.repeat([[1, 0, 0, 1], [0, 1, 1, 0]], 25, axis=0)
    >>> trot = dtau.linearize_discrete(model, q, v, tau, 0.01, contacts=contacts, active=active)
    >>> trot.A.shape
    (50, 36, 36)

    Get the forces of the feet and their derivatives by z and u from the same call, for a cost on
    these forces:

    >>> held = dtau.linearize_discrete(model, q, v, tau, 0.01, contacts=contacts, forces=True)
    >>> held.forces.shape, held.dforces_dz.shape, held.dforces_du.shape
    ((50, 12), (50, 12, 36), (50, 12, 12))
    """
    require("forces", forces, bool)
    if former:
        refuse("linearize_discrete", former)
    return _core.linearize_discrete(
        model,
        q,
        v,
        tau,
        dt,
        integrator,
        f_ext,
        inputs,
        f_ext_axes,
        contacts,
        active,
        regularization,
        forces,
        out,
        threads,
    )
