"""Time steps on the manifold, composed of forward dynamics and displacements."""

from __future__ import annotations

from typing import Any

import casadi as ca

from dtau.casadi.expressions import manifold
from dtau.model.model import Model
from dtau.options import Integrator


def step_function(model: Model, integrator: Integrator, forward_dynamics: Any) -> Any:
    """Make the function (q, v, tau, dt[, f_ext]) -> q, v after a step, as `dtau.step`.

    A composition rather than a kernel, so that CasADi has its second derivatives too.
    """
    names = ["q", "v", "tau", "dt", "f_ext"][: forward_dynamics.n_in() + 1]
    q, v, tau, dt, *wrenches = (
        ca.MX.sym(name, *shape)
        for name, shape in zip(
            names,
            [(model.nq,), (model.nv,), (model.nv,), (), (model.nbodies, 6)],
            strict=False,
        )
    )
    integrate = manifold.integrate(model)

    def acceleration(q: Any, v: Any) -> Any:
        return forward_dynamics(q, v, tau, *wrenches)

    if integrator == "rk4":
        displacement, change = _runge_kutta(model, q, v, dt, acceleration, integrate)
    else:
        change = dt * acceleration(q, v)
        displacement = dt * (v if integrator == "euler" else v + change)
    return ca.Function(
        "step",
        [q, v, tau, dt, *wrenches],
        [integrate(q, displacement), v + change],
        names,
        ["q_next", "v_next"],
    )


def _runge_kutta(
    model: Model, q: Any, v: Any, dt: Any, acceleration: Any, integrate: Any
) -> tuple[Any, Any]:
    """Displacement and change of the velocity: [RKMK], as the core's step has it."""
    rates = manifold.displacement_rates(model)
    displacement = change = 0.0
    rate, a = v, acceleration(q, v)
    for ahead, weight in ((0.5, 1.0 / 6.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 3.0), (None, 1.0 / 6.0)):
        displacement, change = displacement + weight * rate, change + weight * a
        if ahead is not None:
            theta, stage_v = ahead * dt * rate, v + ahead * dt * a
            rate, a = rates(theta, stage_v), acceleration(integrate(q, theta), stage_v)
    return dt * displacement, dt * change
