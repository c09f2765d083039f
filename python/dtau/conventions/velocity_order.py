"""The order of velocities in another convention: `VelocityOrder`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau.support.arrays import Array, Indices
from dtau.support.immutable import Immutable


class VelocityOrder(Immutable):
    """The permutation P of velocities, and of arrays with the same axes.

    Parameters
    ----------
    order : ndarray (nv,)
        Index in dtau of each velocity of the convention.
    """

    _order: Indices
    _places: Indices  # index in the convention of each of dtau's velocities

    def __init__(self, order: Indices) -> None:
        self._require_new()
        vars(self).update(_order=order, _places=np.argsort(order))

    def from_dtau(self, x: Array, *axes: int) -> Array:
        """Permute axes of length nv that are neighbors, from the end; by default the last."""
        return _permuted(x, self._order, axes or (-1,))

    def to_dtau(self, x: Array, *axes: int) -> Array:
        """Permute these axes back."""
        return _permuted(x, self._places, axes or (-1,))

    def among(self, some: NDArray[np.integer[Any]]) -> Indices:
        """Return the order that some of dtau's velocities, by index, have in the convention."""
        return np.argsort(self._places[some])

    def doubled(self) -> VelocityOrder:
        """Return the order of z = [displacement, variation of the velocity]."""
        return VelocityOrder(np.concatenate([self._order, len(self._order) + self._order]))


def _permuted(x: Array, order: Indices, axes: Sequence[int]) -> Array:
    index: list[Any] = [slice(None)] * x.ndim
    for k, axis in enumerate(axes):
        index[axis] = order.reshape(-1, *(1,) * (len(axes) - 1 - k))
    out: Array = x[tuple(index)]
    return out
