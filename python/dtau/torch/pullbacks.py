"""Pull gradients back by products of the core, for first derivatives only: `PULLBACKS`.

A product takes the model, the options, inputs and cotangents as NumPy arrays, and flags of the
wanted gradients. It returns the gradients by all inputs, in the shape of the whole batch, or None
if the core has no such product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau import _core
from dtau.autodiff import manifold
from dtau.autodiff.functions import PUBLIC
from dtau.model.model import Model
from dtau.registry import FUNCTIONS
from dtau.registry import Array as Row
from dtau.torch.kernels import KERNELS, evaluate

Array = NDArray[np.float64]
Arrays = Sequence[Any]  # arrays, or None for omitted inputs
Product = Callable[[Model, Mapping[str, Any], Arrays, Arrays, Sequence[bool]], Arrays | None]


def _pulled_back(model: Model, q: Any, gradient: Any) -> Array:
    if manifold.is_vector_space(model):
        return np.asarray(gradient)
    try:
        matrix: Any = _core.tangent_map(model, q).to_tangent
    except ValueError:  # quaternions without unit norm: use the map that includes normalization
        matrix = manifold.matrix(np, model, q, np.eye(model.nq), manifold.to_tangent)
    return _times(gradient, matrix)


def _from_numbers(model: Model, q: Any, gradient: Any) -> Array:
    """Convert a gradient by the numbers of a result q to the tangent space."""
    if manifold.is_vector_space(model):
        return np.asarray(gradient)
    return _times(gradient, _core.tangent_map(model, q).from_tangent)


def _times(row: Any, matrix: Any) -> Array:
    return np.asarray((row[..., None, :] @ matrix)[..., 0, :])


def _dynamics(function: str, vjp: str) -> Product:
    """Return the product of dynamics, or of a term with fewer inputs."""
    taken, row = KERNELS[function].inputs, FUNCTIONS[vjp]
    weights = [x for x in row.inputs if x.name.startswith("lam")]
    still = [x.name for x in row.inputs if x.name not in taken and not x.optional]
    gradients = [x.name.removeprefix("by_") for x in row.results]

    def product(
        model: Model,
        options: Mapping[str, Any],
        inputs: Arrays,
        cotangents: Arrays,
        wanted: Sequence[bool],
    ) -> Arrays:
        given: dict[str, Any] = {
            **dict.fromkeys(still, np.zeros(model.nv)),
            **dict(zip(taken, inputs, strict=True)),
        }
        for weight, lam in zip(weights, cotangents, strict=False):  # a residual has no weight
            given[weight.name] = _zeros(model, options, weight) if lam is None else lam
        order = (given.get(x.name) for x in row.inputs)
        products = evaluate(model, vjp, options, tuple(order))
        found: dict[str, Any] = dict(zip(gradients, products, strict=False))
        found["q"] = _pulled_back(model, given["q"], found["q"]) if wanted[0] else None
        return [found.get(name) for name in taken]

    return product


def _zeros(model: Model, options: Mapping[str, Any], weight: Row) -> Array:
    return np.zeros(model.nv if weight.axes == ("nv",) else options["contacts"].nrows)


def _by_jacobians(function: str, jacobians: str) -> Product:
    """Return the product of a vector-valued function with its Jacobians."""
    is_configuration = FUNCTIONS[function].results[0].axes == ("nq",)

    def product(
        model: Model,
        options: Mapping[str, Any],
        inputs: Arrays,
        cotangents: Arrays,
        wanted: Sequence[bool],
    ) -> Arrays:
        blocks = evaluate(model, jacobians, options, inputs)
        g = cotangents[0]
        if is_configuration:
            g = _from_numbers(model, evaluate(model, function, options, inputs)[0], g)
        return [
            _pulled_back(model, x, _times(g, block)) if sizes == ("nq",) else _times(g, block)
            for x, sizes, block in zip(inputs, KERNELS[function].sizes, blocks, strict=True)
        ]

    return product


def _step(
    model: Model,
    options: Mapping[str, Any],
    inputs: Arrays,
    cotangents: Arrays,
    wanted: Sequence[bool],
) -> Arrays | None:
    if wanted[3]:  # by dt
        return None
    q, v, tau, dt, f_ext, active = inputs
    lam_q, lam_v = (np.zeros(model.nv) if g is None else g for g in cotangents)
    if cotangents[0] is not None:
        if options["integrator"] == "euler":  # q does not depend on the acceleration
            reached = evaluate(model, "integrate", {}, (q, dt[..., None] * v))[0]
        else:
            reached = evaluate(model, "step", options, inputs)[0]
        lam_q = _from_numbers(model, reached, lam_q)
    given = (q, v, tau, dt, lam_q, lam_v, f_ext, active)
    by_q, by_v, by_tau, by_f_ext = evaluate(model, "step_vjp", options, given)
    return _pulled_back(model, q, by_q), by_v, by_tau, None, by_f_ext, None


def _product(name: str) -> Product | None:
    how = PUBLIC[name]
    if name == "step":
        return _step
    vjp = PUBLIC[how.term_of].vjp if how.term_of else how.vjp
    if vjp:
        return _dynamics(name, vjp)
    shapes = [result.axes for result in FUNCTIONS[name].results]
    if not how.first or [len(axes) for axes in shapes] != [1]:
        return None
    same = KERNELS[name].inputs == KERNELS[how.first].inputs
    return _by_jacobians(name, how.first) if same else None


PULLBACKS = {name: product for name in PUBLIC if (product := _product(name)) is not None}
