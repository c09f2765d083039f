"""Read the equality constraints of a MuJoCo model: `equality_parts`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from dtau.mujoco.scope import names_of, not_covered
from dtau.mujoco.tendons import lengths
from dtau.support.arrays import Array, Indices, Mask

_CONNECT, _WELD, _JOINT, _TENDON = (
    int(getattr(mujoco.mjtEq, f"mjEQ_{name}")) for name in ("CONNECT", "WELD", "JOINT", "TENDON")
)
_ROWS = {_CONNECT: 3, _WELD: 6, _JOINT: 1, _TENDON: 1}


def equality_parts(
    m: Any, of_tendons: Array
) -> tuple[Array, Indices, Indices, Indices, Indices, Array]:
    """Return `Equality` of src/mujoco/step.hpp, (neq, 20), the bodies (neq, 2) and `Lengths`.

    `of_tendons`: moment arms of fixed tendons, zeros of others.
    """
    out, arms = np.zeros((m.neq, 20)), np.zeros((m.neq, m.nv))
    kinds, data, second = m.eq_type, m.eq_data, m.eq_obj2id
    if not set(_ROWS).issuperset(kinds.tolist()):
        which = names_of(m, "equality", ~np.isin(kinds, list(_ROWS)))
        raise not_covered("equality constraints other than connect, weld, joint and tendon", which)
    out[:, 0] = [_ROWS[kind] for kind in kinds.tolist()]
    has_second = second >= 0
    joints = np.flatnonzero((kinds == _JOINT) & has_second)
    tendons = np.flatnonzero((kinds == _TENDON) & has_second)
    arms[joints, m.jnt_dofadr[second[joints]]] = 1.0
    arms[tendons] = of_tendons[second[tendons]]
    out[joints, 1] = m.qpos0[m.jnt_qposadr[second[joints]]]
    out[tendons, 1] = m.tendon_length0[second[tendons]]
    out[:, 2:5] = data[:, 2:5] * (2.0, 6.0, 12.0)
    out[:, 5] = data[:, 10]
    bodies = np.zeros((m.neq, 2), dtype=np.intp)
    of_bodies = out[:, 0] > 1.0
    objects = np.stack([m.eq_obj1id, second], axis=1)[of_bodies]
    bodies[of_bodies], out[of_bodies, 6:] = _objects(m, objects, of_bodies)
    return out, bodies, *lengths(m, arms)


def _objects(m: Any, objects: Indices, some: Mask) -> tuple[Indices, Array]:
    """Return the bodies of objects (n, 2), their points and quaternions, (n, 14)."""
    data, welds = m.eq_data[some], m.eq_type[some] == _WELD
    bodies, places = objects.astype(np.intp), np.zeros((len(objects), 2, 7))
    # The anchor of a weld is on the second body, and the relative pose is of the first.
    places[:, :, :3] = np.stack([data[:, :3], data[:, 3:6]], axis=1)
    places[welds, :, :3] = places[welds, ::-1, :3]
    places[:, :, 3] = 1.0
    places[welds, 0, 3:] = data[welds, 6:10]
    sites = m.eq_objtype[some] == int(mujoco.mjtObj.mjOBJ_SITE)
    bodies[sites] = m.site_bodyid[objects[sites]]
    places[sites] = np.dstack([m.site_pos[objects[sites]], m.site_quat[objects[sites]]])
    places[:, :, :3] -= m.body_ipos[bodies]
    return bodies, places.reshape(-1, 14)
