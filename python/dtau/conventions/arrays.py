"""Convert arrays by their axes: each axis of length nv transforms on its own.

With v' = A(q) v of `dtau.conventions.twists`, B = A^-1 and Omega(v) = A^-1 dA/dt, an axis is
multiplied by A if its numbers are velocities, and by B^T if they multiply velocities:

    v' = A v        tau' = B^T tau      J' = J B        M' = B^T M B        M'^-1 = A M^-1 A^T

because tau' . v' = tau . v and J' v' = J v. The acceleration is a = B a' - Omega v, hence

    a' = A (a + Omega v)      C' = B^T (C - M Omega) B      bias' = B^T (bias - M Omega v)

and dM'/dt = C' + C'^T, because dB/dt = -Omega B. Time derivatives follow by Leibniz' rule, from the
derivatives of A and B along the motion; Omega is linear in v. External wrenches convert with the
poses of their bodies in the same way (`dtau.conventions.wrenches`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, prod

import numpy as np

from dtau.conventions.maps import Maps
from dtau.conventions.series import RootSeries, product, transposed
from dtau.conventions.states import stack_from_dtau, stack_to_dtau
from dtau.conventions.twists import TwistMap
from dtau.support.arrays import Array

VELOCITY, FORCE = "velocity", "force"  # the numbers of an axis of length nv

# Arrays by name, and their axes of length nv in order. Others have no such axis, or no rule.
ROLES: Mapping[str, tuple[str, ...]] = {
    "v": (VELOCITY,),
    "a": (VELOCITY,),
    "tau": (FORCE,),
    "bias": (FORCE,),
    "J": (FORCE,),
    "A": (FORCE,),  # of momentum
    "M": (FORCE, FORCE),
    "C": (FORCE, FORCE),
    "M_inverse": (VELOCITY, VELOCITY),
    "Y": (FORCE,),
    "da_dparameters": (VELOCITY,),
}
_SYMMETRIC = ("M", "M_inverse")
_WITH_RATE = ("C", "bias")


def convert(
    maps: Maps,
    name: str,
    axes: Sequence[int],
    q: Array,
    at: Mapping[str, Array],
    x: Array,
    to_dtau: bool,
) -> Array:
    """Convert a stack of time derivatives ``(n, rows, ...)``, of an array with this name.

    ``axes`` are its axes of length nv, from the end. ``at`` has the motion ``v`` and, for C and
    the bias, M: stacks too, in the convention of ``x``.
    """
    v = at.get("v")
    if name == "f_ext":
        return _wrenches(maps, q, v, x, to_dtau)
    if name in ("v", "a"):  # a continues the velocity
        motion = x if name == "v" else np.concatenate([at["v"][:, :1], x], axis=1)
        out = stack_to_dtau(maps, q, motion)[0] if to_dtau else stack_from_dtau(maps, q, motion)
        return out[:, motion.shape[1] - x.shape[1] :]
    rows, rate = x.shape[1], name in _WITH_RATE
    if to_dtau:
        x = maps.order.to_dtau(x, *axes)
        known = np.zeros((len(q), 0, maps.nv)) if v is None else v[:, : rows if rate else rows - 1]
        motion, series = stack_to_dtau(maps, q, known)
    else:
        series = RootSeries(maps.twists, q)
        if v is not None:
            series.follow(maps.twists.take(v), rows - 1)
        if rate:
            x = x - _rate_term(maps.twists, name, at["v"], at["M"][:, :rows])
    forward, inverse = series.forward(), series.inverse()
    if to_dtau:
        forward, inverse = inverse, forward
    factors = {VELOCITY: transposed(forward), FORCE: inverse}
    for axis, role in zip(reversed(axes), reversed(ROLES[name]), strict=True):
        x = _along(maps.twists, x, axis, factors[role])
    if name in _SYMMETRIC:
        x = 0.5 * (x + np.swapaxes(x, -1, -2))
    if to_dtau and rate:
        mass = convert(maps, "M", (-2, -1), q, at, at["M"][:, :rows], to_dtau)
        x = x + _rate_term(maps.twists, name, motion, mass)
    return x if to_dtau else maps.order.from_dtau(x, *axes)


def _wrenches(maps: Maps, q: Array, v: Array | None, f_ext: Array, to_dtau: bool) -> Array:
    if not to_dtau:
        return maps.wrenches.from_dtau(q, f_ext, v)
    if v is not None:
        v, _ = stack_to_dtau(maps, q, v[:, : max(1, f_ext.shape[1] - 1)])
    return maps.wrenches.to_dtau(q, f_ext, v)


def _rate_term(twists: TwistMap, name: str, v: Array, mass: Array) -> Array:
    """Return M Omega for the Coriolis matrix, and M Omega v for the bias, with derivatives."""
    rows = mass.shape[1]
    rates = [twists.map_rate(v[:, k]) for k in range(rows)]
    if name == "C":
        return _columns(twists, mass, rates, np.zeros_like(mass))
    turned = np.zeros_like(mass[..., 0])
    twists.put(turned, product(rates, twists.take(v[:, :rows])))
    matrices = [mass[:, np.newaxis, k] for k in range(rows)]
    return product(matrices, turned[..., np.newaxis, :])[..., 0, :]


def _along(twists: TwistMap, x: Array, axis: int, blocks: Sequence[Array]) -> Array:
    """Multiply an axis by the identity with these blocks and their derivatives, from the right."""
    last = np.swapaxes(x, axis, -1)
    rows = last.reshape(*last.shape[:2], prod(last.shape[2:-1]), last.shape[-1])
    out = _columns(twists, rows, blocks, rows.copy())
    return np.swapaxes(out.reshape(last.shape), axis, -1)


def _columns(twists: TwistMap, matrices: Array, blocks: Sequence[Array], out: Array) -> Array:
    """Write the columns of roots, times blocks, with all derivatives, into ``out``."""
    columns = np.swapaxes(twists.take(matrices), -3, -2)  # (n, rows, nroots, any, 6)
    for k in range(out.shape[1]):
        total = sum(comb(k, m) * (columns[:, k - m] @ blocks[m]) for m in range(k + 1))
        twists.put(out[:, k], np.swapaxes(total, -3, -2))
    return out
