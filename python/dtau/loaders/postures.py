"""Select the positions of postures in a file that a model can take: `fitting`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.joints import Free, Spherical
from dtau.model.links import Link
from dtau.support.arrays import Array
from dtau.support.checks import listing

_SAME = 1e-6  # largest distance of a mimic joint from where its joint moves it
_UNIT = 1e-9  # largest distance of a quaternion's norm from 1 that remains

Positions = Mapping[str, Sequence[float] | Array]


def fitting(
    postures: Mapping[str, Positions], links: Sequence[Link]
) -> tuple[dict[str, dict[str, ArrayLike]], list[str]]:
    """Return postures with the joints that `links` have, and notes about all others.

    Quaternions are normalized. A mimic joint has no coordinates: its position is left out, with a
    note unless it is where the mimicked joint moves it.
    """
    moving = {link.joint_name: link for link in links if link.joint.nv}
    taken: dict[str, dict[str, ArrayLike]] = {}
    notes = []
    for name, positions in postures.items():
        taken[name] = {}
        ignored: dict[str, list[str]] = {}
        for joint, x in positions.items():
            if joint not in moving:
                ignored.setdefault("that do not move or do not exist", []).append(joint)
            elif (found := _read(moving[joint], x, positions)) is None:
                ignored.setdefault("with coordinates that do not fit", []).append(joint)
            elif moving[joint].mimic is None:
                taken[name][joint] = found
        notes += [
            f"posture {name!r}: ignored joints {why}: {listing(joints)}"
            for why, joints in ignored.items()
        ]
    return taken, notes


def _read(link: Link, x: ArrayLike, positions: Positions) -> ArrayLike | None:
    """Return the coordinates of a joint, or None if they do not fit it."""
    q = np.array(x, dtype=np.float64)
    if q.shape != (link.joint.nq,) or not np.isfinite(q).all():
        return None
    if link.mimic is not None:
        mimicked = positions.get(link.mimic.joint, (0.0,))
        at = link.mimic.multiplier * np.array(mimicked) + link.mimic.offset
        return q if at.shape == (1,) and abs(at[0] - q[0]) <= _SAME else None
    if isinstance(link.joint, Free | Spherical):
        norm = float(np.linalg.norm(q[-4:]))
        if norm == 0.0:
            return None
        if abs(norm - 1.0) > _UNIT:
            q[-4:] /= norm
    return q
