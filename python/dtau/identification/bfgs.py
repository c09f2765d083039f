"""Minimize a function with kinks and barriers: `minimize_bfgs`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dtau.support.arrays import Array

_DECREASE, _SLOPE = 1e-4, 0.9  # of the weak Wolfe conditions
_TRIES = 40
_ENOUGH = 1e-6  # decrease of an iteration at which the search ends


def minimize_bfgs(cost: Callable[[Array], tuple[float, Array]], x: Array, iterations: int) -> Array:
    """Return a point with a lower cost; the cost may be infinite outside its domain.

    The line search by bisection for the weak Wolfe conditions works for functions with kinks, such
    as singular values, [Lewis-Overton].
    """
    value, gradient = cost(x)
    inverse = np.eye(len(x)) / max(float(np.linalg.norm(gradient)), 1e-300)
    small = 0
    for _ in range(iterations):
        way = -inverse @ gradient
        slope = float(way @ gradient)
        found = _search(cost, x, value, way, slope)
        if found is None:
            break
        moved, new, by = found
        step, change = moved - x, by - gradient
        small = small + 1 if value - new < _ENOUGH else 0
        x, value, gradient = moved, new, by
        if small == 3:
            break
        curvature = float(step @ change)
        if curvature > 0:
            product = inverse @ change
            scale = (1.0 + float(change @ product) / curvature) / curvature
            cross = np.outer(step, product) / curvature
            inverse = inverse + scale * np.outer(step, step) - cross - cross.T
    return x


def _search(
    cost: Callable[[Array], tuple[float, Array]], x: Array, value: float, way: Array, slope: float
) -> tuple[Array, float, Array] | None:
    """Return a point along the way with its cost and gradient, None if the cost does not fall."""
    if not slope < 0:
        return None
    low, high, size = 0.0, np.inf, 1.0
    best = None
    for _ in range(_TRIES):
        moved = x + size * way
        new, gradient = cost(moved)
        if not new <= value + _DECREASE * size * slope:
            high = size
        else:
            best = moved, new, gradient
            if float(gradient @ way) >= _SLOPE * slope:
                break
            low = size
        size = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return best
