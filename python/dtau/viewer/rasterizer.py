"""Rasterize triangles with NumPy: the visible triangle of each pixel and its distance: `rasterize`.

Triangles of similar size are tested together, against all pixels of their bounding rectangles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtau.support.arrays import Array

Indices = NDArray[np.int64]

_EDGE = -1e-9  # least weight: a pixel on the edge of two triangles belongs to both
_AT_ONCE = 1 << 17  # pixels tested at once


class Seen(NamedTuple):
    """The visible triangle of each pixel of an image, row by row."""

    face: Indices  # (height * width,): index of the triangle, or -1
    nearness: Array  # (height * width,): larger for nearer triangles; 0 without a triangle


def rasterize(places: Array, nearness: Array, faces: Indices, width: int, height: int) -> Seen:
    """Find the nearest triangle of each pixel.

    Parameters
    ----------
    places : ndarray (n, 2)
        Vertices in pixels, x to the right and y downwards.
    nearness : ndarray (n,)
        Positive, larger for nearer points, and linear across the image: 1 / distance in
        perspective.
    faces : ndarray (nfaces, 3)
        Indices of vertices.
    width, height : int
        Size of the image.

    Returns
    -------
    Seen
    """
    seen = Seen(np.full(width * height, -1, dtype=np.int64), np.zeros(width * height))
    corners = places[faces]
    low = np.maximum(np.ceil(corners.min(axis=1) - 0.5), 0.0)
    high = np.minimum(np.floor(corners.max(axis=1) - 0.5), [width - 1.0, height - 1.0])
    visible = np.flatnonzero((high >= low).all(axis=-1))
    # Sides of the rectangles, as powers of two: triangles of one size are drawn together.
    sides = np.ceil(np.log2((high - low)[visible] + 1.0)).astype(np.int64)
    for right, down in np.unique(sides, axis=0).tolist():
        fit = visible[(sides == [right, down]).all(axis=1)]
        step = max(1, _AT_ONCE >> (right + down))
        for start in range(0, len(fit), step):
            chosen = fit[start : start + step]
            near = nearness[faces[chosen]]
            _draw(seen, chosen, corners[chosen], near, low[chosen], (1 << right, 1 << down), width)
    return seen


def _draw(
    seen: Seen,
    ids: Indices,
    corners: Array,
    nearness: Array,
    low: Array,
    sides: tuple[int, int],
    width: int,
) -> None:
    """Draw triangles that fit into rectangles of one size."""
    height = len(seen.face) // width
    x, y = (np.arange(side) + 0.5 for side in sides)
    (ax, ay), (bx, by), (cx, cy) = (corners - low[:, None]).transpose(1, 2, 0)
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    scale = 1.0 / np.where(area == 0, np.inf, area)

    def weight(px: Array, py: Array, qx: Array, qy: Array) -> Array:
        """Return the weight of the corner opposite the edge from p to q, linear in x and y."""
        along_x, along_y = (py - qy) * scale, (qx - px) * scale
        at_zero = (px * qy - py * qx) * scale
        row = along_y[:, None] * y + at_zero[:, None]
        return row[:, :, None] + (along_x[:, None] * x)[:, None, :]

    first, second = weight(bx, by, cx, cy), weight(cx, cy, ax, ay)
    third = 1.0 - first - second
    inside = (first >= _EDGE) & (second >= _EDGE) & (third >= _EDGE)
    inside &= (area != 0)[:, None, None]
    inside &= ((low[:, 1, None] + y < height)[:, :, None]) & (low[:, :1] + x < width)[:, None, :]
    at = np.flatnonzero(inside)
    which, place = np.divmod(at, sides[0] * sides[1])
    row, column = np.divmod(place, sides[0])
    start = (low[:, 1] * width + low[:, 0]).astype(np.int64)
    pixel = start[which] + row * width + column
    near = first.reshape(-1)[at] * nearness[which, 0]
    near += second.reshape(-1)[at] * nearness[which, 1]
    near += third.reshape(-1)[at] * nearness[which, 2]
    np.maximum.at(seen.nearness, pixel, near)
    won = near == seen.nearness[pixel]
    seen.face[pixel[won]] = ids[which[won]]


def barycentric(corners: Array, x: Array, y: Array) -> Array:
    """Return the weights (3, n) of corners (n, 3, 2) at one point of the image per triangle."""
    (ax, ay), (bx, by), (cx, cy) = corners.transpose(1, 2, 0)
    scale = 1.0 / ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
    first = ((bx - x) * (cy - y) - (by - y) * (cx - x)) * scale
    second = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) * scale
    return np.stack([first, second, 1.0 - first - second])
