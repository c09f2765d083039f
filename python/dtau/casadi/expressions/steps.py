"""Time steps on the manifold, composed of forward dynamics and displacements."""

from __future__ import annotations

from typing import Any

import casadi as ca

from dtau.autodiff.steps import time_step
from dtau.casadi.expressions import manifold
from dtau.model.model import Model
from dtau.options import Integrator


def step_function(model: Model, integrator: Integrator, dynamics: Any) -> Any:
    """Make the function (q, v, tau, dt[, f_ext][, active]) -> q, v after a step, like `dtau.step`.

    It is a composition, so that CasADi also derives its second derivatives. The acceleration is the
    first result of ``dynamics``.
    """
    inputs = [ca.MX.sym(dynamics.name_in(k), *dynamics.size_in(k)) for k in range(dynamics.n_in())]
    (q, v, tau, *more), dt = inputs, ca.MX.sym("dt")
    after = time_step(
        q,
        v,
        dt,
        integrator,
        acceleration=lambda q, v: dynamics.call([q, v, tau, *more])[0],
        integrate=manifold.integrate(model),
        displacement_rate=manifold.displacement_rates(model),
    )
    given = [q, v, tau, dt, *more]
    names = [x.name() for x in given]
    return ca.Function("step", given, after, names, ["q_next", "v_next"])
