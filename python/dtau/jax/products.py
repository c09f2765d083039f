"""Reverse mode by the core's O(N) products instead of matrices: `apply_with_products`.

This is a `jax.custom_vjp`, which excludes forward mode, so it is optional. Only the products of
`step` have derivatives themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from dtau.autodiff import manifold
from dtau.autodiff.functions import PUBLIC
from dtau.autodiff.rows import PARAMETERS
from dtau.jax.calls import Call, prepare, results_of, run
from dtau.jax.derivatives import Arrays, apply


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def apply_with_products(call: Call, inputs: Arrays) -> Arrays:
    """Return the results of a function that has products, with gradients by these."""
    return run(call, inputs)


def _forward(call: Call, inputs: Any) -> tuple[Arrays, Any]:
    names = [spec.name for spec in prepare(call).inputs]
    by_dt = any(name == "dt" and x.perturbed for name, x in zip(names, inputs, strict=True))
    values = tuple(None if x is None else x.value for x in inputs)
    results = apply(call, values)
    return results, (values, results, () if by_dt else None)  # no arrays, which would be traced


def _backward(call: Call, saved: Any, weights: Arrays) -> tuple[Arrays]:
    inputs, results, by_dt = saved
    names = [spec.name for spec in prepare(call).inputs]
    given = dict(zip(names, inputs, strict=True))
    model, q = call.model, given["q"]
    dense = [
        jnp.zeros_like(r) if isinstance(w, jax.custom_derivatives.SymbolicZero) else w
        for w, r in zip(weights, results, strict=True)
    ]
    if call.name == "step":  # weights of the numbers of q: convert to the tangent space
        dense[0] = _transposed(manifold.from_tangent, model, results[0], dense[0])
    options = {**dict(call.options), "by": None if by_dt is None else "dt"}
    products = Call.of(model, PUBLIC[call.name].vjp, **options)
    order = prepare(products).inputs
    weighted = (spec.name for spec in order if spec.name not in names)
    given.update(zip(weighted, dense, strict=False))  # a residual has no weight
    found = apply(products, tuple(given[spec.name] for spec in order))
    gradients = results_of(products, [name for name, x in given.items() if x is not None])
    by = {spec.name.removeprefix("by_"): x for spec, x in zip(gradients, found, strict=True)}
    if given.get(PARAMETERS) is not None:
        by[PARAMETERS] = _by_parameters(call, given)
    by["q"] = _transposed(manifold.to_tangent, model, q, by["q"])
    return (
        tuple(
            None if x is None else _summed(by[name], x) if name in by else jnp.zeros_like(x)
            for name, x in zip(names, inputs, strict=True)
        ),
    )


def _by_parameters(call: Call, given: Mapping[str, Any]) -> jax.Array:
    """Return the gradient by the inertias of the bodies."""
    product = Call.of(call.model, f"{call.name}_parameter_vjp", **dict(call.options))
    gradient: jax.Array
    (gradient,) = apply(product, tuple(given[spec.name] for spec in prepare(product).inputs))
    return gradient


def _transposed(map_: manifold.LinearMap, model: Any, q: jax.Array, covector: jax.Array) -> Any:
    """Apply the transpose of a tangent map at q to a covector."""
    width = model.nq if map_ is manifold.to_tangent else model.nv
    zeros = jnp.zeros((*covector.shape[:-1], width), covector.dtype)
    return jax.vjp(lambda x: map_(jnp, model, q, x), zeros)[1](covector)[0]


def _summed(gradient: jax.Array, x: jax.Array) -> jax.Array:
    """Sum a gradient over the axes along which x was broadcast."""
    extra = gradient.ndim - x.ndim
    gradient = gradient.sum(tuple(range(extra)))
    repeated = tuple(k for k, n in enumerate(x.shape) if n == 1 != gradient.shape[k])
    return gradient.sum(repeated, keepdims=True)


apply_with_products.defvjp(_forward, _backward, symbolic_zeros=True)
