"""Public records of a model's joints, and the sums of armature, damping and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dtau.model.links import Body, Joint, Mimic
from dtau.model.parameters import to_parameters


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
            Joint(
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


@np.errstate(over="ignore", invalid="ignore")
def with_mimics(name: str, bodies: Sequence[Body], joints: Sequence[Joint]) -> NDArray[np.float64]:
    """Return an array (nv,) of armature or damping, with the mimics' values added, scaled."""
    total = np.zeros(max(joint.v.stop for joint in joints))
    for body, joint in zip(bodies, joints, strict=True):
        scale = joint.mimic.multiplier if joint.mimic else 1.0
        total[joint.v] += scale**2 * np.asarray(getattr(body.link, name))
        if not np.isfinite(total[joint.v]).all():
            raise ValueError(f"{name} of joint {joint.name!r}, summed over mimic joints: too large")
    total.flags.writeable = False
    return total


def parameters_of(bodies: Sequence[Body]) -> NDArray[np.float64]:
    """Return the inertial parameters ``(nbodies, 10)`` of a model's bodies."""
    inertias = [body.inertia for body in bodies]
    return to_parameters(
        np.array([inertia.mass for inertia in inertias]),
        np.array([inertia.com for inertia in inertias]),
        np.array([inertia.tensor for inertia in inertias]),
    )
