"""Products of derivatives with vectors, from the core: `Product`, `multiplied`.

A product takes variations of inputs to variations of results, as the core's ``_jvp``. Its transpose
takes weights of results to gradients by inputs, as the core's ``_vjp``. Both are O(N).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from dtau.autodiff.functions import TERM_OF, link
from dtau.autodiff.rows import FUNCTIONS, PARAMETERS
from dtau.jax.calls import Call, prepare, results_of, run

Arrays = tuple[Any, ...]
Inputs = Mapping[str, Any]


class Product(NamedTuple):
    """A product with the derivatives of a call: hashable.

    ``given`` names the inputs of the call that are given, ``moving`` those by which derivatives are
    taken. The arguments of a product are these inputs, and then its vectors.
    """

    call: Call
    given: tuple[str, ...]
    moving: tuple[str, ...]
    transposed: bool

    @property
    def problem(self) -> str:
        """The function that has the products; others are this one with some inputs zero."""
        return TERM_OF.get(self.call.name, self.call.name)

    def core(self, kind: str) -> Call:
        """Return the core's product of a kind: jvp, vjp, parameter_jvp, parameter_vjp."""
        further = [x for x in ("dt", PARAMETERS) if x in self.moving and kind == "vjp"]
        by = tuple(further) if "by" in FUNCTIONS[f"{self.problem}_{kind}"].options else None
        options = {**dict(self.call.options), "coordinates": "numbers", "by": by}
        return Call.of(self.call.model, f"{self.problem}_{kind}", **options)

    @property
    def weights(self) -> tuple[str, ...]:
        """The names of weights of results in the core's product; a residual has none."""
        inputs = FUNCTIONS[f"{self.problem}_vjp"].inputs
        return tuple(x.name for x in inputs if x.name.startswith("lam"))

    @property
    def shapes(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """The shapes of the vectors and of their products, for one state."""
        prepared = prepare(self.call)
        taken = {x.name: x.shape for x in prepared.inputs}
        inputs = [taken[name] for name in self.moving]
        count = len(self.weights) if has_products(self.call.name) else len(prepared.results)
        results = [x.shape for x in prepared.results[:count]]
        return (results, inputs) if self.transposed else (inputs, results)

    def split(self, arrays: Sequence[Any]) -> tuple[dict[str, Any], Sequence[Any]]:
        """Split arguments: inputs by name, and vectors."""
        count = len(self.given)
        return dict(zip(self.given, arrays[:count], strict=True)), arrays[count:]


def has_products(name: str) -> bool:
    """Whether the core multiplies the derivatives of a function."""
    return bool(link(TERM_OF.get(name, name), "vjp"))


def multiplied(*arrays: Any, product: Product) -> Arrays:
    """Return the product, from the core."""
    inputs, vectors = product.split(arrays)
    return (_gradients if product.transposed else _variations)(product, inputs, vectors)


def _variations(product: Product, inputs: Inputs, vectors: Sequence[Any]) -> Arrays:
    varied = {f"d{name}": x for name, x in zip(product.moving, vectors, strict=True)}
    parts = []
    if f"d{PARAMETERS}" in varied and _is_apart(product):
        by = {f"d{PARAMETERS}": varied.pop(f"d{PARAMETERS}")}
        parts.append(_run(product.core("parameter_jvp"), {**inputs, **by}))
    if varied:
        parts.append(_run(product.core("jvp"), {**inputs, **varied}))
    return tuple(functools.reduce(jnp.add, same) for same in zip(*parts, strict=True))


def _gradients(product: Product, inputs: Inputs, vectors: Sequence[Any]) -> Arrays:
    given = {**inputs, **dict(zip(product.weights, vectors, strict=True))}
    found: dict[str, Any] = {}
    if set(product.moving) != {PARAMETERS} or not _is_apart(product):
        vjp = product.core("vjp")
        pairs = zip(results_of(vjp, list(given)), _run(vjp, given), strict=True)
        found = {spec.name.removeprefix("by_"): x for spec, x in pairs}
    if PARAMETERS in product.moving and _is_apart(product):
        (found[PARAMETERS],) = _run(product.core("parameter_vjp"), given)
    return tuple(found[name] for name in product.moving)


def _is_apart(product: Product) -> bool:
    """Whether the core has the products with derivatives by inertias as functions of their own."""
    return f"{product.problem}_parameter_vjp" in FUNCTIONS


def _run(call: Call, given: Inputs) -> Arrays:
    """Run a product of the core; what it takes and is not given is zero."""
    like = next(iter(given.values()))
    arrays = [
        given[x.name] if x.name in given else None if x.optional else jnp.zeros(x.shape, like.dtype)
        for x in prepare(call).inputs
    ]
    return run(call, tuple(arrays))
