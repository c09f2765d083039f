"""Constrained dynamics and impacts, from compiled functions with one vector as their result."""

from __future__ import annotations

from typing import Any

import casadi as ca

from dtau.model.contacts import Contacts
from dtau.model.model import Model

# Calls in expressions become calls of the compiled function itself, whose derivatives CasADi then
# takes as matrices and not direction by direction.
INLINED = {"always_inline": True}


def constrained_dynamics(
    model: Model, contacts: Contacts, compiled: Any, inverse_dynamics: Any = None
) -> Any:
    """Make the function (q, v, tau[, f_ext][, active][, parameters]) -> a, forces, residual.

    External wrenches act through the torques that they spare in ``inverse_dynamics``.
    """
    q, v, tau, *more = inputs_of(compiled)
    wrenches, torque = [], tau
    if inverse_dynamics is not None:
        wrenches = [ca.MX.sym("f_ext", model.nbodies, 6)]
        without = inverse_dynamics(q, 0, 0, ca.MX.zeros(model.nbodies, 6))
        torque = tau + without - inverse_dynamics(q, 0, 0, wrenches[0])
    results = parts(compiled(q, v, torque, *more), model.nv, contacts.nrows, contacts.nrows)
    given = [q, v, tau, *wrenches, *more]
    names = [x.name() for x in given]
    outputs = ["a", "forces", "residual"]
    return ca.Function("constrained_dynamics", given, results, names, outputs, INLINED)


def impulse_dynamics(model: Model, contacts: Contacts, compiled: Any) -> Any:
    """Make the function (q, v, restitution[, active][, parameters]) -> velocity, impulses.

    Both are affine in the restitution, which ``compiled`` does not have.
    """
    (q, v, *more), restitution = inputs_of(compiled), ca.MX.sym("restitution")
    after, impulses = parts(compiled(q, v, *more), model.nv, contacts.nrows)
    results = [after + restitution * (after - v), impulses + restitution * impulses]
    given = [q, v, restitution, *more]
    names = [x.name() for x in given]
    outputs = ["v_after", "impulses"]
    return ca.Function("impulse_dynamics", given, results, names, outputs, INLINED)


def inputs_of(compiled: Any) -> list[Any]:
    """Return symbols for the inputs of a compiled function, of the same names."""
    return [ca.MX.sym(name, *compiled.size_in(k)) for k, name in enumerate(compiled.name_in())]


def parts(vector: Any, *sizes: int) -> list[Any]:
    """Split a vector into parts of these sizes."""
    offsets = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    return list(ca.vertsplit(vector, offsets))
