"""The base class of all kinds of joint: `JointType`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dtau._core import JointKind, joint_sizes
from dtau.model.pose import Pose
from dtau.support.arrays import Array
from dtau.support.checks import real_array, real_numbers, require
from dtau.support.immutable import Record

_TAKEN = 1e-6  # largest distance of a pose from the joint's motions


class JointType(Record, ABC):
    """Base class of all kinds of joint.

    Attributes
    ----------
    nq : int
        Number of coordinates.
    nv : int
        Number of velocities (degrees of freedom).
    """

    nq: ClassVar[int]
    nv: ClassVar[int]
    _kind: ClassVar[JointKind]  # the core's kind, which determines nq and nv

    def __init_subclass__(cls) -> None:
        if "_kind" in cls.__dict__:
            cls.nq, cls.nv = joint_sizes(cls._kind)

    def placement(self, q: ArrayLike) -> Pose:
        """Return the pose of the body in the joint's frame.

        Parameters
        ----------
        q : array_like (nq,)
            Joint coordinates; a plain number is accepted for a joint with one.

        Returns
        -------
        Pose

        Raises
        ------
        ValueError
            If the shape is wrong, a number is not finite, or a quaternion is further than 1e-6
            from unit norm.
        TypeError
            If the numbers are not real.

        Examples
        --------
        >>> import dtau
        >>> dtau.Prismatic(axis=(0, 0, 1)).placement(0.5).translation
        array([0. , 0. , 0.5])
        """
        return self._placement(self._coordinates(q))

    @abstractmethod
    def _placement(self, q: Array) -> Pose: ...

    def coordinates(self, pose: Pose) -> Array:
        """Return the coordinates at which the body has a pose in the joint's frame.

        Parameters
        ----------
        pose : Pose
            A pose that the joint can reach, within 1e-6. `placement` inverts this method.

        Returns
        -------
        ndarray (nq,)
            Angles are in (-pi, pi], except for a helical joint, whose translation determines the
            number of turns. Quaternions have w >= 0.

        Raises
        ------
        ValueError
            If the joint cannot reach this pose.
        TypeError
            If ``pose`` is not a Pose.

        Examples
        --------
        >>> import dtau
        >>> dtau.Free().coordinates(dtau.Pose(translation=(1, 2, 3)))
        array([1., 2., 3., 0., 0., 0., 1.])
        >>> turned = dtau.Revolute(axis=(0, 0, 1)).placement(0.5)
        >>> dtau.Revolute(axis=(0, 0, 1)).coordinates(turned)
        array([0.5])
        """
        require("pose", pose, Pose)
        q = self._of_pose(pose)
        taken = self._placement(q)
        turned = float(np.abs(taken.rotation - pose.rotation).max())
        moved = float(np.abs(taken.translation - pose.translation).max())
        if not (turned <= _TAKEN and moved <= _TAKEN * max(1.0, np.abs(pose.translation).max())):
            raise ValueError(
                f"pose: expected one that {self!r:.80} can reach, got one that is off by "
                f"{turned:.3g} in its rotation and {moved:.3g} m in its translation"
            )
        return q

    @abstractmethod
    def _of_pose(self, pose: Pose) -> Array: ...

    def _coordinates(self, q: ArrayLike) -> Array:
        if self.nq == 1:
            q = real_numbers("q", q, "a number")
            if q.shape not in ((), (1,)):
                raise ValueError(f"q: expected a number, got shape {q.shape}")
            q = q.reshape(1)
        return real_array("q", q, (self.nq,))

    def motion_subspace(self, q: ArrayLike | None = None) -> Array:
        """Return the motion subspace S: the body's twist per unit of joint velocity.

        Parameters
        ----------
        q : array_like (nq,), optional
            Joint coordinates. Only the universal joint needs them, because its first axis moves
            relative to the body.

        Returns
        -------
        ndarray (6, nv)
            Linear components first, along the body's axes, at the body's origin.

        Raises
        ------
        ValueError
            If q is wrong, or missing where it is needed.

        Examples
        --------
        >>> import dtau
        >>> dtau.Revolute(axis=(0, 0, 1)).motion_subspace().T
        array([[0., 0., 0., 0., 0., 1.]])
        """
        if q is not None:
            q = self._coordinates(q)
        return self._motion_subspace(q)

    @abstractmethod
    def _motion_subspace(self, q: Array | None) -> Array: ...
