"""The order of velocities in another convention: `VelocityOrder`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau.immutable import Immutable

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


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

    def from_dtau(self, x: Array) -> Array:
        """Permute the last axis of ``(..., nv)``."""
        return x[..., self._order]

    def to_dtau(self, x: Array) -> Array:
        """Permute the last axis of ``(..., nv)`` back."""
        return x[..., self._places]

    def rows_from_dtau(self, x: Array) -> Array:
        """Permute the axis before the last."""
        return x[..., self._order, :]

    def matrix_from_dtau(self, x: Array) -> Array:
        """Permute rows and columns of ``(..., nv, nv)``."""
        return x[..., self._order[:, np.newaxis], self._order]

    def matrix_to_dtau(self, x: Array) -> Array:
        """Permute rows and columns of ``(..., nv, nv)`` back."""
        return x[..., self._places[:, np.newaxis], self._places]

    def tensor_from_dtau(self, x: Array) -> Array:
        """Permute all axes of ``(..., nv, nv, nv)``."""
        return x[
            ..., self._order[:, np.newaxis, np.newaxis], self._order[:, np.newaxis], self._order
        ]

    def among(self, some: NDArray[np.integer[Any]]) -> Indices:
        """Return the order that some of dtau's velocities, by index, have in the convention."""
        return np.argsort(self._places[some])

    def doubled(self) -> VelocityOrder:
        """Return the order of z = [displacement, variation of the velocity]."""
        return VelocityOrder(np.concatenate([self._order, len(self._order) + self._order]))
