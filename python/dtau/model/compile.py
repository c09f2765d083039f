"""Compile a model's bodies into flat arrays for the core: `body_arrays`, `tree_arguments`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.joints import Revolute, Universal
from dtau.model.links import Body, Frame, Limits, Mimic
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array

MOST_DOFS = _core.max_dofs
_NO_AXIS = (0.0, 0.0, 0.0)


class CoreBody(NamedTuple):
    """A body of the core: a body of the model, or the massless body inside a universal joint."""

    body: Body  # its parent is an index of core bodies
    link: int  # index of the model's body; -1: none
    mimicked: int = -1  # index of the body whose joint this one's joint mimics; -1: none
    multiplier: float = 1.0
    offset: float = 0.0


class BodyArrays(NamedTuple):
    """Numbers of the core's bodies: one row each, but for numbers of joints one per velocity."""

    kind: NDArray[np.int32]
    parent: NDArray[np.int32]
    link: NDArray[np.int32]
    rotation: Array
    translation: Array
    axis: Array
    pitch: Array
    mass: Array
    com: Array
    tensor: Array
    armature: Array
    damping: Array
    stiffness: Array
    rest_position: Array
    friction: Array
    friction_speed: Array


def take_apart(bodies: Sequence[Body], mimics: Mapping[str, Mimic]) -> list[CoreBody]:
    """Split universal joints into two revolute joints with a massless body between."""
    result: list[CoreBody] = []
    place: list[int] = []  # index of each of the model's bodies
    for index, body in enumerate(bodies):
        link, parent = body.link, -1 if body.parent < 0 else place[body.parent]
        if parent != body.parent:
            body = replace(body, parent=parent)
        if isinstance(link.joint, Universal):
            first, second = (
                replace(
                    link,
                    joint=Revolute(axis),
                    armature=link.armature[k : k + 1],  # type: ignore[index]
                    damping=link.damping[k : k + 1],  # type: ignore[index]
                    stiffness=link.stiffness[k : k + 1],  # type: ignore[index]
                    rest_position=link.rest_position[k : k + 1],  # type: ignore[index]
                    friction=link.friction[k : k + 1],  # type: ignore[index]
                    friction_speed=link.friction_speed[k : k + 1],  # type: ignore[index]
                    limits=Limits(),
                )
                for k, axis in enumerate((link.joint.axis1, link.joint.axis2))
            )
            result.append(CoreBody(replace(body, link=first, inertia=Inertia()), -1))
            body = Body(second, len(result) - 1, Pose(), body.inertia)
        place.append(len(result))
        result.append(CoreBody(body, index))

    by_joint = {body.link.joint_name: place[index] for index, body in enumerate(bodies)}
    for name, mimic in mimics.items():
        mimicking = by_joint[name]
        result[mimicking] = result[mimicking]._replace(
            mimicked=by_joint[mimic.joint], multiplier=mimic.multiplier, offset=mimic.offset
        )
    return result


def body_arrays(core_bodies: Sequence[CoreBody]) -> BodyArrays:
    """Write the numbers of bodies and their joints into arrays."""
    bodies = [each.body for each in core_bodies]
    joints = [body.link.joint for body in bodies]
    inertias = [body.inertia for body in bodies]
    axes = [getattr(joint, "axis", None) or getattr(joint, "normal", _NO_AXIS) for joint in joints]
    return BodyArrays(
        kind=np.array([joint._kind for joint in joints], dtype=np.int32),
        parent=np.array([body.parent for body in bodies], dtype=np.int32),
        link=np.array([each.link for each in core_bodies], dtype=np.int32),
        rotation=np.array([body.placement.rotation for body in bodies]),
        translation=np.array([body.placement.translation for body in bodies]),
        axis=np.array(axes),
        pitch=np.array([getattr(joint, "pitch", 0.0) for joint in joints]),
        mass=np.array([inertia.mass for inertia in inertias]),
        com=np.array([inertia.com for inertia in inertias]),
        tensor=np.array([inertia.tensor for inertia in inertias]),
        armature=concatenate(body.link.armature for body in bodies),
        damping=concatenate(body.link.damping for body in bodies),
        stiffness=concatenate(body.link.stiffness for body in bodies),
        rest_position=concatenate(body.link.rest_position for body in bodies),
        friction=concatenate(body.link.friction for body in bodies),
        friction_speed=concatenate(body.link.friction_speed for body in bodies),
    )


def tree_arguments(
    core_bodies: Sequence[CoreBody],
    arrays: BodyArrays,
    gravity: Array,
    massless_joints: Sequence[str],
    frames: Mapping[str, Frame],
) -> dict[str, Any]:
    """Return the arguments of the core's tree by name; files of models hold them too."""
    return {
        **arrays._asdict(),
        "mimicked": np.array([each.mimicked for each in core_bodies], dtype=np.int32),
        "multiplier": np.array([each.multiplier for each in core_bodies]),
        "offset": np.array([each.offset for each in core_bodies]),
        "gravity": gravity.tolist(),
        "joint_names": [each.body.link.joint_name for each in core_bodies],
        "massless_joints": list(massless_joints),
        "frame_names": list(frames),
        "frame_link": np.array([frame.body for frame in frames.values()], dtype=np.int32),
        "frame_rotation": np.array([frame.placement.rotation for frame in frames.values()]),
        "frame_translation": np.array([frame.placement.translation for frame in frames.values()]),
    }


def concatenate(values: Iterable[ArrayLike]) -> Array:
    """Join rows of numbers, which are tuples, into one read-only row."""
    rows = cast("Iterable[tuple[float, ...]]", values)
    array = np.array([x for row in rows for x in row], dtype=np.float64)
    array.setflags(write=False)
    return array
