"""The attributes of a model, for the functions that print, write and change models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dtau.model.links import Frame, Joint, Link
from dtau.model.spatial import Inertia


class ModelBase:
    """The attributes of a `Model`, documented there, and its look-ups by name."""

    name: str
    gravity: NDArray[np.float64]
    nq: int
    nv: int
    nbodies: int
    bodies: tuple[str, ...]
    inertias: tuple[Inertia, ...]
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    frames: tuple[str, ...]
    armature: NDArray[np.float64]
    damping: NDArray[np.float64]
    stiffness: NDArray[np.float64]
    rest_position: NDArray[np.float64]
    friction: NDArray[np.float64]
    friction_speed: NDArray[np.float64]
    lower_limits: NDArray[np.float64]
    upper_limits: NDArray[np.float64]
    velocity_limits: NDArray[np.float64]
    effort_limits: NDArray[np.float64]
    mass: float
    parameters: NDArray[np.float64]
    notes: tuple[str, ...]
    postures: Mapping[str, NDArray[np.float64]]
    massless_joints: tuple[str, ...]

    @property
    def joint_parameters(self) -> NDArray[np.float64]:
        """Armature, damping, stiffness and friction, (4, nv)."""
        return np.stack([self.armature, self.damping, self.stiffness, self.friction])

    @abstractmethod
    def joint(self, name: str) -> Joint:
        """Look up a moving joint by its name."""

    @abstractmethod
    def frame(self, name: str) -> Frame:
        """Look up the frame of a link by its name."""
