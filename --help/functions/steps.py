"""Time steps of the equations of motion on the configuration manifold, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.former_keywords import hides_former, refuse
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes, Integrator
from dtau.results import NextState, StepVJP


@hides_former
def step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> NextState:
    """Integrate the equations of motion over a time step, with constant torque.

        M a + C v + D v + g = tau + sum of J^T f_ext    from t to t + dt, tau and f_ext constant

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
        Its components, and those of ``tau``, are constant over the step.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    contacts : Contacts, optional
        Contacts and loops that hold at every stage; the acceleration is the result of
        `dtau.constrained_dynamics`. Their forces act in addition to ``f_ext``.
    active : array_like (..., ncontacts), optional
        Which contacts hold in each state: true or 1 if the contact holds, false or 0 if it does not and
        has no force. Other numbers count as true from 0.5 on. By default all contacts hold.
        The same contacts hold over the whole step.
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
    NextState
        q : ndarray (..., nq)
            Configuration after the step, with quaternions of unit norm.
        v : ndarray (..., nv)
            Velocity after the step.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the integrator is
        unknown, ``f_ext_axes`` is unknown, the contacts belong to another model, joints of the model
        have no inertia to accelerate (they are named), or ``active`` or ``regularization`` are given
        without contacts. Contacts are checked in every stage. In a call of one state also if the rows
        of its contacts depend on each other or on nothing but rounding errors (the first such row is
        named). In a batch such a state has NaN for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``contacts`` is not a
        `Contacts`.

    Notes
    -----
    "rk4" is a Runge-Kutta-Munthe-Kaas method, [RKMK]: with q(t) = q (+) theta(t), it integrates
    theta' = v + [theta, v]/2 + [theta, [theta, v]]/12 and v' = a. The brackets vanish for joints of
    one degree of freedom; the other joints need them for order 4. Each stage computes
    `dtau.forward_dynamics`, O(N); "euler" and "semi_implicit" have one stage, "rk4" has four.
    Contacts constrain accelerations: the integration errors of their velocities and positions stay,
    unless the Baumgarte gains ``kd`` and ``kp`` remove them.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v = dtau.neutral(model), np.zeros(model.nv)
    >>> for _ in range(100):  # free fall for a second
    ...     q, v = dtau.step(model, q, v, np.zeros(model.nv), 0.01, "rk4")
    >>> float(q[2].round(6))
    -4.905

    On its feet, with the torques of an equilibrium, the robot stays where it is:

    >>> legs = {"LF": 0.6, "RF": 0.6, "LH": -0.6, "RH": -0.6}
    >>> bent = {f"{leg}_HFE": hip for leg, hip in legs.items()}
    >>> bent |= {f"{leg}_KFE": -2.0 * hip for leg, hip in legs.items()}
    >>> start, v = dtau.configuration(model, bent), np.zeros(model.nv)
    >>> feet = [dtau.PointContact(f"{leg}_FOOT", kp=400, kd=40) for leg in legs]
    >>> contacts = dtau.Contacts(model, feet, at=start)
    >>> tau = dtau.equilibrium(model, start, contacts=contacts).tau
    >>> q = start
    >>> for _ in range(100):
    ...     q, v = dtau.step(model, q, v, tau, 0.01, contacts=contacts)
    >>> bool(abs(q - start).max() < 1e-9)
    True
    """
    if former:
        refuse("step", former)
    return _core.step(
        model,
        q,
        v,
        tau,
        dt,
        integrator,
        f_ext,
        f_ext_axes,
        contacts,
        active,
        regularization,
        out,
        threads,
    )


@hides_former
def step_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    lam_q: ArrayLike,
    lam_v: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> StepVJP:
    """Gradient through a time step, for backpropagation through time.

        [by_q, by_v] = A^T [lam_q, lam_v]    by_tau = B^T [lam_q, lam_v]

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
    lam_q : array_like (..., nv)
        Weight of the configuration after the step, in its tangent space: the gradient of a cost by it.
    lam_v : array_like (..., nv)
        Weight of the velocity after the step: the gradient of a cost by it.
    integrator : {"euler", "semi_implicit", "rk4"}
        With q (+) dq of `dtau.integrate` and the acceleration a(q, v):

        - ``"euler"``: q (+) dt v and v + dt a;
        - ``"semi_implicit"``: v+ = v + dt a and q (+) dt v+;
        - ``"rk4"``: the classical Runge-Kutta method, with order 4 on the manifold too.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
        `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
        numbers, in body axes.
        Its components, and those of ``tau``, are constant over the step.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
        in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
        (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
        these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
        wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
        at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
        derivatives by ``q``.
    contacts : Contacts, optional
        Contacts and loops that hold at every stage; the acceleration is the result of
        `dtau.constrained_dynamics`. Their forces act in addition to ``f_ext``.
    active : array_like (..., ncontacts), optional
        Which contacts hold in each state: true or 1 if the contact holds, false or 0 if it does not and
        has no force. Other numbers count as true from 0.5 on. By default all contacts hold.
        The same contacts hold over the whole step.
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
    StepVJP
        The gradients by the arguments of the step. They equal A^T lam and B^T lam, with the
        matrices of `dtau.linearize_discrete` for all torques, at the cost of a few calls of forward
        dynamics.

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
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the integrator is
        unknown, ``f_ext_axes`` is unknown, the contacts belong to another model, joints of the model
        have no inertia to accelerate (they are named), or ``active`` or ``regularization`` are given
        without contacts. In a call of one state also if the rows of its contacts depend on each other
        or on nothing but rounding errors (the first such row is named). In a batch such a state has NaN
        for its results.
    TypeError
        If ``model`` is not a `Model`, an array is complex or holds objects, or ``contacts`` is not a
        `Contacts`.

    Notes
    -----
    Reverse mode through the stages, [Derivations] section 12. Each stage takes one
    `dtau.forward_dynamics_vjp`, [IDSVA] eq. 5, O(N); with contacts one
    `dtau.constrained_dynamics_vjp`, [Derivations] section 20, at its cost.

    Examples
    --------
    The gradient of the height after ten steps by the torques of all ten:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, taus = dtau.neutral(model), np.zeros(model.nv), np.zeros((10, model.nv))
    >>> states = []
    >>> for tau in taus:
    ...     states.append((q, v))
    ...     q, v = dtau.step(model, q, v, tau, 0.01)
    >>> lam_q, lam_v = np.eye(model.nv)[2], np.zeros(model.nv)
    >>> gradient = []
    >>> for (q, v), tau in zip(reversed(states), reversed(taus), strict=True):
    ...     lam_q, lam_v, by_tau, _ = dtau.step_vjp(model, q, v, tau, 0.01, lam_q, lam_v)
    ...     gradient.insert(0, by_tau)
    >>> np.array(gradient).shape
    (10, 18)
    """
    if former:
        refuse("step_vjp", former)
    return _core.step_vjp(
        model,
        q,
        v,
        tau,
        dt,
        lam_q,
        lam_v,
        integrator,
        f_ext,
        f_ext_axes,
        contacts,
        active,
        regularization,
        out,
        threads,
    )
