"""Convert states, joint torques, Jacobians and external wrenches.

With v' = A(q) v of `dtau.conventions.twists`, before the order P of velocities: a' = A (a + N(v))
and tau' = A^-T tau.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtau.checks import real_numbers
from dtau.conventions.maps import Array, Batch, Maps, quiet
from dtau.functions.manifold_states import neutral
from dtau.model.model import Model
from dtau.results import PartialState, State


@quiet
def state_from_dtau(
    maps: Maps, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None
) -> State | PartialState:
    """Return q', v' and a', as far as they are given."""
    batch, q, rest = maps.read_from_dtau(q, **_velocities(maps, v, a))
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
    batch, q, rest = maps.read_to_dtau(q, **_velocities(maps, v, a))
    v, a = [*rest, None, None][:2]
    _, inverse = maps.twists.matrices(q)
    if v is not None:
        v = maps.twists.apply(inverse, maps.order.to_dtau(v))
    if a is not None and v is not None:
        a = maps.twists.apply(inverse, maps.order.to_dtau(a)) - maps.twists.rate(v)
    return _named(batch, q, v, a)


@quiet
def torque_from_dtau(maps: Maps, q: ArrayLike, tau: ArrayLike) -> Array:
    """Return tau'."""
    batch, q, (tau,) = maps.read_from_dtau(q, tau=(tau, (maps.nv,)))
    _, inverse = maps.twists.matrices(q)
    out = maps.twists.apply(np.swapaxes(inverse, -1, -2), tau)
    return batch.array(maps.order.from_dtau(out))


@quiet
def torque_to_dtau(maps: Maps, q: ArrayLike, tau: ArrayLike) -> Array:
    """Undo `torque_from_dtau`."""
    batch, q, (tau,) = maps.read_to_dtau(q, tau=(tau, (maps.nv,)))
    forward, _ = maps.twists.matrices(q)
    out = maps.twists.apply(np.swapaxes(forward, -1, -2), maps.order.to_dtau(tau))
    return batch.array(out)


@quiet
def jacobian_from_dtau(maps: Maps, q: ArrayLike, jacobian: ArrayLike) -> Array:
    """Return J' = J A^-1, because J' v' = J v."""
    batch, q, (jacobian,) = maps.read_from_dtau(q, jacobian=(jacobian, _rows(maps, jacobian)))
    _, inverse = maps.twists.matrices(q)
    out = maps.twists.apply(np.swapaxes(inverse, -1, -2)[:, np.newaxis], jacobian)
    return batch.array(maps.order.from_dtau(out))


@quiet
def jacobian_to_dtau(maps: Maps, q: ArrayLike, jacobian: ArrayLike) -> Array:
    """Undo `jacobian_from_dtau`."""
    batch, q, (jacobian,) = maps.read_to_dtau(q, jacobian=(jacobian, _rows(maps, jacobian)))
    forward, _ = maps.twists.matrices(q)
    ordered = maps.order.to_dtau(jacobian)
    return batch.array(maps.twists.apply(np.swapaxes(forward, -1, -2)[:, np.newaxis], ordered))


def _rows(maps: Maps, jacobian: ArrayLike) -> tuple[int, int]:
    """Return the size of the last axes of a Jacobian with any number of rows."""
    shape = real_numbers("jacobian", jacobian).shape
    if len(shape) < 2 or shape[-1] != maps.nv:
        raise ValueError(f"jacobian has shape {shape}, expected (..., any, {maps.nv})")
    return shape[-2], shape[-1]


@quiet
def wrenches_from_dtau(maps: Maps, q: ArrayLike, f_ext: ArrayLike) -> Array:
    """Return the rows of wrenches on the model's bodies."""
    batch, q, (f_ext,) = maps.read_from_dtau(q, f_ext=(f_ext, (maps.model.nbodies, 6)))
    return batch.array(maps.wrenches.from_dtau(q, f_ext[:, np.newaxis])[:, 0])


@quiet
def wrenches_to_dtau(maps: Maps, q: ArrayLike, f_ext: ArrayLike) -> Array:
    """Return the wrenches on the model's bodies."""
    batch, q, (f_ext,) = maps.read_to_dtau(q, f_ext=(f_ext, (maps.wrenches.nrows, 6)))
    return batch.array(maps.wrenches.to_dtau(q, f_ext[:, np.newaxis])[:, 0])


def try_out(maps: Maps, model: Model, nq: int, nv: int, nwrenches: int) -> None:
    """Raise an exception unless states of these sizes can be converted in both directions."""
    sizes = (maps.coordinates.nq, maps.nv, maps.wrenches.nrows)
    if maps.model != model or sizes != (nq, nv, nwrenches):
        raise ValueError("state: expected maps of the same model, with the same sizes")
    q, zero = neutral(model), np.zeros(nv)
    there = state_from_dtau(maps, q, zero, zero)
    state_to_dtau(maps, *there)
    torque_to_dtau(maps, there.q, torque_from_dtau(maps, q, zero))
    wrenches = wrenches_from_dtau(maps, q, np.zeros((model.nbodies, 6)))
    wrenches_to_dtau(maps, there.q, wrenches)


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
