"""Convert first derivatives to another form of velocities, v' = A(q) v.

Each function differentiates a composition by the chain rule: of tau' = A^-T tau(q, v, a) at fixed
v' and a', or of a' = A (a(q, v, tau) + N(v)) at fixed v' and tau'. Displacements d' = A d give the
A^-1 (or, back, the A) on the right. W(v), N, U and the other variations: `dtau.conventions.twists`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dtau.checks import require
from dtau.conventions.maps import Array, Batch, Maps, State, quiet
from dtau.conventions.twists import Variations
from dtau.results import ForwardDynamicsDerivatives, InverseDynamicsDerivatives

D = TypeVar("D", InverseDynamicsDerivatives, ForwardDynamicsDerivatives)


class _At(NamedTuple):
    """A and its inverse, ``(..., nroots, 6, 6)``, and the variations, at a state."""

    forward: Array
    inverse: Array
    by: Variations


@quiet
def inverse_from_dtau(
    maps: Maps, state: State, d: InverseDynamicsDerivatives
) -> InverseDynamicsDerivatives:
    """Return derivatives of tau' by q', v' and a'."""
    batch, at, d = _read_from_dtau(maps, state, d, InverseDynamicsDerivatives)
    twists, by = maps.twists, at.by
    dtau_dq = (
        d.dtau_dq
        + twists.product(d.dtau_dv, by.v_by_q)
        + twists.product(d.dtau_da, by.a_by_q)
        + twists.embedded(by.force_by_q, maps.nv)
    )
    dtau_dv = d.dtau_dv - twists.product(d.dtau_da, by.rate_by_v)
    left = _transposed(at.inverse)
    moved = (twists.sandwich(left, x, at.inverse) for x in (dtau_dq, dtau_dv, d.dtau_da))
    return InverseDynamicsDerivatives(*batch.arrays(map(maps.order.matrix_from_dtau, moved)))


@quiet
def inverse_to_dtau(
    maps: Maps, state: State, d: InverseDynamicsDerivatives
) -> InverseDynamicsDerivatives:
    """Undo `inverse_from_dtau`."""
    batch, at, d = _read_to_dtau(maps, state, d, InverseDynamicsDerivatives)
    twists, by = maps.twists, at.by
    left = _transposed(at.forward)
    dtau_dq, dtau_dv, dtau_da = (twists.sandwich(left, x, at.forward) for x in d)
    dtau_dv = dtau_dv + twists.product(dtau_da, by.rate_by_v)
    dtau_dq = (
        dtau_dq
        - twists.product(dtau_dv, by.v_by_q)
        - twists.product(dtau_da, by.a_by_q)
        - twists.embedded(by.force_by_q, maps.nv)
    )
    return InverseDynamicsDerivatives(*batch.arrays((dtau_dq, dtau_dv, dtau_da)))


@quiet
def forward_from_dtau(
    maps: Maps, state: State, d: ForwardDynamicsDerivatives
) -> ForwardDynamicsDerivatives:
    """Return derivatives of a' by q', v' and tau'."""
    batch, at, d = _read_from_dtau(maps, state, d, ForwardDynamicsDerivatives)
    twists, by = maps.twists, at.by
    da_dq = (
        d.da_dq
        + twists.product(d.da_dv, by.v_by_q)
        - twists.product(d.da_dtau, by.force_by_q)
        - twists.embedded(by.a_by_q, maps.nv)
    )
    da_dv = d.da_dv + twists.embedded(by.rate_by_v, maps.nv)
    moved = (
        twists.sandwich(at.forward, da_dq, at.inverse),
        twists.sandwich(at.forward, da_dv, at.inverse),
        twists.sandwich(at.forward, d.da_dtau, _transposed(at.forward)),
    )
    return ForwardDynamicsDerivatives(*batch.arrays(map(maps.order.matrix_from_dtau, moved)))


@quiet
def forward_to_dtau(
    maps: Maps, state: State, d: ForwardDynamicsDerivatives
) -> ForwardDynamicsDerivatives:
    """Undo `forward_from_dtau`."""
    batch, at, d = _read_to_dtau(maps, state, d, ForwardDynamicsDerivatives)
    twists, by = maps.twists, at.by
    da_dtau = twists.sandwich(at.inverse, d.da_dtau, _transposed(at.inverse))
    da_dv = twists.sandwich(at.inverse, d.da_dv, at.forward)
    da_dv = da_dv - twists.embedded(by.rate_by_v, maps.nv)
    da_dq = (
        twists.sandwich(at.inverse, d.da_dq, at.forward)
        - twists.product(da_dv, by.v_by_q)
        + twists.product(da_dtau, by.force_by_q)
        + twists.embedded(by.a_by_q, maps.nv)
    )
    return ForwardDynamicsDerivatives(*batch.arrays((da_dq, da_dv, da_dtau)))


def _read_from_dtau(maps: Maps, state: State, d: D, kind: type[D]) -> tuple[Batch, _At, D]:
    """Read a state and derivatives in dtau's convention."""
    batch, q, (v, a, tau, *parts) = maps.read_from_dtau(state[0], **_named(maps, state, d, kind))
    at = _At(*maps.twists.matrices(q), maps.twists.variations(v, a, tau))
    return batch, at, kind(*parts)


def _read_to_dtau(maps: Maps, state: State, d: D, kind: type[D]) -> tuple[Batch, _At, D]:
    """Read a state and derivatives in the convention; return them in dtau's order."""
    batch, q, (v, a, tau, *parts) = maps.read_to_dtau(state[0], **_named(maps, state, d, kind))
    forward, inverse = maps.twists.matrices(q)
    v = maps.twists.apply(inverse, maps.order.to_dtau(v))
    a = maps.twists.apply(inverse, maps.order.to_dtau(a)) - maps.twists.rate(v)
    tau = maps.twists.apply(_transposed(forward), maps.order.to_dtau(tau))
    d = kind(*map(maps.order.matrix_to_dtau, parts))
    return batch, _At(forward, inverse, maps.twists.variations(v, a, tau)), d


def _named(
    maps: Maps, state: State, d: D, kind: type[D]
) -> dict[str, tuple[ArrayLike, tuple[int, ...]]]:
    """Return arrays by their names in messages, with the sizes of their last axes."""
    require("d", d, kind)
    vectors = {name: (x, (maps.nv,)) for name, x in zip(("v", "a", "tau"), state[1:], strict=True)}
    square = (maps.nv, maps.nv)
    return {**vectors, **{f"d.{n}": (x, square) for n, x in zip(d._fields, d, strict=True)}}


def _transposed(blocks: Array) -> Array:
    return np.swapaxes(blocks, -1, -2)
