"""Hold rows of constraints that are not contacts, and contacts: `Rows`, `StateContacts`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Rows(NamedTuple):
    """Rows of equality constraints, friction loss and limits."""

    state: NDArray[np.intp]
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


class StateContacts(NamedTuple):
    """Contacts of a state, with their rows of constraints."""

    first: int  # among the contacts of all states
    address: NDArray[np.int32]  # of the first row in the state; -1: there is none
    dim: NDArray[np.int32]
    bodies: NDArray[np.int32]  # (n, 2)
    pos: Array
    frame: Array  # (n, 3, 3)
    depth: Array  # distance without the margin
    friction: Array  # (n, 5)
    parameters: Array  # (n, 2, 4): KBIP of the first two rows
