"""The attributes of a model, for the functions that print, write and change models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np

from dtau.model.links import Frame, Joint, Link
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array


class ModelBase:
    """The attributes of a `Model`, documented there, and its look-ups by name."""

    name: str
    gravity: Array
    nq: int
    nv: int
    nbodies: int
    bodies: tuple[str, ...]
    inertias: tuple[Inertia, ...]
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    frames: tuple[str, ...]
    armature: Array
    damping: Array
    stiffness: Array
    rest_position: Array
    friction: Array
    friction_speed: Array
    lower_limits: Array
    upper_limits: Array
    velocity_limits: Array
    effort_limits: Array
    mass: float
    parameters: Array
    notes: tuple[str, ...]
    postures: Mapping[str, Array]
    massless_joints: tuple[str, ...]

    @property
    def joint_parameters(self) -> Array:
        """Armature, damping, stiffness and friction, (4, nv)."""
        return np.stack([self.armature, self.damping, self.stiffness, self.friction])

    @abstractmethod
    def joint(self, name: str) -> Joint:
        """Look up a moving joint by its name."""

    @abstractmethod
    def frame(self, name: str) -> Frame:
        """Look up the frame of a link by its name."""
