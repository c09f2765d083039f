"""Time derivatives of what the core records, as truncated Taylor series of many digits: an oracle.

A recording (replay.py) is a list of operations. Here each number is a list of Taylor coefficients
in time, of mpmath's numbers. It shares with the package the formulas of order 0 alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import factorial
from typing import Any

import mpmath as mp
import numpy as np
from replay import Recording
from trees import Array

import dtau

Series = list[Any]  # of numbers


def product(a: Series, b: Series) -> Series:
    return [mp.fsum(a[m] * b[k - m] for m in range(k + 1)) for k in range(len(a))]


def quotient(a: Series, b: Series) -> Series:
    c: Series = []
    for k in range(len(a)):
        c.append((a[k] - mp.fsum(b[m] * c[k - m] for m in range(1, k + 1))) / b[0])
    return c


def root(a: Series) -> Series:
    c = [mp.sqrt(a[0])]
    for k in range(1, len(a)):
        c.append((a[k] - mp.fsum(c[m] * c[k - m] for m in range(1, k))) / (2 * c[0]))
    return c


def sine_cosine(x: Series) -> tuple[Series, Series]:
    s, c = [mp.sin(x[0])], [mp.cos(x[0])]
    for k in range(1, len(x)):
        s.append(mp.fsum(m * x[m] * c[k - m] for m in range(1, k + 1)) / k)
        c.append(-mp.fsum(m * x[m] * s[k - m] for m in range(1, k + 1)) / k)
    return s, c


def hyperbolic(x: Series) -> tuple[Series, Series]:
    """tanh and 1/cosh: t' = (1 - t^2) x', s' = -t s x'."""
    t, s = [mp.tanh(x[0])], [mp.sech(x[0])]
    for k in range(1, len(x)):
        rate = [(m + 1) * x[m + 1] for m in range(k)]
        square = [(m == 0) - y for m, y in enumerate(product(t, t))]
        t_rate, s_rate = product(square, rate), product(product(t, s), rate)
        t.append(t_rate[k - 1] / k)
        s.append(-s_rate[k - 1] / k)
    return t, s


OPERATIONS: list[Callable[..., Series]] = [  # in the order of include/dtau/recorded.hpp
    lambda a, b, c: a,
    lambda a, b, c: [x + y for x, y in zip(a, b, strict=True)],
    lambda a, b, c: [x - y for x, y in zip(a, b, strict=True)],
    lambda a, b, c: product(a, b),
    lambda a, b, c: quotient(a, b),
    lambda a, b, c: [x + y for x, y in zip(product(a, b), c, strict=True)],
    lambda a, b, c: [y - x for x, y in zip(product(a, b), c, strict=True)],
    lambda a, b, c: root(a),
    lambda a, b, c: sine_cosine(a)[0],
    lambda a, b, c: sine_cosine(a)[1],
    lambda a, b, c: hyperbolic(a)[0],
    lambda a, b, c: hyperbolic(a)[1],
    lambda a, b, c: [-x for x in a] if a[0] < 0 else a,
    lambda a, b, c: a,  # within half a turn: only read by sines and cosines
    lambda a, b, c: [mp.mpf(a[0] < b[0])] + [mp.mpf(0)] * (len(a) - 1),
    lambda a, b, c: b if a[0] != 0 else c,
]
NEEDS = [0, 2, 2, 2, 2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 2, 3]
MARK, SIGN = np.uint64(0x7FFD << 48), np.uint64(1 << 63)


@lru_cache(maxsize=4)
def recorded(
    name: str, model: dtau.Model, inputs: tuple[tuple[str, tuple[int, ...]], ...], options: Any
) -> Recording:
    return Recording(name, model, dict(inputs), dict(options))


def coefficients(derivatives: Array) -> Any:
    """Time derivatives, stacked along the first axis, as series along the last one."""
    found = np.empty((*derivatives.shape[1:], len(derivatives)), object)
    for k, row in enumerate(derivatives):
        for place in np.ndindex(row.shape):
            found[place][k] = mp.mpf(float(row[place])) / factorial(k)
    return found


def constant(x: Array, length: int) -> Any:
    x = np.asarray(x)
    return coefficients(np.stack([x, *[np.zeros_like(x)] * (length - 1)]))


def replayed(
    name: str, model: dtau.Model, given: dict[str, Any], options: dict[str, Any]
) -> list[Series]:
    """The results of a function, one behind the other. given: arrays of series, all as long."""
    arrays = {x: np.array(y, object) for x, y in given.items()}
    shapes = tuple((x, y.shape[:-1]) for x, y in arrays.items())
    recording = recorded(name, model, shapes, tuple(options.items()))
    inputs = iter([list(x) for y in arrays.values() for x in y.reshape(-1, y.shape[-1])])
    length = next(iter(arrays.values())).shape[-1]
    values: list[Series] = []

    def value(number: float, bits: np.uint64) -> Series:
        if (bits & np.uint64(0x7FFF << 48)) != MARK:
            return [mp.mpf(float(number))] + [mp.mpf(0)] * (length - 1)
        series = values[int(bits & np.uint64(0xFFFFFFFF))]
        return [-x for x in series] if bits & SIGN else series

    codes, operands = recording.nodes
    for code, numbers, names in zip(codes, operands, operands.view(np.uint64), strict=True):
        if code == 0:
            values.append(next(inputs))
        else:
            a = [value(numbers[k], names[k]) for k in range(NEEDS[code])]
            values.append(OPERATIONS[code](*a, *[None] * (3 - len(a))))
    outputs = recording.outputs
    return [value(x, b) for x, b in zip(outputs, outputs.view(np.uint64), strict=True)]


def extend(model: dtau.Model, q: list[Series], v: Sequence[Series]) -> None:
    """Adds the next coefficient to the coefficients of q: q' = T v with the tangent map."""
    k = len(q[0]) - 1
    T = replayed("tangent_map", model, {"q": q}, {})
    for i in range(model.nq):
        rate = [T[i * model.nv + j][m] * v[j][k - m] for m in range(k + 1) for j in range(model.nv)]
        q[i].append(mp.fsum(rate) / (k + 1))


def derivatives(series: list[Series]) -> Array:
    """Time derivatives of all orders, a row each."""
    return np.array([[float(x * factorial(k)) for k, x in enumerate(y)] for y in series]).T


def forward(
    name: str,
    model: dtau.Model,
    state: dict[str, Array],
    stacks: dict[str, Array],
    constants: dict[str, Array],
    options: dict[str, Any],
) -> Array:
    """All results of a function whose first ones, the accelerations, move q and v."""
    q = [list(x) for x in constant(state["q"], 1)]
    v = [list(x) for x in constant(state["v"], 1)]
    series = {x: coefficients(y) for x, y in stacks.items()}
    for k in range(len(next(iter(stacks.values())))):
        given = {"q": q, "v": v, **{x: y[..., : k + 1] for x, y in series.items()}}
        given |= {x: constant(y, k + 1) for x, y in constants.items()}
        results = replayed(name, model, given, options)
        extend(model, q, v)
        for x, a in zip(v, results, strict=False):
            x.append(a[k] / (k + 1))
    return derivatives(results)


def inverse(
    name: str,
    model: dtau.Model,
    q0: Array,
    v_derivatives: Array,
    stacks: dict[str, Array],
    constants: dict[str, Array],
    options: dict[str, Any],
) -> Array:
    """All results of a function of q, v and a, along a given motion."""
    length = len(v_derivatives) - 1
    v = coefficients(v_derivatives)
    q = [list(x) for x in constant(q0, 1)]
    for _ in range(length - 1):
        extend(model, q, v)
    a = v[:, 1:] * np.arange(1, length + 1)
    given = {"q": q, "v": v[:, :length], "a": a}
    given |= {x: coefficients(y) for x, y in stacks.items()}
    given |= {x: constant(y, length) for x, y in constants.items()}
    return derivatives(replayed(name, model, given, options))
