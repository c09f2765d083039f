"""The maps of a convention, and reading of arrays in either convention: `Maps`.

Every convention is v' = P A(q) v, with an order P and with A of `dtau.conventions.twists`.
Displacements, along which derivatives by q are taken, transform in the same way.
`dtau.conventions.conversion` says which rule converts a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dtau.conventions.coordinates import CoordinateMap
from dtau.conventions.twists import TwistMap
from dtau.conventions.velocity_order import VelocityOrder
from dtau.conventions.wrenches import WrenchMap
from dtau.model.model import Model
from dtau.support.arrays import Array, Indices
from dtau.support.checks import batch_arrays
from dtau.support.immutable import Immutable

quiet = np.errstate(invalid="ignore", over="ignore", divide="ignore")  # for states with NaN


class Maps(Immutable):
    """The maps between dtau's arrays and the arrays of a convention.

    Parameters
    ----------
    model : Model
    coordinates : CoordinateMap, optional
        Map of configurations; by default the identity.
    velocities : ndarray (nv,), optional
        Index in dtau of each velocity of the convention; by default the same order.
    twists : TwistMap, optional
        Map of velocities in dtau's order; by default the identity.
    wrenches : WrenchMap, optional
        Map of external wrenches; by default the identity.
    """

    model: Model
    coordinates: CoordinateMap
    twists: TwistMap  # A(q) of v' = P A(q) v
    order: VelocityOrder  # P
    wrenches: WrenchMap

    def __init__(
        self,
        model: Model,
        coordinates: CoordinateMap | None = None,
        velocities: Indices | None = None,
        twists: TwistMap | None = None,
        wrenches: WrenchMap | None = None,
    ) -> None:
        self._require_new()
        if coordinates is None:
            coordinates = CoordinateMap(model, model.nq, ((k, k) for k in range(model.nq)))
        vars(self).update(
            model=model,
            coordinates=coordinates,
            twists=TwistMap(model, changed=False) if twists is None else twists,
            order=VelocityOrder(np.arange(model.nv) if velocities is None else velocities),
            wrenches=WrenchMap(model) if wrenches is None else wrenches,
        )

    @property
    def nv(self) -> int:
        """Number of velocities, the same in both conventions."""
        return self.model.nv

    def read(
        self,
        q: ArrayLike,
        others: Mapping[str, tuple[ArrayLike, tuple[int, ...]]],
        *,
        to_dtau: bool = False,
    ) -> tuple[Batch, Array, list[Array]]:
        """Read q, and other arrays with last axes of these sizes, as rows of states.

        With ``to_dtau``, q is the convention's, and is returned in dtau's.
        """
        nq = self.coordinates.nq if to_dtau else self.model.nq
        batch, (q, *rest) = batch_arrays({"q": (q, (nq,)), **others})
        if to_dtau:
            q = self.coordinates.to_dtau(q)
        self.coordinates.check_quaternions(q, batch)
        return Batch(batch), q, rest


@dataclass(frozen=True)
class Batch:
    """The common batch axes of all arguments."""

    shape: tuple[int, ...]

    def array(self, rows: Array) -> Array:
        """Reshape results of rows of states ``(n, ...)`` to the batch axes."""
        return rows.reshape(self.shape + rows.shape[1:])
