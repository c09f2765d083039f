"""Check meshes: STL files have no unit and are often in millimeters; a URDF means meters.

Only files *.stl are opened, and only below the robot's own folder or the folder of the package in
the name. The package is searched for from the robot's folder upwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from dtau.cli.checks.findings import Finding
from dtau.cli.robot import STDIN, RobotFile
from dtau.loaders.xml import Element, parse
from dtau.support.arrays import Array
from dtau.support.errors import ModelError
from dtau.viewer.folders import Folders

_LARGE, _SMALL = 10.0, 1e-3  # m; the STL files of example-robot-data have 0.02 to 1
_HEAD, _FACET = 84, 50  # bytes of the head and of a facet in a binary file
_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")


def check_meshes(file: RobotFile) -> Iterator[Finding]:
    """Check the sizes of the STL files that a URDF names."""
    if file.path == STDIN or file.path.lower().endswith(".xacro"):
        return
    path = Path(file.path)
    try:
        robot = parse(path.read_bytes(), file.path, ("inertial", "joint", "gazebo", "transmission"))
    except ModelError:  # an MJCF: MuJoCo scales its meshes
        return
    large, small = {}, {}
    for link, mesh in _meshes(robot):
        found = _find(mesh.attributes.get("filename", ""), path.resolve().parent)
        size = None if found is None else _size(found)
        if size is None or found is None:
            continue
        largest = float(np.abs(size * _scale(mesh)).max())
        said = f"{largest:.3g} m ({found.name}, line {mesh.line})"
        if largest > _LARGE:
            large[link] = said
        elif 0 < largest < _SMALL:
            small[link] = said
    if large:
        yield Finding(
            "warning",
            "large-mesh",
            f"Meshes are larger than {_LARGE:g} m, which looks like millimeters. Pictures and "
            "collisions are affected, the dynamics are not.",
            large,
            'Write scale="0.001 0.001 0.001" in <mesh>.',
        )
    if small:
        yield Finding(
            "warning",
            "small-mesh",
            f"Meshes are smaller than {1e3 * _SMALL:g} mm, as if they were scaled twice.",
            small,
            "Leave scale out of <mesh> if the file is in meters.",
        )


def _meshes(robot: Element) -> Iterator[tuple[str, Element]]:
    for link in robot.all("link"):
        for kind in ("visual", "collision"):
            for element in link.all(kind):
                for geometry in element.all("geometry"):
                    for mesh in geometry.all("mesh"):
                        yield link.attributes.get("name", ""), mesh


def _scale(mesh: Element) -> Array:
    try:
        scale = np.array([float(x) for x in mesh.attributes.get("scale", "1").split()])
        return np.broadcast_to(scale, 3)
    except ValueError:  # not three numbers
        return np.ones(3)


def _find(name: str, folder: Path) -> Path | None:
    """Return the STL file of a name, if it is in one of the allowed folders."""
    if not name.lower().endswith(".stl"):
        return None
    packages: list[Path] = []
    if name.startswith("package://"):
        package = name.removeprefix("package://").partition("/")[0]
        packages = [x if x.name == package else x / package for x in (folder, *folder.parents)]
    try:
        return Folders(folder, [x for x in packages if x.is_dir()]).find(name)
    except (OSError, ValueError):  # missing, or an impossible file name
        return None


@cache
def _size(path: Path) -> Array | None:
    """Return the extents of an STL file along its axes, in its own unit."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if len(content) >= _HEAD and (len(content) - _HEAD) % _FACET == 0:
        facets = np.frombuffer(content, np.uint8, offset=_HEAD).reshape(-1, _FACET)
        points = facets[:, 12:48].copy().view("<f4").reshape(-1, 3).astype(np.float64)
    else:
        try:
            points = np.array(_VERTEX.findall(content), dtype=np.float64).reshape(-1, 3)
        except ValueError:
            return None
    if not len(points) or not np.isfinite(points).all():
        return None
    size: Array = np.ptp(points, axis=0)
    return size
