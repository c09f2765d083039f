"""Read named configurations of a model: `read_postures`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.base import ModelBase
from dtau.model.links import Joint
from dtau.model.pose import Pose
from dtau.support.arrays import Array
from dtau.support.checks import naming, require, require_name, unknown_name

Postures = Mapping[str, Mapping[str, ArrayLike | Pose]]  # positions by names of joints


def read_postures(joints: Sequence[Joint], postures: Postures) -> Mapping[str, Array]:
    """Return configurations by name, read-only; joints that a posture leaves out are neutral.

    Raises
    ------
    ValueError
        If there is no such joint, it mimics another, or coordinates are not valid.
    TypeError
        If names are not strings, or values are not as described.
    """
    require("postures", postures, Mapping)
    by_name = {joint.name: joint for joint in joints}
    read = {}
    for name, positions in postures.items():
        name = require_name("postures", name)
        require(f"posture {name!r}", positions, Mapping)
        q = np.concatenate([j.type.coordinates(Pose()) for j in joints if j.mimic is None])
        with naming(f"posture {name!r}"):
            for joint, position in positions.items():
                if joint not in by_name:
                    raise unknown_name("joint", joint, by_name)
                place(q, by_name[joint], position)
        q.flags.writeable = False
        read[name] = q
    return MappingProxyType(read)


def place(q: Array, joint: Joint, position: ArrayLike | Pose) -> None:
    """Write the position of a joint into a configuration.

    Raises
    ------
    ValueError
        If the joint mimics another, coordinates are not valid, or it cannot take the pose.
    TypeError
        If the position is neither real numbers nor a pose.
    """
    if joint.mimic is not None:
        raise ValueError(f"joint {joint.name!r} mimics {joint.mimic.joint!r}: place that one")
    with naming(f"position of joint {joint.name!r}"):
        if not isinstance(position, Pose):
            position = np.reshape(position, -1) if joint.type.nq == 1 else position
            joint.type.placement(position)  # raises for invalid coordinates
        q[joint.q] = joint.type.coordinates(position) if isinstance(position, Pose) else position


def by_joint(
    model: ModelBase, kept: Iterable[str] | None = None
) -> dict[str, dict[str, ArrayLike | Pose]]:
    """Return the postures of a model as positions by joint, of all joints or of `kept` ones."""
    names = {joint.name for joint in model.joints} if kept is None else set(kept)
    joints = [joint for joint in model.joints if joint.mimic is None and joint.name in names]
    return {name: {j.name: q[j.q] for j in joints} for name, q in model.postures.items()}
