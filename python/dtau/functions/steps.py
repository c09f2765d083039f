"""Time steps of the equations of motion on the manifold, their variations and gradients."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.results import NextState, StepJVP, StepVJP
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates, Gradients, Integrator


@direct
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
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    parameters: ArrayLike | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> NextState:
    """Integrate the equations of motion over a time step, with constant torque.

        M a + C v + D v + g = tau + sum of J^T f_ext    from t to t + dt, tau and f_ext constant

    Notes
    -----
    "rk4" is a Runge-Kutta-Munthe-Kaas method, [RKMK]: with q(t) = q (+) theta(t), it integrates
    theta' = v + [theta, v]/2 + [theta, [theta, v]]/12 and v' = a. The brackets vanish for joints of
    one degree of freedom; the other joints need them for order 4. Each stage computes
    `dtau.forward_dynamics`, O(N), and checks the rows of its contacts; "euler", "semi_implicit" and
    "implicit" have one stage, "rk4" has four.

    "implicit" solves (M + dt D) a = tau - bias - f(v), [Derivations] section 28, for damping and
    friction f with the slope D: stable where these are stiff, as MuJoCo's "implicitfast". A step
    back in time needs a positive definite M + dt D. With stiff damping it is not, and velocities
    change their signs; this is not checked. `Model.stable_step` estimates how long other steps may
    be. Gains of motors are part of ``tau``, which is constant. A servo's velocity gain is damping:
    with ``model.replace(damping=model.damping - np.diag(motors.dtau_dv))`` and motors without it,
    it acts at the end of the step too, if each motor drives one joint.

    Contacts constrain accelerations: the integration errors of their velocities and positions stay,
    unless the Baumgarte gains ``kd`` and ``kp`` remove them.

    Examples
    --------
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


@direct
def step_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    dtau: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    df_ext: ArrayLike | None = None,
    *,
    ddt: ArrayLike | None = None,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    dparameters: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> StepJVP:
    """Variation of the state after a time step along variations of its arguments.

        [dq, dv] after the step = A [dq, dv] + B dtau + dz_ddt ddt + dz_df_ext df_ext + dz_dpi dpi

    Parameters
    ----------
    dparameters : array_like (..., nparameters), optional
        Variation dpi of the parameters: as many as ``parameters`` has, and 10 nbodies, in the order
        of ``model.parameters.ravel()``, without it; zero by default.

    Returns
    -------
    StepJVP
        With the matrices of `dtau.linearize_discrete` for all torques, the columns of ``by`` among
        them, at the cost of a few calls of forward dynamics.

    Notes
    -----
    Forward mode through the stages, [Derivations] section 12. Each stage takes one
    `dtau.forward_dynamics_jvp`, [IDSVA] eq. 5, O(N); with contacts one
    `dtau.constrained_dynamics_jvp`, [Derivations] section 20, at its cost. ``dparameters`` act as a
    torque -Y dpi at the acceleration of the stage, [Derivations] section 18, with the regressor Y:
    then each stage takes two. So does "implicit" with friction or ``ddt``, section 28.

    Examples
    --------
    How the state after a step changes if the step becomes longer:

    >>> still = np.zeros(model.nv)
    >>> longer = dtau.step_jvp(model, q, v, tau, 0.01, still, still, still, "rk4", ddt=1.0)
    >>> lin = dtau.linearize_discrete(model, q, v, tau, 0.01, "rk4", by="dt")
    >>> bool(np.allclose(longer.dv, lin.dv_ddt))
    True
    """


@direct
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
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    by: Gradients | None = None,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> StepVJP:
    """Gradient through a time step, for backpropagation through time.

        [by_q, by_v] = A^T [lam_q, lam_v]    by_tau = B^T [lam_q, lam_v]

    Parameters
    ----------
    by : {"dt", "f_ext", "parameters"} or sequence of them, optional
        Further variables: the length of the step, the external wrenches, which may be zero, and the
        inertial parameters of the bodies. The gradients are attributes of the result, beside the
        tuple. ``out`` must be None.

    Returns
    -------
    StepVJP
        The gradients by the arguments of the step. They equal A^T lam and B^T lam, with the
        matrices of `dtau.linearize_discrete` for all torques, at the cost of a few calls of forward
        dynamics.

    Raises
    ------
    ValueError
        ... ``by="f_ext"`` is given without ``f_ext``.

    Notes
    -----
    Reverse mode through the stages, [Derivations] section 12. Each stage takes one
    `dtau.forward_dynamics_vjp`, [IDSVA] eq. 5, O(N); with contacts one
    `dtau.constrained_dynamics_vjp`, [Derivations] section 20, at its cost.

    Examples
    --------
    The gradient of the height after ten steps by the torques of all ten:

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

    The same for the length of a step:

    >>> lam_q, lam_v = np.eye(model.nv)[2], np.zeros(model.nv)
    >>> pushed = np.ones(model.nv)
    >>> g = dtau.step_vjp(model, q, pushed, tau, 0.01, lam_q, lam_v, by="dt")
    >>> round(float(g.by_dt), 12)  # the height grows with v
    1.0

    The same for the masses of the bodies, which the legs' torques move:

    >>> lam_v = np.eye(model.nv)[8]
    >>> g = dtau.step_vjp(model, q, pushed, tau, 0.01, lam_q, lam_v, by="parameters")
    >>> g.by_parameters.reshape(model.nbodies, 10)[:, 0].shape
    (13,)
    """
