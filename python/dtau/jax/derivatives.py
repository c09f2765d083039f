"""Differentiate calls: `apply`, a `jax.custom_jvp` over the rules of `dtau.autodiff`.

The tangent of a call is a sum over its inputs: a Jacobian, which is a call too, times the input's
tangent. The sum is linear in the tangents, so JAX transposes it for reverse mode. The Jacobian is
differentiable too, as far as there are rules.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from numpy.typing import NDArray

from dtau.autodiff import manifold
from dtau.autodiff.blocks import CONFIGURATIONS, Rule
from dtau.autodiff.functions import (
    CONSTRAINED,
    PUBLIC,
    VALUES,
    composition,
    jacobians,
    order_of,
    value,
)
from dtau.autodiff.library import At
from dtau.autodiff.rows import FUNCTIONS
from dtau.jax.calls import Call, prepare, run
from dtau.model.model import Model

Arrays = tuple[Any, ...]


class _Jax:
    """JAX's operations for the rules, see `dtau.autodiff.library.Library`."""

    xp = jnp

    def constant(self, numbers: NDArray[np.float64]) -> jax.Array:
        return jnp.asarray(numbers)

    def call(self, model: Model, name: str, inputs: Arrays, **options: Any) -> Arrays:
        results: Arrays = apply(Call.of(model, name, **options), inputs)
        return results


LIBRARY = _Jax()


def at(call: Call, inputs: Arrays) -> At:
    """Return a call at its inputs, for the rules."""
    return At(LIBRARY, call.model, dict(zip(_ranks(call), inputs, strict=True)), dict(call.options))


def _ranks(call: Call) -> dict[str, int]:
    """Return the number of axes of each input for one state."""
    if call.name in VALUES:
        return {"q": 1}
    return {spec.name: len(spec.shape) for spec in prepare(call).inputs}


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def apply(call: Call, inputs: Arrays) -> Arrays:
    """Return the results of a call, with derivatives. Omitted inputs are None."""
    if call.name in VALUES:
        return value(call.name)(at(call, inputs))
    return run(call, inputs)


@functools.partial(apply.defjvp, symbolic_zeros=True)
def _jvp(call: Call, primals: tuple[Arrays], tangents: tuple[Arrays]) -> tuple[Arrays, Arrays]:
    (inputs,), (changes,) = primals, tangents
    results = apply(call, inputs)
    moving = [
        k
        for k, change in enumerate(changes)
        if change is not None and not isinstance(change, SymbolicZero)
    ]
    options = dict(call.options)
    rule, compose = jacobians(call.name, options), composition(call.name, options)
    if rule is None and compose is not None:

        def function(*varied: Any) -> Arrays:
            arrays = list(inputs)
            for k, x in zip(moving, varied, strict=True):
                arrays[k] = x
            return compose(at(call, tuple(arrays)))

        varied = [inputs[k] for k in moving]
        parts = [jax.jvp(function, varied, [changes[k] for k in moving])[1]]
    else:
        if rule is None:
            raise NotImplementedError(_no_derivative(call))
        here, ranks = at(call, inputs), _ranks(call)
        names = list(ranks)
        parts = [_part(call, rule, here, ranks, names[k], changes[k], results) for k in moving]
        if parts and _is_configuration(call):
            total = functools.reduce(jnp.add, [part[0] for part in parts])
            parts = [(manifold.from_tangent(jnp, call.model, results[0], total),)]
    sums = tuple(_sum(parts, k, result) for k, result in enumerate(results))
    return results, sums


def _sum(parts: list[Arrays], k: int, result: jax.Array) -> jax.Array:
    present = [part[k] for part in parts if part[k] is not None]
    if not present:
        return jnp.zeros_like(result)
    return jnp.broadcast_to(functools.reduce(jnp.add, present), result.shape)


def _is_configuration(call: Call) -> bool:
    """Whether the result is a configuration, whose Jacobians are in its tangent space."""
    return call.name in FUNCTIONS and FUNCTIONS[call.name].results[0].axes == ("nq",)


def _part(
    call: Call,
    rule: Rule,
    here: At,
    ranks: Mapping[str, int],
    by: str,
    change: jax.Array,
    results: Arrays,
) -> Arrays:
    """Return the part of the results' tangent that comes from one input."""
    if by in CONFIGURATIONS:
        change = manifold.to_tangent(jnp, here.model, here[by], change)
    blocks = rule(here, by)
    if call.name == "integrate":
        return (manifold.integrated_change(jnp, here.model, blocks[0], change),)
    axes = "xyz"[: ranks[by]]
    given = [(name, x) for name, x in here.inputs.items() if x is not None]
    batch = jnp.broadcast_shapes(*(x.shape[: x.ndim - ranks[name]] for name, x in given))
    parts = []
    for block, result in zip(blocks, results, strict=True):
        core = "abcdefgh"[: result.ndim - len(batch)]
        equation = f"...{core}{axes},...{axes}->...{core}"
        parts.append(None if block is None else jnp.einsum(equation, block, change))
    return tuple(parts)


def _no_derivative(call: Call) -> str:
    for name, how in PUBLIC.items():
        if how.vjp == call.name:
            return (
                f"dtau.jax.{name}: products=True gives first derivatives in reverse mode and no "
                f"second ones; leave it out for derivatives {order_of(name).said}"
            )
    for name in ("inverse_dynamics", "forward_dynamics", *CONSTRAINED):
        last = "hessian" if name in CONSTRAINED else "second_derivatives"
        if call.name == f"{name}_{last}":
            return (
                f"dtau.jax: derivatives of {name}, and of functions that are made of it, exist up "
                "to the second order; this asks for the third"
            )
    return f"dtau.jax: there is no derivative of {call.name}"
