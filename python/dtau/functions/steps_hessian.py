"""Second derivatives of time steps, in exponential charts of the states before and after."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.docstrings import documented
from dtau.former_keywords import hides_former, refuse
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes, Integrator


@documented
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
    """Second derivatives of a time step, weighted: what exact-Hessian SQP and full DDP want.

        H = d2 (lam_q . xi+ + lam_v . dv+) / d(xi, dv, du)^2

    Both ends are in exponential charts: the step is taken from q (+) xi, v + dv with the inputs
    u + du, and xi+ is ``difference(q+, its configuration)`` and dv+ its velocity less v+, with the
    state (q+, v+) after the step from q, v and u.

    Parameters
    ----------
    f_ext
        ... Its components, and those of ``tau``, are constant over the step.
    contacts : Contacts, optional
        Contacts and loops that hold at every stage, whose acceleration is that of
        `dtau.constrained_dynamics`. ``f_ext`` is beside their forces.
    active
        ... They hold over the whole step.

    Returns
    -------
    H : ndarray (..., 2 nv + nu, 2 nv + nu)
        Symmetric, rows and columns by [xi, dv, du]: the Hessian of the step itself, not of the
        flow. The gradient is ``[lam_q, lam_v] @ [A, B]`` with the matrices of
        `dtau.linearize_discrete`.

    Raises
    ------
    ValueError
        ... ``active`` or ``regularization`` are given without contacts.

    Notes
    -----
    [Derivations] section 22: the weights go back through the stages as in `dtau.step_vjp`, and each
    stage adds its Hessian, `dtau.forward_dynamics_hessian` or `dtau.constrained_dynamics_hessian`,
    between its first derivatives, and the curvature of the exponentials that move free, spherical
    and planar joints, [Sola]. ``"euler"`` and ``"semi_implicit"`` need no such product: O(nv^2 d).

    Examples
    --------
    A step from a state nearby, to the second order:

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
    >>> bool(abs(exact - quadratic) < 1e-2 * abs(exact - lam @ lin.A @ z))
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
