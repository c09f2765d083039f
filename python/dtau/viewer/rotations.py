"""Poses as a scene tree has them: each body's in the frame of the one that carries it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def quaternions(rotation: Array) -> Array:
    """Return unit quaternions (..., 4), the order is w x y z, of rotations (..., 3, 3)."""
    r = rotation
    trace = r[..., 0, 0] + r[..., 1, 1] + r[..., 2, 2]
    products = np.empty((*r.shape[:-2], 4, 4))  # 4 q qᵀ: its largest column has the most digits
    products[..., 0, 0] = 1.0 + trace
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        products[..., i + 1, i + 1] = 1.0 + 2.0 * r[..., i, i] - trace
        products[..., 0, i + 1] = products[..., i + 1, 0] = r[..., k, j] - r[..., j, k]
        products[..., i + 1, j + 1] = products[..., j + 1, i + 1] = r[..., i, j] + r[..., j, i]
    largest = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


def relative(parents: Sequence[int], rotation: Array, translation: Array) -> tuple[Array, Array]:
    """Return quaternions and places of bodies in their parents' frames; parent -1 is the world.

    Parameters
    ----------
    parents : sequence of int
        Of each body the one that carries it.
    rotation, translation : ndarray (..., nbodies, 3, 3), ndarray (..., nbodies, 3)
        Poses in the world.

    Returns
    -------
    ndarray (..., nbodies, 4), ndarray (..., nbodies, 3)
    """
    carried = [body for body, parent in enumerate(parents) if parent >= 0]
    by = [parents[body] for body in carried]
    turned, moved = rotation.copy(), translation.copy()
    inverse = np.swapaxes(rotation[..., by, :, :], -1, -2)
    turned[..., carried, :, :] = inverse @ rotation[..., carried, :, :]
    apart = translation[..., carried, :] - translation[..., by, :]
    moved[..., carried, :] = (inverse @ apart[..., None])[..., 0]
    return quaternions(turned), moved
