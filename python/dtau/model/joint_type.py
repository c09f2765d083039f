"""What all kinds of joint have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau._core import JointKind, joint_sizes
from dtau.checks import real_array, real_numbers, require
from dtau.immutable import Record
from dtau.model.pose import Pose

_TAKEN = 1e-6  # how far a pose may be from those that a joint can take


class JointType(Record, ABC):
    """What all kinds of joint have in common.

    Attributes
    ----------
    nq : int
        Number of coordinates.
    nv : int
        Number of velocities (degrees of freedom).
    """

    nq: ClassVar[int]
    nv: ClassVar[int]
    _kind: ClassVar[JointKind]  # of those that the compiled core knows, which says their sizes

    def __init_subclass__(cls) -> None:
        if "_kind" in cls.__dict__:
            cls.nq, cls.nv = joint_sizes(cls._kind)

    def placement(self, q: ArrayLike) -> Pose:
        """Return the pose of the body in the joint's frame.

        Parameters
        ----------
        q : array_like (nq,)
            Joint coordinates; a plain number will do for a joint with one.

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
    def _placement(self, q: NDArray[np.float64]) -> Pose: ...

    def coordinates(self, pose: Pose) -> NDArray[np.float64]:
        """Return coordinates with which the body stands at a pose in the joint's frame.

        Parameters
        ----------
        pose : Pose
            One that the joint can take, to 1e-6; `placement` gives the same pose back.

        Returns
        -------
        ndarray (nq,)
            Angles in (-pi, pi], but that of a helical joint, whose turns its translation says;
            quaternions with w >= 0.

        Raises
        ------
        ValueError
            If the joint cannot take this pose.
        TypeError
            If it is no Pose.

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
                f"pose: expected one that {self!r:.80} can take, got one that is off by "
                f"{turned:.3g} in its rotation and {moved:.3g} m in its translation"
            )
        return q

    @abstractmethod
    def _of_pose(self, pose: Pose) -> NDArray[np.float64]: ...

    def _coordinates(self, q: ArrayLike) -> NDArray[np.float64]:
        if self.nq == 1:
            q = real_numbers("q", q, "a number")
            if q.shape not in ((), (1,)):
                raise ValueError(f"q: expected a number, got shape {q.shape}")
            q = q.reshape(1)
        return real_array("q", q, (self.nq,))

    def motion_subspace(self, q: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the body's twist per unit of joint velocity.

        Parameters
        ----------
        q : array_like (nq,), optional
            Joint coordinates; only the universal joint, whose first axis moves against the body,
            needs them.

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
    def _motion_subspace(self, q: NDArray[np.float64] | None) -> NDArray[np.float64]: ...
