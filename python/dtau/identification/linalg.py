"""Factor stacked regressors: `triangle`."""

from __future__ import annotations

from typing import cast

import numpy as np

from dtau.support.arrays import Array


def triangle(matrix: Array) -> Array:
    """Return the triangular factor R of a QR factorization."""
    return cast("Array", np.linalg.qr(matrix, mode="r"))
