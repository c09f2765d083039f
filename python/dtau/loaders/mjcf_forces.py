"""Forces, equalities and passive elements of an MJCF: which of them a model can carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dtau.conventions.mujoco_names import BALL, FREE, HINGE, SLIDE
from dtau.model.links import Mimic
from dtau.support.arrays import Array, Mask
from dtau.support.checks import listing


def is_off(mujoco: Any, m: Any, *parts: str) -> bool:
    """Whether a file's flags switch off one of these parts; flags differ by MuJoCo's version."""
    bits = (getattr(mujoco.mjtDisableBit, f"mjDSBL_{part}", None) for part in parts)
    return any(bit is not None and m.opt.disableflags & bit for bit in bits)


def mimics_of(mujoco: Any, m: Any, joints: Sequence[str]) -> dict[str, Mimic]:
    """Return the linear equalities of two joints as mimics, by the mimic joint.

    MuJoCo's equality is y - y0 = a0 + a1 (x - x0), with the joints' ref x0, y0.
    """
    found: dict[str, Mimic] = {}
    for i in acting_equalities(mujoco, m):
        if _is_mimic(mujoco, m, i):
            mimicking, mimicked = (int(m.eq_obj1id[i]), int(m.eq_obj2id[i]))
            a0, a1 = m.eq_data[i, :2].tolist()
            y0, x0 = (float(m.qpos0[m.jnt_qposadr[joint]]) for joint in (mimicking, mimicked))
            found.setdefault(joints[mimicking], Mimic(joints[mimicked], a1, y0 + a0 - a1 * x0))
    return found


def passive(mujoco: Any, m: Any) -> tuple[Array, Array]:
    """Return armature and viscous damping by velocity, including the actuators' share.

    Of a free joint, MuJoCo has the linear part along the world's axes. A model has its own axes
    there and carries only damping that is the same along all of them.
    """
    armature, damping = np.array(m.dof_armature), np.array(m.dof_damping)
    for first in _free_dofs(m):
        armature[first : first + 6] = 0.0
        if _differs_by_axis(damping, first):
            damping[first : first + 6] = 0.0
    actuators = geared(mujoco, m) if hasattr(m, "actuator_armature") else ()
    for actuator, joint, gear in actuators:
        dof = m.jnt_dofadr[joint]
        armature[dof] += gear * gear * m.actuator_armature[actuator]
        damping[dof] += gear * gear * m.actuator_damping[actuator]
    if is_off(mujoco, m, "DAMPER", "PASSIVE"):
        damping[:] = 0.0
    return armature, damping


def springs_of(mujoco: Any, m: Any) -> tuple[Array, Array]:
    """Return stiffness and rest position by velocity, of the springs that a model can carry."""
    stiffness, rest = np.zeros(m.nv), np.zeros(m.nv)
    if not is_off(mujoco, m, "SPRING", "PASSIVE"):
        for i in _nonzero(_carried_springs(m)):
            dof, at = m.jnt_dofadr[i], m.jnt_qposadr[i]
            if m.jnt_type[i] == BALL:
                stiffness[dof : dof + 3] = m.jnt_stiffness[i]
                rest[dof : dof + 3] = _rotation_vector(m.qpos_spring[at : at + 4])
            else:
                stiffness[dof] = m.jnt_stiffness[i]
                rest[dof] = m.qpos_spring[at]
    return stiffness, rest


def _rotation_vector(quaternion: Array) -> Array:
    """Return the rotation vector of MuJoCo's quaternion w x y z, of at most half a turn."""
    x = np.copysign(1.0, quaternion[0]) * quaternion
    length = np.linalg.norm(x[1:])
    scale = 2.0 * np.arctan2(length, x[0]) / length if length > 0.0 else 0.0
    return np.asarray(scale * x[1:])


def _carried_springs(m: Any) -> Mask:
    """Return which joints have springs that a model can carry: linear ones, but not of free joints.

    A free joint's spring would pull at the body's position too, in the world.
    """
    linear = _sizes(m, "jnt_stiffnesspoly", m.njnt) == 0.0
    bound = np.isin(m.jnt_type, (HINGE, SLIDE, BALL))
    return np.asarray((m.jnt_stiffness > 0.0) & linear & bound, dtype=np.bool_)


def friction_of(mujoco: Any, m: Any, joints: Sequence[str]) -> dict[str, Array]:
    """Return the friction loss that a model can carry, by joint and velocity.

    The friction loss of a free joint acts on velocities along the world's axes.
    """
    if is_off(mujoco, m, "FRICTIONLOSS", "CONSTRAINT"):
        return {}
    return {
        joints[i]: np.array(m.dof_frictionloss[m.dof_jntid == i])
        for i in dict.fromkeys(m.dof_jntid[_nonzero(m.dof_frictionloss)].tolist())
        if m.jnt_type[i] != FREE
    }


def _free_dofs(m: Any) -> list[int]:
    """Return the first velocity of each free joint."""
    return [int(first) for first in m.jnt_dofadr[m.jnt_type == FREE]]


def _differs_by_axis(values: Array, first: int) -> bool:
    """Whether a free joint's three linear values differ."""
    return bool((values[first : first + 3] != values[first]).any())


def uncarried(
    mujoco: Any,
    m: Any,
    joints: Sequence[str],
    bodies: Sequence[str],
    *,
    loops: bool,
    friction: bool,
) -> list[str]:
    """Name the forces of an MJCF that a model cannot carry.

    With `loops` it carries closures, with `friction` friction loss of joints.
    """
    springs = not is_off(mujoco, m, "SPRING", "PASSIVE")
    dampers = not is_off(mujoco, m, "DAMPER", "PASSIVE")
    losses = not is_off(mujoco, m, "FRICTIONLOSS", "CONSTRAINT")
    kinds = mujoco.mjtObj

    def named(kind: Any, i: int) -> str:
        return mujoco.mj_id2name(m, kind, i) or f"number {i}"

    def of_dofs(values: Array) -> list[str]:
        found = m.dof_jntid[_nonzero(values)].tolist()
        return [joints[i] for i in dict.fromkeys(found)]

    def of_joints(values: Array) -> list[str]:
        return [joints[i] for i in _nonzero(values)]

    by_kind: dict[str, list[str]] = {}
    if springs:
        stiff = np.abs(m.jnt_stiffness) + _sizes(m, "jnt_stiffnesspoly", m.njnt)
        by_kind["springs of joints"] = of_joints(np.where(_carried_springs(m), 0.0, stiff))
    if dampers:
        by_kind["damping that is not linear, of joints"] = of_dofs(
            _sizes(m, "dof_dampingpoly", m.nv)
        )
    if not friction:
        by_kind["friction loss (friction_speed= smooths and includes it) of joints"] = list(
            friction_of(mujoco, m, joints)
        )
    free = {joints[m.dof_jntid[first]]: first for first in _free_dofs(m)}

    def of_free(values: Array) -> list[str]:
        return [name for name, first in free.items() if values[first : first + 6].any()]

    by_kind["armature of free joints, along the world's axes"] = of_free(m.dof_armature)
    if dampers:
        by_kind["damping that differs by the world's axes, of free joints"] = [
            name for name, first in free.items() if _differs_by_axis(m.dof_damping, first)
        ]
    if losses:
        by_kind["friction loss of free joints, along the world's axes"] = of_free(
            m.dof_frictionloss
        )
    tendon = _sizes(m, "tendon_armature", m.ntendon)
    if springs:
        tendon += np.abs(m.tendon_stiffness) + _sizes(m, "tendon_stiffnesspoly", m.ntendon)
    if dampers:
        tendon += np.abs(m.tendon_damping) + _sizes(m, "tendon_dampingpoly", m.ntendon)
    if losses:
        tendon += np.abs(m.tendon_frictionloss)
    by_kind["tendons"] = [named(kinds.mjOBJ_TENDON, i) for i in _nonzero(tendon)]
    by_kind["armature or damping of actuators"] = [
        named(kinds.mjOBJ_ACTUATOR, i) for i in _uncarried_actuators(mujoco, m, dampers)
    ]
    for i in acting_equalities(mujoco, m):
        if not (_is_mimic(mujoco, m, i) or (loops and is_closure(mujoco, m, i))):
            kind = mujoco.mjtEq(int(m.eq_type[i])).name.removeprefix("mjEQ_").lower()
            if is_closure(mujoco, m, i):
                kind += "; dtau.load_mechanism makes loops of them"
            by_kind.setdefault(f"equalities ({kind})", []).append(named(kinds.mjOBJ_EQUALITY, i))
    if not is_off(mujoco, m, "GRAVITY"):
        by_kind["gravity compensation of bodies"] = [bodies[i] for i in _nonzero(m.body_gravcomp)]
    by_kind["elasticity of flexes"] = [named(kinds.mjOBJ_FLEX, i) for i in range(m.nflex)]
    by_kind["plugins"] = [named(kinds.mjOBJ_PLUGIN, i) for i in range(m.nplugin)]
    medium = [name for name in ("density", "viscosity") if getattr(m.opt, name) != 0]
    by_kind["a medium with"] = medium
    return [f"{kind} {listing(names)}" for kind, names in by_kind.items() if names]


def _nonzero(values: Any) -> list[int]:
    return [int(i) for i in np.flatnonzero(np.asarray(values))]


def _sizes(m: Any, name: str, count: int) -> Array:
    """Return magnitudes of numbers, summed over rows; zeros if this MuJoCo has no such field."""
    values = np.abs(np.asarray(getattr(m, name, np.zeros(count)), dtype=np.float64))
    return np.asarray(values.reshape(count, -1).sum(axis=1) if count else values.reshape(0))


def acting_actuators(mujoco: Any, m: Any) -> Mask:
    """Return which actuators act: flags switch off all of them, or groups from 0 to 30."""
    if is_off(mujoco, m, "ACTUATION"):
        return np.zeros(len(m.actuator_trntype), dtype=np.bool_)
    groups = int(getattr(m.opt, "disableactuator", 0))
    return np.array(
        [not (0 <= group <= 30 and groups >> group & 1) for group in m.actuator_group.tolist()],
        dtype=np.bool_,
    )


def compensated(mujoco: Any, m: Any, joints: Sequence[str]) -> list[str]:
    """Name the joints whose actuators carry gravity compensation: ``actuatorgravcomp``."""
    if is_off(mujoco, m, "GRAVITY") or not np.any(m.opt.gravity):
        return []
    carried = np.array(m.body_gravcomp) != 0.0
    for body in range(m.nbody - 1, 0, -1):
        carried[m.body_parentid[body]] |= carried[body]
    held = _sizes(m, "jnt_actgravcomp", m.njnt) != 0.0
    return [joints[i] for i in _nonzero(held & carried[m.jnt_bodyid])]


def acting_equalities(mujoco: Any, m: Any) -> list[int]:
    """Return the numbers of the equalities that are active and not switched off."""
    return [] if is_off(mujoco, m, "EQUALITY", "CONSTRAINT") else _nonzero(m.eq_active0)


def is_closure(mujoco: Any, m: Any, i: int) -> bool:
    """Whether an equality holds points or poses of bodies together."""
    kinds = mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD
    return any(m.eq_type[i] == kind for kind in kinds)


def _is_mimic(mujoco: Any, m: Any, i: int) -> bool:
    """Whether an equality is linear in another joint, with nonzero slope."""
    return bool(
        m.eq_type[i] == mujoco.mjtEq.mjEQ_JOINT
        and m.eq_obj2id[i] >= 0
        and m.eq_data[i, 1] != 0
        and not m.eq_data[i, 2:5].any()
    )


def geared(mujoco: Any, m: Any) -> Iterable[tuple[int, int, float]]:
    """Yield the actuators of hinges and slides: actuator, joint, gear."""
    on_joints = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    outputs = getattr(m, "actuator_outadr", range(len(m.actuator_trntype)))
    for i, kind in enumerate(m.actuator_trntype.tolist()):
        joint = int(m.actuator_trnid[i, 0])
        if kind in on_joints and m.jnt_type[joint] in (SLIDE, HINGE):
            yield i, joint, float(m.actuator_gear[outputs[i], 0])


def _uncarried_actuators(mujoco: Any, m: Any, dampers: bool) -> list[int]:
    """Return the actuators whose armature or damping a model cannot carry."""
    if not hasattr(m, "actuator_armature"):
        return []
    count = len(m.actuator_trntype)
    rest = np.abs(m.actuator_armature) + (np.abs(m.actuator_damping) if dampers else 0.0)
    rest[[i for i, _, _ in geared(mujoco, m)]] = 0.0
    if dampers:
        rest = rest + _sizes(m, "actuator_dampingpoly", count)
    return _nonzero(rest)
