"""Write a model as Pinocchio's: `pinocchio_model`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from dtau.model.base import ModelBase
from dtau.model.joint_type import JointType
from dtau.model.joints import (
    Cylindrical,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from dtau.model.links import Joint
from dtau.model.pose import Pose
from dtau.support.arrays import Array

_LARGEST = float(np.finfo(np.float64).max)  # Pinocchio's number for no limit


def pinocchio_model(model: ModelBase) -> Any:
    """Return the model in Pinocchio.

    Raises
    ------
    ImportError
        If Pinocchio is not installed.
    ValueError
        If Pinocchio cannot represent a joint, or the model has springs.
    """
    pin = importlib.import_module("pinocchio")
    if model.stiffness.any():
        raise ValueError(
            "to_pinocchio: expected a model without springs, which Pinocchio does not have; "
            "replace(stiffness=0) leaves them out"
        )
    out = pin.Model()
    out.name = model.name
    out.gravity.linear = np.array(model.gravity)
    joints = {joint.name: joint for joint in model.joints}
    index: dict[str, int] = {}
    waiting = list(model.joints)
    while waiting:  # a mimic joint comes after the joint that it mimics
        joint = next((joint for joint in waiting if _is_ready(model, joint, index)), None)
        if joint is None:
            raise ValueError(
                f"to_pinocchio: expected no mimic joint that carries the joint that it mimics, got "
                f"{waiting[0].name!r}"
            )
        waiting.remove(joint)
        carrier = index[model.joints[joint.parent].name] if joint.parent >= 0 else 0
        if joint.mimic is None:
            _require_normal(joint)
            kind = _joint_model(pin, joint.type)
        else:
            kind = _mimic_model(pin, out, joint, joints, index)
        index[joint.name] = out.addJoint(carrier, kind, _se3(pin, joint.placement), joint.name)
        inertia = model.inertias[joint.body]
        own = pin.Inertia(inertia.mass, np.array(inertia.com), np.array(inertia.tensor))
        out.appendBodyToJoint(index[joint.name], own, pin.SE3.Identity())
    _set_numbers(out, model, index)
    carriers = {joint.name: out.addJointFrame(index[joint.name]) for joint in model.joints}
    for name in model.frames:
        frame = model.frame(name)
        joint_name = model.joints[frame.body].name if frame.body >= 0 else ""
        at, above = index.get(joint_name, 0), carriers.get(joint_name, 0)
        place = _se3(pin, frame.placement)
        out.addFrame(pin.Frame(name, at, above, place, pin.FrameType.BODY))
    for name, q in model.postures.items():
        out.referenceConfigurations[name] = _configuration(out, model, index, q)
    return out


def _configuration(out: Any, model: ModelBase, index: Mapping[str, int], q: Array) -> Array:
    """Return a configuration in Pinocchio's coordinates: planar joints have cosine and sine."""
    there = np.zeros(out.nq)
    for joint in model.joints:
        if joint.mimic is not None:
            continue
        x, i = q[joint.q], index[joint.name]
        if isinstance(joint.type, Planar):
            x = np.array([x[0], x[1], np.cos(x[2]), np.sin(x[2])])
        there[out.idx_qs[i] : out.idx_qs[i] + out.nqs[i]] = x
    return there


def _is_ready(model: ModelBase, joint: Joint, index: Mapping[str, int]) -> bool:
    """Whether the joints are there that a joint needs."""
    carried = joint.parent < 0 or model.joints[joint.parent].name in index
    return carried and (joint.mimic is None or joint.mimic.joint in index)


def _require_normal(joint: Joint) -> None:
    if isinstance(joint.type, Planar) and joint.type.normal != (0.0, 0.0, 1.0):
        raise ValueError(
            f"to_pinocchio: joint {joint.name!r}: expected the normal (0, 0, 1), as Pinocchio's "
            f"planar joints have, got {joint.type.normal}"
        )


def _set_numbers(out: Any, model: ModelBase, index: Mapping[str, int]) -> None:
    """Set armature, damping, friction and limits."""
    for joint in model.joints:
        if joint.mimic is not None:
            continue
        i = index[joint.name]
        v = slice(out.idx_vs[i], out.idx_vs[i] + out.nvs[i])
        out.armature[v] = model.armature[joint.v]
        out.damping[v] = model.damping[joint.v]
        out.friction[v] = model.friction[joint.v]
        for name, values in (
            ("effort", model.effort_limits[joint.v]),
            ("velocity", model.velocity_limits[joint.v]),
        ):
            most = np.minimum(values, _LARGEST)
            getattr(out, f"{name}Limit")[v] = most
            if hasattr(out, lower := f"lower{name.capitalize()}Limit"):
                getattr(out, lower)[v] = -most
        if joint.type.nq == 1:
            q = out.idx_qs[i]
            out.lowerPositionLimit[q] = max(joint.limits.lower, -_LARGEST)
            out.upperPositionLimit[q] = min(joint.limits.upper, _LARGEST)


def _joint_model(pin: Any, joint: JointType) -> Any:
    """Return Pinocchio's joint; a chain of joints where it has none."""
    if isinstance(joint, Revolute | Prismatic | Helical):
        letter = {"Revolute": "R", "Prismatic": "P", "Helical": "H"}[type(joint).__name__]
        pitch = (joint.pitch,) if isinstance(joint, Helical) else ()
        if joint.axis.count(0.0) == 2 and 1.0 in joint.axis:
            return getattr(pin, f"JointModel{letter}{'XYZ'[joint.axis.index(1.0)]}")(*pitch)
        make = getattr(pin, f"JointModel{type(joint).__name__}Unaligned")
        return make(np.array(joint.axis), *pitch)
    if isinstance(joint, Cylindrical | Universal):
        first: JointType = (
            Prismatic(joint.axis) if isinstance(joint, Cylindrical) else (Revolute(joint.axis1))
        )
        second = Revolute(joint.axis if isinstance(joint, Cylindrical) else joint.axis2)
        both = pin.JointModelComposite(_joint_model(pin, first))
        both.addJoint(_joint_model(pin, second))
        return both
    names = {Spherical: "Spherical", Free: "FreeFlyer", Planar: "Planar"}
    return getattr(pin, f"JointModel{names[type(joint)]}")()


def _mimic_model(
    pin: Any, out: Any, joint: Joint, joints: Mapping[str, Joint], index: Mapping[str, int]
) -> Any:
    """Return a mimic joint, which has the mimicked joint's kind and axis in Pinocchio."""
    mimic = joint.mimic
    assert mimic is not None
    ours, theirs = joint.type, joints[mimic.joint].type
    sign = 0.0
    if isinstance(ours, Revolute | Prismatic) and isinstance(theirs, type(ours)):
        if ours.axis == theirs.axis:
            sign = 1.0
        elif ours.axis == tuple(-x for x in theirs.axis):
            sign = -1.0
    if not sign:
        raise ValueError(
            f"to_pinocchio: expected mimic joints that are revolute or prismatic like the mimicked "
            f"joint, along the same axis of their own frame, got {joint.name!r}"
        )
    mimicked = out.joints[index[mimic.joint]]
    return pin.JointModelMimic(mimicked, sign * mimic.multiplier, sign * mimic.offset)


def _se3(pin: Any, place: Pose) -> Any:
    return pin.SE3(np.array(place.rotation), np.array(place.translation))
