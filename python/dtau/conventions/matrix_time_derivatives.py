"""Convert the terms of the equation of motion with their time derivatives.

With v' = A(q) v of `dtau.conventions.twists`, B = A^-1 and Omega(v) = A^-1 dA/dt, the acceleration
is a = B a' - Omega v. So tau = M a + C v + ... gives

    M' = B^T M B          C' = B^T (C - M Omega) B          bias' = B^T (bias - M Omega v)

and dM'/dt = C' + C'^T, because dB/dt = -Omega B. Time derivatives follow by Leibniz' rule; Omega is
linear in v.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from dtau.conventions.maps import Array, Maps, quiet
from dtau.conventions.series import RootSeries, motion_with, product
from dtau.conventions.time_derivatives import multiplied
from dtau.conventions.twists import TwistMap


@quiet
def mass_matrix_from_dtau(
    maps: Maps, q: ArrayLike, v_derivatives: ArrayLike, M_derivatives: ArrayLike
) -> Array:
    """Return M', dM'/dt, ..."""
    square = (maps.nv, maps.nv)
    stacks = motion_with(maps.nv, v_derivatives, 1, M_derivatives=(M_derivatives, square))
    batch, q, (v, mass) = maps.read_from_dtau(q, **stacks)
    out = _congruent(maps, q, v, mass)
    return batch.array(maps.order.matrix_from_dtau(0.5 * (out + np.swapaxes(out, -1, -2))))


@quiet
def coriolis_matrix_from_dtau(
    maps: Maps,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    C_derivatives: ArrayLike,
    M_derivatives: ArrayLike,
) -> Array:
    """Return C', dC'/dt, ..."""
    square = (maps.nv, maps.nv)
    stacks = motion_with(
        *(maps.nv, v_derivatives, 0),
        C_derivatives=(C_derivatives, square),
        M_derivatives=(M_derivatives, square),
    )
    batch, q, (v, coriolis, mass) = maps.read_from_dtau(q, **stacks)
    rates = _rates(maps.twists, v, coriolis.shape[-3])
    out = coriolis - _columns(maps.twists, mass, rates, np.zeros_like(coriolis))
    return batch.array(maps.order.matrix_from_dtau(_congruent(maps, q, v, out)))


@quiet
def bias_torque_from_dtau(
    maps: Maps,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    bias_derivatives: ArrayLike,
    M_derivatives: ArrayLike,
) -> Array:
    """Return bias', dbias'/dt, ..."""
    stacks = motion_with(
        *(maps.nv, v_derivatives, 0),
        bias_derivatives=(bias_derivatives, (maps.nv,)),
        M_derivatives=(M_derivatives, (maps.nv, maps.nv)),
    )
    batch, q, (v, bias, mass) = maps.read_from_dtau(q, **stacks)
    rows, twist = bias.shape[-2], maps.twists.take(v)
    turned = np.zeros_like(bias)
    rates = _rates(maps.twists, v, rows)
    maps.twists.put(turned, product(rates, twist[..., :rows, :, :]))
    matrices = [mass[..., np.newaxis, m, :, :] for m in range(rows)]
    rest = bias - product(matrices, turned[..., np.newaxis, :])[..., 0, :]
    series = RootSeries(maps.twists, q)
    series.follow(twist, rows - 1)
    return batch.array(maps.order.from_dtau(multiplied(maps.twists, series.inverse(), rest)))


def _rates(twists: TwistMap, v: Array, rows: int) -> list[Array]:
    """Return Omega and its derivatives."""
    return [twists.map_rate(v[..., m, :]) for m in range(rows)]


def _congruent(maps: Maps, q: Array, v: Array, matrices: Array) -> Array:
    """Return B^T X B and its derivatives, for stacks ``(..., rows, nv, nv)``."""
    series = RootSeries(maps.twists, q)
    series.follow(maps.twists.take(v), matrices.shape[-3] - 1)
    inverse = series.inverse()
    half = np.swapaxes(_columns(maps.twists, matrices, inverse, matrices.copy()), -1, -2)
    return np.swapaxes(_columns(maps.twists, half, inverse, half.copy()), -1, -2)


def _columns(twists: TwistMap, matrices: Array, blocks: Sequence[Array], out: Array) -> Array:
    """Write the columns of roots, times blocks, with all derivatives, into ``out``."""
    columns = np.swapaxes(twists.take(matrices), -3, -2)  # (..., rows, nroots, nv, 6)
    for k in range(out.shape[-3]):
        total = sum(comb(k, m) * (columns[..., k - m, :, :, :] @ blocks[m]) for m in range(k + 1))
        twists.put(out[..., k, :, :], np.swapaxes(total, -3, -2))
    return out
