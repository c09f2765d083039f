"""Conversions of whole stacks of time derivatives: of velocities and of joint torques.

With v' = A(q) v of `dtau.conventions.twists`, C(k, m) the binomials and (R, p) the pose of a root's
body in the world, whose twist is (v, w) in body axes, linear first:

    v'^(k) = sum C(k, m) A^(m) v^(k-m)              tau^(k) = sum C(k, m) (A^(m))^T tau'^(k-m)
    R^(k+1) = sum C(k, m) R^(k-m) [w^(m)]x          p^(k+1) = sum C(k, m) R^(k-m) v^(m)

A^(k) needs v up to its derivative of order k - 1 only, so that the first line can be solved order
by order, for v^(k) and for tau'^(k), with A of order 0. With A the adjoint of the pose
(`spatial_twist`) its derivatives are those that [HO-FBS] has.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import ArrayLike

from dtau.checks import real_numbers
from dtau.conventions.maps import Array, Maps, quiet
from dtau.conventions.twists import TwistMap, skew


@quiet
def velocities_from_dtau(maps: Maps, q: ArrayLike, v_derivatives: ArrayLike) -> Array:
    """Return v', dv'/dt, ..."""
    rows = _length(maps, "v_derivatives", v_derivatives)
    batch, q, (v,) = maps.read_from_dtau(q, v_derivatives=(v_derivatives, (rows, maps.nv)))
    series = _Series(maps.twists, q)
    twist, out = maps.twists.take(v), v.copy()
    for k in range(rows):
        maps.twists.put(out[..., k, :], series.product(k, twist))
        series.extend(twist, k)
    return batch.array(maps.order.from_dtau(out))


@quiet
def velocities_to_dtau(maps: Maps, q: ArrayLike, v_derivatives: ArrayLike) -> Array:
    """Undo `velocities_from_dtau`."""
    rows = _length(maps, "v_derivatives", v_derivatives)
    batch, q, (given,) = maps.read_to_dtau(q, v_derivatives=(v_derivatives, (rows, maps.nv)))
    out = maps.order.to_dtau(given)
    _solve_velocities(maps.twists, _Series(maps.twists, q), out)
    return batch.array(out)


@quiet
def torques_from_dtau(
    maps: Maps, q: ArrayLike, v_derivatives: ArrayLike, tau_derivatives: ArrayLike
) -> Array:
    """Return tau', dtau'/dt, ..."""
    stacks = _named(maps, v_derivatives, tau_derivatives)
    batch, q, (v, tau) = maps.read_from_dtau(q, **stacks)
    series = _Series(maps.twists, q)
    twist = maps.twists.take(v)
    for k in range(min(v.shape[-2], tau.shape[-2] - 1)):
        series.extend(twist, k)
    inverse, transposed, out = np.swapaxes(series.inverse, -1, -2), series.transposed(), tau.copy()
    for k in range(out.shape[-2]):  # sum C(k, m) (A^(m))^T tau'^(k-m) = tau^(k), for tau'
        force = maps.twists.take(out)
        rest = (force[..., k, :, :] - _leibniz(transposed, force, k, start=1))[..., np.newaxis]
        maps.twists.put(out[..., k, :], (inverse @ rest)[..., 0])
    return batch.array(maps.order.from_dtau(out))


@quiet
def torques_to_dtau(
    maps: Maps, q: ArrayLike, v_derivatives: ArrayLike, tau_derivatives: ArrayLike
) -> Array:
    """Undo `torques_from_dtau`."""
    stacks = _named(maps, v_derivatives, tau_derivatives)
    batch, q, (v, tau) = maps.read_to_dtau(q, **stacks)
    series = _Series(maps.twists, q)
    _solve_velocities(maps.twists, series, maps.order.to_dtau(v[..., : tau.shape[-2] - 1, :]))
    given = maps.order.to_dtau(tau)
    force, out, transposed = maps.twists.take(given), given.copy(), series.transposed()
    for k in range(tau.shape[-2]):
        maps.twists.put(out[..., k, :], _leibniz(transposed, force, k))
    return batch.array(out)


def _length(maps: Maps, argument: str, value: ArrayLike, least: int = 1) -> int:
    """Return the length of a stack, of which there have to be so many rows."""
    shape = real_numbers(argument, value).shape
    if len(shape) < 2 or shape[-2] < least:
        raise ValueError(
            f"{argument} has shape {shape}, "
            f"expected (..., rows, {maps.nv}) with rows at least {least}"
        )
    return int(shape[-2])


def _named(
    maps: Maps, v: ArrayLike, tau: ArrayLike
) -> dict[str, tuple[ArrayLike, tuple[int, ...]]]:
    """Stacks by the names that messages give them, with the sizes of their last axes."""
    torques = _length(maps, "tau_derivatives", tau)
    velocities = _length(maps, "v_derivatives", v, max(1, torques - 1))
    return {
        "v_derivatives": (v, (velocities, maps.nv)),
        "tau_derivatives": (tau, (torques, maps.nv)),
    }


def _solve_velocities(twists: TwistMap, series: _Series, stack: Array) -> None:
    """Turn v', dv'/dt, ... into v, dv/dt, ... in place, and extend the series along them."""
    for k in range(stack.shape[-2]):
        twist = twists.take(stack)
        known = series.product(k, twist, start=1)
        rest = (twist[..., k, :, :] - known)[..., np.newaxis]
        twists.put(stack[..., k, :], (series.inverse @ rest)[..., 0])
        series.extend(twists.take(stack), k)


class _Series:
    """A(q) of the roots along a trajectory: its time derivatives, one order at a time."""

    def __init__(self, twists: TwistMap, q: Array) -> None:
        self._twists = twists
        rotation, translation = twists.poses(q)
        self._rotation, self._translation = [rotation], [translation]
        forward, self.inverse = twists.matrices(q)
        self.maps = [forward]

    def extend(self, twist: Array, k: int) -> None:
        """Add the order k + 1; `twist`: stacks ``(..., rows, nroots, 6)``, known up to order k."""
        r, p = self._rotation, self._translation
        later = range(k + 1)
        angular = skew(twist[..., 3:])
        rotation = sum(comb(k, m) * (r[k - m] @ angular[..., m, :, :, :]) for m in later)
        linear = twist[..., :3, np.newaxis]
        velocity = sum(comb(k, m) * (r[k - m] @ linear[..., m, :, :, :]) for m in later)
        r.append(np.asarray(rotation))
        p.append(np.asarray(velocity)[..., 0])
        moved = sum(comb(k + 1, m) * (skew(p[m]) @ r[k + 1 - m]) for m in range(k + 2))
        self.maps.append(self._twists.blocks(r[-1], np.asarray(moved), np.zeros((3, 3))))

    def product(self, k: int, stack: Array, start: int = 0) -> Array:
        """The k-th derivative of A times a stack ``(..., rows, nroots, 6)``."""
        return _leibniz(self.maps, stack, k, start)

    def transposed(self) -> list[Array]:
        """A^T and its derivatives."""
        return [np.swapaxes(blocks, -1, -2) for blocks in self.maps]


def _leibniz(maps: list[Array], stack: Array, k: int, start: int = 0) -> Array:
    """Sum of C(k, m) maps[m] stack^(k-m) over m from `start` to k."""
    total = np.zeros_like(stack[..., k, :, :])
    for m in range(start, k + 1):
        total += comb(k, m) * (maps[m] @ stack[..., k - m, :, :, np.newaxis])[..., 0]
    return total
