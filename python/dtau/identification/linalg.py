"""Factor stacked regressors: `triangle`."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def triangle(matrix: Array) -> Array:
    """Return the triangular factor R of a QR factorization."""
    return cast("Array", np.linalg.qr(matrix, mode="r"))
