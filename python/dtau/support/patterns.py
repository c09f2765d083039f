"""Positions of the numbers that a result holds with ``layout="pattern"``: `Pattern`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.support.arrays import Array, Indices
from dtau.support.checks import real_numbers

if TYPE_CHECKING:
    from scipy.sparse import csc_array


@dataclass(frozen=True, eq=False, repr=False)
class Pattern:
    """Positions in a result of the numbers that can differ from zero, in the order of the values.

    A function with ``layout="pattern"`` returns these values alone. `dtau.pattern` makes patterns.
    A number on the pattern can be zero, too, in some states or for some robots.

    Attributes
    ----------
    shape : tuple of int
        Shape of the dense result for one state.
    coordinates : tuple of ndarray of int
        For each axis of ``shape`` the indices of all values: ``dense[..., *coordinates]`` are the
        values.
    """

    shape: tuple[int, ...]
    coordinates: tuple[Indices, ...]

    def __repr__(self) -> str:
        return f"<Pattern: {self.size} of {math.prod(self.shape)} numbers, shape {self.shape}>"

    @property
    def size(self) -> int:
        """How many values a state has."""
        return len(self.coordinates[0])

    @property
    def indices(self) -> NDArray[np.intc]:
        """The row of each value, in the format CSC: all axes before the last are rows."""
        self._require_columns("indices")
        return self._columns[0].copy()

    @property
    def indptr(self) -> NDArray[np.intc]:
        """Where the values of each column begin, and the end, in the format CSC: ncolumns + 1."""
        self._require_columns("indptr")
        return self._columns[1].copy()

    def matrix(self, values: ArrayLike) -> csc_array:
        """Return the values of one state as a sparse matrix of SciPy.

        Parameters
        ----------
        values : array_like (size,)
            Values of one state. The matrix shares the memory of a float64 array.

        Returns
        -------
        csc_array (nrows, ncolumns)
            All axes before the last are rows: the Jacobians of several frames follow each other.

        Raises
        ------
        ImportError
            If SciPy is not installed.
        ValueError
            If the shape does not fit, or if the pattern is one of tensors.
        TypeError
            If the values are complex or hold objects.
        """
        self._require_columns("matrix()")
        array = real_numbers("values", values)
        if array.shape != (self.size,):
            raise ValueError(
                f"values: expected those of one state, shape ({self.size},), got {array.shape}"
            )
        try:
            from scipy.sparse import csc_array
        except ModuleNotFoundError as error:
            raise ImportError(
                "Pattern.matrix needs SciPy, which is not installed: pip install scipy"
            ) from error
        shape = (math.prod(self.shape[:-1]), self.shape[-1])
        # Copies, because SciPy's matrices may change their indices in place.
        columns = (places.copy() for places in self._columns)
        return csc_array((array.astype(np.float64, copy=False), *columns), shape)

    def dense(self, values: ArrayLike) -> Array:
        """Return the dense results of any batch, as ``layout="dense"`` gives them.

        Parameters
        ----------
        values : array_like (..., size)
            Values of the states.

        Returns
        -------
        ndarray (..., *shape)
            The values at their positions, and zeros. A row of which all values are NaN is NaN
            everywhere, and so is a state, as where it has no results.

        Raises
        ------
        ValueError
            If the shape does not fit.
        TypeError
            If the values are complex or hold objects.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, _, _ = dtau.random_state(model, np.random.default_rng(0), shape=(16,))
        >>> M = dtau.mass_matrix(model, q, layout="pattern")
        >>> dense = dtau.pattern(model, "mass_matrix").dense(M)
        >>> bool((dense == dtau.mass_matrix(model, q)).all())
        True
        """
        array = real_numbers("values", values)
        if array.shape[-1:] != (self.size,):
            raise ValueError(f"values: expected shape (..., {self.size}), got {array.shape}")
        dense = np.zeros((*array.shape[:-1], *self.shape))
        places: tuple[Any, ...] = (..., *self.coordinates)
        dense[places] = array
        if self.size and np.isnan(array).any():
            self._fill(dense, array)
        return dense

    def _fill(self, dense: Array, values: NDArray[Any]) -> None:
        """Write NaN beside the values of rows, and in states, that have no other numbers."""
        numbers = ~np.isnan(values).reshape(-1, self.size)
        rows = np.ravel_multi_index(self.coordinates[:-1], self.shape[:-1])
        states, places = np.nonzero(numbers)
        kept = np.zeros((len(numbers), math.prod(self.shape[:-1])), dtype=bool)
        kept[states, rows[places]] = True
        empty = np.bincount(rows, minlength=kept.shape[1]) == 0  # rows that are zero or NaN
        kept |= empty & numbers.any(axis=-1, keepdims=True)
        dense.reshape(*kept.shape, self.shape[-1])[~kept] = np.nan

    @cached_property
    def _columns(self) -> tuple[NDArray[np.intc], NDArray[np.intc]]:
        """The row of each value, and where the columns begin and end."""
        rows = np.ravel_multi_index(self.coordinates[:-1], self.shape[:-1])
        counts = np.bincount(self.coordinates[-1], minlength=self.shape[-1])
        ends = np.concatenate([[0], np.cumsum(counts)])
        return rows.astype(np.intc), ends.astype(np.intc)

    @cached_property
    def _has_columns(self) -> bool:
        return bool((np.diff(self.coordinates[-1]) >= 0).all())

    def _require_columns(self, what: str) -> None:
        """Raise ValueError for tensors: their values do not follow each other by columns."""
        if not self._has_columns:
            raise ValueError(
                f"{what}: expected the pattern of a matrix, got one of tensors of shape "
                f"{self.shape}; use coordinates or dense()"
            )
