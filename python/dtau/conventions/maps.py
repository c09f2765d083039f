"""What a convention is made of, and how arrays of either side are read.

Every convention is v' = P A(q) v, with an order P and with A of `dtau.conventions.twists`; so are
displacements, along which derivatives by q are taken. What follows for accelerations and torques is
in `dtau.conventions.states`, what for derivatives in `dtau.conventions.derivatives`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

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
State: TypeAlias = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]  # q, v, a, tau

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
    ) -> tuple[Batch, Array, list[Array]]:
        """Read q of dtau's, and other arrays with last axes of these sizes, as rows of states."""
        batch, (q, *rest) = batch_arrays({"q": (q, (self.model.nq,)), **others})
        self.coordinates.check_quaternions(q, batch)
        return Batch(batch), q, rest

    def read_to_dtau(
        self, q: ArrayLike, **others: tuple[ArrayLike, tuple[int, ...]]
    ) -> tuple[Batch, Array, list[Array]]:
        """Read q of the convention and return dtau's, with other arrays, as rows of states."""
        batch, (q, *rest) = batch_arrays({"q": (q, (self.coordinates.nq,)), **others})
        q = self.coordinates.to_dtau(q)
        self.coordinates.check_quaternions(q, batch)
        return Batch(batch), q, rest


@dataclass(frozen=True)
class Batch:
    """The batch axes of all arguments together."""

    shape: tuple[int, ...]

    def array(self, rows: Array) -> Array:
        """Give results of rows of states ``(n, ...)`` these axes in place of the first."""
        return rows.reshape(self.shape + rows.shape[1:])

    def arrays(self, rows: Iterable[Array]) -> Iterable[Array]:
        """Do so with all of several results."""
        return map(self.array, rows)
