"""Time steps, from a compiled function with one vector as its result."""

from __future__ import annotations

from typing import Any

import casadi as ca

from dtau.casadi.expressions.constrained import INLINED, inputs_of, parts
from dtau.model.model import Model


def step_function(model: Model, compiled: Any) -> Any:
    """Make the function (q, v, tau, dt[, f_ext][, active]) -> q, v after a step."""
    given = inputs_of(compiled)
    names = [x.name() for x in given]
    results = parts(compiled.call(given)[0], model.nq, model.nv)
    return ca.Function("step", given, results, names, ["q_next", "v_next"], INLINED)
