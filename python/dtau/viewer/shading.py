"""Render colored meshes: one light with shadows, on a floor that fades out: `render`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtau.support.arrays import Array, Indices
from dtau.viewer.meshfiles import Color
from dtau.viewer.rasterizer import barycentric, rasterize
from dtau.viewer.solids import Mesh, joined

_FINER = 2  # pixels per side that are averaged into one
_SHADOW_MAP = 1400  # pixels per side
_SOFT = 2  # shadow-map pixels on either side that are averaged
_VIEW = np.deg2rad(32.0)  # angle of the image's height
_LIGHT = np.array([-0.45, 0.75, 0.9])  # direction to the light: [right, towards the camera, up]
_SKY, _EARTH, _KEY = 0.5, 0.24, 0.75
_THROUGH = 0.4  # opacity of objects behind others
_FLOOR, _LINE = 0.93, 0.86  # brightness


class Camera(NamedTuple):
    """Position of a camera, and its axes: right, up, forward."""

    eye: Array
    axes: Array

    def of(self, points: Array) -> Array:
        """Return points in the camera's axes."""
        return (points - self.eye) @ self.axes.T


class Scene(NamedTuple):
    """Triangles, each with a color; the last of them shine through the others."""

    mesh: Mesh
    colors: Array
    through: int


def scene_of(pieces: list[tuple[Mesh, Color]], through: list[tuple[Mesh, Color]]) -> Scene:
    """Join meshes: solid ones, and ones that shine through the others."""
    every = [*pieces, *through]
    colors = [np.tile(color, (len(mesh.faces), 1)) for mesh, color in every]
    last = sum(len(mesh.faces) for mesh, _ in through)
    return Scene(joined([mesh for mesh, _ in every]), np.concatenate(colors), last)


def looking_at(points: Array, azimuth: float, elevation: float, aspect: float) -> Camera:
    """Place a camera that sees all points, from a direction in degrees: 0 is along -x, up is z."""
    a, e = np.deg2rad(azimuth), np.deg2rad(elevation)
    forward = -np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    axes = np.stack([right, np.cross(right, forward), forward])
    there = points @ axes.T
    spread = np.tan(0.5 * _VIEW) * 0.92
    eye = 0.5 * (there.min(axis=0) + there.max(axis=0))
    # Alternate: as near as all points permit, then center the picture.
    for _ in range(20):
        off = np.abs(there[:, :2] - eye[:2]) / [spread * aspect, spread]
        eye[2] = (there[:, 2] - off.max(axis=1)).min()
        seen = (there[:, :2] - eye[:2]) / (there[:, 2:] - eye[2])
        middle = 0.5 * (seen.min(axis=0) + seen.max(axis=0))
        eye[:2] += 0.7 * middle * np.median(there[:, 2] - eye[2])
    return Camera(eye @ axes, axes)


def render(scene: Scene, camera: Camera, floor: float, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return the image of a scene as (height, width, 3)."""
    width, height = size[0] * _FINER, size[1] * _FINER
    mesh = scene.mesh
    there = camera.of(mesh.vertices)
    zoom = 0.5 * height / np.tan(0.5 * _VIEW)
    distance = there[:, 2]  # all points are in front of the camera, see `looking_at`
    places = there[:, :2] / distance[:, None] * [zoom, -zoom] + [0.5 * width, 0.5 * height]
    seen = rasterize(places, 1.0 / distance, mesh.faces, width, height)
    light = _LIGHT @ np.stack([camera.axes[0], _level(-camera.axes[2]), [0.0, 0.0, 1.0]])
    light = light / np.linalg.norm(light)
    shadow = _Shadow(mesh, light)

    image = np.empty((height * width, 3))
    hit = np.flatnonzero(seen.face >= 0)
    faces = mesh.faces[seen.face[hit]]
    y, x = np.divmod(hit, width)
    weights = barycentric(places[faces], x + 0.5, y + 0.5)
    weights = weights / distance[faces].T  # weights of the corners in space, not in the image
    weights /= weights.sum(axis=0)
    point = np.einsum("kn,nkj->nj", weights, mesh.vertices[faces])
    normal = np.einsum("kn,nkj->nj", weights, mesh.normals[faces])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    towards = camera.eye - point
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    normal *= np.where(np.einsum("ij,ij->i", normal, towards) < 0, -1.0, 1.0)[:, None]
    color = scene.colors[seen.face[hit]] ** 2.2
    lit = np.clip(normal @ light, 0.0, None) * shadow.light(point, normal)
    around = _EARTH + (_SKY - _EARTH) * (0.5 + 0.5 * normal[:, 2])
    half = towards + light
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    shine = 0.22 * np.clip(np.einsum("ij,ij->i", normal, half), 0, None) ** 40 * (lit > 0)
    image[hit] = color * (around + _KEY * lit)[:, None] + shine[:, None]

    if scene.through:
        first = len(mesh.faces) - scene.through
        hidden = rasterize(places, 1.0 / distance, mesh.faces[first:], width, height)
        behind = np.flatnonzero((hidden.face >= 0) & (seen.nearness > hidden.nearness))
        image[behind] += _THROUGH * (
            scene.colors[first:][hidden.face[behind]] ** 2.2 - image[behind]
        )
    miss = np.flatnonzero(seen.face < 0)
    image[miss] = _floor(miss, camera, floor, mesh, shadow, width, height, zoom)
    image = image.reshape(size[1], _FINER, size[0], _FINER, 3).mean(axis=(1, 3))
    return np.asarray(255.0 * np.clip(image, 0.0, 1.0) ** (1 / 2.2) + 0.5, dtype=np.uint8)


def _level(direction: Array) -> Array:
    flat = direction * [1.0, 1.0, 0.0]
    return flat / max(float(np.linalg.norm(flat)), 1e-9)


def _floor(
    pixels: Indices,
    camera: Camera,
    floor: float,
    mesh: Mesh,
    shadow: _Shadow,
    width: int,
    height: int,
    zoom: float,
) -> Array:
    """Draw the visible floor: lines and the shadow, fading to white with distance."""
    y, x = np.divmod(pixels, width)
    rays = np.stack(
        [(x + 0.5 - 0.5 * width) / zoom, -(y + 0.5 - 0.5 * height) / zoom, np.ones(len(x))], axis=1
    )
    rays = rays @ camera.axes
    image = np.ones((len(pixels), 3))
    down = np.flatnonzero(rays[:, 2] * (floor - camera.eye[2]) > 0)
    far = (floor - camera.eye[2]) / rays[down, 2]
    point = camera.eye + far[:, None] * rays[down]
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    radius = 0.5 * float(np.linalg.norm(high - low))
    away = np.linalg.norm((point - 0.5 * (low + high))[:, :2], axis=1) / (1.9 * radius)
    fade = np.clip(1.0 - away, 0.0, 1.0) ** 0.7
    cell = 10.0 ** np.floor(np.log10(radius)) * 0.5
    off = np.abs(point[:, :2] / cell - np.round(point[:, :2] / cell)).min(axis=1) * cell
    shade = np.where(off < 0.0035 * radius, _LINE, _FLOOR)
    near = np.flatnonzero(fade)
    dark = 1.0 - 0.5 * (1.0 - shadow.light(point[near], np.array([[0.0, 0.0, 1.0]])))
    image[down[near]] -= (fade[near] * (1.0 - shade[near] * dark))[:, None]
    return image**2.2


class _Shadow:
    """Shadow map: the nearest surface from the light, in an image along its direction."""

    def __init__(self, mesh: Mesh, light: Array) -> None:
        side = np.cross(light, np.eye(3)[int(np.argmin(np.abs(light)))])
        side /= np.linalg.norm(side)
        self._axes = np.stack([side, np.cross(light, side), light])
        there = mesh.vertices @ self._axes.T
        low, high = there.min(axis=0), there.max(axis=0)
        self._pixel = float((high - low)[:2].max()) / (_SHADOW_MAP - 2 * _SOFT - 2)
        self._low = np.array([*(low[:2] - (_SOFT + 1) * self._pixel), low[2] - 1.0])
        places, near = self._places(mesh.vertices)
        self._near = rasterize(places, near, mesh.faces, _SHADOW_MAP, _SHADOW_MAP).nearness

    def _places(self, points: Array) -> tuple[Array, Array]:
        there = points @ self._axes.T - self._low
        return there[:, :2] / self._pixel, there[:, 2]

    def light(self, points: Array, normals: Array) -> Array:
        """Return the amount of light at points, 0 to 1."""
        places, near = self._places(points + 2.5 * self._pixel * normals)
        near = near + 1.0 * self._pixel
        column, row = (places[:, i].astype(np.int64) for i in range(2))
        lit = np.zeros(len(points))
        steps = range(-_SOFT, _SOFT + 1)
        for dx in steps:
            for dy in steps:
                x, y = column + dx, row + dy
                on = (x >= 0) & (y >= 0) & (x < _SHADOW_MAP) & (y < _SHADOW_MAP)
                at = np.where(on, y * _SHADOW_MAP + x, 0)
                lit += ~on | (self._near[at] <= near)
        return lit / len(steps) ** 2
