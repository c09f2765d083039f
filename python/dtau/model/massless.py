"""Joints that would accelerate nothing: forward dynamics has no answer for them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from dtau.errors import ModelWarning
from dtau.model.compile import CoreBody
from dtau.model.joint_type import JointType
from dtau.model.spatial import Inertia

_SINGULAR = 1e-13  # of what the joint carries
_IDENTITY = np.eye(3)


@np.errstate(over="ignore", invalid="ignore")
def massless_joints(bodies: Sequence[CoreBody]) -> tuple[str, ...]:
    """Name the joints whose articulated-body inertia D = Sᵀ Iᴬ S + armature is singular.

    D is taken at one generic configuration (drawn with a fixed seed) and compared with what the
    joint would feel if its subtree were rigid. To its ancestors a joint found here counts as
    rigid, so that only the culprits are named; so do joints that move together because some mimic
    others, whose D add up. 6-vectors are linear first, in body axes.
    """
    rng = np.random.default_rng(20)
    articulated = [_spatial_inertia(each.body.inertia) for each in bodies]
    rigid = [inertia.copy() for inertia in articulated]
    # D and what it is compared with, by the joints that are followed or independent
    felt: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    together = {each.leader for each in bodies}
    for i in reversed(range(len(bodies))):
        core_body, body = bodies[i], bodies[i].body
        if not np.isfinite(articulated[i] + rigid[i]).all():
            raise ValueError(f"inertias of {body.link.name!r} and its subtree: too large to add")
        joint = body.link.joint
        subspace = joint.motion_subspace()
        armature = np.asarray(body.link.armature)
        force = articulated[i] @ subspace
        d: NDArray[np.float64] = subspace.T @ force + np.diag(armature)
        mass, moment = rigid[i][0, 0], rigid[i].diagonal()[3:].sum()
        # Per velocity: the most that this mass and these moments could give.
        scale = (
            mass * (subspace[:3] ** 2).sum(axis=0)
            + moment * (subspace[3:] ** 2).sum(axis=0)
            + armature
        )
        if core_body.leader >= 0 or i in together:  # moves with others: rigid to its ancestors
            leader = i if core_body.leader < 0 else core_body.leader
            sum_d, sum_scale = felt.get(leader, (np.zeros((1, 1)), np.zeros(1)))
            by = core_body.multiplier**2
            sum_d, sum_scale = sum_d + by * d, sum_scale + by * scale
            if not np.isfinite([sum_d[0], sum_scale]).all():
                raise ValueError(
                    f"joint {bodies[leader].body.link.joint_name!r} and those that mimic it: "
                    "inertias too large to add"
                )
            felt[leader] = sum_d, sum_scale
        else:
            felt[i] = d, scale
            if not _is_singular(d, scale):
                acceleration = force.T / d if d.size == 1 else np.linalg.solve(d, force.T)
                rest = articulated[i] - force @ acceleration
                articulated[i] = 0.5 * (rest + rest.T)  # asymmetric rounding would grow up the tree
        if body.parent >= 0:
            moved = joint.placement(_generic_coordinates(joint, rng))
            rotation, translation = body.placement.rotation, body.placement.translation
            motion = _motion_to_child(
                rotation @ moved.rotation, rotation @ moved.translation + translation
            )
            articulated[body.parent] += motion.T @ articulated[i] @ motion
            rigid[body.parent] += motion.T @ rigid[i] @ motion
    names = [
        each.body.link.joint_name
        for i, each in enumerate(bodies)
        if i in felt and _is_singular(*felt[i])
    ]
    return tuple(dict.fromkeys(names))  # a universal joint is two


def warn_of_massless(joints: Collection[str], stacklevel: int) -> None:
    """Warn of such joints, if there are any; `stacklevel` as seen from the caller."""
    if joints:
        warnings.warn(
            "joints that move no inertia, or less than 1e-13 of what they carry: "
            f"{', '.join(joints)}; inverse dynamics works, forward dynamics will refuse this model",
            ModelWarning,
            stacklevel=stacklevel + 1,
        )


def _is_singular(d: NDArray[np.float64], scale: NDArray[np.float64]) -> bool:
    if not (scale > 0).all():
        return True
    unit = 1 / np.sqrt(scale)
    relative = unit[:, None] * d * unit
    return bool((relative if d.size == 1 else np.linalg.eigvalsh(relative)).flat[0] <= _SINGULAR)


def _generic_coordinates(joint: JointType, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw coordinates without any symmetry; a quaternion, where there is one, comes last."""
    q = rng.uniform(-1, 1, joint.nq)
    if joint.nq > joint.nv:
        q[-4:] /= np.linalg.norm(q[-4:])
    return q


def _spatial_inertia(inertia: Inertia) -> NDArray[np.float64]:
    """Return the 6x6 inertia about the origin of the body's frame."""
    cross = inertia.mass * _cross(inertia.com)
    matrix = np.empty((6, 6))
    matrix[:3, :3] = inertia.mass * _IDENTITY
    matrix[:3, 3:] = cross.T
    matrix[3:, :3] = cross
    matrix[3:, 3:] = inertia.tensor + cross @ _cross(inertia.com).T
    return matrix


def _motion_to_child(
    rotation: NDArray[np.float64], translation: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the matrix that takes a twist at the parent's origin to the child's frame there."""
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = rotation.T
    matrix[:3, 3:] = -rotation.T @ _cross(translation)
    matrix[3:, 3:] = rotation.T
    return matrix


def _cross(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y, z = vector.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
