"""Pull gradients back by products of the core, for first derivatives only: `PULLBACKS`.

A product takes the model, the options, inputs and cotangents as NumPy arrays, and flags of the
wanted gradients. It returns the gradients by all inputs, in the shape of the whole batch, or None
if the core has no such product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dtau import registry
from dtau.autodiff.functions import MATRIX_OF, PUBLIC, link, problem_of
from dtau.autodiff.rows import FUNCTIONS, OF_JOINTS, PARAMETERS
from dtau.autodiff.weightless import has_inertia, weightless
from dtau.model.model import Model
from dtau.support.arrays import Array
from dtau.torch.kernels import KERNELS, evaluate

Arrays = Sequence[Any]  # arrays, or None for omitted inputs
Options = Mapping[str, Any]
Product = Callable[[Model, Options, Arrays, Arrays, Sequence[bool]], Arrays]


_BY_NUMBERS = {"coordinates": "numbers"}


def _dynamics(function: str, vjp: str) -> Product:
    """Return the product of dynamics, or of a term with fewer inputs."""
    taken, row = KERNELS[function].inputs, FUNCTIONS[vjp]
    places = [taken.index(x.name) if x.name in taken else None for x in row.inputs]
    weights = [(i, x) for i, x in enumerate(row.inputs) if x.name.startswith("lam")]
    still = [
        i
        for i, x in enumerate(row.inputs)
        if places[i] is None and not x.optional and not x.name.startswith("lam")
    ]
    by = [x.name.removeprefix("by_") for x in row.results]
    kept = [by.index(name) if name in by else len(by) for name in taken]
    bodies = taken.index(PARAMETERS) if PARAMETERS in taken else None
    has_by = "by" in row.options

    def product(
        model: Model, options: Options, inputs: Arrays, cotangents: Arrays, wanted: Sequence[bool]
    ) -> Arrays:
        given = [None if k is None else inputs[k] for k in places]
        for i in still:
            given[i] = np.zeros(model.nv)
        for (i, weight), lam in zip(weights, cotangents, strict=False):  # none for a residual
            given[i] = _zeros(model, options, weight) if lam is None else lam
        options = {**options, "coordinates": "numbers"}
        if asked := has_by and bodies is not None and wanted[bodies]:
            options["by"] = PARAMETERS
        found = evaluate(model, vjp, options, given)
        found, further = (found[:-1], found[-1]) if asked else (found, None)
        gradients = [found[k] if k < len(found) else None for k in kept]
        if bodies is not None and inputs[bodies] is not None and wanted[bodies]:
            gradients[bodies] = _by_parameters(model, row, options, given, further)
        return gradients

    return product


def _by_parameters(
    model: Model, vjp: registry.Function, options: Options, given: Arrays, known: Any = None
) -> Array:
    """Return the gradient by the inertias of the bodies, which the product itself may have."""
    if known is not None:
        return np.asarray(known)
    named = dict(zip((x.name for x in vjp.inputs), given, strict=True))
    product = vjp.name.replace("_vjp", "_parameter_vjp")
    inputs = [named[x.name] for x in FUNCTIONS[product].inputs]
    return np.asarray(evaluate(model, product, options, inputs)[0])


def _zeros(model: Model, options: Options, weight: registry.Array) -> Array:
    return np.zeros(model.nv if weight.axes == ("nv",) else options["contacts"].nrows)


def _by_jacobians(function: str, jacobians: str) -> Product:
    """Return the product of a function with one result with its Jacobians."""
    (result,) = FUNCTIONS[function].results

    def product(
        model: Model, options: Options, inputs: Arrays, cotangents: Arrays, wanted: Sequence[bool]
    ) -> Arrays:
        blocks = evaluate(model, jacobians, {**options, **_BY_NUMBERS}, inputs)
        rank = len(result.axes) - isinstance(options.get("frames"), str)
        axes = "ijk"[:rank]
        equation = f"...{axes},...{axes}q->...q"
        return [np.einsum(equation, cotangents[0], block) for block in blocks]

    return product


def _by_unit_vectors(vjp: str) -> Product:
    """Return the product of the matrix that is the Jacobian of a problem by its unknown."""
    row = FUNCTIONS[vjp]

    def product(
        model: Model, options: Options, inputs: Arrays, cotangents: Arrays, wanted: Sequence[bool]
    ) -> Arrays:
        q, bodies = inputs
        known: Any = has_inertia(model) if options.get(OF_JOINTS) else 1.0
        bodies = None if bodies is None else known * bodies[..., None, :]
        given = [q[..., None, :], np.zeros(model.nv), np.eye(model.nv), cotangents[0]]
        every = [*given, *[None] * (len(row.inputs) - len(given) - 1), bodies]
        light, gradients = weightless(model), [None, None]
        if wanted[0]:
            gradients[0] = evaluate(light, vjp, _BY_NUMBERS, every)[0].sum(axis=-2)
        if wanted[1] and bodies is not None:
            gradients[1] = known * _by_parameters(light, row, options, every).sum(axis=-2)
        return gradients

    return product


def _step(
    model: Model, options: Options, inputs: Arrays, cotangents: Arrays, wanted: Sequence[bool]
) -> Arrays:
    q, v, tau, dt, f_ext, active, bodies = inputs
    sizes = (model.nq, model.nv)
    weights = (np.zeros(n) if g is None else g for n, g in zip(sizes, cotangents, strict=True))
    given = (q, v, tau, dt, *weights, f_ext, active, bodies)
    by = [name for k, name in ((3, "dt"), (6, PARAMETERS)) if wanted[k]]
    options = {**options, **_BY_NUMBERS, "by": by or None}
    by = [name for name in ("f_ext", *by) if name != "f_ext" or f_ext is not None]
    by_q, by_v, by_tau, *others = evaluate(model, "step_vjp", options, given)
    further = dict(zip(by, others, strict=True))
    gradients = (further.get(name) for name in ("dt", "f_ext", "active", PARAMETERS))
    return by_q, by_v, by_tau, *gradients


def _product(name: str) -> Product | None:
    vjp, first = link(problem_of(name), "vjp"), link(name, "derivatives")
    if name == "step":
        return _step
    if vjp:
        return _by_unit_vectors(vjp) if name in MATRIX_OF else _dynamics(name, vjp)
    if not first or len(FUNCTIONS[name].results) != 1 or not FUNCTIONS[name].results[0].axes:
        return None
    same = KERNELS[name].inputs == KERNELS[first].inputs
    return _by_jacobians(name, first) if same else None


PULLBACKS = {name: product for name in PUBLIC if (product := _product(name)) is not None}
