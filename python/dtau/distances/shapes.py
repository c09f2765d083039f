"""Read the collision shapes of a robot's URDF or MJCF as coal's: `read_shapes`."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import coal
import numpy as np

from dtau.conventions import mujoco_names
from dtau.distances.geometries import coal_mesh
from dtau.loaders.elements import attribute, located, numbers, required
from dtau.loaders.load import open_document
from dtau.loaders.mujoco_compiler import compiled_model
from dtau.loaders.source import Source
from dtau.loaders.urdf import origin
from dtau.loaders.xml import Element, parse
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.support.checks import require, require_name
from dtau.support.errors import ModelError, ModelWarning
from dtau.viewer.folders import Folders, Paths
from dtau.viewer.meshfiles import GRAY, read_mesh
from dtau.viewer.mjcf_visuals import mesh_of
from dtau.viewer.solids import joined
from dtau.viewer.visuals import LARGEST, positive

_UNREAD = frozenset(
    {"inertial", "visual", "joint", "gazebo", "transmission", "sensor", "texture", "material"}
)


@dataclass(frozen=True)
class Shape:
    """A shape that moves with a link, or stands in the world.

    Attributes
    ----------
    name : str
        Name of the shape, different from the other shapes' and from the links'.
    frame : str or None
        The link, from ``model.frames``; None is the world.
    geometry : coal.CollisionGeometry
        coal's shape, for example ``coal.Box(0.4, 0.2, 0.1)``.
    placement : Pose
        Pose of the shape's frame in the link's.

    Examples
    --------
    >>> import coal, dtau, dtau.distances
    >>> table = dtau.distances.Shape("table", None, coal.Box(1.0, 1.0, 0.05))
    """

    name: str
    frame: str | None
    geometry: Any
    placement: Pose = field(default_factory=Pose)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", require_name("name", self.name))
        if self.frame is not None:
            object.__setattr__(self, "frame", require_name("frame", self.frame))
        require("geometry", self.geometry, coal.CollisionGeometry)
        require("placement", self.placement, Pose)


class _Found(NamedTuple):
    """A shape of a file: its own name, if it has one, and the name of its link."""

    own: str | None
    link: str | None
    geometry: Any
    placement: Pose


def read_shapes(
    model: Model, geometry: str | os.PathLike[str], *, meshes: Paths = (), hulls: bool = False
) -> tuple[Shape, ...]:
    """Read the shapes of a robot's file that take part in collisions.

    Parameters
    ----------
    model : Model
        The robot.
    geometry : str or path-like
        Its URDF, MJCF or xacro, a path or a text: all ``<collision>`` elements of a URDF; all geoms
        of an MJCF with a ``contype`` or ``conaffinity``. A plane of an MJCF is a half-space.
    meshes : path, or sequence of paths
        Folders below which meshes may be read, as in `dtau.view`.
    hulls : bool
        Take the convex hulls of meshes, as MuJoCo does. By default meshes are their triangles,
        which have no inside.

    Returns
    -------
    tuple of Shape
        In the order of the file. A shape without a name in the file, or whose name is not unique,
        is called ``link/0``, ``link/1`` and so on, where ``link`` is its link or ``world``.

    Raises
    ------
    OSError, ModelError, ValueError, TypeError
        If the file cannot be read, see `dtau.load`; or if a folder does not exist.
    ImportError
        If trimesh, for meshes, or MuJoCo, for an MJCF, is missing.

    Warns
    -----
    ModelWarning
        If shapes are left out: meshes that cannot be found or read, links that the model does not
        have.

    Examples
    --------
    >>> import dtau, dtau.distances
    >>> inertial = '''<inertial><mass value="1"/>
    ... <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'''
    >>> ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    >>> file = f'<robot name="ball"><link name="ball">{inertial}{ball}</link></robot>'
    >>> model = dtau.load(file, root="free")
    >>> [shape.name for shape in dtau.distances.read_shapes(model, file)]
    ['ball/0']
    """
    require("model", model, Model)
    require("hulls", hulls, bool)
    source, document = open_document(geometry, LARGEST, "geometry")
    own = None if source.path is None else os.path.dirname(os.path.abspath(source.path))
    notes: list[str] = []
    read = _of_mjcf if document.tag == "mujoco" else _of_urdf
    found = []
    for shape in read(source, Folders(own, meshes), hulls, notes):
        if shape.link is None or shape.link in model.frames:
            found.append(shape)
        else:
            notes.append(f"shapes of link {shape.link!r}: the model has no such link")
    _warn(model, list(dict.fromkeys(notes)))
    return tuple(_named(found, model.frames))


def _warn(model: Model, notes: Sequence[str]) -> None:
    if notes:
        listed = "; ".join(notes[:3]) + ("; ..." if len(notes) > 3 else "")
        warnings.warn(
            f"shapes of {model.name!r} that are left out: {len(notes)}; {listed}",
            ModelWarning,
            stacklevel=3,
        )


def _named(found: Sequence[_Found], links: Sequence[str]) -> Iterator[Shape]:
    """Give all shapes names that differ, also from the links' names."""
    taken = Counter([*links, *(shape.own for shape in found if shape.own)])
    numbers_of: Counter[str] = Counter()
    for shape in found:
        link = "world" if shape.link is None else shape.link
        name = f"{link}/{numbers_of[link]}"
        numbers_of[link] += 1
        while name in taken:
            name += "_"
        if shape.own and taken[shape.own] == 1:
            name = shape.own
        yield Shape(name, shape.link, shape.geometry, shape.placement)


def _of_urdf(source: Source, folders: Folders, hulls: bool, notes: list[str]) -> Iterator[_Found]:
    for link in parse(source.content, source.label, _UNREAD).all("link"):
        name = attribute(link, "name")
        for collision in link.all("collision"):
            with located(collision, f"collision of link {name!r}"):
                place = origin(collision)
            try:
                shape = _urdf_geometry(required(collision, "geometry"), folders, hulls)
            except ModelError:
                raise
            except (OSError, ValueError) as error:
                notes.append(f"mesh of link {name!r}: {error}")
                continue
            yield _Found(collision.attributes.get("name"), name, shape, place)


def _urdf_geometry(geometry: Element, folders: Folders, hulls: bool) -> Any:
    for shape in geometry.children:
        if shape.tag == "mesh":
            scale = numbers(shape, "scale", 3) if "scale" in shape.attributes else (1.0, 1.0, 1.0)
            path = folders.find(attribute(shape, "filename"))
            surfaces = read_mesh(path, folders, scale, GRAY)
            return coal_mesh(joined([surface.mesh for surface in surfaces]), hulls)
        if shape.tag in _URDF:
            return _URDF[shape.tag](shape)
    raise geometry.error(f"expected one of mesh, {', '.join(_URDF)} in <geometry>, got none")


_URDF: dict[str, Callable[[Element], Any]] = {
    "box": lambda e: coal.Box(*np.abs(numbers(e, "size", 3)).tolist()),
    "sphere": lambda e: coal.Sphere(positive(e, "radius")),
    "cylinder": lambda e: coal.Cylinder(positive(e, "radius"), positive(e, "length")),
    "capsule": lambda e: coal.Capsule(positive(e, "radius"), positive(e, "length")),
}

_PLANE, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = 0, 2, 3, 4, 5, 6, 7  # mjtGeom
_MJCF: dict[int, Callable[[list[float]], Any]] = {
    _PLANE: lambda size: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
    _SPHERE: lambda size: coal.Sphere(size[0]),
    _CAPSULE: lambda size: coal.Capsule(size[0], 2 * size[1]),
    _ELLIPSOID: lambda size: coal.Ellipsoid(*size),
    _CYLINDER: lambda size: coal.Cylinder(size[0], 2 * size[1]),
    _BOX: lambda size: coal.Box(*(2 * x for x in size)),
}


def _of_mjcf(source: Source, folders: Folders, hulls: bool, notes: list[str]) -> Iterator[_Found]:
    mujoco, m, _ = compiled_model(source)
    kinds = mujoco.mjtObj
    names = [mujoco.mj_id2name(m, kinds.mjOBJ_BODY, i) or "" for i in range(m.nbody)]
    bodies = mujoco_names.body_names(names)
    for geom in np.flatnonzero(m.geom_contype | m.geom_conaffinity).tolist():
        kind, body = int(m.geom_type[geom]), int(m.geom_bodyid[geom])
        try:
            if kind == _MESH:
                mesh = mesh_of(m, int(m.geom_dataid[geom]), folders)
                shape = coal_mesh(mesh, hulls)
            elif kind in _MJCF:
                shape = _MJCF[kind](m.geom_size[geom].tolist())
            else:
                raise ValueError("of a kind that coal does not have")
        except (OSError, ValueError) as error:
            notes.append(f"geom {geom} of body {bodies[body]!r}: {error}")
            continue
        place = Pose.from_quaternion(m.geom_quat[geom], m.geom_pos[geom], order="wxyz")
        own = mujoco.mj_id2name(m, kinds.mjOBJ_GEOM, geom)
        yield _Found(own, bodies[body] if body else None, shape, place)
