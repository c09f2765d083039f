"""Convert external wrenches: other rows, order, axes and points: `WrenchMap`.

With the pose (R, p) of the body, wrenches (f_b, n_b) along body axes at its origin become

    f = R f_b        n = R (n_b - c x f_b)        along world axes, about the point c of the body
                     n = R n_b + p x f            about the world's origin ([HO-FBS])

and their time derivatives follow from the derivatives of the pose by Leibniz' rule.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from dtau.conventions.series import product, transposed
from dtau.functions.frames import forward_kinematics
from dtau.functions.time_derivatives_kinematics import kinematics_time_derivatives
from dtau.model.model import Model
from dtau.model.rotations import skew
from dtau.support.arrays import Array, Indices
from dtau.support.checks import listing
from dtau.support.immutable import Immutable
from dtau.support.options import Axes


class WrenchMap(Immutable):
    """The map between external wrenches ``(..., nbodies, 6)`` and wrenches of another convention.

    Parameters
    ----------
    model : Model
    carriers : sequence of int, optional
        The body on which each row of the convention acts; -1 is the world. By default rows are
        bodies.
    rows : mapping of int to int, optional
        The row that takes a body's wrench; by default its only one. A body without a row cannot
        have a wrench.
    order : sequence of int
        Index in dtau of the six numbers of a row.
    axes : {"body", "mixed", "world"}
        Axes of the rows: in the body frame at its origin; along world axes at the body's origin;
        along world axes, moments about the world's origin.
    points : array_like (nrows, 3), optional
        With "mixed" axes, the points of the bodies (in their frames) in place of their origins.
    """

    nrows: int
    _model: Model
    _carriers: Indices
    _bodies: Indices  # bodies with a row
    _rows: Indices  # their rows
    _order: Indices
    _in_world: bool  # whether along world axes
    _at_world_origin: bool  # whether moments are about it
    _points: Array | None

    def __init__(
        self,
        model: Model,
        carriers: ArrayLike | None = None,
        *,
        rows: Mapping[int, int] | None = None,
        order: ArrayLike = (0, 1, 2, 3, 4, 5),
        axes: Axes = "body",
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
            _in_world=axes != "body",
            _at_world_origin=axes == "world",
            _points=None if points is None else np.asarray(points, dtype=np.float64),
        )

    # Stacks of time derivatives are (n, rows, nbodies or nrows, 6), with a motion v, dv/dt, ... of
    # at most one row fewer; for wrenches alone there is one row and no motion.

    def from_dtau(self, q: Array, f_ext: Array, v: Array | None = None) -> Array:
        """Convert wrenches on bodies to rows; rows of the world are zero."""
        lost = np.delete(np.arange(self._model.nbodies), self._bodies)
        acting = f_ext[..., lost, :].any(axis=(*range(f_ext.ndim - 2), -1))
        if acting.any():
            names = [self._model.bodies[i] for i in lost[acting]]
            raise ValueError(
                f"result: a wrench acts on {listing(names)}, which the convention does not have"
            )
        wrench = f_ext[..., self._bodies, :]
        if self._in_world:
            rotations, positions = self._poses(q, v, f_ext.shape[-3], self._bodies)
            force, moment = wrench[..., :3], wrench[..., 3:]
            if self._points is not None:
                moment = moment - np.cross(self._points[self._rows], force)
            force, moment = product(rotations, force), product(rotations, moment)
            if self._at_world_origin:
                moment = moment + product(list(map(skew, positions)), force)
            wrench = np.concatenate([force, moment], axis=-1)
        out = np.zeros((*f_ext.shape[:-2], self.nrows, 6))
        out[..., self._rows, :] = wrench[..., self._order]
        return out

    def to_dtau(self, q: Array, f_ext: Array, v: Array | None = None) -> Array:
        """Convert rows and add up those on the same body; rows of the world have no effect."""
        moving = self._carriers >= 0
        carriers = self._carriers[moving]
        wrench = np.empty((*f_ext.shape[:-2], len(carriers), 6))
        wrench[..., self._order] = f_ext[..., moving, :]
        if self._in_world:
            rotations, positions = self._poses(q, v, f_ext.shape[-3], carriers)
            back = transposed(rotations)
            force, moment = wrench[..., :3], wrench[..., 3:]
            if self._at_world_origin:
                moment = moment - product(list(map(skew, positions)), force)
            force, moment = product(back, force), product(back, moment)
            if self._points is not None:
                moment = moment + np.cross(self._points[moving], force)
            wrench = np.concatenate([force, moment], axis=-1)
        out = np.zeros((*f_ext.shape[:-2], self._model.nbodies, 6))
        np.add.at(np.moveaxis(out, -2, 0), carriers, np.moveaxis(wrench, -2, 0))
        return out

    def _poses(
        self, q: Array, v: Array | None, rows: int, bodies: Indices
    ) -> tuple[list[Array], list[Array]]:
        """Return R and p of bodies with their derivatives, by order."""
        if v is None:
            pose = forward_kinematics(self._model, q)
            return [pose.rotation[:, bodies]], [pose.translation[:, bodies]]
        motion = kinematics_time_derivatives(self._model, q, v, order=max(1, rows - 1))
        orders = range(rows)
        rotations = [motion.rotation[:, k, bodies] for k in orders]
        return rotations, [motion.translation[:, k, bodies] for k in orders]
