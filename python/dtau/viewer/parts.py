"""Colored meshes that show a robot, each in the frame of a body: `looks`."""

from __future__ import annotations

import os
import warnings
from typing import NamedTuple

import numpy as np

from dtau.model.joints import Cylindrical, Helical, Planar, Prismatic, Revolute, Universal
from dtau.model.links import Joint
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array
from dtau.support.errors import ModelWarning
from dtau.viewer import solids
from dtau.viewer.folders import Paths
from dtau.viewer.meshfiles import Color
from dtau.viewer.visuals import read_visuals

_BODY, _WORLD = (0.36, 0.55, 0.75), (0.55, 0.58, 0.62)
_ROD, _JOINT, _SLIDE = (0.42, 0.45, 0.5), (0.93, 0.55, 0.2), (0.35, 0.7, 0.45)
_FLATTEST = 1e-3  # least semiaxis shown, relative to the longest


class Part(NamedTuple):
    """A surface that moves with a body; body -1 is the world."""

    body: int
    mesh: solids.Mesh
    color: Color


class Looks(NamedTuple):
    """All parts of a robot, and notes on geometry that could not be read."""

    parts: list[Part]
    notes: list[str]


def looks(
    model: Model, geometry: str | os.PathLike[str] | None = None, meshes: Paths = ()
) -> Looks:
    """Return the parts that show a robot: its file's geometry, else ellipsoids of inertia.

    Parameters
    ----------
    model : Model
    geometry : str or path-like, optional
        The robot's URDF, MJCF or xacro, a path or a text, for its visual geometry.
    meshes : path, or sequence of paths
        Folders below which meshes may be read, in addition to the file's own.

    Returns
    -------
    Looks
        One part per color and body. A body without geometry is an ellipsoid of inertia, with its
        joint's axis and a rod from its parent.

    Raises
    ------
    OSError, ModelError, ValueError, TypeError, ImportError
        In the same cases as `dtau.viewer.picture`.
    """
    found: dict[tuple[int, Color], list[solids.Mesh]] = {}
    notes: list[str] = []
    if geometry is not None:
        visuals, notes = read_visuals(geometry, meshes)
        foreign = set()
        for link, (mesh, color) in visuals:
            if link is not None and link not in model.frames:
                foreign.add(link)
                continue
            frame = None if link is None else model.frame(link)
            body, place = (-1, Pose()) if frame is None else (frame.body, frame.placement)
            found.setdefault((body, color), []).append(mesh.transformed(place))
        notes += [
            f"geometry of link {link!r}: the model has no such link" for link in sorted(foreign)
        ]
    shown = {body for body, _ in found}
    for body in range(model.nbodies):
        if body not in shown:
            for key, mesh in _schematic(model, body):
                found.setdefault(key, []).append(mesh)
    parts = [Part(body, solids.joined(pieces), color) for (body, color), pieces in found.items()]
    return Looks(parts, notes)


def warn_of_missing(model: Model, notes: list[str]) -> None:
    """Warn of geometry that could not be read, if there is any, at the caller's caller."""
    if notes:
        listed = "; ".join(notes[:3]) + ("; ..." if len(notes) > 3 else "")
        warnings.warn(
            f"parts of {model.name!r} that are not shown: {len(notes)}; {listed}",
            ModelWarning,
            stacklevel=3,
        )


def semiaxes(inertia: Inertia) -> tuple[Array, Pose]:
    """Return the ellipsoid of uniform density with a body's mass and principal moments.

    Parameters
    ----------
    inertia : Inertia
        Inertia of a body with mass.

    Returns
    -------
    ndarray (3,), Pose
        Semiaxes in meters, and the pose of the ellipsoid's frame in the body's frame: at the center
        of mass, along the principal axes. If the moments break the triangle inequality, a semiaxis
        is zero.
    """
    moments, axes = np.linalg.eigh(inertia.tensor)
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    # I_x = m/5 (b² + c²), and cyclically.
    squares = 2.5 * (moments.sum() - 2.0 * moments) / inertia.mass
    return np.sqrt(np.maximum(squares, 0.0)), Pose(axes, inertia.com)


def _schematic(model: Model, body: int) -> list[tuple[tuple[int, Color], solids.Mesh]]:
    """Return the ellipsoid of a body, the axes of its joint, and a rod from its parent."""
    joint = model.joints[body]
    scale = reach(model)
    pieces: list[tuple[tuple[int, Color], solids.Mesh]] = []
    inertia = model.inertias[body]
    if inertia.mass > 0:
        radii, frame = semiaxes(inertia)
        if radii.max() > 0:
            thick = np.maximum(radii, _FLATTEST * radii.max())
        else:
            thick = np.full(3, 0.04 * scale)  # a point mass
        pieces.append(((body, _BODY), solids.ellipsoid(thick).transformed(frame)))
    size = 0.03 * scale
    for axis, slides in joint_axes(joint):
        place = solids.along(axis)
        if slides:
            mesh = solids.box([0.7 * size, 0.7 * size, 3.0 * size]).transformed(place)
        else:
            mesh = solids.cylinder(0.5 * size, 2.4 * size).transformed(place)
        pieces.append(((body, _SLIDE if slides else _JOINT), mesh))
    if not joint_axes(joint):
        pieces.append(((body, _JOINT), solids.ellipsoid([0.6 * size] * 3)))
    away = joint.placement.translation
    length = float(np.linalg.norm(away))
    if joint.parent >= 0 and length > size:
        rod = solids.cylinder(0.22 * size, length)
        middle = Pose(translation=0.5 * away) @ solids.along(away)
        pieces.append(((joint.parent, _ROD), rod.transformed(middle)))
    return pieces


def joint_axes(joint: Joint) -> list[tuple[tuple[float, ...], bool]]:
    """Return the axes of a joint in the body's frame, and whether the body slides along each."""
    kind = joint.type
    if isinstance(kind, Revolute):
        return [(kind.axis, False)]
    if isinstance(kind, Prismatic):
        return [(kind.axis, True)]
    if isinstance(kind, Helical | Cylindrical):
        return [(kind.axis, False), (kind.axis, True)]
    if isinstance(kind, Planar):
        return [(kind.normal, False)]
    if isinstance(kind, Universal):
        return [(kind.axis1, False), (kind.axis2, False)]
    return []


def reach(model: Model) -> float:
    """Return the size of a robot: the distance of its farthest body, in meters."""
    far = np.zeros(model.nbodies)
    largest = 0.0
    for i, joint in enumerate(model.joints):
        if joint.parent >= 0:
            far[i] = far[joint.parent] + np.linalg.norm(joint.placement.translation)
        inertia = model.inertias[i]
        if inertia.mass > 0:
            largest = max(
                largest, float(np.linalg.norm(inertia.com) + semiaxes(inertia)[0].max() + far[i])
            )
    return max(float(far.max(initial=0.0)), largest, 1e-3)
