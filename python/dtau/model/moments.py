"""Principal moments of inertia: check that a rigid body can have them, find the nearest valid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dtau.support.arrays import Array

DEFINITE = 1e-9  # slack for asymmetric and negative parts of a tensor, relative to its size
_NANOMETER = 1e-18  # m²; moments below the moment of the mass at this distance are rounding
_CLEAR = 1e-6  # leading minors of the second moments above this, relative to the trace's power
_TRIANGLE = 1e-6  # slack for the triangle inequality, relative to the largest moment


def is_clearly_of_a_body(tensor: Sequence[Sequence[float]]) -> bool:
    """Whether a tensor is symmetric with second moments far from singular; False means unknown.

    The leading minors of S = 1/2 tr(I) 1 - I are positive if and only if S is positive definite.
    Then all moments are positive and fulfill the triangle inequality.
    """
    (a, b, c), (d, e, f), (g, h, i) = tensor
    if (b, c, f) != (d, g, h):
        return False
    half = 0.5 * (a + e + i)
    x, y, z = half - a, half - e, half - i
    second, third = x * y - b * b, x * (y * z - f * f) - b * (b * z + c * f) - c * (b * f + c * y)
    size = half * half
    return x > _CLEAR * half and second > _CLEAR * size and third > _CLEAR * half * size


def is_indefinite(mass: float, moments: Sequence[float], leeway: float = 1.0) -> bool:
    """Whether the least of three moments, in ascending order, is negative beyond rounding."""
    return moments[0] < -_slack(mass, moments, leeway)


def breaks_triangle_inequality(mass: float, moments: Sequence[float], leeway: float = 1.0) -> bool:
    """Whether the largest of three moments, in ascending order, exceeds the sum of the others."""
    small, middle, large = moments
    return large - middle - small > max(_TRIANGLE * large, _slack(mass, moments, leeway))


def _slack(mass: float, moments: Sequence[float], leeway: float) -> float:
    size = max(abs(moments[0]), abs(moments[2]))
    return leeway * max(DEFINITE * size, _NANOMETER * mass)


def nearest_of_a_body(tensor: Array) -> Array:
    """Return the nearest rotational inertia about the center of mass that a rigid body can have.

    A body has second moments of mass S = integral of r r^T dm, which are positive semidefinite, and
    with them the tensor I = tr(S) 1 - S; conversely S = 1/2 tr(I) 1 - I. In the Frobenius norm, the
    nearest S without negative eigenvalues has zeros in their place. Principal axes stay.
    """
    moments, axes = np.linalg.eigh(tensor)
    second_moments = np.maximum(0.5 * moments.sum() - moments, 0.0)
    nearest: Array = (axes * (second_moments.sum() - second_moments)) @ axes.T
    return 0.5 * (nearest + nearest.T)  # symmetric to the last bit
