"""Replay sweeps over friction forces and differentiate them: `swept`.

A block of rows minimizes  g^T A g / 2 + g^T b  within  sum (g_i / mu_i)^2 <= n^2,  at constant
forces of the other rows, as MuJoCo's `mju_QCQP` does. Newton's method finds the multiplier of the
bound, and ends at a tolerance of 1e-10; the derivatives go through its iterations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_TINY = 1e-15  # mjMINVAL
_ITERATIONS, _TOLERANCE = 20, 1e-10  # of mju_QCQP


class Block(NamedTuple):
    """Rows whose forces are solved for together."""

    rows: slice
    sweeps: int
    friction: Array  # (rows,): the mu
    bound: Array  # (1,): n
    by_bound: Array  # (1, width)


def swept(
    schur: Array,
    by_schur: Array,
    residual: Array,
    by_residual: Array,
    force: Array,
    by_force: Array,
    blocks: list[Block],
) -> tuple[Array, Array]:
    """Return the changes (m,) of the forces by all sweeps, and their derivatives (m, width).

    Parameters
    ----------
    schur, by_schur : ndarray (m, m), (m, m, nv)
        A, and its derivatives by q.
    residual, by_residual : ndarray (m,), (m, width)
        A f + b before the sweeps.
    force, by_force : ndarray (m,), (m, width)
        Forces before the sweeps.
    blocks : list of Block
    """
    x, by_x = np.zeros_like(force), np.zeros_like(by_force)
    for sweep in range(max(block.sweeps for block in blocks)):
        for block in blocks:
            if sweep >= block.sweeps:
                continue
            some = block.rows
            own, by_own = schur[some, some], by_schur[some, some]
            old, by_old = force[some] + x[some], by_force[some] + by_x[some]
            slope = residual[some] + schur[some] @ x
            by_slope = by_residual[some] + schur[some] @ by_x
            _add_times(by_slope, by_schur[some], x)
            by_linear = by_slope - own @ by_old
            _add_times(by_linear, by_own, -old)
            new, by_new = _least(own, by_own, slope - own @ old, by_linear, block)
            change = new - old
            if 0.5 * change @ own @ change + change @ slope > _TOLERANCE:
                continue  # MuJoCo undoes a change that costs more
            x[some], by_x[some] = new - force[some], by_new - by_force[some]
    return x, by_x


def _least(
    square: Array, by_square: Array, linear: Array, by_linear: Array, block: Block
) -> tuple[Array, Array]:
    """Return the forces of a block at the minimum, and their derivatives, from A and b."""
    (n,), (by_n,), mu = block.bound, block.by_bound, block.friction
    if len(linear) > 1:
        if n < _TINY:
            return np.zeros_like(linear), np.zeros_like(by_linear)
        # In the forces  v_i = g_i / mu_i  the bound is a sphere.
        scale = np.outer(mu, mu)
        square, by_square = scale * square, scale[..., np.newaxis] * by_square
        linear, by_linear = mu * linear, mu[:, np.newaxis] * by_linear
        v, by_v = _within_sphere(square, by_square, linear, by_linear, n, by_n)
        return mu * v, mu[:, np.newaxis] * by_v
    if square[0, 0] < _TINY:
        return np.zeros_like(linear), np.zeros_like(by_linear)
    g, most = -linear / square[0, 0], mu * n
    if np.abs(g) >= most:
        sign = np.sign(g)
        return sign * most, (sign * mu)[:, np.newaxis] * by_n
    _add_times(by_linear, by_square, g)
    return g, -by_linear / square[0, 0]


def _within_sphere(
    square: Array, by_square: Array, linear: Array, by_linear: Array, n: float, by_n: Array
) -> tuple[Array, Array]:
    """Do as `mju_QCQP`, and project what it leaves on the sphere as MuJoCo does."""
    multiplier, by_multiplier = 0.0, np.zeros_like(by_n)
    v, by_v = linear, by_linear
    for _ in range(_ITERATIONS):
        shifted = square + multiplier * np.eye(len(linear))
        if _is_singular(shifted):
            return np.zeros_like(linear), np.zeros_like(by_linear)
        inverse = np.linalg.inv(shifted)
        v = -inverse @ linear
        by_v = by_linear + np.outer(v, by_multiplier)
        _add_times(by_v, by_square, v)
        by_v = -inverse @ by_v
        excess = float(v @ v - n * n)
        if excess < _TOLERANCE:
            break
        turned = inverse @ v
        slope = float(-2.0 * v @ turned)
        step = -excess / slope
        if step < _TOLERANCE:
            break
        by_turned = by_v - np.outer(turned, by_multiplier)
        _add_times(by_turned, by_square, -turned)
        by_excess = 2.0 * (v @ by_v - n * by_n)
        by_slope = -2.0 * (turned @ by_v + v @ inverse @ by_turned)
        by_multiplier = by_multiplier - (by_excess + step * by_slope) / slope
        multiplier += step
    if multiplier:
        length = np.sqrt(v @ v)
        unit = v / length
        by_v = np.outer(unit, by_n) + n / length * (by_v - np.outer(unit, unit @ by_v))
        v = n * unit
    return v, by_v


def _add_times(out: Array, by_matrix: Array, vector: Array) -> None:
    """Add the derivatives of a matrix (m, k, nv), times a vector (k,), to columns of q."""
    out[:, : by_matrix.shape[2]] += np.vecmat(vector, by_matrix)


def _is_singular(square: Array) -> bool:
    """Tell what MuJoCo does: it takes determinants up to size 3, then pivots of Cholesky."""
    if len(square) <= 3:
        return bool(np.linalg.det(square) < _TOLERANCE)
    try:
        return bool((np.linalg.cholesky(square).diagonal() ** 2 < _TOLERANCE).any())
    except np.linalg.LinAlgError:
        return True
