"""Read the bodies and geoms on which a fluid acts: `fluid_parts`.

Names and formulas are MuJoCo's (documentation, "Fluid forces"): the inertia box of a body, or the
ellipsoids of its geoms with ``fluidshape="ellipsoid"``.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from dtau.mujoco.body_forces import no_passive_forces
from dtau.support.arrays import Array, Indices

_SIZE = 34  # numbers of FluidPart in src/mujoco/step.hpp
_ROUND = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE): lambda s: (s[0], s[0], s[0]),
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): lambda s: (s[0], s[0], s[0] + s[1]),
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): lambda s: (s[0], s[0], s[1]),
}


def fluid_parts(m: Any) -> tuple[Indices, Array, Array]:
    """Return the bodies of the parts, the parts (n, 34) and the velocity of the wind."""
    bodies: list[int] = []
    parts: list[Array] = []
    acts = (m.opt.density or m.opt.viscosity) and not no_passive_forces(m)
    for body in np.flatnonzero((m.body_mass >= mujoco.mjMINVAL) * bool(acts)).tolist():
        geoms = np.flatnonzero((m.geom_fluid[:, 0] > 0.0) & (m.geom_bodyid == body)).tolist()
        found = [_ellipsoid(m, body, geom) for geom in geoms] or [_box(m, body)]
        parts += found
        bodies += len(found) * [body]
    numbers = np.array(parts).reshape(-1, _SIZE)
    return np.array(bodies, dtype=np.intp), numbers, m.opt.wind.copy()


def _box(m: Any, body: int) -> Array:
    mass, inertia = m.body_mass[body], m.body_inertia[body]
    size = np.sqrt(6.0 / mass * np.maximum(mujoco.mjMINVAL, inertia.sum() - 2.0 * inertia))
    x, y, z = size
    diameter = size.mean()
    viscous = np.pi * m.opt.viscosity * diameter * np.array([diameter**2, 3.0])
    turning = x * (y**4 + z**4), y * (x**4 + z**4), z * (x**4 + y**4)
    quadratic = m.opt.density * np.array([*(t / 64.0 for t in turning), *_areas(size, 0.5)])
    return np.concatenate(
        [np.zeros(3), _rotation(m.body_iquat[body]), [0.0], viscous, quadratic, np.zeros(13)]
    )


def _areas(size: Array, factor: float) -> Array:
    return factor * np.array([size[1] * size[2], size[0] * size[2], size[0] * size[1]])


def _ellipsoid(m: Any, body: int, geom: int) -> Array:
    scale, blunt, slender, angular, kutta, magnus, *virtual = m.geom_fluid[geom]
    density, viscosity = scale * m.opt.density, scale * m.opt.viscosity
    size = np.array(_ROUND.get(int(m.geom_type[geom]), tuple)(m.geom_size[geom]))
    _, middle, high = np.sort(size)
    diameter = 2.0 / 3.0 * size.sum()
    viscous = np.pi * viscosity * diameter * np.array([diameter**2, 3.0])
    across = np.array([max(size[(i + 1) % 3], size[(i + 2) % 3]) for i in range(3)])
    moments = 8.0 / 15.0 * np.pi * size * across**4
    most = 8.0 / 15.0 * np.pi * middle * high**4
    turning = density * (angular * moments + slender * (most - moments))
    volume = 4.0 / 3.0 * np.pi * size.prod()
    drag = density * np.array([slender * np.pi * high * middle, blunt - slender])
    offset, rotation = m.geom_pos[geom] - m.body_ipos[body], _rotation(m.geom_quat[geom])
    return np.concatenate(
        [
            *(offset, rotation, [1.0], viscous, turning, np.zeros(3), size),
            *(density * np.array(virtual), drag, [density * kutta, density * volume * magnus]),
        ]
    )


def _rotation(quaternion: Array) -> Array:
    out = np.empty(9)
    mujoco.mju_quat2Mat(out, quaternion)
    return out
