"""The ways of JAX to differentiate a function: `MODES`."""

from __future__ import annotations

import functools
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import adapter_law_cases
import adapter_law_oracle
import jax
import jax.numpy as jnp
import jax_cases  # noqa: F401  # float64, and quick compilations
import numpy as np
from adapter_laws import Call
from shared_modes import Library, refused_stack, shared_by

import dtau.jax

JAX = Library(
    *(jnp.asarray, jax.vmap, jax.vjp, jax.jvp, jax.jacfwd, jax.jacrev),
    repeated=lambda x, n: jnp.repeat(x, n, 1),
    compiled=jax.jit,
    every_input=False,
)
MODES = shared_by(JAX)


def cotangents(call: Call, results: Sequence[Any]) -> tuple[Any, ...]:
    pairs = zip(call.weights, results, strict=True)
    return tuple(jnp.zeros_like(y) if w is None else jnp.asarray(w) for w, y in pairs)


def cost_of(call: Call, f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *x: sum(jnp.sum(y * w) for y, w in zip(f(*x), call.weights, strict=True))


@MODES.add("gradient", batch=True, each_result=True)
def reverse(call: Call) -> Sequence[Any]:
    f, x = JAX.of_wanted(call)
    results, pull = jax.vjp(f, *x)
    return pull(cotangents(call, results))


@MODES.add("gradient", batch=True, every_input=False)
def gradient_of_two_axes(call: Call) -> Sequence[Any]:
    fixed = call.wanted[::2]  # their gradients are sums over the second axis

    def cost(*some: Any) -> Any:
        given = JAX.with_second_axis(call, fixed)
        for k, x in zip(call.wanted, some, strict=True):
            given[k] = x
        pairs = zip(call.f(*given), call.weights, strict=True)
        return sum(jnp.sum(y * w[:, None]) / y.shape[1] for y, w in pairs)

    given = JAX.with_second_axis(call, fixed)
    by = [given[k] for k in call.wanted]
    return [g.sum(1) for g in jax.jit(jax.grad(cost, tuple(range(len(by)))))(*by)]


@MODES.add("tangent", batch=True)
def forward(call: Call) -> Sequence[Any]:
    f, x = JAX.of_wanted(call)
    return jax.jvp(f, x, JAX.along(call))[1]


@MODES.add("tangent")
def linearized(call: Call) -> Sequence[Any]:
    f, x = JAX.of_wanted(call)
    return jax.linearize(f, *x)[1](*JAX.along(call))


@MODES.add("gradient", every_input=False)
def compiled_gradient(call: Call) -> Sequence[Any]:
    f, x = JAX.of_wanted(call)
    return jax.jit(jax.grad(cost_of(call, f), tuple(range(len(x)))))(*x)


@MODES.add("gradient", every_input=False)
def gradient_of_checkpoint(call: Call) -> Sequence[Any]:
    f, x = JAX.of_wanted(call)
    return jax.jit(jax.grad(cost_of(call, jax.checkpoint(f)), tuple(range(len(x)))))(*x)


@MODES.add("tangent", every_input=False, twice=True)
def reverse_by_cotangents(call: Call) -> Sequence[Any]:
    """The products of transposes are linear in what they multiply."""
    f, x = JAX.of_wanted(call)

    def slope(weights: Any) -> Any:
        gradients = jax.vjp(f, *x)[1](weights)
        return sum(jnp.sum(g * d) for g, d in zip(gradients, JAX.along(call), strict=True))

    return jax.jit(jax.grad(slope))(tuple(jnp.asarray(w) for w in call.weights))


def _second(call: Call, of: Callable[..., Any]) -> Any:
    f, x = JAX.of_wanted(call)
    return of(cost_of(call, f), x, JAX.along(call), tuple(range(len(x))))


def _forward_over_reverse(f: Any, x: Any, d: Any, every: Any) -> Any:
    return jax.jvp(jax.grad(f, every), x, d)[1]


def _reverse_over_reverse(f: Any, x: Any, d: Any, every: Any) -> Any:
    def slope(*x: Any) -> Any:
        pairs = zip(jax.grad(f, every)(*x), d, strict=True)
        return sum(jnp.sum(g * y) for g, y in pairs)

    return jax.jit(jax.grad(slope, every))(*x)


@MODES.add("curvature")
def forward_over_reverse(call: Call) -> Sequence[Any]:
    return _second(call, _forward_over_reverse)


@MODES.add("curvature", every_input=False)
def reverse_over_reverse(call: Call) -> Sequence[Any]:
    return _second(call, _reverse_over_reverse)


@MODES.add("curvature", every_input=False)
def forward_over_forward(call: Call) -> Sequence[Any]:
    def of(f: Any, x: Any, d: Any, every: Any) -> Any:
        return jax.jit(jax.jacfwd(lambda *x: jax.jvp(f, x, d)[1], every))(*x)

    return _second(call, of)


@MODES.add("curvature", every_input=False)
def reverse_over_forward(call: Call) -> Sequence[Any]:
    def of(f: Any, x: Any, d: Any, every: Any) -> Any:
        return jax.jit(jax.grad(lambda *x: jax.jvp(f, x, d)[1], every))(*x)

    return _second(call, of)


@MODES.add("curvature", every_input=False)
def hessian(call: Call) -> Sequence[Any]:
    def of(f: Any, x: Any, d: Any, every: Any) -> Any:
        rows = jax.jit(jax.hessian(f, every))(*x)
        return [
            sum(jnp.tensordot(h, y, y.ndim) for h, y in zip(row, d, strict=True)) for row in rows
        ]

    return _second(call, of)


# ------------------------------------------------------------------ relations


@functools.cache
def _process_of_float32() -> ProcessPoolExecutor:
    """JAX's types of numbers are chosen where a program begins: what it traced keeps them."""
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _without_x64)


def _without_x64() -> None:
    jax.config.update("jax_enable_x64", False)


def values_and_gradients(row: str, switch: str, seed: int) -> list[list[Any]]:
    """Of a case's batch whose numbers are numbers of float32."""
    case = adapter_law_cases.case(dtau.jax, row, adapter_law_cases.NAMED[switch], seed)
    x = [jnp.asarray(y.astype(np.float32), float) for y in case.batch()]
    weights = [w.astype(np.float32) for w in adapter_law_oracle.weights(case)]

    def both(*x: Any) -> tuple[Any, Any]:
        results, pull = jax.vjp(case.function(dtau.jax), *x)
        pairs = zip(weights, results, strict=True)
        return results, pull(tuple(jnp.asarray(w, y.dtype) for w, y in pairs))

    return [[np.asarray(y) for y in part] for part in jax.jit(both)(*x)]


@MODES.add("same", batch=True, every_input=False, switches=("off norm", "mimics"))
def single_precision(call: Call) -> Sequence[Any]:
    """Without ``jax_enable_x64``: values are rounded, and so are Jacobians before products."""
    case = (call.case.row, call.case.switch.name, call.case.seed)
    rounded = _process_of_float32().submit(values_and_gradients, *case).result()
    exact = values_and_gradients(*case)
    for found, kind in ((rounded, np.float32), (exact, np.float64)):
        assert all(y.dtype == kind for part in found for y in part)
    return [
        (one, other, tolerance)
        for some, others, tolerance in zip(rounded, exact, (2e-7, 2e-4), strict=True)
        for one, other in zip(some, others, strict=True)
    ]


@MODES.add("same", batch=True, every_input=False)
def one_input_broadcast(call: Call) -> Sequence[Any]:
    """The gradient of an input that all states share is the sum of theirs."""
    pairs = []
    for k in call.wanted:
        every = JAX.arrays(call)

        def cost(shared: Any, spread: bool, k: int = k, every: Any = every) -> Any:
            x = list(every)
            x[k] = jnp.broadcast_to(shared, every[k].shape) if spread else shared
            return cost_of(call, call.f)(*x)

        try:
            slope = jax.jit(jax.grad(cost), static_argnums=1)
            found = [slope(every[k][0], spread) for spread in (False, True)]
        except ValueError as error:  # a stack that could be a batch is refused
            return refused_stack(error)
        pairs.append((found[0], found[1]))
    return pairs


@MODES.add("same", batch=True, every_input=False)
def a_number_that_is_not_finite(call: Call) -> Sequence[Any]:
    """It stays in its state: values and gradients of the other state are the same."""
    pairs: list[tuple[Any, Any]] = []

    @jax.jit
    def both(*x: Any) -> tuple[Any, Any]:
        results, pull = jax.vjp(call.f, *x)
        return results, pull(cotangents(call, results))

    for k in call.wanted:
        if call.case.names[k] == "active":
            continue
        broken = call.case.broken(k)
        found = []
        for given in (broken, call.x):
            results, gradients = both(*map(jnp.asarray, given))
            found.append([y[1] for y in (*results, *gradients)])
            if given is broken:
                assert any(bool(jnp.isnan(y[0]).any()) for y in results), call.case.names[k]
        pairs += zip(*found, strict=True)
    return pairs
