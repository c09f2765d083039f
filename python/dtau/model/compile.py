"""Compile a model's bodies into flat arrays for the core: `compile_tree`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.joints import Revolute, Universal
from dtau.model.links import Body, Frame, Limits, Mimic
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia

MOST_DOFS = _core.max_dofs


@dataclass(frozen=True)
class CoreBody:
    """A body of the core: a body of the model, or the massless body inside a universal joint."""

    body: Body  # its parent is an index of core bodies
    link: int  # index of the model's body; -1: none
    mimicked: int  # index of the body whose joint this one's joint mimics; -1: none
    multiplier: float
    offset: float


def take_apart(bodies: Sequence[Body], mimics: Mapping[str, Mimic]) -> list[CoreBody]:
    """Split universal joints into two revolute joints with a massless body between."""
    result: list[CoreBody] = []
    place: list[int] = []  # index of each of the model's bodies
    for index, body in enumerate(bodies):
        link, parent = body.link, -1 if body.parent < 0 else place[body.parent]
        body = replace(body, parent=parent)
        if isinstance(link.joint, Universal):
            first, second = (
                replace(
                    link,
                    joint=Revolute(axis),
                    armature=link.armature[k : k + 1],  # type: ignore[index]
                    damping=link.damping[k : k + 1],  # type: ignore[index]
                    limits=Limits(),
                )
                for k, axis in enumerate((link.joint.axis1, link.joint.axis2))
            )
            result.append(CoreBody(replace(body, link=first, inertia=Inertia()), -1, -1, 1.0, 0.0))
            body = Body(second, len(result) - 1, Pose(), body.inertia)
        place.append(len(result))
        result.append(CoreBody(body, index, -1, 1.0, 0.0))

    by_joint = {body.link.joint_name: place[index] for index, body in enumerate(bodies)}
    for name, mimic in mimics.items():
        mimicking = by_joint[name]
        result[mimicking] = replace(
            result[mimicking],
            mimicked=by_joint[mimic.joint],
            multiplier=mimic.multiplier,
            offset=mimic.offset,
        )
    return result


def compile_tree(
    core_bodies: Sequence[CoreBody],
    gravity: NDArray[np.float64],
    massless_joints: Sequence[str],
    frames: Mapping[str, Frame],
) -> _core.Tree:
    """Write bodies and frames into the arrays of the core's tree."""
    bodies = [each.body for each in core_bodies]
    types = [body.link.joint for body in bodies]
    inertias = [body.inertia for body in bodies]
    axes = [getattr(joint, "axis", getattr(joint, "normal", (0.0, 0.0, 0.0))) for joint in types]
    return _core.Tree(
        np.array([joint._kind for joint in types], dtype=np.int32),
        np.array([body.parent for body in bodies], dtype=np.int32),
        np.array([each.link for each in core_bodies], dtype=np.int32),
        np.array([each.mimicked for each in core_bodies], dtype=np.int32),
        np.array([each.multiplier for each in core_bodies]),
        np.array([each.offset for each in core_bodies]),
        np.array([body.placement.rotation for body in bodies]),
        np.array([body.placement.translation for body in bodies]),
        np.array(axes),
        np.array([getattr(joint, "pitch", 0.0) for joint in types]),
        np.array([inertia.mass for inertia in inertias]),
        np.array([inertia.com for inertia in inertias]),
        np.array([inertia.tensor for inertia in inertias]),
        concatenate(body.link.armature for body in bodies),
        concatenate(body.link.damping for body in bodies),
        gravity.tolist(),
        [body.link.joint_name for body in bodies],
        list(massless_joints),
        list(frames),
        np.array([frame.body for frame in frames.values()], dtype=np.int32),
        np.array([frame.placement.rotation for frame in frames.values()]),
        np.array([frame.placement.translation for frame in frames.values()]),
    )


def concatenate(values: Iterable[ArrayLike]) -> NDArray[np.float64]:
    """Join rows of numbers into one read-only row."""
    array = np.concatenate([np.asarray(value, dtype=np.float64) for value in values])
    array.flags.writeable = False
    return array
