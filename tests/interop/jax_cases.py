"""Robots and motions that the tests of `dtau.jax` are about."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from functools import cache
from typing import Any

import cases
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from trees import MOVING, Array

import dtau
from dtau.autodiff import manifold

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # most of the time is compilation

Function = Callable[..., Any]


@cache
def robot(name: str) -> dtau.Model:
    if name == "every joint":
        return cases.serial(*MOVING, seed=5).model()
    if name == "small":  # for what does not depend on the robot: programs compile sooner
        return cases.serial("spherical", "revolute", seed=3).model()
    if name == "free, spherical, planar":  # whose displacements do not add
        return cases.serial("free", "spherical", "planar", seed=3).model()
    if name == "panda":
        try:
            listed = importlib.metadata.files("example-robot-data") or []
        except importlib.metadata.PackageNotFoundError:
            listed = []
        found = [file for file in listed if file.name == "panda.urdf"]
        if not found:
            pytest.skip("the Panda comes with example-robot-data")
        return dtau.load(str(found[0].locate()))
    return cases.robot(name)


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
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape
        size = max(float(np.abs(other).max(initial=0.0)), 1e-2)
        assert float(np.abs(one - other).max(initial=0.0)) <= tolerance * size
