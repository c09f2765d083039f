"""Convert world poses to poses in the parents' frames, for a scene tree: `relative`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dtau import _core
from dtau.support.arrays import Array


def relative(parents: Sequence[int], rotation: Array, translation: Array) -> tuple[Array, Array]:
    """Return quaternions w x y z and positions of bodies in their parents' frames.

    Parameters
    ----------
    parents : sequence of int
        Parent of each body; -1 is the world.
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
    return np.roll(_core.rotation_from_matrix(turned), 1, axis=-1), moved
