"""Parts of constraints in the derivatives of their joint forces: `Terms`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Terms(NamedTuple):
    """Factors of the derivatives of the joint forces J^T g of constraints.

    The sum of ``left^T right`` over the rows has the columns  -J^T H J,  then the derivatives by q
    and by v at constant acceleration; the one by q without the motion of the axes of J.
    """

    state: Indices
    left: Array  # (n, k, nv)
    right: Array  # (n, k, 3 nv)
    wrenches: Array | None  # (n, nv, 6): on the axes of J [force, moment] about the world's origin
