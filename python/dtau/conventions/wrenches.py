"""External wrenches elsewhere: other rows, another order, other axes and points."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.checks import listing
from dtau.functions.kinematics import forward_kinematics
from dtau.immutable import Immutable
from dtau.model.model import Model

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class WrenchMap(Immutable):
    """The map between external wrenches ``(..., nbodies, 6)`` and those of another convention.

    Parameters
    ----------
    model : Model
    carriers : sequence of int, optional
        The body that each row there acts on; -1 is the world. By default rows are bodies.
    rows : mapping of int to int, optional
        The row that takes a body's wrench; by default its only one. A body without a row there
        cannot have a wrench.
    order : sequence of int
        Index here of the six numbers of a row there.
    points : array_like (nrows, 3), optional
        If given, rows are along world axes, about these points of the bodies (in their frames).
    """

    nrows: int
    _model: Model
    _carriers: Indices
    _bodies: Indices  # those that have a row
    _rows: Indices  # their rows
    _order: Indices
    _points: Array | None

    def __init__(
        self,
        model: Model,
        carriers: ArrayLike | None = None,
        *,
        rows: Mapping[int, int] | None = None,
        order: ArrayLike = (0, 1, 2, 3, 4, 5),
        points: ArrayLike | None = None,
    ) -> None:
        self._require_new()
        carried = np.arange(model.nbodies) if carriers is None else np.asarray(carriers)
        if rows is None:
            rows = {int(body): row for row, body in enumerate(carried) if body >= 0}
        vars(self).update(
            nrows=len(carried),
            _model=model,
            _carriers=carried.astype(np.intp),
            _bodies=np.array(list(rows), dtype=np.intp),
            _rows=np.array(list(rows.values()), dtype=np.intp),
            _order=np.asarray(order, dtype=np.intp),
            _points=None if points is None else np.asarray(points, dtype=np.float64),
        )

    def from_dtau(self, q: Array, f_ext: Array) -> Array:
        """Convert wrenches on bodies to rows ``(..., nrows, 6)``; the world's are zero."""
        lost = np.delete(np.arange(self._model.nbodies), self._bodies)
        acting = f_ext[..., lost, :].any(axis=(*range(f_ext.ndim - 2), -1))
        if acting.any():
            names = [self._model.bodies[i] for i in lost[acting]]
            raise ValueError(f"f_ext: a wrench acts on {listing(names)}, which is no body there")
        wrench = f_ext[..., self._bodies, :]
        if self._points is not None:
            rotation = forward_kinematics(self._model, q).rotation
            rotation = rotation[..., self._bodies, :, :]
            force, moment = wrench[..., :3], wrench[..., 3:]
            moment = moment - np.cross(self._points[self._rows], force)
            wrench = np.concatenate([_times(rotation, force), _times(rotation, moment)], axis=-1)
        out = np.zeros((*f_ext.shape[:-2], self.nrows, 6))
        out[..., self._rows, :] = wrench[..., self._order]
        return out

    def to_dtau(self, q: Array, f_ext: Array) -> Array:
        """Convert rows, and add up those that act on one body; the world's have no effect."""
        moving = self._carriers >= 0
        carriers = self._carriers[moving]
        wrench = np.empty((*f_ext.shape[:-2], len(carriers), 6))
        wrench[..., self._order] = f_ext[..., moving, :]
        if self._points is not None:
            rotation = forward_kinematics(self._model, q).rotation
            back = np.swapaxes(rotation[..., carriers, :, :], -1, -2)
            force, moment = _times(back, wrench[..., :3]), _times(back, wrench[..., 3:])
            moment = moment + np.cross(self._points[moving], force)
            wrench = np.concatenate([force, moment], axis=-1)
        out = np.zeros((*f_ext.shape[:-2], self._model.nbodies, 6))
        np.add.at(np.moveaxis(out, -2, 0), carriers, np.moveaxis(wrench, -2, 0))
        return out


def _times(matrices: Array, vectors: Array) -> Array:
    out: Array = (matrices @ vectors[..., np.newaxis])[..., 0]
    return out
