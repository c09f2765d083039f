"""What a convention is made of, and how its methods read their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.checks import batch_arrays, require
from dtau.conventions.coordinates import CoordinateMap
from dtau.conventions.twists import TwistMap, Variations
from dtau.conventions.wrenches import WrenchMap
from dtau.immutable import Immutable
from dtau.model.model import Model
from dtau.results import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    PartialState,
    State,
)

Array = NDArray[np.float64]
D = TypeVar("D", InverseDynamicsDerivatives, ForwardDynamicsDerivatives)
Conversion = Callable[[TwistMap, tuple[Array, Array], Variations, D], D]


class Maps(Immutable):
    """The maps between dtau's arrays and those of a convention.

    Parameters
    ----------
    name : str
        What the convention is called.
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

    name: str
    model: Model
    nq: int
    nv: int
    nwrenches: int
    _coordinates: CoordinateMap
    _twists: TwistMap
    _wrenches: WrenchMap
    _order: NDArray[np.intp]  # index in dtau of each velocity there
    _places: NDArray[np.intp]  # index there of each velocity of dtau's

    def __init__(
        self,
        name: str,
        model: Model,
        *,
        coordinates: CoordinateMap | None = None,
        velocities: NDArray[np.intp] | None = None,
        twists: TwistMap | None = None,
        wrenches: WrenchMap | None = None,
    ) -> None:
        self._require_new()
        if coordinates is None:
            coordinates = CoordinateMap(model, model.nq, ((k, k) for k in range(model.nq)))
        order = np.arange(model.nv) if velocities is None else velocities
        wrenches = WrenchMap(model) if wrenches is None else wrenches
        vars(self).update(
            name=name,
            model=model,
            nq=coordinates.nq,
            nv=model.nv,
            nwrenches=wrenches.nrows,
            _coordinates=coordinates,
            _twists=TwistMap(model, changed=False) if twists is None else twists,
            _wrenches=wrenches,
            _order=order,
            _places=np.argsort(order),
        )

    def __repr__(self) -> str:
        return (
            f"<Convention {self.name!r} of model {self.model.name!r}: nq = {self.nq}, "
            f"nv = {self.nv}, nwrenches = {self.nwrenches}>"
        )

    def _read(
        self, q: ArrayLike, of_dtau: bool, **others: tuple[ArrayLike, tuple[int, ...]]
    ) -> tuple[Array, list[Array]]:
        """Return q in dtau's convention and the other arrays as they are, all of one batch."""
        nq = self.model.nq if of_dtau else self.nq
        q, *rest = batch_arrays({"q": (q, (nq,)), **others})
        if not of_dtau:
            q = self._coordinates.to_dtau(q)
        self._coordinates.check_quaternions(q)
        return q, rest

    def _read_state(
        self, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None, of_dtau: bool
    ) -> tuple[Array, Array | None, Array | None]:
        if v is None and a is not None:
            raise ValueError("a: expected v with it, for the acceleration depends on the velocity")
        given = {"v": v, "a": a}
        others = {name: (x, (self.nv,)) for name, x in given.items() if x is not None}
        q, rest = self._read(q, of_dtau, **others)
        v, a = [*rest, None, None][:2]
        return q, v, a

    def _read_derivatives(
        self, state: tuple[ArrayLike, ...], d: D, kind: type[D], of_dtau: bool
    ) -> tuple[Array, Array, Array, Array, D]:
        """Return q in dtau's convention and v, a, tau and d as they are, all of one batch."""
        require("d", d, kind)
        q, v, a, tau = state
        vectors = {name: (x, (self.nv,)) for name, x in (("v", v), ("a", a), ("tau", tau))}
        square = (self.nv, self.nv)
        matrices = {f"d.{name}": (x, square) for name, x in zip(d._fields, d, strict=True)}
        q, (v, a, tau, *parts) = self._read(q, of_dtau, **vectors, **matrices)
        return q, v, a, tau, kind(*parts)

    def _derivatives_from_dtau(
        self, convert: Conversion[D], kind: type[D], d: D, *state: ArrayLike
    ) -> D:
        q, v, a, tau, d = self._read_derivatives(state, d, kind, of_dtau=True)
        by = self._twists.variations(v, a, tau)
        d = convert(self._twists, self._twists.matrices(q), by, d)
        return kind(*(x[..., self._order[:, np.newaxis], self._order] for x in d))

    def _derivatives_to_dtau(
        self, convert: Conversion[D], kind: type[D], d: D, *state: ArrayLike
    ) -> D:
        q, v, a, tau, d = self._read_derivatives(state, d, kind, of_dtau=False)
        maps = forward, inverse = self._twists.matrices(q)
        v = self._twists.apply(inverse, v[..., self._places])
        a = self._twists.apply(inverse, a[..., self._places]) - self._twists.rate(v)
        tau = self._twists.apply(np.swapaxes(forward, -1, -2), tau[..., self._places])
        d = kind(*(x[..., self._places[:, np.newaxis], self._places] for x in d))
        return convert(self._twists, maps, self._twists.variations(v, a, tau), d)


def state(q: Array, v: Array | None, a: Array | None) -> State | PartialState:
    """Return the named tuple of what there is."""
    return PartialState(q, v) if v is None or a is None else State(q, v, a)
