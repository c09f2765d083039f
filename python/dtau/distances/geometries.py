"""Make coal's geometries of meshes, and check their sizes: `coal_mesh`, `require_size`."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np

from dtau.model.pose import Pose
from dtau.viewer.solids import Mesh

_LARGEST = 1e6  # meters: distances of larger shapes have no digits below a nanometer


def coal_mesh(mesh: Mesh, hull: bool) -> Any:
    """Return the triangles of a mesh, or its convex hull.

    Raises
    ------
    ValueError
        If the mesh has no triangles, or no hull.
    """
    if not len(mesh.faces):
        raise ValueError("no triangles")
    if hull:
        points = coal.StdVec_Vec3s()
        points.extend(list(np.unique(mesh.vertices, axis=0)))
        try:
            return coal.Convex.convexHull(points, True, "Qt")
        except RuntimeError as error:
            raise ValueError("coal finds no convex hull") from error
    triangles = coal.BVHModelOBBRSS()
    triangles.beginModel(len(mesh.faces), len(mesh.vertices))
    triangles.addVertices(mesh.vertices)
    triangles.addTriangles(mesh.faces)
    triangles.endModel()
    return triangles


def require_size(name: str, geometry: Any, placement: Pose) -> None:
    """Raise ValueError unless a shape has a size and a place that are numbers of meters.

    coal computes distances of shapes without them, which mean nothing.
    """
    if not (np.abs(placement.translation) <= _LARGEST).all():
        raise ValueError(
            f"placement of shape {name!r}: expected at most {_LARGEST:g} m, "
            f"got {placement.translation.tolist()}"
        )
    try:
        geometry.computeLocalAABB()
    except TypeError:  # Boost's, for an object whose constructor did not run
        raise TypeError(
            f"geometry of shape {name!r}: expected a geometry that coal has made, got "
            f"{type(geometry).__name__} without one"
        ) from None
    if isinstance(geometry, coal.Plane | coal.Halfspace):
        if not abs(geometry.d) <= _LARGEST:
            raise ValueError(
                f"geometry of shape {name!r}: expected a plane at most {_LARGEST:g} m away, "
                f"got d = {geometry.d}"
            )
        return
    box = geometry.aabb_local
    low, high = np.array(box.min_), np.array(box.max_)
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = high - low
    inside = np.abs(np.concatenate([low, high])) <= _LARGEST
    if not (inside.all() and (sizes >= 0.0).all() and (sizes > 0.0).any()):
        raise ValueError(
            f"geometry of shape {name!r}: expected a size above 0, within {_LARGEST:g} m of its "
            f"origin, got {type(geometry).__name__} of size {sizes.tolist()}"
        )
