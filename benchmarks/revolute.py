"""Trees of revolute joints on a fixed base as plain arrays, for programs that are made here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import dtau
from benchmarks.experiment import Array


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
        bodies = model._bodies  # nothing public has the inertias
        if not all(isinstance(joint.type, dtau.Revolute) for joint in model.joints):
            raise ValueError("model: expected revolute joints only")
        return RevoluteTree(
            n=len(bodies),
            parent=np.array([body.parent for body in bodies], dtype=np.int32),
            rotation=np.array([body.placement.rotation for body in bodies]),
            translation=np.array([body.placement.translation for body in bodies]),
            axis=np.array([body.link.joint.axis for body in bodies]),  # type: ignore[attr-defined]
            mass=np.array([body.inertia.mass for body in bodies]),
            com=np.array([body.inertia.com for body in bodies]),
            tensor=np.array([body.inertia.tensor for body in bodies]),
            gravity=np.array(model.gravity),
        )
