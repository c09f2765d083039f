"""Time steps of the equations of motion on the configuration manifold, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes, Integrator
from dtau.results import NextState, StepProducts, StepProductsWithWrenches


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
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> NextState:
    """State after a time step with constant torque.

        M a + C v + D v + g = tau + sum of J^T f_ext    from t to t + dt, tau and f_ext constant

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity; of a free joint [linear, angular] in the body frame.
    tau : array_like (..., nv)
        Joint torque; of a free joint the wrench [force, moment] in the body frame.
    dt : array_like (...)
        Length of the step in seconds.
    integrator : {"euler", "semi_implicit", "rk4"}
        With q (+) dq that of `dtau.integrate` and a(q, v) the acceleration:

        - ``"euler"``: q (+) dt v and v + dt a;
        - ``"semi_implicit"``: v+ = v + dt a and q (+) dt v+;
        - ``"rk4"``: the classical method of Runge and Kutta, of order 4 on the manifold too.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
        Its components, and those of ``tau``, are constant over the step.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, see `dtau.inverse_dynamics`. Over the step, with ``"body"`` wrenches turn
        with their bodies, with the others they keep to the world.
    contacts : Contacts, optional
        What is held at every stage: its acceleration is that of `dtau.constrained_dynamics`.
    active, damping
        See there; ``active`` says which contacts hold over the step.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the two arrays of the results.

    Returns
    -------
    NextState
        ``q (..., nq)``, its quaternions of unit norm, and ``v (..., nv)``.

    Raises
    ------
    ValueError
        If a shape does not fit, a quaternion is further than 1e-6 from unit norm, the integrator is
        unknown, joints of the model have no inertia to accelerate (they are named), or ``active``
        or ``damping`` are given without contacts; of contacts as `dtau.constrained_dynamics`, at
        every stage.
    TypeError
        If an array is complex or holds objects.

    Notes
    -----
    "rk4" is a method of Runge, Kutta and Munthe-Kaas, [RKMK]: with q(t) = q (+) theta(t), the
    stages are those of theta' = v + [theta, v]/2 + [theta, [theta, v]]/12 and v' = a. The brackets
    vanish for joints of one degree of freedom; order 4 needs them for the others. A stage is one
    `dtau.forward_dynamics`, O(N): one in "euler" and "semi_implicit", four in "rk4". Contacts hold
    on the level of accelerations; what a step is wrong by in their velocities and positions stays,
    unless their gains ``kd`` and ``kp`` take it away.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v = dtau.neutral(model), np.zeros(model.nv)
    >>> for _ in range(100):  # it falls for a second
    ...     q, v = dtau.step(model, q, v, np.zeros(model.nv), 0.01, "rk4")
    >>> float(q[2].round(6))
    -4.905

    On its feet it stays where it is, with the torques that hold its weight:

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
        damping,
        out,
        threads,
    )


@overload
def step_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    lam_q: ArrayLike,
    lam_v: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> StepProducts: ...
@overload
def step_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    lam_q: ArrayLike,
    lam_v: ArrayLike,
    integrator: Integrator = "euler",
    *,
    f_ext: ArrayLike,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> StepProductsWithWrenches: ...
@overload
def step_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    lam_q: ArrayLike,
    lam_v: ArrayLike,
    integrator: Integrator,
    f_ext: ArrayLike,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> StepProductsWithWrenches: ...
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
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> StepProducts | StepProductsWithWrenches:
    """Gradient through a time step, for backpropagation through time.

        [by_q, by_v] = A^T [lam_q, lam_v]    by_tau = B^T [lam_q, lam_v]

    Parameters
    ----------
    model : Model
    q, v, tau, dt
        See `dtau.step`.
    lam_q : array_like (..., nv)
        Gradient by the configuration after the step, in its tangent space.
    lam_v : array_like (..., nv)
        Gradient by the velocity after the step.
    integrator, f_ext, f_ext_axes, contacts, active, damping
        See `dtau.step`.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the three arrays of the results, or four with
        ``f_ext``.

    Returns
    -------
    StepProducts
        ``by_q``, ``by_v``, ``by_tau``, each ``(..., nv)``: the gradients by the arguments of the
        step, that by ``q`` in its tangent space. They are A^T lam and B^T lam with the matrices of
        `dtau.linearize_discrete` for all torques, at the cost of some calls of forward dynamics.
    StepProductsWithWrenches
        Where ``f_ext`` is given: also ``by_f_ext (..., nbodies, 6)``, [by force, by moment] in the
        axes ``f_ext_axes``.

    Raises
    ------
    ValueError, TypeError
        As `dtau.step`.

    Notes
    -----
    Reverse mode through the stages, each of which takes one product of
    `dtau.forward_dynamics_vjp`, [IDSVA] eq. 5, [Notes] section 12; O(N). With contacts that is
    `dtau.constrained_dynamics_vjp`, [Notes] section 20, at its cost.

    Examples
    --------
    The gradient of the height after ten steps by the torques of all of them:

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
    ...     lam_q, lam_v, by_tau = dtau.step_vjp(model, q, v, tau, 0.01, lam_q, lam_v)
    ...     gradient.insert(0, by_tau)
    >>> np.array(gradient).shape
    (10, 18)
    """
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
        damping,
        out,
        threads,
    )
