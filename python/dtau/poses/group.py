"""Compose, invert, compare and interpolate poses, and move points."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.poses.reading import PoseLike, pose_array
from dtau.support.arrays import Array


@documented
def compose(
    first: PoseLike, second: PoseLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Compose poses: the pose of C in A, from the pose of B in A and the pose of C in B.

    Parameters
    ----------
    first : array_like (..., 7), Placements or Pose
        Pose of B in A.
    second : array_like (..., 7), Placements or Pose
        Pose of C in B.

    Returns
    -------
    pose
        ... It is the pose of C in A.

    Examples
    --------
    >>> poses.compose([1.0, 2, 3, 0, 0, 1, 0], [1.0, 0, 0, 0, 0, 0, 1])
    array([0., 2., 3., 0., 0., 1., 0.])
    """
    return _core.pose_compose(pose_array(first), pose_array(second), out, threads)


@documented
def inverse(pose: PoseLike, *, out: Array | None = None, threads: int | None = None) -> Array:
    """Invert poses: the pose of A in B, from the pose of B in A.

    Returns
    -------
    pose

    Examples
    --------
    >>> poses.inverse([1.0, 2, 3, 0, 0, 0, 1])[:3]
    array([-1., -2., -3.])
    """
    return _core.pose_inverse(pose_array(pose), out, threads)


@documented
def act(
    pose: PoseLike, point: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Transform points from coordinates in B to coordinates in A, with the pose of B in A.

    Parameters
    ----------
    point : array_like (..., 3)
        Coordinates in B, in m. Many points of one pose: ``act(pose[..., None, :], points)``.

    Returns
    -------
    point : ndarray (..., 3)
        Coordinates in A.

    Examples
    --------
    >>> poses.act([1.0, 2, 3, 0, 0, 1, 0], [1.0, 0, 0])
    array([0., 2., 3.])
    """
    return _core.pose_act(pose_array(pose), point, out, threads)


@documented
def difference(
    start: PoseLike, end: PoseLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Twist from one pose to another: ``end == compose(start, exp(twist))``.

    Parameters
    ----------
    start : array_like (..., 7), Placements or Pose
        Pose before the motion.
    end : array_like (..., 7), Placements or Pose
        Pose reached by following the twist for one second.

    Returns
    -------
    twist
        ... It is the logarithm of the relative pose ``compose(inverse(start), end)``. Its
        derivative by a displacement of `end` is `log_jacobian` of the relative pose; by one of
        `start`, it is minus `log_jacobian` with ``side="left"``.

    Examples
    --------
    >>> start, x = poses.exp([1.0, 2, 3, 0.1, 0.2, 0.3]), [0.1, 0.2, 0.3, 0, 0, 2.5]
    >>> poses.difference(start, poses.compose(start, poses.exp(x))).round(12)
    array([0.1, 0.2, 0.3, 0. , 0. , 2.5])
    """
    return _core.pose_difference(pose_array(start), pose_array(end), out, threads)


@documented
def interpolate(
    start: PoseLike,
    end: PoseLike,
    t: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Interpolate between poses along a screw motion, with a constant twist.

        compose(start, exp(t difference(start, end)))

    Parameters
    ----------
    start : array_like (..., 7), Placements or Pose
        Pose at ``t = 0``.
    end : array_like (..., 7), Placements or Pose
        Pose at ``t = 1``.
    t : array_like (...)
        Any numbers: outside of [0, 1] the motion continues. It broadcasts like a batch; a path of
        n poses: ``interpolate(start[..., None, :], end[..., None, :], np.linspace(0, 1, n))``.

    Returns
    -------
    pose

    Notes
    -----
    Pinocchio's ``SE3.Interpolate``.

    Examples
    --------
    >>> start, end = [0.0, 0, 0, 0, 0, 0, 1], [1.0, 2, 3, 0, 0, 1, 0]
    >>> poses.interpolate(start, end, np.linspace(0, 1, 11)).shape
    (11, 7)
    """
    return _core.pose_interpolate(pose_array(start), pose_array(end), t, out, threads)
