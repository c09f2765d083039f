"""Read the visual geometry of a robot's URDF or MJCF, by link: `read_visuals`.

A `Model` does not keep the geometry. It is read from the file when the robot is shown, and belongs
to the links by name.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dtau.loaders.elements import attribute, located, number, numbers, required
from dtau.loaders.load import open_document
from dtau.loaders.source import Source
from dtau.loaders.urdf import origin
from dtau.loaders.xml import Element, parse
from dtau.support.errors import ModelError
from dtau.viewer import solids
from dtau.viewer.folders import Folders, Paths
from dtau.viewer.meshfiles import GRAY, Color, Surface, Visual, read_mesh
from dtau.viewer.mjcf_visuals import read_mjcf_visuals

_UNREAD = frozenset(
    {"inertial", "collision", "joint", "gazebo", "transmission", "sensor", "texture"}
)
LARGEST = 64_000_000  # most bytes of a file, as in `dtau.load`


class Visuals(NamedTuple):
    """The surfaces found, and notes on missing ones."""

    found: list[Visual]
    notes: list[str]


def read_visuals(geometry: str | os.PathLike[str], meshes: Paths = ()) -> Visuals:
    """Read the visual geometry of a robot's file.

    Parameters
    ----------
    geometry : str or path-like
        A URDF, MJCF or xacro file, or the text of a URDF or MJCF.
    meshes : path, or sequence of paths
        Folders below which meshes may be read, in addition to the file's own: folders that contain
        packages (``package://name/...``), or that are a package.

    Returns
    -------
    Visuals
        Surfaces by link, and notes on meshes that were not found or cannot be read.

    Raises
    ------
    OSError, ModelError, ValueError, TypeError
        If the file cannot be read, see `dtau.load`; or if a folder does not exist.
    """
    source, document = open_document(geometry, LARGEST, "geometry")
    own = None if source.path is None else os.path.dirname(os.path.abspath(source.path))
    folders = Folders(own, meshes)
    if document.tag == "mujoco":
        return Visuals(*read_mjcf_visuals(source, folders))
    return _of_urdf(source, folders)


def _of_urdf(source: Source, folders: Folders) -> Visuals:
    robot = parse(source.content, source.label, _UNREAD)
    colors = {
        attribute(material, "name"): color
        for material in robot.all("material")
        if (color := _color(material)) is not None
    }
    found, notes = [], []
    for link in robot.all("link"):
        name = attribute(link, "name")
        for visual in link.all("visual"):
            with located(visual, f"visual of link {name!r}"):
                place = origin(visual)
            try:
                surfaces = _surfaces(
                    required(visual, "geometry"), folders, _material(visual, colors)
                )
            except ModelError:
                raise
            except (OSError, ValueError) as error:
                notes.append(f"mesh of link {name!r}: {error}")
                continue
            for mesh, color in surfaces:
                if len(mesh.faces) and mesh.normals.any(axis=1).all():
                    found.append(Visual(name, Surface(mesh.transformed(place), color)))
                else:
                    notes.append(f"visual of link {name!r}: it has no surface")
    return Visuals(found, list(dict.fromkeys(notes)))


def _surfaces(geometry: Element, folders: Folders, color: Color | None) -> list[Surface]:
    for shape in geometry.children:
        if shape.tag == "mesh":
            scale = numbers(shape, "scale", 3) if "scale" in shape.attributes else (1.0, 1.0, 1.0)
            path = folders.find(attribute(shape, "filename"))
            return read_mesh(path, folders, scale, color)
        if shape.tag in _SOLIDS:
            return [Surface(_SOLIDS[shape.tag](shape), color or GRAY)]
    raise geometry.error(f"expected one of mesh, {', '.join(_SOLIDS)} in <geometry>, got none")


def positive(element: Element, name: str) -> float:
    """Return a number of an element that must be positive."""
    value = number(element, name)
    if not value > 0:
        raise element.error(f"{name} of <{element.tag}>: expected a positive number, got {value}")
    return value


_SOLIDS: dict[str, Callable[[Element], solids.Mesh]] = {
    "box": lambda e: solids.box(np.abs(numbers(e, "size", 3))),
    "sphere": lambda e: solids.ellipsoid(3 * [positive(e, "radius")]),
    "cylinder": lambda e: solids.cylinder(positive(e, "radius"), positive(e, "length")),
    "capsule": lambda e: solids.capsule(positive(e, "radius"), positive(e, "length")),
}


def _material(visual: Element, colors: dict[str, Color]) -> Color | None:
    """Return the color of a visual: its own, or a named material's."""
    material = visual.one("material")
    if material is None:
        return None
    return _color(material) or colors.get(material.attributes.get("name", ""))


def _color(material: Element) -> Color | None:
    color = material.one("color")
    if color is None:
        return None
    red, green, blue, _ = np.clip(numbers(color, "rgba", 4), 0.0, 1.0).tolist()
    return (red, green, blue)
