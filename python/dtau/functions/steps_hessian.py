"""Hessians of time steps, in exponential charts of the states before and after the step."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.model.motor_feedback import feedback_of
from dtau.support.arrays import Array
from dtau.support.options import Axes, Coordinates, Integrator, Variables


@documented
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
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    by: Variables | None = None,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Hessian of a time step, contracted with weights: for exact-Hessian SQP and full DDP.

        H = d2 (lam_q . xi+ + lam_v . dv+) / d(xi, dv, du)^2

    The states before and after the step are in exponential charts. The step from q, v and u leads
    to (q+, v+); the step from q (+) xi, v + dv and u + du leads to (q+ (+) xi+, v+ + dv+). So xi+
    is the `dtau.difference` of the two configurations after the step.

    Parameters
    ----------
    f_ext
        ... The components of ``f_ext`` and of ``tau`` are constant over the step.
    contacts : Contacts, optional
        Contacts and loops that hold at every stage: the acceleration is the result of
        `dtau.constrained_dynamics`. Their forces act in addition to ``f_ext``.
    active
        ... The active contacts hold over the whole step.
    by : {"dt", "f_ext"} or sequence of them, optional
        Further variables: ``"dt"`` adds a row and a column by the length of the step, ``"f_ext"``
        6 nbodies by the components of the external wrenches, body by body, which may be zero.

    Returns
    -------
    H : ndarray (..., 2 nv + nu, 2 nv + nu)
        Symmetric; rows and columns by [xi, dv, du], and with ``by`` behind them by ddt and df_ext.
        It is the Hessian of the integrator's step, not of the exact solution.
        `dtau.linearize_discrete` gives the gradient of the same sum, ``[lam_q, lam_v] @ [A, B]``.

    Notes
    -----
    [Derivations] section 24: the weights pass back through the stages as in `dtau.step_vjp`. Each
    stage adds S^T H S, with the first derivatives S of the stage and its Hessian H of
    `dtau.forward_dynamics_hessian` or `dtau.constrained_dynamics_hessian`, and the curvature of the
    exponentials that move free, spherical and planar joints, [Sola]: O(nv^3) for each stage.
    ``"euler"`` and ``"semi_implicit"`` need no product with S: O(nv^2 d). Nor does ``"implicit"``,
    whose friction mixes velocities with torques, by nv gradients.

    Examples
    --------
    Approximate the step from a nearby state to second order:

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

    For the time-optimal control of an arm, by the length of the step too:

    >>> whole = dtau.step_hessian(model, q, v, tau, 0.01, lam[:n], lam[n:], by="dt")
    >>> whole.shape == (H.shape[0] + 1, H.shape[0] + 1)
    True
    """
    law = feedback_of(model, inputs, coordinates)
    room = out
    if law is not None:
        q, inputs, room = law.states(q), law.torques, None
    result = _core.step_hessian(
        model, q, v, tau, dt, lam_q, lam_v, integrator, f_ext, inputs, f_ext_axes, contacts, active,
        positions, regularization, by, parameters, coordinates, room, threads,
    )  # fmt: skip
    return result if law is None else law.close_hessian(result, out)
