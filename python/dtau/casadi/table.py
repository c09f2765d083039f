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
from dtau.autodiff.arguments import parameter_count
from dtau.autodiff.functions import problem_of
from dtau.autodiff.rows import FUNCTIONS
from dtau.autodiff.weightless import has_inertia, weightless
from dtau.casadi.patterns import (
    ConstrainedStructure,
    Pattern,
    Structure,
    of_parameters,
    patterns_of_steps,
)
from dtau.casadi.plans import ONE, ZERO, Call, Numbers, Places, Plan, alone, block, matrix_shape
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.support.errors import without_model_warnings
from dtau.support.options import Axes, Integrator

Slot = tuple[list[str], list[str], list[tuple[Any, ...]]]
_REGRESSORS = {
    "inverse_dynamics": "inverse_dynamics_regressor",
    "forward_dynamics": "forward_dynamics_parameter_derivatives",
}


def prepared(
    model: Model, name: str, *, parameters: bool = False, **options: object
) -> _core.RawCall:
    """Prepare a function of the core; ``parameters``: it will be called with these.

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
    if call.problem and not parameters:
        raise ValueError(f"{name}: {call.problem}")
    return call


def dynamics(
    model: Model, name: str, *, f_ext_axes: Axes | None, parameters: bool, joint_parameters: bool
) -> Slot:
    """Describe inverse or forward dynamics, or a term of these."""
    problem, takes_f_ext = problem_of(name), f_ext_axes is not None
    options: Any = {"f_ext_axes": f_ext_axes} if takes_f_ext else {}
    options |= {"parameters": parameters, "joint_parameters": joint_parameters}
    row, links = FUNCTIONS[problem], FUNCTIONS[problem].links
    s = Structure(model, solves=problem == "forward_dynamics", felt_position=f_ext_axes == "world")
    result, x = row.results[0].name, row.inputs[2].name
    pulled = np.tile(s.paths, (6, 1))  # (6 nbodies, nv): column by column of f_ext
    acting = of_parameters(model, s)  # (nparameters, nv)
    acting = acting[: parameter_count(model, of_joints=joint_parameters)]
    first = {"q": s.by_q(s.coupled), "v": s.coupled, x: s.coupled}
    first |= {"f_ext": pulled.T, "parameters": acting.T}
    second = {
        ("q", "q"): s.by_q(s.by_q(s.coupled).T),
        ("v", "q"): s.by_q(s.coupled),
        ("v", "v"): s.coupled,
        (x, "q"): s.by_q(s.coupled),
        ("f_ext", "q"): s.by_q(pulled),
        ("parameters", "q"): s.by_q(acting),
        ("parameters", "v"): acting,
        ("parameters", x): acting,
    }
    value = prepared(model, name, **options)
    shapes = _shapes(value, *["f_ext"] * takes_f_ext, *["parameters"] * parameters)
    if problem == "forward_dynamics":  # not linear in the parameters
        second |= _by_parameters(shapes)
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
        resting = {k: y for k, y in weighted.items() if k in ("q", "lam")}
        if parameters:
            resting["parameters"] = p.inputs["parameters"] * _with_inertia(model, len(acting))
        turned = call(weightless(model), links["vjp"], {**resting, "f_ext": units}, n)
        curved += [[(turned, {("f_ext", "q"): block(turned.results["by_q"])})]]
    of_value = Call(value, p.inputs)
    along = [[p.gradient(call(model, links["vjp"], weighted))]]
    if parameters:
        regressor = call(model, _REGRESSORS[problem], p.inputs)
        by += [[(regressor, {"parameters": block(next(iter(regressor.results.values())))})]]
        weighed = call(model, f"{problem}_parameter_vjp", weighted)
        along += [[p.gradient(weighed)]]
    if parameters and problem == "inverse_dynamics":
        # Torques are linear: gradients for unit parameters are the derivatives by these.
        count = len(acting)
        linear = {**weighted, "parameters": np.eye(count, dtype=np.int64) * ONE}
        linear.pop("f_ext", None)
        scaled = call(_without_joint_forces(model), links["vjp"], linear, count)
        mixed = {("parameters", k): block(scaled.results[f"by_{k}"]) for k in ("q", "v", x)}
        curved += [[(scaled, {k: y for k, y in mixed.items() if k[1] in p.inputs})]]
    roles = p.roles(of_value, of_value.results[result], by, along, curved)
    return [*p.inputs], [FUNCTIONS[name].results[0].name], roles


def _with_inertia(model: Model, count: int) -> Places:
    """Return 1 for parameters that act without weight and at rest; times 0, a place is `ZERO`."""
    return has_inertia(model)[:count].astype(np.int64)


def _without_joint_forces(model: Model) -> Model:
    """Return the model whose torques are linear in the parameters of its bodies."""
    none = np.zeros(model.nv)  # of free joints, too
    with without_model_warnings():
        return model.replace(damping=none, friction=none, stiffness=0.0, armature=none)


def matrix(model: Model, name: str, *, parameters: bool, joint_parameters: bool) -> Slot:
    """Describe the mass matrix or its inverse.

    Their columns are the torques of unit accelerations, or the accelerations of unit torques, at
    rest and without weight.
    """
    problem, nv, light = problem_of(name), model.nv, weightless(model)
    row, links = FUNCTIONS[problem], FUNCTIONS[problem].links
    s = Structure(model, solves=problem == "forward_dynamics", felt_position=False)
    entries = s.coupled[:, :, None] & s.coupled[:, None, :] & s.coupled[None, :, :]
    first = {"q": s.by_q(entries.reshape(nv * nv, nv))}
    kept = _with_inertia(model, parameter_count(model, of_joints=joint_parameters))
    acting = of_parameters(model, s)[: len(kept)]
    between = acting[:, :, None] & acting[:, None, :] & (kept > 0)[:, None, None]
    first["parameters"] = between.reshape(-1, nv * nv).T
    options: Any = {"parameters": parameters, "joint_parameters": joint_parameters}
    value = prepared(model, name, **options)
    shapes = _shapes(value, *["parameters"] * parameters)
    second = {("q", "q"): s.by_q(s.by_q(s.coupled).T)} | _by_parameters(shapes)
    p = Plan(shapes, s.coupled, first, second)
    columns = {**p.inputs, row.inputs[2].name: np.eye(nv, dtype=np.int64) * ONE, "lam": p.seed.T}
    if parameters:
        columns["parameters"] = p.inputs["parameters"] * kept

    def call(function: str) -> Call:
        return Call(prepared(light, function, **options), columns, nv)

    def summed(places: Places) -> Numbers:
        """Return the sums over the columns, which are the first axis."""
        return np.moveaxis(places, 0, -1).reshape(*matrix_shape(places.shape[1:]), nv), None

    slopes, products, curvature = (call(links[x]) for x in ("derivatives", "vjp", "hessian"))
    by_q = slopes.results[f"d{row.results[0].name}_dq"]  # by column, row and q
    by = [[(slopes, {"q": block(by_q.swapaxes(0, 1), 2)})]]
    along = [[(products, {"q": summed(products.results["by_q"])})]]
    curved = [[(curvature, {("q", "q"): summed(curvature.results["dqdq"])})]]
    if parameters:
        regressor, weighed = call(_REGRESSORS[problem]), call(f"{problem}_parameter_vjp")
        (by_parameters,) = regressor.results.values()
        by += [[(regressor, {"parameters": block(by_parameters.swapaxes(0, 1), 2)})]]
        gradient, _ = summed(weighed.results["by_parameters"])
        factors = np.broadcast_to(np.where(kept, ONE, ZERO)[:, None, None], gradient.shape)
        along += [[(weighed, {"parameters": (gradient, factors)})]]
    of_value = Call(value, p.inputs)
    (places,) = of_value.results.values()
    result = "M_inverse" if problem == "forward_dynamics" else "M"
    return [*p.inputs], [result], p.roles(of_value, places, by, along, curved)


def constrained(
    model: Model,
    name: str,
    contacts: Contacts,
    *,
    active: bool,
    regularization: float,
    parameters: bool,
    joint_parameters: bool,
) -> Slot:
    """Describe constrained dynamics, or an impact without restitution.

    The result is one vector: accelerations, forces and residuals, or velocities and impulses.
    """
    options: Any = {"contacts": contacts, "regularization": regularization}
    options |= {"parameters": parameters, "joint_parameters": joint_parameters}
    row, links = FUNCTIONS[name], FUNCTIONS[name].links
    s = ConstrainedStructure(model, contacts)
    value = prepared(model, name, **options)
    shapes = _shapes(value, *["active"] * active, *["parameters"] * parameters)
    shapes.pop("restitution", None)
    is_impact, size = "tau" not in shapes, sum(int(np.prod(x[1])) for x in value.results)
    rows = np.concatenate([s.coupled, s.of_rows])
    rows = np.pad(rows, ((0, size - len(rows)), (0, 0)))  # residuals have no derivatives here
    moved, count = model.nv + contacts.nrows, shapes.get("parameters", (0,))[0]
    first = {"q": s.by_q(rows), "v": rows, "tau": rows}
    first["parameters"] = np.repeat(np.arange(size) < moved, count).reshape(size, count)
    second = {
        ("q", "q"): s.by_q(s.by_q(s.coupled).T),
        ("q", "v"): s.by_q(s.coupled).T,
        ("v", "v"): s.coupled & (not is_impact),  # velocities after impacts are linear in v
        ("q", "tau"): s.by_q(s.coupled).T,
        **_by_parameters(shapes),
    }
    p = Plan(shapes, np.ones((size, 1), dtype=bool), first, second)
    forces = row.results[1].name
    weighted = {**p.inputs, "lam": p.seed[: model.nv, 0]}
    weighted[f"lam_{forces}"] = p.seed[model.nv : moved, 0]

    slopes = Call(prepared(model, links["derivatives"], **options), p.inputs)
    by = {}
    for x, above in p.named(slopes, f"d{row.results[0].name}_d{{}}".format):
        below = slopes.results[f"d{forces}_d{x}"]
        unread = np.zeros((size - len(above) - len(below), above.shape[1]), dtype=np.int64)
        by[x] = np.concatenate([above, below, unread])
    along = p.gradient(Call(prepared(model, links["vjp"], **options), weighted))
    curved = p.hessian(Call(prepared(model, links["hessian"], **options), weighted))
    of_value = Call(value, p.inputs)
    parts = np.concatenate([*of_value.results.values()])
    jacobians, products = [[(slopes, {x: block(y) for x, y in by.items()})]], [[along]]
    if parameters:
        call = prepared(model, links["vjp"], **options, by="parameters")
        gradient, units = Call(call, weighted), np.eye(moved, dtype=np.int64) * ONE
        products += [[(gradient, {"parameters": alone(gradient.results["by_parameters"])})]]
        each = {"lam": units[:, : model.nv], f"lam_{forces}": units[:, model.nv :]}
        found = Call(call, {**p.inputs, **each}, moved)
        padded = np.pad(found.results["by_parameters"], ((0, size - moved), (0, 0)))
        jacobians += [[(found, {"parameters": block(padded)})]]
    return [*p.inputs], ["result"], p.roles(of_value, parts, jacobians, products, [[curved]])


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
    by = {  # of the stack, the second axis is for the input's orders
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
    parameters: bool,
    joint_parameters: bool,
) -> Slot:
    """Describe a time step, with derivatives by its length and the wrenches on it.

    The result is one vector: the numbers of q and v after the step. Without these two variables,
    the calls take less time.
    """
    takes_f_ext = f_ext_axes is not None
    options: Any = {"integrator": integrator, "f_ext_axes": f_ext_axes or "body"}
    options |= {"contacts": contacts, "regularization": regularization}
    options |= {"parameters": parameters, "joint_parameters": joint_parameters}
    value, links = prepared(model, "step", **options), FUNCTIONS["step"].links
    more = ["f_ext"] * takes_f_ext + ["active"] * active + ["parameters"] * parameters
    shapes = _shapes(value, *more)
    nq, size = model.nq, model.nq + model.nv
    first, second = patterns_of_steps(model, integrator, contacts, f_ext_axes == "world")
    count = parameter_count(model, of_joints=joint_parameters)
    first["parameters"] = first["parameters"][:, :count]
    second |= _by_parameters(shapes)
    p = Plan(shapes, np.ones((size, 1), dtype=bool), first, second)
    weighted = {**p.inputs, "lam_q": p.seed[:nq, 0], "lam_v": p.seed[nq:, 0]}
    jacobians, hessians, gradients = [], [], []
    further: list[tuple[str, ...]] = [(), ("dt",)]
    for by in [*further, ("dt", "f_ext")] if takes_f_ext else further:
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
    by_state, along = [jacobians], [gradients]
    if parameters:
        call = prepared(model, links["vjp"], **options, by="parameters")
        gradient, units = Call(call, weighted), np.eye(size, dtype=np.int64) * ONE
        along += [[(gradient, {"parameters": alone(gradient.results["by_parameters"])})]]
        each = {**p.inputs, "lam_q": units[:, :nq], "lam_v": units[:, nq:]}
        rows = Call(call, each, size)
        by_state += [[(rows, {"parameters": block(rows.results["by_parameters"])})]]
    roles = p.roles(of_value, after, by_state, along, [hessians])
    return [*p.inputs], ["result"], roles


def _shapes(call: _core.RawCall, *more: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the required inputs and of these, in the core's order."""
    return {name: shape for name, shape, optional in call.inputs if not optional or name in more}


def _by_parameters(shapes: Mapping[str, tuple[int, ...]]) -> dict[tuple[str, str], Pattern]:
    """Return patterns of second derivatives by parameters where the core has none.

    CasADi asks for what is not empty, and the slot refuses it.
    """
    sizes = {x: int(np.prod(shape)) for x, shape in shapes.items() if x != "active"}
    count = sizes.get("parameters", 0)
    return {("parameters", x): np.ones((count, n), dtype=bool) for x, n in sizes.items() if count}
