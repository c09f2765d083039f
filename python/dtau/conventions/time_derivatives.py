"""Convert stacks of time derivatives of velocities, joint torques and wrenches.

With v' = A(q) v of `dtau.conventions.twists`, B = A^-1 and C(k, m) the binomials:

    v'^(k) = sum C(k, m) A^(m) v^(k-m)            v^(k) = sum C(k, m) B^(m) v'^(k-m)
    tau'^(k) = sum C(k, m) (B^(m))^T tau^(k-m)    tau^(k) = sum C(k, m) (A^(m))^T tau'^(k-m)

A^(k) and B^(k) need v only up to its derivative of order k - 1, so the first line is evaluated
order by order. External wrenches are converted with the poses of their bodies in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.conventions.maps import Array, Maps, quiet
from dtau.conventions.series import (
    RootSeries,
    Sizes,
    leibniz,
    length,
    motion_with,
    product,
    transposed,
)
from dtau.conventions.twists import TwistMap

_MOST_WRENCHES = 101  # most rows, as in the functions that take them


@quiet
def velocities_from_dtau(maps: Maps, q: ArrayLike, v_derivatives: ArrayLike) -> Array:
    """Return v', dv'/dt, ..."""
    rows = length("v_derivatives", v_derivatives, (maps.nv,))
    batch, q, (v,) = maps.read_from_dtau(q, v_derivatives=(v_derivatives, (rows, maps.nv)))
    series = RootSeries(maps.twists, q)
    twist, out = maps.twists.take(v), v.copy()
    for k in range(rows):
        maps.twists.put(out[..., k, :], leibniz(series.forward(), twist, k))
        series.extend(twist, k)
    return batch.array(maps.order.from_dtau(out))


@quiet
def velocities_to_dtau(maps: Maps, q: ArrayLike, v_derivatives: ArrayLike) -> Array:
    """Undo `velocities_from_dtau`."""
    rows = length("v_derivatives", v_derivatives, (maps.nv,))
    batch, q, (given,) = maps.read_to_dtau(q, v_derivatives=(v_derivatives, (rows, maps.nv)))
    out, _ = _motion(maps, q, given)
    return batch.array(out)


@quiet
def torques_from_dtau(
    maps: Maps, q: ArrayLike, v_derivatives: ArrayLike, tau_derivatives: ArrayLike
) -> Array:
    """Return tau', dtau'/dt, ..."""
    stacks = motion_with(maps.nv, v_derivatives, 1, tau_derivatives=(tau_derivatives, (maps.nv,)))
    batch, q, (v, tau) = maps.read_from_dtau(q, **stacks)
    series = RootSeries(maps.twists, q)
    series.follow(maps.twists.take(v), tau.shape[-2] - 1)
    return batch.array(maps.order.from_dtau(multiplied(maps.twists, series.inverse(), tau)))


@quiet
def torques_to_dtau(
    maps: Maps, q: ArrayLike, v_derivatives: ArrayLike, tau_derivatives: ArrayLike
) -> Array:
    """Undo `torques_from_dtau`."""
    stacks = motion_with(maps.nv, v_derivatives, 1, tau_derivatives=(tau_derivatives, (maps.nv,)))
    batch, q, (v, tau) = maps.read_to_dtau(q, **stacks)
    _, series = _motion(maps, q, v[..., : tau.shape[-2] - 1, :])
    return batch.array(multiplied(maps.twists, series.forward(), maps.order.to_dtau(tau)))


@quiet
def wrenches_from_dtau(
    maps: Maps, q: ArrayLike, v_derivatives: ArrayLike, f_ext_derivatives: ArrayLike
) -> Array:
    """Return the rows of wrenches on the model's bodies, and their derivatives."""
    stacks = _with_wrenches(maps, v_derivatives, f_ext_derivatives, maps.model.nbodies)
    batch, q, (v, f_ext) = maps.read_from_dtau(q, **stacks)
    return batch.array(maps.wrenches.from_dtau(q, f_ext, v))


@quiet
def wrenches_to_dtau(
    maps: Maps, q: ArrayLike, v_derivatives: ArrayLike, f_ext_derivatives: ArrayLike
) -> Array:
    """Return the wrenches on the model's bodies, and their derivatives."""
    stacks = _with_wrenches(maps, v_derivatives, f_ext_derivatives, maps.wrenches.nrows)
    batch, q, (v, f_ext) = maps.read_to_dtau(q, **stacks)
    motion, _ = _motion(maps, q, v[..., : max(1, f_ext.shape[-3] - 1), :])
    return batch.array(maps.wrenches.to_dtau(q, f_ext, motion))


def _with_wrenches(maps: Maps, v: ArrayLike, f_ext: ArrayLike, rows: int) -> Sizes:
    return motion_with(maps.nv, v, 1, _MOST_WRENCHES, f_ext_derivatives=(f_ext, (rows, 6)))


def _motion(maps: Maps, q: Array, given: Array) -> tuple[Array, RootSeries]:
    """Return v, dv/dt, ... from the convention's, and the series of the roots along them."""
    series = RootSeries(maps.twists, q)
    out = maps.order.to_dtau(given)
    theirs, twist = maps.twists.take(out), maps.twists.take(out)
    for k in range(out.shape[-2]):
        twist[..., k, :, :] = leibniz(series.inverse(), theirs, k)
        series.extend(twist, k)
    maps.twists.put(out, twist)
    return out, series


def multiplied(twists: TwistMap, blocks: Sequence[Array], tau: Array) -> Array:
    """Multiply stacks ``(..., rows, nv)`` by the identity with these blocks, transposed."""
    out = tau.copy()
    twists.put(out, product(transposed(blocks), twists.take(tau)))
    return out
