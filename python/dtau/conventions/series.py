"""Time derivatives of poses and of A along a motion, for Leibniz' rule: `RootSeries`, `leibniz`.

(R, p) is the pose of a root's body in the world, whose twist is (v, w) in body axes, linear first,
and C(k, m) are the binomials:

    R^(k+1) = sum C(k, m) R^(k-m) [w^(m)]x          p^(k+1) = sum C(k, m) R^(k-m) v^(m)

A^(k) and (A^-1)^(k) follow from the pose up to order k, which needs v only up to order k - 1. If A
is the adjoint of the pose (`spatial_twist`), its derivatives are as in [HO-FBS].
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from dtau.conventions.twists import TwistMap
from dtau.model.rotations import skew
from dtau.support.arrays import Array
from dtau.support.checks import real_numbers


def leibniz(maps: Sequence[Array], stack: Array, k: int) -> Array:
    """Return the derivative of order k of maps times vectors, each with their derivatives.

    ``maps``: matrices ``(..., n, i, j)`` by order; ``stack``: vectors ``(..., rows, n, j)``.
    """
    total = np.zeros((*stack.shape[:-3], *maps[0].shape[-3:-1]))
    for m in range(k + 1):
        total += comb(k, m) * (maps[m] @ stack[..., k - m, :, :, np.newaxis])[..., 0]
    return total


def product(maps: Sequence[Array], stack: Array) -> Array:
    """Return all derivatives of maps times vectors, ``(..., rows, n, i)``."""
    return np.stack([leibniz(maps, stack, k) for k in range(stack.shape[-3])], axis=-3)


def transposed(maps: Sequence[Array]) -> list[Array]:
    """Transpose matrices and their derivatives."""
    return [np.swapaxes(matrices, -1, -2) for matrices in maps]


def length(
    argument: str, value: ArrayLike, core: tuple[int, ...], least: int = 1, most: int | None = None
) -> int:
    """Return the length of a stack ``(..., rows, *core)``, after checking its range."""
    shape = real_numbers(argument, value).shape
    axis = len(shape) - len(core) - 1
    if axis < 0 or shape[axis] < least or (most is not None and shape[axis] > most):
        sizes = ", ".join(["...", "rows", *map(str, core)])
        wanted = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{argument} has shape {shape}, expected ({sizes}) with rows {wanted}")
    return int(shape[axis])


class RootSeries:
    """The poses of the roots along a motion, with A and its inverse, one order at a time."""

    def __init__(self, twists: TwistMap, q: Array) -> None:
        self._twists = twists
        rotation, translation = twists.poses(q)
        self._rotation, self._translation = [rotation], [translation]
        forward, inverse = twists.matrices_of(rotation, translation)
        self._forward, self._inverse = [forward], [inverse]

    def extend(self, twist: Array, k: int) -> None:
        """Add order k + 1; ``twist``: stacks ``(..., rows, nroots, 6)``, known to order k."""
        r, p = self._rotation, self._translation
        angular = skew(twist[..., 3:])
        spin = sum(comb(k, m) * (r[k - m] @ angular[..., m, :, :, :]) for m in range(k + 1))
        velocity = leibniz(r, twist[..., :3], k)
        r.append(np.asarray(spin))
        p.append(velocity)

    def follow(self, twist: Array, order: int) -> None:
        """Add all orders up to this one."""
        for k in range(len(self._rotation) - 1, order):
            self.extend(twist, k)

    def forward(self) -> list[Array]:
        """Return A and its derivatives, as far as the pose is known."""
        r, p, one = self._rotation, self._translation, np.zeros((3, 3))
        for k in range(len(self._forward), len(r)):
            moved = sum(comb(k, m) * (skew(p[m]) @ r[k - m]) for m in range(k + 1))
            self._forward.append(self._twists.blocks(r[k], np.asarray(moved), one))
        return self._forward

    def inverse(self) -> list[Array]:
        """Return A^-1 and its derivatives, as far as the pose is known."""
        back, p, one = transposed(self._rotation), self._translation, np.zeros((3, 3))
        for k in range(len(self._inverse), len(back)):
            moved = sum(comb(k, m) * (back[k - m] @ skew(p[m])) for m in range(k + 1))
            self._inverse.append(self._twists.blocks(back[k], -np.asarray(moved), one))
        return self._inverse
