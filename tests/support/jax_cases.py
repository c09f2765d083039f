"""Motions and comparisons of the tests of `dtau.jax`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adapter_cases
import jax
import jax.numpy as jnp
from trees import Array

import dtau
from dtau.autodiff import manifold

try:
    from jax import enable_x64 as enable_x64
except ImportError:  # JAX 0.6
    from jax.experimental import enable_x64 as enable_x64

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # most of the time is compilation

Function = Callable[..., Any]


ROBOTS = ("panda", "quadruped", "every joint", "joints that mimic others")


def taylor(*terms: Array) -> Callable[[Any], Any]:
    """The curve of these time derivatives."""

    def curve(t: Any) -> Any:
        total, power = jnp.asarray(terms[0]), 1.0
        for k, term in enumerate(terms[1:], start=1):
            power = power * t / k
            total = total + power * term
        return total

    return curve


def motion(model: dtau.Model, q: Array, v: Array) -> tuple[Function, Function]:
    """The curves of q and v of which ``v`` (order, nv) holds v and its time derivatives.

    In the numbers of q, to second order; quaternions leave their norm with the third.
    """
    velocity = taylor(*v)

    def rate(q: Any, t: Any) -> Any:
        return manifold.from_tangent(jnp, model, q, velocity(t))

    first = rate(q, 0.0)
    second = jax.jvp(rate, (jnp.asarray(q), 0.0), (first, 1.0))[1]
    return taylor(q, first, second), velocity


def derivatives(function: Function, order: int) -> list[Any]:
    """Time derivatives at 0 of a function of time, forward mode over forward mode."""
    functions = [function]
    for _ in range(order):
        last = functions[-1]
        functions.append(lambda t, f=last: jax.jvp(f, (t,), (1.0,))[1])
    return jax.jit(lambda t: [f(t) for f in functions])(0.0)


def near(x: Any, expected: Any, tolerance: float) -> None:
    """Compare trees of arrays, relative to the largest element of each."""
    for one, other in zip(jax.tree.leaves(x), jax.tree.leaves(expected), strict=True):
        adapter_cases.near(one, other, tolerance)
