"""Check arrays of numbers: `require_finite`, `require_vectors`; list entries of masks: `lists`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtau.support.arrays import Array, Indices
from dtau.support.checks import real_numbers


def require_finite(argument: str, numbers: Array) -> None:
    """Raise an error if a number is not finite."""
    if not np.isfinite(numbers).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(numbers))[0])
        raise ValueError(f"{argument}: expected finite numbers, got {numbers[at]} at index {at}")


def require_vectors(name: str, given: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return checked vectors: one for each state and step; further leading axes are several."""
    found: Array = np.asarray(real_numbers(name, given), dtype=np.float64)
    if found.ndim < len(shape) or found.shape[found.ndim - len(shape) :] != shape:
        expected = ", ".join(["...", *map(str, shape)])
        raise ValueError(f"{name}: expected shape ({expected}), got {found.shape}")
    return found


def lists(masks: Array) -> tuple[Indices, Indices]:
    """Return the columns that are not zero, row by row, and where each row begins."""
    rows, columns = np.nonzero(masks)
    starts = np.searchsorted(rows, np.arange(len(masks) + 1))
    return starts.astype(np.intp), columns.astype(np.intp)
