"""Hold rows of constraints that are not contacts: `Rows`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtau.support.arrays import Array, Indices


class Rows(NamedTuple):
    """Rows of equality constraints, friction loss and limits."""

    state: Indices
    jacobian: Array
    id: NDArray[np.int32]
    kind: NDArray[np.int32]
    weight: Array
    reference: Array
    parameters: Array  # (n, 4): KBIP
    position: Array
    loss: Array

    def chosen(self, some: Any) -> Rows:
        """Return some of the rows."""
        return Rows(*(x[some] for x in self))
