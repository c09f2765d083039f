"""Triangle meshes of boxes, cylinders, ellipsoids and arrows, with smooth normals: `Mesh`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.model.pose import Pose
from dtau.support.arrays import Array

Indices = NDArray[np.int64]

_SHARP = math.cos(math.radians(35.0))  # faces at a larger angle have a sharp edge between them
_ROUND = 40  # sides of round shapes
_SHAFT, _HEAD, _TIP = 0.22, 0.5, 2.5  # of an arrow / thickness: radii, length of the head


class Mesh(NamedTuple):
    """A mesh of triangles; a vertex is repeated for each of its normals."""

    vertices: Array  # (nvertices, 3): meters
    normals: Array  # (nvertices, 3): unit vectors that point outwards
    faces: Indices  # (nfaces, 3): indices of vertices, counter-clockwise from outside

    def transformed(self, pose: Pose) -> Mesh:
        """Return the transformed mesh."""
        turned = pose.rotation.T
        return Mesh(self.vertices @ turned + pose.translation, self.normals @ turned, self.faces)


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Make one mesh of several."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([mesh.faces + at for mesh, at in zip(meshes, starts, strict=False)]),
    )


def creased(vertices: Array, faces: Indices) -> Mesh:
    """Make a mesh with smooth normals, except at sharp edges."""
    with np.errstate(over="ignore", invalid="ignore"):  # too large numbers give zero normals
        return _creased(vertices, faces)


def _creased(vertices: Array, faces: Indices) -> Mesh:
    vertices, where = np.unique(np.asarray(vertices, dtype=np.float64), axis=0, return_inverse=True)
    faces = where.reshape(-1)[np.asarray(faces, dtype=np.int64)].reshape(-1, 3)
    corners = vertices[faces]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.linalg.norm(areas, axis=-1)
    faces, areas, sizes = faces[sizes > 0], areas[sizes > 0], sizes[sizes > 0]
    flat = areas / sizes[:, None]

    # For each corner, all corners at the same vertex; faces that meet smoothly contribute.
    at = faces.reshape(-1)
    order = np.argsort(at, kind="stable")
    counts = np.bincount(at, minlength=len(vertices))
    starts = np.cumsum(counts) - counts
    partners = counts[at]
    mine = np.repeat(np.arange(len(at)), partners)
    step = np.arange(partners.sum()) - np.repeat(np.cumsum(partners) - partners, partners)
    theirs = order[starts[at[mine]] + step]
    smooth = np.einsum("ij,ij->i", flat[mine // 3], flat[theirs // 3]) > _SHARP
    mine, theirs = mine[smooth], theirs[smooth]
    sums = [np.bincount(mine, areas[theirs // 3, axis], len(at)) for axis in range(3)]
    normals = np.stack(sums, axis=-1).astype(np.float64)
    normals /= np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-300)

    keys = np.column_stack([at, np.round(normals * 1e4).astype(np.int64)])
    _, first, where = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Mesh(vertices[at[first]], normals[first], where.reshape(-1, 3))


def box(size: ArrayLike) -> Mesh:
    """Make a box about the origin, with these edges."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([[(a, b, c), (a, c, d)] for a, b, c, d in sides]).reshape(-1, 3)
    return creased(0.5 * signs * np.asarray(size, dtype=np.float64), faces)


@cache
def _ball() -> Mesh:
    """Return the unit sphere, from circles of latitude."""
    rows = _ROUND // 2
    polar = np.linspace(0.0, np.pi, rows + 1)[:, None]
    around = np.linspace(0.0, 2 * np.pi, _ROUND + 1)[None, :]
    places = np.stack(
        [
            np.sin(polar) * np.cos(around),
            np.sin(polar) * np.sin(around),
            np.cos(polar) + 0 * around,
        ],
        axis=-1,
    ).reshape(-1, 3)
    row, column = np.divmod(np.arange(rows * _ROUND), _ROUND)
    a = row * (_ROUND + 1) + column
    b, c = a + _ROUND + 1, a + _ROUND + 2
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, a + 1], 1)])
    corners = places[faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    faces = faces[np.linalg.norm(area, axis=-1) > 1e-12]
    return Mesh(places, places, faces)


def ellipsoid(semiaxes: ArrayLike) -> Mesh:
    """Make an ellipsoid about the origin, along the axes; at most one axis may be zero."""
    radii = np.asarray(semiaxes, dtype=np.float64)
    ball = _ball()
    # The normal at a x, b y, c z, with x y z on the unit sphere, is along x/a, y/b, z/c.
    thin = np.maximum(radii, 1e-9 * radii.max())
    normals = ball.vertices * (thin.min() / thin)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return Mesh(ball.vertices * radii, normals, ball.faces)


def cylinder(radius: float, length: float) -> Mesh:
    """Make a cylinder about the origin, along z."""
    return _turned([(0.0, -0.5 * length), (radius, -0.5 * length), (radius, 0.5 * length)])


def capsule(radius: float, length: float) -> Mesh:
    """Make a cylinder about the origin, along z, with half a ball at both ends."""
    ball = _ball()
    ends = 0.5 * length * np.sign(np.round(ball.vertices[:, 2:], 9))
    # The equator belongs to the upper half; the faces below it form the cylinder.
    ends[ends == 0] = 0.5 * length
    return Mesh(radius * ball.vertices + ends * [0.0, 0.0, 1.0], ball.normals, ball.faces)


def arrow(thickness: float, length: float) -> Mesh:
    """Make an arrow from the origin along z."""
    tip = min(_TIP * thickness, 0.6 * length)
    shaft, head = _SHAFT * thickness, _HEAD * thickness
    neck = length - tip
    return _turned([(0.0, 0.0), (shaft, 0.0), (shaft, neck), (head, neck)], end=length)


def _turned(profile: list[tuple[float, float]], end: float | None = None) -> Mesh:
    """Make the surface of revolution of (radius, height) points, from the z axis to the z axis."""
    last = profile[-1][1] if end is None else end
    profile = [*profile, (0.0, last)]
    angles = 2 * np.pi * np.arange(_ROUND) / _ROUND
    rings = [
        np.stack([r * np.cos(angles), r * np.sin(angles), np.full(_ROUND, z)], axis=-1)
        for r, z in profile
    ]
    near = np.arange(_ROUND)
    far = (near + 1) % _ROUND
    faces = [
        np.concatenate(
            [np.stack([a + near, a + far, b + far], 1), np.stack([a + near, b + far, b + near], 1)]
        )
        for a, b in ((i * _ROUND, (i + 1) * _ROUND) for i in range(len(profile) - 1))
    ]
    return creased(np.concatenate(rings), np.concatenate(faces))


def along(direction: ArrayLike) -> Pose:
    """Return a pose at the origin whose z axis has this direction."""
    z = np.asarray(direction, dtype=np.float64)
    z = z / np.linalg.norm(z)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return Pose(np.stack([x, np.cross(z, x), z], axis=-1))
