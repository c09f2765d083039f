"""The maps of a convention, and reading of arrays in either convention: `Maps`.

Every convention is v' = P A(q) v, with an order P and with A of `dtau.conventions.twists`.
Displacements, along which derivatives by q are taken, transform in the same way.
`dtau.conventions.states` derives accelerations and torques, `dtau.conventions.derivatives`
derivatives.
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
        """Number of velocities, the same in both conventions."""
        return self.model.nv

    def read_from_dtau(
        self, q: ArrayLike, **others: tuple[ArrayLike, tuple[int, ...]]
    ) -> tuple[Batch, Array, list[Array]]:
        """Read dtau's q, and other arrays with last axes of these sizes, as rows of states."""
        batch, (q, *rest) = batch_arrays({"q": (q, (self.model.nq,)), **others})
        self.coordinates.check_quaternions(q, batch)
        return Batch(batch), q, rest

    def read_to_dtau(
        self, q: ArrayLike, **others: tuple[ArrayLike, tuple[int, ...]]
    ) -> tuple[Batch, Array, list[Array]]:
        """Read the convention's q and other arrays as rows of states; convert q to dtau's."""
        batch, (q, *rest) = batch_arrays({"q": (q, (self.coordinates.nq,)), **others})
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

    def arrays(self, rows: Iterable[Array]) -> Iterable[Array]:
        """Reshape several results."""
        return map(self.array, rows)
