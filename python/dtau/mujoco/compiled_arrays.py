"""Refuse models with changed arrays that MuJoCo's step does not read: `require_read`.

MuJoCo's compiler derives constants from masses and frames, and the step reads these instead. Where
only one of the two changes, the step belongs to no single model.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from dtau.mujoco.scope import SITE_TRANSMISSION, names_of
from dtau.support.arrays import Array, Indices, Mask

_OF_BODY, _OF_INERTIA, _ROTATION_OF_BODY, _ROTATION_OF_INERTIA = (
    int(getattr(mujoco.mjtSameFrame, f"mjSAMEFRAME_{name}"))
    for name in ("BODY", "INERTIA", "BODYROT", "INERTIAROT")
)
_CLOSE = 1e-5  # MuJoCo's compiler takes frames for the same up to 1e-6
_SMALL = 1e-3  # coupling of the degrees of freedom of such a frame


def require_read(m: Any, inertia: Array) -> None:
    """Raise ValueError if the step does not read masses or frames that the model has.

    `inertia` (nv, nv): the mass matrix of the model at ``qpos0``, without armature.
    """
    bodies, sites = np.arange(m.nbody), _sites(m)
    geoms = np.flatnonzero((m.geom_fluid[:, 0] > 0.0) * bool(m.opt.density or m.opt.viscosity))
    for kind, some, owners, pos, quat, marks in (
        ("body", bodies, bodies, m.body_ipos, m.body_iquat, m.body_sameframe),
        ("site", sites, m.site_bodyid, m.site_pos, m.site_quat, m.site_sameframe),
        ("geom", geoms, m.geom_bodyid, m.geom_pos, m.geom_quat, m.geom_sameframe),
    ):
        name = f"{kind}_sameframe"
        _refuse(
            *(m, kind, some[_differ(m, owners[some], pos[some], quat[some], marks[some])]),
            f"{name}, which marks frames that MuJoCo copies from the body",
            f"call mujoco.mj_setConst after a change, or set {name} to 0 there",
        )
    simple = np.flatnonzero(m.dof_simplenum)
    expected = inertia + np.diag(m.dof_armature)
    sizes = np.sqrt(np.abs(np.diag(expected)))
    allowed = np.where(np.eye(m.nv), _CLOSE, _SMALL) * np.outer(sizes, sizes)
    apart = np.abs(expected - np.diag(m.dof_M0)) > allowed
    _refuse(
        *(m, "body", np.unique(m.dof_bodyid[simple[apart[simple].any(axis=1)]])),
        "dof_M0, which MuJoCo takes for simple bodies",
        "call mujoco.mj_setConst after a change, or dtau.mujoco.set_parameters in place of it; a "
        'body whose frame leaves its principal axes needs simple="false" in its file',
    )


def _sites(m: Any) -> Indices:
    """Return the sites of actuators and of equality constraints."""
    of_sites = m.eq_objtype == int(mujoco.mjtObj.mjOBJ_SITE)
    pulled = m.actuator_trnid[m.actuator_trntype == SITE_TRANSMISSION, 0]
    return np.unique(np.concatenate([pulled, m.eq_obj1id[of_sites], m.eq_obj2id[of_sites]]))


def _differ(m: Any, bodies: Indices, pos: Array, quat: Array, marks: Any) -> Mask:
    """Tell which frames are not what their marks say."""
    of_inertia = np.isin(marks, (_OF_INERTIA, _ROTATION_OF_INERTIA))[:, np.newaxis]
    place = np.where(of_inertia, m.body_ipos[bodies], 0.0)
    turn = np.where(of_inertia, m.body_iquat[bodies], (1.0, 0.0, 0.0, 0.0))
    moved = np.abs(pos - place).max(axis=1) > _CLOSE
    turned = np.minimum(*(np.abs(quat - x).max(axis=1) for x in (turn, -turn))) > _CLOSE
    whole, rotations = (_OF_BODY, _OF_INERTIA), (_ROTATION_OF_BODY, _ROTATION_OF_INERTIA)
    out = (np.isin(marks, whole) & (moved | turned)) | (np.isin(marks, rotations) & turned)
    return np.asarray(out)


def _refuse(m: Any, kind: str, which: Indices, fits: str, way_out: str) -> None:
    if not len(which):
        return
    mask = np.isin(np.arange(which.max() + 1), which)
    raise ValueError(
        f"mj_model: expected numbers that fit {fits}, got others ({names_of(m, kind, mask)}), "
        f"which the step does not read; {way_out}"
    )
