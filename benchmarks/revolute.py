"""Trees of revolute joints on a fixed base as plain arrays, for programs that are made here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import dtau
from benchmarks.checks import Array


@dataclass(frozen=True)
class RevoluteTree:
    """What a model is made of: an entry a body, numbered as the model's."""

    n: int
    parent: NDArray[np.int32]  # or -1: the base
    rotation: Array  # (n, 3, 3) of the joint in the parent's frame
    translation: Array  # (n, 3)
    axis: Array  # (n, 3)
    mass: Array
    com: Array  # (n, 3)
    tensor: Array  # (n, 3, 3) about the centre of mass
    gravity: Array  # (3,)

    @staticmethod
    def of(model: dtau.Model) -> RevoluteTree:
        """The arrays of a model that has no other joints."""
        joints, inertias = model.joints, model.inertias
        if not all(isinstance(joint.type, dtau.Revolute) for joint in joints):
            raise ValueError("model: expected revolute joints only")
        return RevoluteTree(
            n=len(joints),
            parent=np.array([joint.parent for joint in joints], dtype=np.int32),
            rotation=np.array([joint.placement.rotation for joint in joints]),
            translation=np.array([joint.placement.translation for joint in joints]),
            axis=np.array([joint.type.axis for joint in joints]),  # type: ignore[attr-defined]
            mass=np.array([inertia.mass for inertia in inertias]),
            com=np.array([inertia.com for inertia in inertias]),
            tensor=np.array([inertia.tensor for inertia in inertias]),
            gravity=np.array(model.gravity),
        )
