"""Convert states, alone or as stacks of time derivatives of the velocity.

With v' = A(q) v of `dtau.conventions.twists`, before the order P of velocities, B = A^-1 and the
binomials C(k, m):

    v'^(k) = sum C(k, m) A^(m) v^(k-m)            v^(k) = sum C(k, m) B^(m) v'^(k-m)

of which a' = A (a + N(v)) is the line of order 1. A^(k) and B^(k) need v only up to its derivative
of order k - 1, so the lines are evaluated order by order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtau.conventions.maps import Batch, Maps, quiet
from dtau.conventions.series import RootSeries, leibniz
from dtau.functions.manifold_states import neutral
from dtau.model.model import Model
from dtau.results import PartialState, State
from dtau.support.arrays import Array


@quiet
def state_from_dtau(
    maps: Maps, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None
) -> State | PartialState:
    """Return q', v' and a', as far as they are given."""
    batch, q, rest = maps.read(q, _velocities(maps, v, a))
    v, a = [*rest, None, None][:2]
    forward, _ = maps.twists.matrices(q)
    if a is not None and v is not None:
        a = maps.order.from_dtau(maps.twists.apply(forward, a + maps.twists.rate(v)))
    if v is not None:
        v = maps.order.from_dtau(maps.twists.apply(forward, v))
    return _named(batch, maps.coordinates.from_dtau(q), v, a)


@quiet
def state_to_dtau(
    maps: Maps, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None
) -> State | PartialState:
    """Undo `state_from_dtau`."""
    batch, q, rest = maps.read(q, _velocities(maps, v, a), to_dtau=True)
    return _named(batch, q, *[*vectors_to_dtau(maps, q, rest), None, None][:2])


def vectors_to_dtau(maps: Maps, q: Array, vectors: list[Array]) -> list[Array]:
    """Return v, a and tau from the convention's, as far as they are given."""
    forward, inverse = maps.twists.matrices(q)
    out = [maps.order.to_dtau(x) for x in vectors]
    for k, blocks in enumerate((inverse, inverse, np.swapaxes(forward, -1, -2))[: len(out)]):
        out[k] = maps.twists.apply(blocks, out[k])
    if len(out) > 1:
        out[1] = out[1] - maps.twists.rate(out[0])
    return out


def stack_from_dtau(maps: Maps, q: Array, v: Array) -> Array:
    """Return v', dv'/dt, ..., ``(n, rows, nv)``."""
    series = RootSeries(maps.twists, q)
    twist, out = maps.twists.take(v), v.copy()
    for k in range(v.shape[-2]):
        maps.twists.put(out[..., k, :], leibniz(series.forward(), twist, k))
        series.extend(twist, k)
    return maps.order.from_dtau(out)


def stack_to_dtau(maps: Maps, q: Array, given: Array) -> tuple[Array, RootSeries]:
    """Return v, dv/dt, ... from the convention's, and the series of the roots along them."""
    series = RootSeries(maps.twists, q)
    out = maps.order.to_dtau(given)
    theirs, twist = maps.twists.take(out), maps.twists.take(out)
    for k in range(out.shape[-2]):
        twist[..., k, :, :] = leibniz(series.inverse(), theirs, k)
        series.extend(twist, k)
    maps.twists.put(out, twist)
    return out, series


def try_out(maps: Maps, model: Model, nq: int, nv: int, nwrenches: int) -> None:
    """Raise an exception unless states and wrenches of these sizes convert in both directions."""
    sizes = (maps.coordinates.nq, maps.nv, maps.wrenches.nrows)
    if maps.model != model or sizes != (nq, nv, nwrenches):
        raise ValueError("state: expected maps of the same model, with the same sizes")
    q, zero = neutral(model), np.zeros(nv)
    there = state_from_dtau(maps, q, zero, zero)
    state_to_dtau(maps, *there)
    wrenches = maps.wrenches.from_dtau(q[np.newaxis], np.zeros((1, 1, model.nbodies, 6)))
    maps.wrenches.to_dtau(q[np.newaxis], wrenches)


def _velocities(
    maps: Maps, v: ArrayLike | None, a: ArrayLike | None
) -> dict[str, tuple[ArrayLike, tuple[int, ...]]]:
    if v is None and a is not None:
        raise ValueError("a: expected v with it, for the acceleration depends on the velocity")
    given = {"v": v, "a": a}
    return {name: (x, (maps.nv,)) for name, x in given.items() if x is not None}


def _named(batch: Batch, q: Array, v: Array | None, a: Array | None) -> State | PartialState:
    q = batch.array(q)
    v = None if v is None else batch.array(v)
    return PartialState(q, v) if v is None or a is None else State(q, v, batch.array(a))
