"""Read meshes from STL, OBJ, Collada, PLY and glTF files with trimesh: `read_mesh`."""

from __future__ import annotations

import importlib
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from dtau.viewer.folders import Folders
from dtau.viewer.solids import Mesh, creased

GRAY = (0.72, 0.74, 0.77)  # the default color
SUFFIXES = ("stl", "obj", "dae", "ply", "glb", "gltf")
_SKIPPING = ("glb", "gltf", "obj")  # formats whose materials trimesh can skip
_UNTOLD = (102, 102, 102, 255)  # trimesh's color for files without colors

Color = tuple[float, float, float]


class Surface(NamedTuple):
    """A mesh of one color."""

    mesh: Mesh
    color: Color


class Visual(NamedTuple):
    """A surface of a link, in the link's frame; None is the world."""

    link: str | None
    surface: Surface


def read_mesh(path: Path, folders: Folders, scale: ArrayLike, color: Color | None) -> list[Surface]:
    """Read the surfaces of a file, in the file's frame.

    Material files must lie below the same folders. A color replaces the file's own.

    Raises
    ------
    ValueError
        If the file cannot be read; the message gives the reason.
    ImportError
        If trimesh is missing.
    """
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in SUFFIXES:
        raise ValueError(f"expected a mesh ({', '.join(SUFFIXES)}), got {path.name!r}")
    trimesh = _trimesh()
    try:
        content = path.read_bytes()
        scene = _scene(trimesh, content, suffix, _resolver(trimesh, folders.inside(path)))
        parts = [part for part in scene.dump() if isinstance(part, trimesh.Trimesh)]
    except Exception as error:  # trimesh's readers may raise anything
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"{path.name}: {problem:.200}") from None
    by_color: dict[Color, list[Any]] = {}
    for part in parts:
        if len(part.faces) and np.isfinite(part.vertices).all():
            by_color.setdefault(color or _color(part), []).append(part)
    if not by_color:
        raise ValueError(f"{path.name}: no triangles")
    surfaces = []
    factors = np.asarray(scale, dtype=np.float64)
    for shade, found in by_color.items():
        whole = trimesh.util.concatenate([trimesh.Trimesh(p.vertices, p.faces) for p in found])
        faces = whole.faces[:, ::-1] if np.prod(factors) < 0 else whole.faces  # mirrored
        surfaces.append(Surface(creased(whole.vertices * factors, faces), shade))
    return surfaces


def _scene(trimesh: Any, content: bytes, suffix: str, resolver: Any) -> Any:
    """Read a file with trimesh, without materials if these are broken."""
    if suffix == "dae":
        content = _without_broken_materials(content)
    read = partial(trimesh.load_scene, file_type=suffix, resolver=resolver)
    try:
        return read(BytesIO(content))
    except Exception:  # trimesh's readers may raise anything
        if suffix not in _SKIPPING:
            raise
        return read(BytesIO(content), skip_materials=True)


def _without_broken_materials(content: bytes) -> bytes:
    """Return a Collada file without the materials that pycollada cannot resolve.

    pycollada, which reads it, would leave out the whole geometry.
    """
    collada = importlib.import_module("collada")
    document = ElementTree.fromstring(content)
    libraries = [part for part in document if _tag(part) not in ("library_geometries", "scene")]
    head = ElementTree.Element(document.tag, document.attrib)
    head.extend(libraries)
    read = collada.Collada(BytesIO(ElementTree.tostring(head)), ignore=[collada.common.DaeError])
    sound = {f"#{material.id}" for material in read.materials}
    broken = [
        (parent, child)
        for parent in document.iter()
        for child in parent
        if _tag(child) == "instance_material" and child.get("target") not in sound
    ]
    for parent, child in broken:
        parent.remove(child)
    return ElementTree.tostring(document) if broken else content


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _trimesh() -> Any:
    try:
        return importlib.import_module("trimesh")
    except ModuleNotFoundError as error:
        raise ImportError(
            "meshes are read by trimesh, which is not installed: pip install 'trimesh>=4'"
        ) from error


def _resolver(trimesh: Any, folders: Folders) -> Any:
    """Return trimesh's resolver for the materials and textures that a mesh names."""

    class Below(trimesh.resolvers.Resolver):  # type: ignore[misc]
        def __init__(self) -> None: ...

        def get(self, name: str) -> bytes:
            return folders.find(name).read_bytes()

        def keys(self) -> list[str]:
            return []

        def write(self, name: str, data: bytes) -> None:
            raise PermissionError(f"not written: {name!r:.80}")

        def namespaced(self, namespace: str) -> Any:
            return Below()

    return Below()


def _color(part: Any) -> Color:
    """Return the main color of a part, or gray."""
    visual = part.visual
    material = getattr(visual, "material", None)
    if material is not None:
        rgba = material.main_color
    elif getattr(visual, "kind", None) in ("vertex", "face"):
        rgba = visual.main_color
    else:
        return GRAY
    rgba = tuple(int(x) for x in np.asarray(rgba)[:4])
    if rgba == _UNTOLD:
        return GRAY
    return (rgba[0] / 255, rgba[1] / 255, rgba[2] / 255)
