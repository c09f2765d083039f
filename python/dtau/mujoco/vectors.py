"""Cross products as matrices, for arrays of vectors: `skew`."""

from __future__ import annotations

import numpy as np

from dtau.support.arrays import Array

_SKEW = np.zeros((3, 9))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _SKEW[_k, 3 * _i + _j], _SKEW[_k, 3 * _j + _i] = -1.0, 1.0


def skew(x: Array) -> Array:
    """Return the matrices [x]x of  x x y,  (..., 3, 3), of vectors (..., 3)."""
    return (x @ _SKEW).reshape(*x.shape, 3)
