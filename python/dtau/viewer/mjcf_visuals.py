"""Visual geometry of an MJCF: the geoms of groups 0 to 2, as in MuJoCo's own viewer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dtau.conventions import mujoco_names
from dtau.loaders.mujoco_compiler import compiled_model
from dtau.loaders.source import Source
from dtau.model.pose import Pose
from dtau.viewer import solids
from dtau.viewer.folders import Folders
from dtau.viewer.meshfiles import Surface, Visual

_SHOWN = 2  # the last shown group
_PLANE, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = 0, 2, 3, 4, 5, 6, 7  # mjtGeom


def read_mjcf_visuals(source: Source, folders: Folders) -> tuple[list[Visual], list[str]]:
    """Return the visuals of a compiled MJCF, and notes on geoms left out.

    MuJoCo reads the meshes when it compiles the file, as for `dtau.load`; meshes outside the
    folders are not shown.
    """
    mujoco, m, _ = compiled_model(source)
    names = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, i) or "" for i in range(m.nbody)]
    bodies = mujoco_names.body_names(names)
    found, notes = [], []
    for geom in np.flatnonzero(m.geom_group <= _SHOWN):
        kind, size = int(m.geom_type[geom]), m.geom_size[geom]
        body = int(m.geom_bodyid[geom])
        rgba = m.geom_rgba[geom] if m.geom_matid[geom] < 0 else m.mat_rgba[m.geom_matid[geom]]
        if rgba[3] == 0.0 or kind == _PLANE:
            continue
        if kind == _MESH:
            try:
                mesh = mesh_of(m, int(m.geom_dataid[geom]), folders)
            except OSError as error:
                notes.append(f"mesh of body {bodies[body]!r}: {error}")
                continue
        elif kind in _SOLIDS:
            mesh = _SOLIDS[kind](size)
        else:
            notes.append(f"geom {geom} of body {bodies[body]!r}: of a kind that is not shown")
            continue
        place = Pose.from_quaternion(m.geom_quat[geom], m.geom_pos[geom], order="wxyz")
        red, green, blue = np.clip(rgba[:3], 0.0, 1.0).tolist()
        surface = Surface(mesh.transformed(place), (red, green, blue))
        found.append(Visual(bodies[body] if body else None, surface))
    return found, list(dict.fromkeys(notes))


_SOLIDS = {
    _SPHERE: lambda size: solids.ellipsoid([size[0]] * 3),
    _CAPSULE: lambda size: solids.capsule(size[0], 2 * size[1]),
    _ELLIPSOID: lambda size: solids.ellipsoid(size),
    _CYLINDER: lambda size: solids.cylinder(size[0], 2 * size[1]),
    _BOX: lambda size: solids.box(2 * size),
}


def mesh_of(m: Any, mesh: int, folders: Folders) -> solids.Mesh:
    """Return a mesh of MuJoCo: about its center, along its principal axes."""
    if m.mesh_pathadr[mesh] >= 0:
        name = bytes(m.paths)[m.mesh_pathadr[mesh] :].split(b"\0")[0].decode()
        folders.find(str(Path(name)))
    vertices = slice(m.mesh_vertadr[mesh], m.mesh_vertadr[mesh] + m.mesh_vertnum[mesh])
    faces = slice(m.mesh_faceadr[mesh], m.mesh_faceadr[mesh] + m.mesh_facenum[mesh])
    return solids.creased(np.array(m.mesh_vert[vertices]), np.array(m.mesh_face[faces]))
