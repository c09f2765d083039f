"""The compiled functions: which functions of the core each role calls, and what depends on what.

Each function here returns the names of a slot's inputs and results and the plans of its roles. A
function of `dtau.registry` names its derivatives; results are found by their names: ``dtau_dq``,
``by_q``, ``dqdv``. Derivatives are by the numbers of q.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dtau import _core
from dtau.autodiff.functions import PUBLIC
from dtau.autodiff.rows import FUNCTIONS
from dtau.autodiff.weightless import weightless
from dtau.casadi.patterns import ConstrainedStructure, Structure, patterns_of_steps
from dtau.casadi.plans import ONE, Call, Places, Plan, block
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes, Integrator

Slot = tuple[list[str], list[str], list[tuple[object, ...]]]
_TIME_DERIVATIVES = "_time_derivatives"


def problem_of(name: str) -> str:
    """Return the problem that a function solves or is a term or matrix of; "" if there is none."""
    how, problem = PUBLIC[name], name.removesuffix(_TIME_DERIVATIVES)
    solves = problem in ("inverse_dynamics", "forward_dynamics")
    return how.term_of or how.matrix_of or (problem if solves else "")


def prepared(model: Model, name: str, **options: object) -> _core.RawCall:
    """Prepare a function of the core, which CasADi calls without ``parameters``.

    Raises
    ------
    ValueError
        If the function needs inertia at joints that have none.
    """
    known = FUNCTIONS[name].options
    given = {key: value for key, value in options.items() if key in known}
    if "coordinates" in known:
        given["coordinates"] = "numbers"  # which CasADi's variables are
    call = _core.prepare_call(model, name, **given)
    if call.problem:
        raise ValueError(f"{name}: {call.problem}")
    return call


def dynamics(model: Model, name: str, *, f_ext_axes: Axes | None) -> Slot:
    """Describe inverse or forward dynamics, or a term of these."""
    problem, takes_f_ext = problem_of(name), f_ext_axes is not None
    options: Any = {"f_ext_axes": f_ext_axes} if takes_f_ext else {}
    row, links = FUNCTIONS[problem], FUNCTIONS[problem].links
    s = Structure(model, solves=problem == "forward_dynamics", felt_position=f_ext_axes == "world")
    result, x = row.results[0].name, row.inputs[2].name
    pulled = np.tile(s.paths, (6, 1))  # (6 nbodies, nv): column by column of f_ext
    first = {"q": s.by_q(s.coupled), "v": s.coupled, x: s.coupled, "f_ext": pulled.T}
    second = {
        ("q", "q"): s.by_q(s.by_q(s.coupled).T),
        ("v", "q"): s.by_q(s.coupled),
        ("v", "v"): s.coupled,
        (x, "q"): s.by_q(s.coupled),
        ("f_ext", "q"): s.by_q(pulled),
    }
    value = prepared(model, name, **options)
    shapes = _shapes(value, *(["f_ext"] if takes_f_ext else []))
    p = Plan(shapes, np.ones((model.nv, 1), dtype=bool), first, second)
    weighted = {**p.inputs, "lam": p.seed[:, 0]}

    def call(of: Model, function: str, given: Mapping[str, Places], states: Any = None) -> Call:
        return Call(prepared(of, function, **options), given, states)

    by = [[p.by_input(call(model, links["derivatives"], p.inputs), result)]]
    curved = [[p.hessian(call(model, links["hessian"], weighted))]]
    if takes_f_ext:
        by += [[p.by_input(call(model, f"{problem}_wrench_derivatives", p.inputs), result)]]
        # Without weight and motion, the gradients by q of unit wrenches are the derivatives.
        nb, n = model.nbodies, 6 * model.nbodies
        units = np.eye(n, dtype=np.int64).reshape(nb, 6, nb, 6).swapaxes(0, 1).reshape(n, nb, 6)
        at_rest = {"q": p.inputs["q"], "f_ext": units, "lam": weighted["lam"]}
        turned = call(weightless(model), links["vjp"], at_rest, n)
        curved += [[(turned, {("f_ext", "q"): block(turned.results["by_q"])})]]
    of_value = Call(value, p.inputs)
    along = [[p.gradient(call(model, links["vjp"], weighted))]]
    roles = p.roles(of_value, of_value.results[result], by, along, curved)
    return [*p.inputs], [FUNCTIONS[name].results[0].name], roles


def matrix(model: Model, name: str) -> Slot:
    """Describe the mass matrix or its inverse.

    Their columns are the torques of unit accelerations, or the accelerations of unit torques, at
    rest and without weight.
    """
    problem, nv, light = problem_of(name), model.nv, weightless(model)
    row, links = FUNCTIONS[problem], FUNCTIONS[problem].links
    s = Structure(model, solves=problem == "forward_dynamics", felt_position=False)
    entries = s.coupled[:, :, None] & s.coupled[:, None, :] & s.coupled[None, :, :]
    first = {"q": s.by_q(entries.reshape(nv * nv, nv))}
    value = prepared(model, name)
    second = {("q", "q"): s.by_q(s.by_q(s.coupled).T)}
    p = Plan(_shapes(value), s.coupled, first, second)
    units = {"q": p.inputs["q"], row.inputs[2].name: np.eye(nv, dtype=np.int64) * ONE}
    columns = {**units, "lam": p.seed.T}

    slopes = Call(prepared(light, links["derivatives"]), units, nv)
    by_q = slopes.results[f"d{row.results[0].name}_dq"]  # by column, row and q
    products = Call(prepared(light, links["vjp"]), columns, nv)
    curvature = Call(prepared(light, links["hessian"]), columns, nv)
    bent = curvature.results["dqdq"].transpose(1, 2, 0), None
    of_value = Call(value, p.inputs)
    return (
        ["q"],
        ["M_inverse" if problem == "forward_dynamics" else "M"],
        p.roles(
            of_value,
            next(iter(of_value.results.values())),
            [[(slopes, {"q": block(by_q.swapaxes(0, 1), 2)})]],
            [[(products, {"q": (products.results["by_q"].T[:, None, :], None)})]],
            [[(curvature, {("q", "q"): bent})]],
        ),
    )


def constrained(
    model: Model, name: str, contacts: Contacts, *, active: bool, regularization: float
) -> Slot:
    """Describe constrained dynamics, or an impact without restitution.

    The result is one vector: accelerations, forces and residuals, or velocities and impulses.
    """
    options: Any = {"contacts": contacts, "regularization": regularization}
    row, links = FUNCTIONS[name], FUNCTIONS[name].links
    s = ConstrainedStructure(model, contacts)
    value = prepared(model, name, **options)
    shapes = _shapes(value, *(["active"] if active else []))
    shapes.pop("restitution", None)
    is_impact, size = "tau" not in shapes, sum(int(np.prod(x[1])) for x in value.results)
    rows = np.concatenate([s.coupled, s.of_rows])
    rows = np.pad(rows, ((0, size - len(rows)), (0, 0)))  # residuals have no derivatives here
    first = {"q": s.by_q(rows), "v": rows, "tau": rows}
    second = {
        ("q", "q"): s.by_q(s.by_q(s.coupled).T),
        ("q", "v"): s.by_q(s.coupled).T,
        ("v", "v"): s.coupled & (not is_impact),  # velocities after impacts are linear in v
        ("q", "tau"): s.by_q(s.coupled).T,
    }
    p = Plan(shapes, np.ones((size, 1), dtype=bool), first, second)
    forces = row.results[1].name
    weighted = {**p.inputs, "lam": p.seed[: model.nv, 0]}
    weighted[f"lam_{forces}"] = p.seed[model.nv : model.nv + contacts.nrows, 0]

    slopes = Call(prepared(model, links["derivatives"], **options), p.inputs)
    by = {}
    for x, above in p.named(slopes, f"d{row.results[0].name}_d{{}}".format):
        below = slopes.results[f"d{forces}_d{x}"]
        unread = np.zeros((size - len(above) - len(below), above.shape[1]), dtype=np.int64)
        by[x] = np.concatenate([above, below, unread])
    if "vjp" in links:
        along = p.gradient(Call(prepared(model, links["vjp"], **options), weighted))
    else:
        along = (
            slopes,
            {
                x: (y.T[:, None], np.broadcast_to(p.seed.T, y.T[:, None].shape))
                for x, y in by.items()
            },
        )
    curved = p.hessian(Call(prepared(model, links["hessian"], **options), weighted))
    of_value = Call(value, p.inputs)
    parts = np.concatenate([*of_value.results.values()])
    jacobian = slopes, {x: block(y) for x, y in by.items()}
    return [*p.inputs], ["result"], p.roles(of_value, parts, [[jacobian]], [[along]], [[curved]])


def time_derivatives(model: Model, name: str, order: int, *, f_ext_axes: Axes | None) -> Slot:
    """Describe time derivatives of the dynamics, which have no second derivatives.

    Row k of the result depends on the rows of order k and lower orders.
    """
    takes_f_ext, rows, nv, nb = f_ext_axes is not None, order + 1, model.nv, model.nbodies
    options: Any = {"order": order, "f_ext_axes": f_ext_axes or "body"}
    row, links = FUNCTIONS[name], FUNCTIONS[name].links
    value = prepared(model, name, **options)
    shapes = _shapes(value, *(["f_ext_derivatives"] if takes_f_ext else []))
    s = Structure(model, solves=name.startswith("forward"), felt_position=f_ext_axes == "world")
    stack = next(x for x in shapes if x.endswith("_derivatives"))
    beyond = shapes[stack][0] - rows  # 1 if the stack begins with v: its row k + 1 acts on row k
    every, acting = np.ones((rows, 1), dtype=bool), np.tri(rows, rows + beyond, beyond, dtype=bool)
    by_wrench = s.paths.T[:, None, None, :] & np.tri(rows, dtype=bool)[None, :, :, None]
    first = {
        "q": np.kron(s.by_q(s.coupled), every),
        "v": np.kron(s.coupled, every),
        stack: np.kron(s.coupled, acting),
        "f_ext_derivatives": np.tile(by_wrench.reshape(nv * rows, rows * nb), 6),
    }
    p = Plan(shapes, np.ones((rows, nv), dtype=bool), first, None)
    slopes = Call(prepared(model, links["derivatives"], **options), p.inputs)
    by = {  # of the stack, the second axis is that of the input's orders
        x: block(y if y.ndim == 3 else y.swapaxes(1, 2), 2)
        for x, y in p.named(slopes, f"d{row.results[0].name}_d{{}}".format)
    }
    groups = [[(slopes, by)]]
    vjp = prepared(model, links["vjp"], **options)
    if takes_f_ext:  # the gradients of all numbers of the result
        units = {**p.inputs, "lam_derivatives": np.eye(rows * nv, dtype=np.int64) * ONE}
        units["lam_derivatives"] = units["lam_derivatives"].reshape(-1, rows, nv)
        gradients = Call(vjp, units, rows * nv)
        by_f_ext = gradients.results["by_f_ext_derivatives"].reshape(rows, nv, rows, nb, 6)
        groups += [[(gradients, {"f_ext_derivatives": block(by_f_ext, 2)})]]
    along = p.gradient(Call(vjp, {**p.inputs, "lam_derivatives": p.seed}))
    of_value, result = Call(value, p.inputs), row.results[0].name
    return [*p.inputs], [result], p.roles(of_value, of_value.results[result], groups, [[along]])


def step(
    model: Model,
    integrator: Integrator,
    *,
    f_ext_axes: Axes | None,
    contacts: Contacts | None,
    active: bool,
    regularization: float,
) -> Slot:
    """Describe a time step, with derivatives by its length and the wrenches on it.

    The result is one vector: the numbers of q and v after the step. Without these two variables,
    the calls take less time.
    """
    takes_f_ext = f_ext_axes is not None
    options: Any = {"integrator": integrator, "f_ext_axes": f_ext_axes or "body"}
    options |= {"contacts": contacts, "regularization": regularization}
    value, links = prepared(model, "step", **options), FUNCTIONS["step"].links
    shapes = _shapes(value, *["f_ext"] * takes_f_ext, *["active"] * active)
    nq, size = model.nq, model.nq + model.nv
    first, second = patterns_of_steps(model, integrator, contacts, f_ext_axes == "world")
    p = Plan(shapes, np.ones((size, 1), dtype=bool), first, second)
    weighted = {**p.inputs, "lam_q": p.seed[:nq, 0], "lam_v": p.seed[nq:, 0]}
    jacobians, hessians, gradients = [], [], []
    more: list[tuple[str, ...]] = [(), ("dt",)]
    for by in [*more, ("dt", "f_ext")] if takes_f_ext else more:
        d = Call(prepared(model, links["derivatives"], **options, by=by), p.inputs)
        found = {"q": d.results["A"][:, :nq], "v": d.results["A"][:, nq:], "tau": d.results["B"]}
        for x in by:
            found[x] = np.concatenate([d.results[f"dq_d{x}"], d.results[f"dv_d{x}"]])
        jacobians += [(d, {x: block(y) for x, y in found.items()})]

        h = Call(prepared(model, links["hessian"], **options, by=by), weighted)
        names, ends = ["q", "v", "tau", *by], np.cumsum([p.inputs[x].size for x in found])
        blocks = [
            [
                part.reshape(*p.inputs[a].shape or (1,), *p.inputs[b].shape or (1,))
                for b, part in zip(names, np.split(rows, ends[:-1], axis=1), strict=True)
            ]
            for a, rows in zip(names, np.split(h.results["H"], ends[:-1]), strict=True)
        ]
        upper = {
            (a, b): block(blocks[k][j], max(p.inputs[a].ndim, 1))
            for k, a in enumerate(names)
            for j, b in enumerate(names)
            if j >= k
        }
        hessians += [(h, upper)]
        if "f_ext" not in by:
            product_ = prepared(model, links["vjp"], **options, by=by)
            gradients += [p.gradient(Call(product_, weighted))]
    of_value = Call(value, p.inputs)
    after = np.concatenate([of_value.results["q"], of_value.results["v"]])
    roles = p.roles(of_value, after, [jacobians], [gradients], [hessians])
    return [*p.inputs], ["result"], roles


def _shapes(call: _core.RawCall, *more: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the required inputs and of these, in the core's order."""
    return {name: shape for name, shape, optional in call.inputs if not optional or name in more}
