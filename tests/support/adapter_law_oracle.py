"""Derivatives of the package's functions, for the laws: by complex steps of the core's values.

These replay what the core records (`replay`), whose kernels are compiled apart. `differences` are
differences of the kernels that users call.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from adapter_law_cases import CONSTANT_RESULTS, STATES, Case
from trees import Array

import dtau

COMPLEX_STEP = 1e-30
POINTS = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
FACTORS = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60.0  # of sixth order
STEP = 1e-3
BOUNDS = 1e-9, 1e-8  # of first and of second derivatives, relative to the largest element


def _flat(results: tuple[Array, ...], states: int) -> list[Array]:
    return [np.asarray(y).reshape(states, -1) for y in results]


def _step(name: str) -> float:
    if name == "parameters":  # inertias, of hundredths
        return 0.1 * STEP
    return 0.2 * STEP if name == "dt" else STEP


def _jacobians(case: Case, x: list[Array]) -> list[list[Array]]:
    """By each input, of each result of one state: (size of the result, size of the input)."""
    return [_complex_steps(case, x, k) for k in range(len(x))]


def differences(case: Case, state: int) -> list[list[Array]]:
    """The same by differences."""
    found, x = [], case.state(state)
    for k, name in enumerate(case.names):
        size, h = x[k].size, _step(name)
        moved = np.broadcast_to(x[k].ravel(), (len(POINTS), size, size)).copy()
        moved += h * POINTS[:, None, None] * np.eye(size)
        given = list(x)
        given[k] = moved.reshape(-1, *x[k].shape)
        rows = len(POINTS) * size
        found.append(
            [
                np.einsum("p,pkm->mk", FACTORS / h, y.reshape(len(POINTS), size, -1))
                for y in _flat(case.value(*given), rows)
            ]
        )
    return found


def _complex_steps(case: Case, x: list[Array], k: int) -> list[Array]:
    size = x[k].size
    given = [np.broadcast_to(y.astype(complex), (size, *y.shape)).copy() for y in x]
    given[k].reshape(size, size)[:] += 1j * COMPLEX_STEP * np.eye(size)
    results = case.complex_value(*given)
    return [y.reshape(size, -1).imag.T / COMPLEX_STEP for y in results]


@cache
def values(case: Case) -> tuple[Array, ...]:
    """The results for the batch."""
    return case.value(*case.batch())


@cache
def bits(case: Case) -> tuple[Array, ...]:
    """The results as the package gives them for these very numbers."""
    return case.function(dtau)(*case.batch())


@cache
def jacobians(case: Case, state: int) -> list[list[Array]]:
    """By each input, of each result of one state."""
    return _jacobians(case, case.state(state))


@cache
def weights(case: Case) -> list[Array]:
    """A covector for each result, of the batch."""
    return [case.random(f"weight {k}", y.shape) for k, y in enumerate(values(case))]


@cache
def directions(case: Case) -> list[Array]:
    """A direction for each input, of the batch."""
    return [case.random(f"along {k}", x.shape) for k, x in enumerate(case.batch())]


def gradient(case: Case, by: int, results: tuple[int, ...]) -> Array:
    """The gradient of the weighted results by an input, for each state."""
    w = weights(case)
    x = case.batch()[by]
    rows = np.zeros((STATES, x[0].size))
    for state, r in itertools.product(range(STATES), results):
        rows[state] += w[r][state].ravel() @ jacobians(case, state)[by][r]
    return rows.reshape(x.shape)


def tangent(case: Case, by: tuple[int, ...], result: int) -> Array:
    """The change of a result along directions of inputs, for each state."""
    d = directions(case)
    rows = [
        sum(jacobians(case, state)[k][result] @ d[k][state].ravel() for k in by)
        for state in range(STATES)
    ]
    return np.array(rows).reshape(values(case)[result].shape)


@cache
def curvature(case: Case, along: int) -> list[Array]:
    """The change of the gradient of the weighted results along a direction, for the first state.

    By each input; differences of exact gradients.
    """
    x, d = case.state(0), directions(case)[along][0]
    d = d.reshape(x[along].shape)
    w = [
        y[0].ravel() * ((case.row, r) not in CONSTANT_RESULTS) for r, y in enumerate(weights(case))
    ]
    h = _step(case.names[along]) / max(1.0, float(np.linalg.norm(d)))
    total = [np.zeros(y.size) for y in x]
    for point, factor in zip(POINTS, FACTORS, strict=True):
        moved = list(x)
        moved[along] = x[along] + h * point * d
        for k, blocks in enumerate(_jacobians(case, moved)):
            total[k] += factor / h * sum(a @ b for a, b in zip(w, blocks, strict=True))
    return [t.reshape(y.shape) for t, y in zip(total, x, strict=True)]


def depends(case: Case, by: int) -> bool:
    """Whether a result changes with an input, by more than the roundings of differences."""
    bound = 1e-9 * max(1.0, size(case))
    return any(float(np.abs(J).max(initial=0.0)) > bound for J in jacobians(case, 0)[by])


def size(case: Case) -> float:
    """The size of the results, whose roundings differences magnify."""
    return max(float(np.abs(y[np.isfinite(y)]).max(initial=0.0)) for y in values(case))


@cache
def _terms(case: Case) -> float:
    """The largest sum of absolute values that the gradient of the weighted results adds."""
    w = [np.abs(y[0]).ravel() for y in weights(case)]
    sums = [
        sum(a @ np.abs(J) for a, J in zip(w, blocks, strict=True)) for blocks in jacobians(case, 0)
    ]
    return max(float(np.max(x, initial=0.0)) for x in sums)


def bounds(case: Case, order: int) -> tuple[float, float]:
    """What derivatives may be off, relative to the largest element and absolute."""
    roundings = 100 * np.finfo(float).eps
    along = max(float(np.linalg.norm(d[0])) for d in directions(case))
    second = 10 * _terms(case) * max(1.0, along) / STEP
    return BOUNDS[order - 1], roundings * (size(case), second)[order - 1]
