"""Make coal's geometries of meshes: `coal_mesh`."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np

from dtau.viewer.solids import Mesh


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
