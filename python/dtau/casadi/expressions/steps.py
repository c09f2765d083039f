"""Time steps on the manifold, composed of forward dynamics and displacements."""

from __future__ import annotations

from typing import Any

import casadi as ca

from dtau.autodiff.steps import time_step
from dtau.casadi.expressions import manifold
from dtau.model.model import Model
from dtau.options import Integrator


def step_function(model: Model, integrator: Integrator, forward_dynamics: Any) -> Any:
    """Make the function (q, v, tau, dt[, f_ext]) -> q, v after a step, like `dtau.step`.

    It is a composition, so that CasADi also derives its second derivatives.
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
    after = time_step(
        q,
        v,
        dt,
        integrator,
        acceleration=lambda q, v: forward_dynamics(q, v, tau, *wrenches),
        integrate=manifold.integrate(model),
        displacement_rate=manifold.displacement_rates(model),
    )
    return ca.Function("step", [q, v, tau, dt, *wrenches], after, names, ["q_next", "v_next"])
