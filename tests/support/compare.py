"""Compare results: `assert_close`, and the tolerances.

Everything is compared element by element; a failure prints the worst element's index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from trees import Array

EPS = float(np.finfo(float).eps)

# What each comparison may be off by, relative to the largest element of the array. Where a test
# needs another number, the reason stands beside it.
TOLERANCE = {
    # Two ways of the package to the same number, by how many roundings lie between them:
    "rounding": 1e-15,  # some: a copy, a mean, a step of one joint
    "short sums": 1e-14,  # tens: the same algorithm for other input, placements along a chain
    "long sums": 1e-13,  # hundreds: other algorithms, where little cancels
    "identity": 1e-12,  # as many, where terms cancel that are larger than the result
    # Against what is computed otherwise:
    "complex_step": 1e-12,  # exact but for roundings of two algorithms
    "step": 1e-10,  # the same, of up to four solutions, each of what the one before gave
    "residual": 1e-13,  # of the linear equation that forward derivatives solve
    "independent": 1e-12,  # algorithms in NumPy that share nothing with the core
    # Against numbers of other programs, with their roundings:
    "oracle": 1e-11,  # its forward dynamics solve with mass matrices of condition 1e4
    "time oracle": 1e-12,  # nothing is solved
    "pinocchio": 1e-10,  # robots whose light fingers hang on heavy arms
    "mujoco": 1e-10,  # it diagonalizes inertias, to 1e-12 of them
    "mujoco differences": 1e-8,  # its derivatives are central differences of fourth order
}
SMALL = 1e-2  # of what cancels: a result below that is counted as if it were as large


def cancelled(terms: Array) -> float:
    """The floor for a result that may vanish, from the size of what cancels in it."""
    return SMALL * float(np.abs(terms).max())


def solved(tolerance: float, mass_matrix: Array) -> float:
    """What a result that solves with the mass matrix may be off by."""
    return float(max(tolerance, 100.0 * EPS * np.linalg.cond(mass_matrix)))


def _worst(bad: Array, error: Array) -> tuple[int, ...]:
    rank = np.where(bad, np.where(np.isnan(error), np.inf, error), -1.0)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(rank)), rank.shape))


def assert_close(
    got: Any, want: Any, tolerance: float, what: str = "result", *, floor: float = 0.0
) -> None:
    """Every element of `got` is `want`'s within `tolerance` of the largest of `want`.

    `floor` is the least that counts as the largest: an array that vanishes for physical reasons
    comes out as rounding errors of the terms that cancel.
    """
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == np.float64, f"{what}: dtype {got.dtype}, expected float64"
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    assert np.isfinite(want).all(), f"{what}: the expected value is not finite"
    if want.size == 0:
        return
    scale = max(float(np.abs(want).max()), floor)
    error = np.abs(got - want)
    bad = ~(error <= tolerance * scale)  # true for NaN
    if bad.any():
        at = _worst(bad, error)
        raise AssertionError(
            f"{what}{list(at)}: {got[at]!r}, expected {want[at]!r}; "
            f"they differ by {error[at]:.3e}, allowed {tolerance * scale:.3e} "
            f"({tolerance:.1e} of the largest, {scale:.3e}); "
            f"{int(bad.sum())} of {bad.size} elements are off"
        )


def assert_same_bits(got: Any, want: Any, what: str = "result") -> None:
    """Both arrays hold the same floating-point numbers (any NaN equals any other)."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype == np.float64, f"{what}: dtypes {got.dtype}, {want.dtype}"
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    got, want = np.ascontiguousarray(got), np.ascontiguousarray(want)
    bits = got.view(np.uint64) != want.view(np.uint64)
    bad = bits & ~(np.isnan(got) & np.isnan(want))
    if bad.any():
        at = _worst(bad, np.abs(got - want))
        raise AssertionError(
            f"{what}{list(at)}: {float(got[at]).hex()}, expected the bits of "
            f"{float(want[at]).hex()} ({got[at]!r}, {want[at]!r}; "
            f"{int(bad.sum())} of {bad.size} elements differ)"
        )


def assert_same_results(got: Sequence[Any], want: Sequence[Any], what: str = "result") -> None:
    """All results of a function hold the same floating-point numbers."""
    assert len(got) == len(want)
    for i, (x, y) in enumerate(zip(got, want, strict=True)):
        assert_same_bits(x, y, f"{what} {i}")
