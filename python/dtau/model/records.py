"""Public records of a model's joints, and sums over its mimic joints: armature, friction, ..."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dtau.model.compile import BodyArrays, concatenate
from dtau.model.links import Body, Frame, Joint, Link, Mimic
from dtau.model.parameters import to_parameters
from dtau.support.arrays import Array


def joint_records(bodies: Sequence[Body], mimics: Mapping[str, Mimic]) -> tuple[Joint, ...]:
    """Return the moving joints; a mimic joint has the entries of the joint that it mimics."""
    entries: dict[str, tuple[slice, slice]] = {}  # entries of q and v of joints that mimic none
    q = v = 0
    for body in bodies:
        link = body.link
        if link.joint_name not in mimics:
            nq, nv = link.joint.nq, link.joint.nv
            entries[link.joint_name] = slice(q, q + nq), slice(v, v + nv)
            q, v = q + nq, v + nv
    joints = []
    for index, body in enumerate(bodies):
        link = body.link
        mimic = mimics.get(link.joint_name)
        at_q, at_v = entries[mimic.joint if mimic else link.joint_name]
        joints.append(
            Joint._trusted(
                name=link.joint_name,
                type=link.joint,
                body=index,
                parent=body.parent,
                q=at_q,
                v=at_v,
                placement=body.placement,
                limits=link.limits,
                mimic=mimic,
            )
        )
    return tuple(joints)


_UNMOVED = "is fixed to the world: its inertia has no effect"


def with_unmoved(
    notes: Sequence[str], links: Sequence[Link], frames: Mapping[str, Frame]
) -> tuple[str, ...]:
    """Return notes with those about links that are fixed to the world, without former ones."""
    if any(note.endswith(_UNMOVED) for note in notes):
        former = {f"link {link.name!r} {_UNMOVED}" for link in links}
        notes = [note for note in notes if note not in former]
    unmoved = [link for link in links if frames[link.name].body < 0 and link.inertia.mass > 0]
    return *notes, *(f"link {link.name!r} {_UNMOVED}" for link in unmoved)


@np.errstate(over="ignore", invalid="ignore")
def with_mimics(name: str, bodies: Sequence[Body], joints: Sequence[Joint]) -> Array:
    """Return an array (nv,) of armature, damping or stiffness, of mimics added, scaled."""
    if all(joint.mimic is None for joint in joints):  # much faster
        total = concatenate(getattr(body.link, name) for body in bodies) + 0.0
    else:
        total = np.zeros(max(joint.v.stop for joint in joints))
        for body, joint in zip(bodies, joints, strict=True):
            scale = joint.mimic.multiplier if joint.mimic else 1.0
            total[joint.v] += scale**2 * np.asarray(getattr(body.link, name))
            if not np.isfinite(total[joint.v]).all():
                problem = "summed over mimic joints: too large"
                raise ValueError(f"{name} of joint {joint.name!r}, {problem}")
    total.setflags(write=False)
    return total


@np.errstate(over="ignore", invalid="ignore")
def rest_positions(stiffness: Array, bodies: Sequence[Body], joints: Sequence[Joint]) -> Array:
    """Return the coordinates (nv,) at which all springs of a velocity together give no torque.

    stiffness (nv,): the sums, with the stiffness of mimic joints.
    """
    if all(joint.mimic is None for joint in joints):
        return concatenate(body.link.rest_position for body in bodies)
    rest = np.zeros_like(stiffness)
    torque = np.zeros_like(stiffness)  # at zero
    shared = np.zeros(stiffness.size, dtype=bool)
    for body, joint in zip(bodies, joints, strict=True):
        own, at_rest = np.asarray(body.link.stiffness), np.asarray(body.link.rest_position)
        if joint.mimic is None:
            rest[joint.v] = at_rest
            torque[joint.v] += own * at_rest
        else:
            torque[joint.v] += joint.mimic.multiplier * own * (at_rest - joint.mimic.offset)
            shared[joint.v] |= own > 0.0
    np.divide(torque, stiffness, out=rest, where=shared & (stiffness > 0.0))
    rest.setflags(write=False)
    return rest


@np.errstate(over="ignore", invalid="ignore")
def frictions(bodies: Sequence[Body], joints: Sequence[Joint]) -> tuple[Array, Array]:
    """Return friction (nv,), of mimics added, scaled, and the speed (nv,) of the joints' own."""
    if all(joint.mimic is None for joint in joints):
        own = concatenate(body.link.friction for body in bodies)
        return own, concatenate(body.link.friction_speed for body in bodies)
    total, speed = np.zeros((2, max(joint.v.stop for joint in joints)))
    for body, joint in zip(bodies, joints, strict=True):
        scale = abs(joint.mimic.multiplier) if joint.mimic else 1.0
        total[joint.v] += scale * np.asarray(body.link.friction)
        if not np.isfinite(total[joint.v]).all():
            problem = "summed over mimic joints: too large"
            raise ValueError(f"friction of joint {joint.name!r}, {problem}")
        if joint.mimic is None:
            speed[joint.v] = body.link.friction_speed
    total.setflags(write=False)
    speed.setflags(write=False)
    return total, speed


def parameters_of(arrays: BodyArrays) -> Array:
    """Return the inertial parameters ``(nbodies, 10)`` of a model's bodies."""
    own = arrays.link >= 0
    return to_parameters(arrays.mass[own], arrays.com[own], arrays.tensor[own])
