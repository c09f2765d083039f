"""Hessians of time steps, in exponential charts of the states before and after the step."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.former_keywords import hides_former, refuse
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes, Integrator


@hides_former
def step_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    lam_q: ArrayLike,
    lam_v: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
    **former: NoReturn,
) -> NDArray[np.float64]:
    """Hessian of a time step, contracted with weights: for exact-Hessian SQP and full DDP.

        H = d2 (lam_q . xi+ + lam_v . dv+) / d(xi, dv, du)^2

    The states before and after the step are in exponential charts. The step from q, v and u leads
    to (q+, v+); the step from q (+) xi, v + dv and u + du leads to (q+ (+) xi+, v+ + dv+). So xi+
    is the `dtau.difference` of the two configurations after the step.

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
        The components of ``f_ext`` and of ``tau`` are constant over the step.
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
        Contacts and loops that hold at every stage: the acceleration is the result of
        `dtau.constrained_dynamics`. Their forces act in addition to ``f_ext``.
    active : array_like (..., ncontacts), optional
        Which contacts hold in each state: true or 1 if the contact holds, false or 0 if it does not and
        has no force. Other numbers count as true from 0.5 on. By default all contacts hold.
        The active contacts hold over the whole step.
    regularization : float
        Set it if constraint rows depend on each other, as with four flat feet. Choose it small compared
        with the eigenvalues of the Schur complement G = J M^-1 J^T, in 1/kg, but larger than their
        rounding errors: 1e-6 of the eigenvalues works. The result does not depend on its value: the
        forces are G^+ b, the least-squares forces of least norm. Here b is the reference acceleration
        of the rows minus J times the acceleration without contacts. For an impact, read impulses for
        forces and velocities for accelerations.
    out : ndarray (..., 2 nv + nu, 2 nv + nu), optional
        Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
        with the arguments.
    threads : int, optional
        Number of threads. By default one for a small batch, and one per processor for a batch that
        would keep a single thread busy for more than about 0.2 ms.

    Returns
    -------
    H : ndarray (..., 2 nv + nu, 2 nv + nu)
        Symmetric; rows and columns by [xi, dv, du]. It is the Hessian of the integrator's step, not
        of the exact solution. `dtau.linearize_discrete` gives the gradient of the same sum,
        ``[lam_q, lam_v] @ [A, B]``.

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
    [Derivations] section 24: the weights pass back through the stages as in `dtau.step_vjp`. Each
    stage adds S^T H S, with the first derivatives S of the stage and its Hessian H of
    `dtau.forward_dynamics_hessian` or `dtau.constrained_dynamics_hessian`, and the curvature of the
    exponentials that move free, spherical and planar joints, [Sola]: O(nv^3) for each stage.
    ``"euler"`` and ``"semi_implicit"`` need no product with S: O(nv^2 d).

    Examples
    --------
    Approximate the step from a nearby state to second order:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> n, lam = model.nv, rng.standard_normal(2 * model.nv)
    >>> H = dtau.step_hessian(model, q, v, tau, 0.01, lam[:n], lam[n:], "semi_implicit")
    >>> lin = dtau.linearize_discrete(model, q, v, tau, 0.01, "semi_implicit")
    >>> z = 1e-4 * rng.standard_normal(2 * n)
    >>> moved = dtau.integrate(model, q, z[:n]), v + z[n:]
    >>> after = dtau.step(model, *moved, tau, 0.01, "semi_implicit")
    >>> exact = lam @ np.r_[dtau.difference(model, lin.q, after.q), after.v - lin.v]
    >>> quadratic = lam @ lin.A @ z + z @ H[: 2 * n, : 2 * n] @ z / 2.0
    >>> bool(abs(exact - quadratic) < 1e-3 * abs(exact - lam @ lin.A @ z))
    True
    """
    if former:
        refuse("step_hessian", former)
    return _core.step_hessian(
        model,
        q,
        v,
        tau,
        dt,
        lam_q,
        lam_v,
        integrator,
        f_ext,
        inputs,
        f_ext_axes,
        contacts,
        active,
        regularization,
        out,
        threads,
    )
