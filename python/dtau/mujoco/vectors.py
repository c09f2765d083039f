"""Cross products as matrices, for arrays of vectors: `skew`, `twist_cross`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SKEW = np.zeros((3, 9))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _SKEW[_k, 3 * _i + _j], _SKEW[_k, 3 * _j + _i] = -1.0, 1.0
_CROSS = np.zeros((6, 36))
for _x in range(3):
    for _place in range(9):
        _row, _column = divmod(_place, 3)
        # [linear, angular]: linear and angular rows turn with the angular part, and moments shift.
        _CROSS[3 + _x, 6 * _row + _column] = _SKEW[_x, _place]
        _CROSS[3 + _x, 6 * (3 + _row) + 3 + _column] = _SKEW[_x, _place]
        _CROSS[_x, 6 * _row + 3 + _column] = _SKEW[_x, _place]


def skew(x: Array) -> Array:
    """Return the matrices [x]x of  x x y,  (..., 3, 3), of vectors (..., 3)."""
    return (x @ _SKEW).reshape(*x.shape, 3)


def twist_cross(x: Array) -> Array:
    """Return the matrices of the motion cross product of twists [linear, angular], (..., 6, 6)."""
    return (x @ _CROSS).reshape(*x.shape, 6)
