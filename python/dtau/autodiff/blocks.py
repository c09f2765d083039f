"""Jacobians of the core's functions from other functions of the core.

A rule takes a function at its inputs and the name of one input. It returns an array for each
result, ``(..., *shape of the result, *shape of the input)``, or None for zeros. Derivatives by q
are those by its nq numbers: the core is called with ``coordinates="numbers"``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from dtau.autodiff.library import Array, At
from dtau.autodiff.rows import FUNCTIONS, PARAMETERS

Blocks = tuple[Array | None, ...]
Rule = Callable[[At, str], Blocks]


def linked(jacobians: str) -> Rule:
    """Return the rule that uses a function with a Jacobian per input except wrenches, in order."""
    row = FUNCTIONS[jacobians]

    def rule(x: At, by: str) -> Blocks:
        order = [name for name in x.inputs if name != "f_ext"]
        if by not in order[: len(row.results)]:
            raise NotImplementedError(f"{jacobians} has no derivative by {by}")
        options = {name: x.options[name] for name in row.options if name in x.options}
        inputs = (x.inputs.get(array.name) for array in row.inputs)
        return (x.call(jacobians, *inputs, **options)[order.index(by)],)

    return rule


class Hessian(NamedTuple):
    """How gradients of weighted results are differentiated: by which inputs, and the rule for it.

    The rule takes the call of a function's product ``vjp``. It returns the derivative of the
    gradient by one input with respect to another one, by the names of both; what it lacks is zero.
    """

    by: frozenset[str]
    rule: Callable[[At], Mapping[tuple[str, str], Array]]


def weighted(name: str) -> Hessian:
    """Return the rule for a function whose results dxdy are Hessians by inputs x and y."""
    row = FUNCTIONS[name]
    pairs = [tuple(result.name[1:].split("d")) for result in row.results]

    def rule(x: At) -> Mapping[tuple[str, str], Array]:
        options = {name: x.options[name] for name in row.options if name in x.options}
        given = [x.inputs.get(a.name) for a in row.inputs]
        still = [a.name in ("v", *_UNKNOWNS.values()) for a in row.inputs]  # where not given
        given = [x.zeros() if y is None and z else y for y, z in zip(given, still, strict=True)]
        found = zip(pairs, x.call(name, *given, **options), strict=True)
        blocks = {}
        for (j, k), block in found:
            blocks[j, k], blocks[k, j] = block, x.xp.swapaxes(block, -1, -2)
        return blocks

    return Hessian(frozenset(x for pair in pairs for x in pair), rule)


def gradients(problem: str, jacobian: Rule) -> Rule:
    """Return the rule for a product ``vjp`` without wrenches, from the Jacobian's rule."""
    row, second = FUNCTIONS[f"{problem}_vjp"], weighted(f"{problem}_hessian")
    names = [x.name.removeprefix("by_") for x in row.results if not x.optional]
    weights = [x.name for x in row.inputs if x.name.startswith("lam")]

    def rule(x: At, by: str) -> Blocks:
        refuse_parameters(problem, PARAMETERS if x.options.get("by") else by)
        if by in weights:
            blocks = [jacobian(x, name)[weights.index(by)] for name in names]
            return tuple(x.xp.swapaxes(block, -1, -2) for block in blocks)
        if by == "active":
            return (None,) * len(names)
        found = x.once("hessian", lambda: second.rule(x))
        return tuple(found.get((of, by)) for of in names)

    return rule


# ------------------------------------------------------------------ dynamics

_UNKNOWNS = {"inverse_dynamics": "a", "forward_dynamics": "tau"}
_BY_PARAMETERS = {
    "inverse_dynamics": "inverse_dynamics_regressor",
    "forward_dynamics": "forward_dynamics_parameter_derivatives",
}


def _inputs(x: At, problem: str) -> tuple[Array | None, ...]:
    """Return q, v, a or tau, f_ext; zeros for inputs that a term of the problem does not have."""
    v, unknown = (x[name] if name in x.inputs else x.zeros() for name in ("v", _UNKNOWNS[problem]))
    return x["q"], v, unknown, x.inputs.get("f_ext")


def _dynamics(problem: str) -> Rule:
    """Return the rule for inverse or forward dynamics, or for a term, which has fewer inputs."""

    def rule(x: At, by: str) -> Blocks:
        if by == "f_ext":
            return x.call(f"{problem}_wrench_derivatives", x["q"], **x.wrench_options())
        if by == PARAMETERS:
            taken = len(FUNCTIONS[_BY_PARAMETERS[problem]].inputs)
            state = _inputs(x, problem)[:taken]
            return x.call(_BY_PARAMETERS[problem], *state, **x.wrench_options())
        blocks = x.call(f"{problem}_derivatives", *_inputs(x, problem), **x.wrench_options())
        return (blocks[("q", "v", _UNKNOWNS[problem]).index(by)],)

    return rule


def _dynamics_derivatives(problem: str) -> Rule:
    """Return the rule for the Jacobians of inverse or forward dynamics."""

    def rule(x: At, by: str) -> Blocks:
        refuse_parameters(problem, by)
        if by == "f_ext":
            return (_by_unit_wrenches(x, problem), None, None)
        name = f"{problem}_second_derivatives"
        dqdq, dqdv, dvdv, dxdq = x.call(name, *_inputs(x, problem), **x.wrench_options())
        if by == "q":
            return dqdq, x.xp.swapaxes(dqdv, -1, -2), dxdq
        if by == "v":
            return dqdv, dvdv, None
        return x.xp.swapaxes(dxdq, -1, -2), None, None

    return rule


def _wrench_derivatives(problem: str) -> Rule:
    """Return the rule for the Jacobian of inverse or forward dynamics by external wrenches."""

    def rule(x: At, by: str) -> Blocks:
        refuse_parameters(problem, by)
        change = x.xp.swapaxes(_by_unit_wrenches(x, problem), -3, -2)
        return (x.xp.swapaxes(change, -2, -1),)

    return rule


def refuse_parameters(problem: str, by: str) -> None:
    """Raise if a second derivative by inertias is wanted."""
    if by == PARAMETERS:
        raise NotImplementedError(
            f"dtau: derivatives of {problem} by parameters exist up to the first order; this asks "
            "for the second"
        )


def _by_unit_wrenches(x: At, problem: str) -> Array:
    """Differentiate the Jacobian by q with respect to f_ext, (..., nv, nq, nbodies, 6).

    The Jacobian is linear in the wrenches if the robot is weightless and at rest.
    """
    light, name = x.weightless(), f"{problem}_derivatives"
    q, still, bodies = x["q"][..., None, :], x.zeros(), for_each(light, PARAMETERS)
    units, options = unit_wrenches(x), x.wrench_options()
    changes = light.call(name, q, still, still, units, bodies, **options)[0]
    return by_wrenches(x, changes)


def for_each(x: At, name: str) -> Array | None:
    """Return an input with an axis for units or weights after its batch axes; None if not given."""
    given = x.inputs.get(name)
    return (
        None
        if given is None
        else given[(..., None, *[slice(None)] * (2 if name == "f_ext" else 1))]
    )


def unit_wrenches(x: At) -> Array:
    """Return a unit wrench for each body and component, one after another."""
    count = 6 * x.model.nbodies
    return x.library.constant(np.eye(count).reshape(count, x.model.nbodies, 6))


def by_wrenches(x: At, changes: Array) -> Array:
    """Return what unit wrenches change in matrices as their derivative, (..., nbodies, 6)."""
    swap = x.xp.swapaxes  # PyTorch 2.13 cannot map `moveaxis`
    last = swap(swap(changes, -3, -2), -2, -1)
    return last.reshape((*last.shape[:-1], x.model.nbodies, 6))


inverse_dynamics = _dynamics("inverse_dynamics")
inverse_dynamics_vjp = gradients("inverse_dynamics", inverse_dynamics)
inverse_dynamics_derivatives = _dynamics_derivatives("inverse_dynamics")
inverse_dynamics_wrench_derivatives = _wrench_derivatives("inverse_dynamics")
forward_dynamics = _dynamics("forward_dynamics")
forward_dynamics_vjp = gradients("forward_dynamics", forward_dynamics)
forward_dynamics_derivatives = _dynamics_derivatives("forward_dynamics")
forward_dynamics_wrench_derivatives = _wrench_derivatives("forward_dynamics")


# ------------------------------------------------------------------ time derivatives


def _time_derivatives(problem: str) -> Rule:
    """Return the rule for inverse or forward dynamics along a trajectory."""
    name = f"{problem}_time_derivatives"
    ranks = {x.name: len(x.axes) + (x.rows is not None) for x in FUNCTIONS[name].inputs}

    def rule(x: At, by: str) -> Blocks:
        options = {"order": x.options["order"], **x.wrench_options()}
        if by == "f_ext_derivatives":
            rows, nv = x.options["order"] + 1, x.model.nv
            units = x.library.constant(np.eye(rows * nv).reshape(rows, nv, rows, nv))
            every = [
                x[given][(..., None, None, *[slice(None)] * ranks[given])] for given in x.inputs
            ]
            return (x.call(f"{name}_vjp", *every[:-1], units, every[-1], **options)[-1],)
        blocks = x.call(f"{name}_derivatives", *x.inputs.values(), **options)
        block = blocks[list(x.inputs).index(by)]
        return (block if ranks[by] == 1 else x.xp.swapaxes(block, -3, -2),)

    return rule


inverse_dynamics_time_derivatives = _time_derivatives("inverse_dynamics")
forward_dynamics_time_derivatives = _time_derivatives("forward_dynamics")


# ------------------------------------------------------------------ the mass matrix


def mass_matrix(x: At, by: str) -> Blocks:
    """Differentiate the mass matrix by q or inertias: the torques M a of unit accelerations a."""
    x, q = x.weightless(), x["q"][..., None, :]
    units, bodies = x.library.constant(np.eye(x.model.nv)), for_each(x, PARAMETERS)
    if by == PARAMETERS:
        return (inertial_torques(x, q, units),)
    return x.call("inverse_dynamics_derivatives", q, x.zeros(), units, None, bodies)[:1]


def inertial_torques(x: At, q: Array, a: Array) -> Array:
    """Differentiate the torques M a by the parameters."""
    return x.with_inertia(x.call("inverse_dynamics_regressor", q, x.zeros(), a)[0])


def mass_matrix_inverse(x: At, by: str) -> Blocks:
    """Differentiate the inverse of the mass matrix by q or inertias."""
    (inverse,) = x.call("mass_matrix_inverse", x["q"])
    (change,) = mass_matrix(x, by)
    return (-x.xp.einsum("...ia,...abk,...bj->...ijk", inverse, change, inverse),)


# ------------------------------------------------------------------ energies


def kinetic_energy_derivatives(x: At, by: str) -> Blocks:
    """Differentiate the derivatives of v . M v / 2, with the torques M a for a = v."""
    q, v, x = x["q"], x["v"], x.weightless()
    by_q, _, mass = x.call("inverse_dynamics_derivatives", q, x.zeros(), v, None)
    if by == "v":
        return x.xp.swapaxes(by_q, -1, -2), mass
    return 0.5 * x.call("inverse_dynamics_hessian", q, x.zeros(), v, v, None)[0], by_q
