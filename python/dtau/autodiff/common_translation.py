"""Find the coordinates that translate all robots together: `common_translation`.

Subtracting the first robot's position moves it to the world's origin, and the others with it. So
results that do not depend on the position lose no digits far from the origin.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from dtau.model.joints import Free, Planar, Prismatic
from dtau.model.links import Joint
from dtau.model.model import Model
from dtau.support.arrays import Indices


class Translations(NamedTuple):
    """The coordinates that translate robots, and the coordinates to subtract from them."""

    moved: Indices
    by: Indices


_LENGTHS = {Free: 3, Planar: 2, Prismatic: 1}  # number of leading coordinates that are lengths


@functools.lru_cache(maxsize=64)
def common_translation(model: Model) -> Translations:
    """Return the positions of a single robot, or of several free robots with the first one's."""
    roots = [joint for joint in model.joints if joint.parent < 0]
    axes = [root.placement.rotation for root in roots]
    if len(roots) == 1:
        own = _positions(model, roots[0])
        return Translations(own, own)
    if all(isinstance(root.type, Free) for root in roots) and np.ptp(axes, axis=0).max() == 0.0:
        moved = np.concatenate([_positions(model, root) for root in roots])
        return Translations(moved, np.tile(moved[:3], len(roots)))
    return Translations(np.arange(0), np.arange(0))


def _positions(model: Model, root: Joint) -> Indices:
    """Return the coordinates that are lengths, unless another joint mimics them."""
    mimicked = any(j.mimic is not None and j.mimic.joint == root.name for j in model.joints)
    count = 0 if mimicked else _LENGTHS.get(type(root.type), 0)
    return np.arange(root.q.start, root.q.start + count)
