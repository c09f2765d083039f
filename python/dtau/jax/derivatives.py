"""Differentiate calls by the rules of `dtau.autodiff`: `apply`.

A variation of the results is linear in the inputs' variations, so JAX transposes it for reverse
mode. Where the core has products, it is the primitive `_product`: in forward mode the core's
``_jvp``, in reverse mode its ``_vjp``. It multiplies a Jacobian where one state meets many vectors,
as in `jax.jacfwd` and `jax.jacrev`. Elsewhere it is a Jacobian times the variations. A Jacobian is
a call too, and differentiable as far as there are rules.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from dtau.autodiff import manifold
from dtau.autodiff.blocks import Blocks, Rule
from dtau.autodiff.functions import (
    CONSTRAINED,
    composition,
    hessian,
    in_tangent_space,
    is_of_blocks,
    jacobian_of,
    jacobians,
)
from dtau.autodiff.library import At
from dtau.jax.calls import Call
from dtau.jax.primitives import (
    batch_of,
    bound,
    core_call,
    gathered,
    mapped,
    ranks_of,
    types,
    varying_alike,
)
from dtau.jax.products import Arrays, Inputs, Product, has_products, multiplied
from dtau.model.model import Model
from dtau.support.arrays import Array


class _Jax:
    """JAX's operations for the rules, see `dtau.autodiff.library.Library`."""

    xp = jnp

    def constant(self, numbers: Array) -> jax.Array:
        return jnp.asarray(numbers)

    def call(self, model: Model, name: str, inputs: Arrays, **options: Any) -> Arrays:
        results: Arrays = apply(Call.of(model, name, **options), inputs)
        return results


LIBRARY = _Jax()


def _at(call: Call, inputs: Inputs, wanted: Collection[str]) -> At:
    """Return a call at its inputs, for the rules."""
    every = {name: inputs.get(name) for name in ranks_of(call)}
    return At(LIBRARY, call.model, every, dict(call.options), wanted)


def apply(call: Call, inputs: Arrays) -> Arrays:
    """Return the results of a call, with derivatives. Omitted inputs are None."""
    return bound(call, dict(zip(ranks_of(call), inputs, strict=True)))


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, call: Call, given: tuple[str, ...]
) -> tuple[Arrays, Arrays]:
    ranks, inputs = ranks_of(call), dict(zip(given, primals, strict=True))
    results = bound(call, inputs)
    changes = {
        name: x
        for name, x in zip(given, tangents, strict=True)
        if not (isinstance(x, ad.Zero) or name == "active")
    }
    options = dict(call.options)
    rule, compose = jacobians(call.name, options), composition(call.name, options)
    varied: Sequence[Any] = ()
    linked = compose is not None and rule is not None and not is_of_blocks(call.name)
    if changes and (has_products(call.name) or linked):
        varied = _varied_by_product(call, inputs, changes)
    elif changes and (compose is not None or jacobian_of(call.name, options)):
        varied = _varied_by_composition(call, inputs, changes)
    elif changes and rule is not None:
        x, batch = _at(call, inputs, changes), len(_batch(call, inputs))
        if in_tangent_space(call.name):
            changes = {by: manifold.to_tangent(jnp, x.model, x[by], y) for by, y in changes.items()}
        own = [r.ndim - batch for r in results]
        varied = _sum([_times(rule(x, by), own, y, ranks[by]) for by, y in changes.items()])
    elif changes:
        raise NotImplementedError(_no_derivative(call))
    pairs = itertools.zip_longest(results, varied)  # a residual does not vary
    return results, tuple(
        jnp.zeros_like(r) if v is None else jnp.broadcast_to(v, r.shape) for r, v in pairs
    )


def _rule_of(call: Call) -> Rule:
    """Return the rule for Jacobians, where there is one."""
    rule = jacobians(call.name, dict(call.options))
    assert rule is not None
    return rule


@functools.partial(jax.jit, static_argnums=0)  # outside of programs one compilation, not many
def _varied_by_composition(call: Call, inputs: Inputs, changes: Inputs) -> Arrays:
    given = [inputs[by] for by in changes]
    varied: Arrays = jax.jvp(_composed(call, inputs, changes), given, list(changes.values()))[1]
    return varied


def _composed(call: Call, inputs: Inputs, moving: Collection[str]) -> Callable[..., Arrays]:
    """Return a composition, or the Jacobians of one, as a function of some inputs."""
    compose = composition(call.name, dict(call.options))

    def function(*some: Any) -> Arrays:
        given = {**inputs, **dict(zip(moving, some, strict=True))}
        return _columns(call, given) if compose is None else compose(_at(call, given, moving))

    return function


def _columns(call: Call, inputs: Inputs) -> Arrays:
    """Return the Jacobians of the composition by each input, as their functions have them."""
    options = dict(call.options)
    whole = Call.of(call.model, jacobian_of(call.name, options), **options)
    names, batch = list(ranks_of(whole)), _batch(whole, inputs)
    of = _composed(whole, inputs, names)
    given = [jnp.broadcast_to(inputs[x], batch + inputs[x].shape[-1:]) for x in names]
    still = [jnp.zeros_like(x) for x in given]

    def by(k: int) -> jax.Array:
        def column(unit: jax.Array) -> jax.Array:
            varied = [*still[:k], jnp.broadcast_to(unit, given[k].shape), *still[k + 1 :]]
            found: jax.Array = jax.jvp(of, given, varied)[1][0]
            return found

        matrix: jax.Array = jax.vmap(column, out_axes=-1)(jnp.eye(given[k].shape[-1]))
        return matrix

    return tuple(by(k) for k in range(len(given)))


def _batch(call: Call, inputs: Inputs) -> tuple[int, ...]:
    ranks = ranks_of(call)
    given = {name: x for name, x in inputs.items() if x is not None}
    return batch_of(list(given.values()), [ranks[name] for name in given])


def _times(blocks: Blocks, ranks: Sequence[int], vector: jax.Array, rank: int) -> list[Any]:
    """Multiply blocks by a variation of an input; ``ranks`` are the results' and ``rank`` its.

    Ranks are numbers of axes for one state.
    """
    columns, found = "xyz"[:rank], []
    for block, axes in zip(blocks, ranks, strict=True):
        rows = "abcdefgh"[:axes]
        equation = f"...{rows}{columns},...{columns}->...{rows}"
        found.append(None if block is None else jnp.einsum(equation, block, vector))
    return found


def _sum(parts: Sequence[Sequence[Any]]) -> list[Any]:
    """Add what is not None, result by result."""
    every = [[x for x in same if x is not None] for same in zip(*parts, strict=True)]
    return [functools.reduce(jnp.add, present) if present else None for present in every]


# ------------------------------------------------------------------ products


_product = Primitive("dtau_product")
_product.multiple_results = True
_FEW = 4  # vectors: with more of them, one Jacobian costs less than their products


def _varied_by_product(call: Call, inputs: Inputs, changes: Inputs) -> list[Any]:
    """Return the variations of the results that have derivatives."""
    given = {name: x for name, x in inputs.items() if x is not None}
    product = Product(call, tuple(given), tuple(changes), transposed=False)
    ranks, batch = ranks_of(call), _batch(call, inputs)
    vectors = [
        jnp.broadcast_to(gathered(x), batch + x.shape[x.ndim - ranks[k] :])
        for k, x in changes.items()
    ]
    vectors = varying_alike(vectors, list(given.values()))
    found: list[Any] = _product.bind(*given.values(), *vectors, product=product)
    return found


def _by_matrix(*arrays: Any, product: Product) -> list[Any]:
    """Return a product as the Jacobian of all results by all inputs times a vector.

    It is differentiable, as Jacobians are.
    """
    inputs, vectors = product.split(arrays)
    of_vectors, of_products = product.shapes
    columns, rows = (of_products, of_vectors) if product.transposed else (of_vectors, of_products)
    x, rule = _at(product.call, inputs, product.moving), _rule_of(product.call)
    by_input = [rule(x, by) for by in product.moving]
    blocks = [
        [_rows(of[k], row, column) for of, column in zip(by_input, columns, strict=True)]
        for k, row in enumerate(rows)
    ]
    batch = jnp.broadcast_shapes(*(x.shape[:-2] for row in blocks for x in row))
    full = [[jnp.broadcast_to(x, batch + x.shape[-2:]) for x in row] for row in blocks]
    matrix = jnp.block(full)
    flat = [
        x.reshape((*x.shape[: x.ndim - len(own)], math.prod(own)))
        for x, own in zip(vectors, of_vectors, strict=True)
    ]
    vector = jnp.concatenate(flat, axis=-1)
    equation = "...ij,...i->...j" if product.transposed else "...ij,...j->...i"
    found = jnp.einsum(equation, matrix, vector)
    ends = np.cumsum([math.prod(shape) for shape in of_products])[:-1]
    parts = jnp.split(found, ends, axis=-1)
    return [x.reshape((*x.shape[:-1], *own)) for x, own in zip(parts, of_products, strict=True)]


def _rows(block: Any, row: tuple[int, ...], column: tuple[int, ...]) -> jax.Array:
    """Return a block as a matrix (..., numbers of a result, numbers of an input)."""
    size = math.prod(row), math.prod(column)
    if block is None:
        return jnp.zeros(size)
    return jnp.reshape(block, (*block.shape[: block.ndim - len(row + column)], *size))


def _by_composition(*arrays: Any, product: Product) -> Sequence[Any]:
    """Return a product from the derivatives of a composition, which has them of every order."""
    inputs, vectors = product.split(arrays)
    core = product.shapes[0][0]
    batch = vectors[0].shape[: vectors[0].ndim - len(core)]
    ranks = ranks_of(product.call)
    moving = [
        jnp.broadcast_to(inputs[by], batch + inputs[by].shape[inputs[by].ndim - ranks[by] :])
        for by in product.moving
    ]
    of = _composed(product.call, inputs, product.moving)
    found: Sequence[Any]
    if product.transposed:
        found = jax.vjp(of, *moving)[1](tuple(vectors))
    else:
        found = jax.jvp(of, moving, list(vectors))[1]
    return found


def _types(*avals: Any, product: Product) -> list[Any]:
    vectors, (of_vectors, of_products) = product.split(avals)[1], product.shapes
    return types(vectors, [len(shape) for shape in of_vectors], of_products)


def _transposed(weights: Sequence[Any], *arrays: Any, product: Product) -> list[Any]:
    inputs, vectors = product.split(arrays)
    other = product._replace(transposed=not product.transposed)
    dense = map(ad.instantiate_zeros, weights)
    gradients = _product.bind(*inputs.values(), *dense, product=other)
    pairs = zip(gradients, vectors, strict=True)  # known vectors are zeros
    return [None for _ in inputs] + [g if ad.is_undefined_primal(x) else None for g, x in pairs]


def _differentiated(
    primals: Sequence[Any], tangents: Sequence[Any], *, product: Product
) -> tuple[list[Any], list[Any]]:
    results = _product.bind(*primals, product=product)
    (inputs, vectors), (moved, turned) = product.split(primals), product.split(tangents)
    parts = []
    if not all(isinstance(x, ad.Zero) for x in turned):
        dense = map(ad.instantiate_zeros, turned)
        parts.append(_product.bind(*inputs.values(), *dense, product=product))
    changes = {
        name: x for name, x in moved.items() if not (isinstance(x, ad.Zero) or name == "active")
    }
    if changes:
        parts.append(_varied_inputs(product, inputs, vectors, changes))
    zeros = [jnp.zeros_like(x) for x in results]
    return results, [
        y if x is None else jnp.broadcast_to(x, y.shape)
        for x, y in zip(_sum(parts) if parts else zeros, zeros, strict=True)
    ]


def _varied_inputs(
    product: Product, inputs: Inputs, vectors: Sequence[Any], changes: Inputs
) -> Sequence[Any]:
    """Differentiate a product by inputs: as a weighted Hessian, if the core has it for these."""
    second = hessian(product.problem) if product.transposed else None
    if second is not None and second.by.issuperset([*changes, *product.moving]):
        given = {**inputs, **dict(zip(product.weights, vectors, strict=True))}
        blocks = second.rule(_at(product.core("vjp"), given, {*changes, *product.moving}))
        ranks = ranks_of(product.call)
        own = [ranks[of] for of in product.moving]
        rows = {by: tuple(blocks.get((of, by)) for of in product.moving) for by in changes}
        return _sum([_times(rows[by], own, y, ranks[by]) for by, y in changes.items()])
    found: Sequence[Any] = _varied_by_rule(product, inputs, vectors, changes)
    return found


@functools.partial(jax.jit, static_argnums=0)
def _varied_by_rule(
    product: Product, inputs: Inputs, vectors: Sequence[Any], changes: Inputs
) -> Sequence[Any]:
    composed = composition(product.call.name, dict(product.call.options)) is not None
    of = _by_composition if composed else _by_matrix

    def function(*some: Any) -> Sequence[Any]:
        given = {**inputs, **dict(zip(changes, some, strict=True))}
        return of(*(given[name] for name in product.given), *vectors, product=product)

    varied = [inputs[name] for name in changes]
    found: Sequence[Any] = jax.jvp(function, varied, list(changes.values()))[1]
    return found


def _mapped(
    arrays: Sequence[Any], axes: Sequence[int | None], *, product: Product
) -> tuple[list[Any], list[int]]:
    """Map a product: one state with many vectors by Jacobians, anything else as a longer batch."""
    ranks = ranks_of(product.call)
    every = [ranks[name] for name in product.given] + [len(x) for x in product.shapes[0]]
    longer, size = mapped(arrays, axes, every)
    count = len(product.given)
    vectors = [
        x if k is not None else jnp.broadcast_to(x, (size, *x.shape))
        for x, k in zip(longer[count:], axes[count:], strict=True)
    ]
    few = isinstance(size, int) and size <= _FEW  # a symbolic size of jax.export may be large
    many = not few and all(k is None for k in axes[:count])
    of = _by_matrix if many else _product.bind
    found = list(of(*longer[:count], *vectors, product=product))
    return found, [0] * len(found)


@functools.partial(jax.jit, static_argnames="product")
def _value(*arrays: Any, product: Product) -> Sequence[Any]:
    return (multiplied if has_products(product.call.name) else _by_matrix)(*arrays, product=product)


ad.primitive_jvps[core_call] = _jvp
_product.def_impl(_value)
_product.def_abstract_eval(_types)
ad.primitive_jvps[_product] = _differentiated
ad.primitive_transposes[_product] = _transposed
batching.primitive_batchers[_product] = _mapped
mlir.register_lowering(_product, mlir.lower_fun(_value, multiple_results=True))


def _no_derivative(call: Call) -> str:
    for name in ("inverse_dynamics", "forward_dynamics", *CONSTRAINED):
        if call.name in (f"{name}_hessian", f"{name}_second_derivatives"):
            return (
                f"dtau.jax: derivatives of {name}, and of functions that are made of it, exist up "
                "to the second order; this asks for the third"
            )
    return f"dtau.jax: there is no derivative of {call.name}"
