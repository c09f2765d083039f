"""What a convention is made of, and how arrays of either side are read."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.checks import batch_arrays
from dtau.conventions.coordinates import CoordinateMap
from dtau.conventions.twists import TwistMap
from dtau.conventions.velocity_order import VelocityOrder
from dtau.conventions.wrenches import WrenchMap
from dtau.immutable import Immutable
from dtau.model.model import Model

Array = NDArray[np.float64]

quiet = np.errstate(invalid="ignore", over="ignore", divide="ignore")  # for states with NaN


class Maps(Immutable):
    """The maps between dtau's arrays and those of a convention.

    Parameters
    ----------
    model : Model
    coordinates : CoordinateMap, optional
        Of configurations; by default they are the same.
    velocities : ndarray (nv,), optional
        Index in dtau of each velocity there; by default the order is the same.
    twists : TwistMap, optional
        Of velocities in dtau's order; by default they are the same.
    wrenches : WrenchMap, optional
        Of external wrenches; by default they are the same.
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
        velocities: NDArray[np.intp] | None = None,
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
        """Number of velocities, the same on both sides."""
        return self.model.nv

    def read_from_dtau(
        self, q: ArrayLike, **others: tuple[ArrayLike, tuple[int, ...]]
    ) -> tuple[Array, list[Array]]:
        """Read q of dtau's, and other arrays with last axes of these sizes, all of one batch."""
        q, *rest = batch_arrays({"q": (q, (self.model.nq,)), **others})
        self.coordinates.check_quaternions(q)
        return q, rest

    def read_to_dtau(
        self, q: ArrayLike, **others: tuple[ArrayLike, tuple[int, ...]]
    ) -> tuple[Array, list[Array]]:
        """Read q of the convention and return dtau's, with other arrays as they are."""
        q, *rest = batch_arrays({"q": (q, (self.coordinates.nq,)), **others})
        q = self.coordinates.to_dtau(q)
        self.coordinates.check_quaternions(q)
        return q, rest
