"""Differentiate contacts of convex geoms by the curvature at their nearest points: `convex_motion`.

The points are the support points x_1(n) and x_2(-n) of the normal n, and  x_2 - x_1 = d n  for the
distance d. With the matrices K of the radii of curvature, a displacement of geom 2 that moves the
material point at x_2 by u and turns it by w changes n in its tangent plane by

    (d + K_1 + K_2) dn = u + K_2 (w x n)    dx_1 = K_1 dn    dx_2 = u - K_2 (dn - w x n)

An edge has an infinite radius along itself, a face all around.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from dtau.model.rotations import skew
from dtau.support.arrays import Array

_SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}"))
    for name in ("SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX")
)
CONVEX = (_SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX)
_FLAT = 1e6  # meters, in place of an infinite radius
_NEAR = 1e-3  # of the size: points on an edge or corner
_CLOSE = 1e-6  # of the size: points on an edge of a face that touches
_ALIGNED = 1e-2  # most that a normal of a side or face differs from its direction
_PARALLEL = 1e-4  # edges and faces that are parallel touch in more than a point


class Placed(NamedTuple):
    """A geom in a state."""

    kind: int
    size: Array
    position: Array
    rotation: Array  # (3, 3)


def convex_motion(
    geoms: tuple[Placed, Placed], point: Array, normal: Array, distance: float
) -> Array | None:
    """Return the changes of point, normal and distance by a displacement of geom 2, (7, 6).

    The displacement is [linear, angular], about the position of the geom. None if the geoms touch
    in more than a point, or the contact is none of their nearest points.
    """
    signs = (1.0, -1.0)
    ends = [point - 0.5 * distance * sign * normal for sign in signs]
    radii = [
        _radii(geom, end, sign * normal) for geom, end, sign in zip(geoms, ends, signs, strict=True)
    ]
    one, other = radii
    if one is None or other is None:
        return None
    tangents = np.linalg.svd(normal[np.newaxis])[2][1:].T  # (3, 2)
    one, other = (tangents @ (tangents.T @ k @ tangents) @ tangents.T for k in (one, other))
    both = tangents.T @ (one + other) @ tangents + distance * np.eye(2)
    low, high = np.linalg.eigvalsh(both)
    if low <= 0.0 or high > (2.0 - _PARALLEL) * _FLAT:
        return None
    turns = np.hstack([np.zeros((3, 3)), -skew(normal)])  # w x n
    moved = np.hstack([np.eye(3), -skew(ends[1] - geoms[1].position)])
    by_normal = tangents @ np.linalg.solve(both, tangents.T @ (moved + other @ turns))
    first, second = one @ by_normal, moved - other @ (by_normal - turns)
    return np.vstack([0.5 * (first + second), by_normal, normal @ moved])


def _radii(geom: Placed, end: Array, outward: Array) -> Array | None:
    """Return the radii of curvature at a point of the surface, (3, 3)."""
    size, axes = geom.size, geom.rotation
    local, normal = axes.T @ (end - geom.position), axes.T @ outward
    if geom.kind == _SPHERE:
        return np.asarray(size[0] * np.eye(3))
    if geom.kind == _ELLIPSOID:
        scaled = size**2 * normal
        support = float(np.sqrt(normal @ scaled))
        if np.abs(local - scaled / support).max() > _ALIGNED * size.max():
            return None
        local_radii = np.diag(size**2) / support - np.outer(scaled, scaled) / support**3
        return np.asarray(axes @ local_radii @ axes.T)
    if geom.kind == _BOX:
        beyond = np.abs(normal) < _NEAR  # the next face is orthogonal to the normal
        inside = np.abs(local) < (1.0 - np.where(beyond, _CLOSE, _NEAR)) * size
        if np.abs(normal[inside]).max(initial=0.0) > _ALIGNED or (beyond & ~inside).any():
            return None
        return np.asarray(_FLAT * (axes * inside) @ axes.T)
    return _round_radii(geom, local, normal)


def _round_radii(geom: Placed, local: Array, normal: Array) -> Array | None:
    """Return the radii of curvature of a capsule or cylinder."""
    (radius, half, _), axes = geom.size, geom.rotation
    on_side = abs(local[2]) < (1.0 - _NEAR) * half
    along = _FLAT * np.outer(axes[:, 2], axes[:, 2])
    if on_side and abs(normal[2]) > _ALIGNED:
        return None
    if geom.kind == _CAPSULE:
        return np.asarray(radius * np.eye(3) + (along if on_side else 0.0))
    across = float(np.hypot(normal[0], normal[1]))
    if np.hypot(local[0], local[1]) < (1.0 - _NEAR) * radius:
        return None if across > _ALIGNED else np.asarray(_FLAT * np.eye(3))
    if across < _NEAR:
        return None
    around = axes @ (-normal[1], normal[0], 0.0) / across
    out = (radius / across) * np.outer(around, around)
    return np.asarray(out + along if on_side else out)
