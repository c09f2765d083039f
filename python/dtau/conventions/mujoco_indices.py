"""Check the integers of a MuJoCo model in memory, which anyone may write: `require_indices`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau.conventions.mujoco_names import BALL, FREE, HINGE, SLIDE

Integers = NDArray[np.int64]

_NQ = {FREE: 7, BALL: 4, SLIDE: 1, HINGE: 1}
_NV = {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}
_ADDRESSES_OF_NAMES = tuple(
    f"name_{kind}adr"
    for kind in ("body", "jnt", "site", "key", "eq", "tendon", "actuator", "flex", "plugin")
)


def require_names(m: Any) -> None:
    """Raise ValueError unless all names lie in the model's text, where MuJoCo looks for them."""
    text = bytes(m.names)
    for name in _ADDRESSES_OF_NAMES:
        _require(name, getattr(m, name), 0, len(text) - 1)
    if not text.endswith(b"\0"):
        raise ValueError("names: expected a zero at the end, which the last name needs")


def require_indices(mujoco: Any, m: Any) -> None:
    """Raise ValueError unless the integers that the reader of MJCF follows fit the model."""
    require_names(m)
    for name, values, least, most in _indices(mujoco, m):
        _require(name, values, least, most)
    types = m.jnt_type.tolist()
    for name, sizes in (("jnt_qposadr", _NQ), ("jnt_dofadr", _NV)):
        ends = np.cumsum([0, *(sizes[kind] for kind in types)])
        _require(name, getattr(m, name), ends[:-1], ends[:-1])
    # Joints follow their bodies' order.
    first = np.concatenate([[0], np.cumsum(m.body_jntnum)])
    _require("body_jntnum", first[-1:], m.njnt, m.njnt)
    has = m.body_jntnum > 0
    _require("body_jntadr", m.body_jntadr[has], first[:-1][has], first[:-1][has])
    of_bodies = np.arange(m.nbody).repeat(m.body_jntnum)
    _require("jnt_bodyid", m.jnt_bodyid, of_bodies, of_bodies)


def _indices(mujoco: Any, m: Any) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield arrays of integers, their names and the least and the largest allowed."""
    body, joint = m.nbody - 1, m.njnt - 1
    parents = np.maximum(np.arange(m.nbody) - 1, 0)  # a parent comes before its bodies
    yield "jnt_type", m.jnt_type, min(_NQ), max(_NQ)
    yield "body_parentid", m.body_parentid, 0, parents
    yield "body_rootid", m.body_rootid, 0, body
    yield "body_weldid", m.body_weldid, 0, body
    yield "body_jntnum", m.body_jntnum, 0, m.njnt
    yield "dof_jntid", m.dof_jntid, 0, joint
    yield "site_bodyid", m.site_bodyid, 0, body
    yield "eq_type", m.eq_type, 0, max(map(int, mujoco.mjtEq.__members__.values()))
    counts = {mujoco.mjtObj.mjOBJ_SITE: m.nsite, mujoco.mjtObj.mjOBJ_BODY: m.nbody}
    for kind in (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD):
        for i in np.flatnonzero(m.eq_type == kind).tolist():
            objects = counts.get(mujoco.mjtObj(int(m.eq_objtype[i])), 0)
            for name in ("eq_obj1id", "eq_obj2id"):
                yield name, getattr(m, name)[i : i + 1], 0, objects - 1
    on_joints = m.eq_type == mujoco.mjtEq.mjEQ_JOINT
    yield "eq_obj1id", m.eq_obj1id[on_joints], 0, joint
    yield "eq_obj2id", m.eq_obj2id[on_joints], -1, joint
    if hasattr(m, "actuator_outadr"):
        yield "actuator_outadr", m.actuator_outadr, 0, len(m.actuator_gear) - 1
    for name in ("mjTRN_JOINT", "mjTRN_JOINTINPARENT"):
        moved = m.actuator_trntype == getattr(mujoco.mjtTrn, name)
        yield "actuator_trnid", m.actuator_trnid[moved, 0], 0, joint


def _require(name: str, values: Any, least: Any, most: Any) -> None:
    values, least, most = np.broadcast_arrays(np.asarray(values, np.int64), least, most)
    wrong = np.flatnonzero((values < least) | (values > most))
    if wrong.size:
        i = wrong[0]
        expected = (
            f"{least[i]}" if least[i] == most[i] else f"a number from {least[i]} to {most[i]}"
        )
        raise ValueError(f"{name}: expected {expected}, got {values[i]}")
