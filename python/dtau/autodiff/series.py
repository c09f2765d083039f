"""Functions of a squared angle without singularity at zero, for derivatives of any order.

They use power series below a limit and closed forms above it. Each branch gets a harmless argument
where the other branch is used, so that derivatives of both are finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dtau.autodiff.library import Array


def _power_series(x: Array, coefficients: Sequence[float]) -> Array:
    result = coefficients[-1] * (x * 0.0 + 1.0)
    for c in reversed(coefficients[:-1]):
        result = result * x + c
    return result


def joined(
    xp: Any, x: Array, limit: float, coefficients: Sequence[float], closed: Callable[[Array], Array]
) -> Array:
    """Evaluate a power series below a limit, and a closed form above it."""
    small = x < limit
    one = x * 0.0 + 1.0
    near = _power_series(xp.where(small, x, 0.0 * one), coefficients)
    return xp.where(small, near, closed(xp.where(small, one, x)))


def _alternating(first: int, step: int) -> list[float]:
    """Return alternating coefficients (-1)^k / (n! step^n) with n = first + 2 k."""
    terms = [first + 2 * k for k in range(12)]
    return [(-1) ** k / (math.factorial(n) * step**n) for k, n in enumerate(terms)]


class Angle(NamedTuple):
    """Functions of the angle whose square is t, for exponential maps."""

    half_cosine: Array  # cos(angle / 2)
    half_sine: Array  # sin(angle / 2) / angle
    first: Array  # (1 - cos angle) / t
    second: Array  # (angle - sin angle) / (t angle)


def angle_functions(xp: Any, t: Array) -> Angle:
    """Compute the functions of `Angle` from t, a squared angle."""

    def half_sine(t: Array) -> Array:
        angle = xp.sqrt(t)
        return xp.sin(0.5 * angle) / angle

    def second(t: Array) -> Array:
        angle = xp.sqrt(t)
        return (angle - xp.sin(angle)) / (t * angle)

    return Angle(
        joined(xp, t, 1.0, _alternating(0, 2), lambda t: xp.cos(0.5 * xp.sqrt(t))),
        joined(xp, t, 1.0, _alternating(1, 2), half_sine),
        joined(xp, t, 1.0, _alternating(2, 1), lambda t: (1.0 - xp.cos(xp.sqrt(t))) / t),
        joined(xp, t, 1.0, _alternating(3, 1), second),
    )


def log_function(xp: Any, t: Array) -> Array:
    """Return (1 - h cot h) / t with h = angle / 2, for the inverse Jacobian of the exponential."""

    def closed(t: Array) -> Array:
        h = 0.5 * xp.sqrt(t)
        return (1.0 - h * xp.cos(h) / xp.sin(h)) / t

    # |B_2k| / (2k)! = 2 zeta(2k) / (2 pi)^(2k)
    zetas = [sum(m ** -(2.0 * k) for m in range(400, 0, -1)) for k in range(1, 15)]
    zetas[0], zetas[1] = math.pi**2 / 6, math.pi**4 / 90
    coefficients = [2 * z / (2 * math.pi) ** (2 * k) for k, z in enumerate(zetas, start=1)]
    return joined(xp, t, 1.0, coefficients, closed)


def rotation_per_sine(xp: Any, sine: Array, cosine: Array) -> Array:
    """Return 2 atan2(s, c) / s with s squared = `sine`, for half an angle within +-pi / 2."""

    def closed(s2: Array) -> Array:
        s = xp.sqrt(s2)
        return 2.0 * xp.arctan2(s, cosine) / s

    # atan(r) / r in powers of r squared, where r = s / c
    ratio = sine / (cosine * cosine)
    small = ratio < 0.01
    safe = xp.where(small, ratio, 0.0 * ratio)
    near = 2.0 / cosine * _power_series(safe, [(-1) ** k / (2 * k + 1) for k in range(10)])
    return xp.where(small, near, closed(xp.where(small, 0.0 * sine + 1.0, sine)))
