"""Compose, invert, compare and interpolate rotations, and rotate vectors."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtau.support.arrays import Array
from dtau.support.direct import direct


@direct
def compose(
    first: ArrayLike, second: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Compose rotations: the rotation of C in A, the product of their matrices in this order.

    Parameters
    ----------
    first : array_like (..., 4)
        Rotation of B in A, quaternion x y z w.
    second : array_like (..., 4)
        Rotation of C in B, quaternion x y z w.

    Returns
    -------
    quaternion
        ... It is the rotation of C in A.

    Examples
    --------
    >>> rotations.compose([0.0, 0, 1, 0], [1.0, 0, 0, 0])
    array([0., 1., 0., 0.])
    """


@direct
def inverse(
    quaternion: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Invert rotations.

    Returns
    -------
    quaternion

    Examples
    --------
    >>> rotations.inverse([0.6, 0, 0, 0.8])[[0, 3]]
    array([-0.6,  0.8])
    """


@direct
def act(
    quaternion: ArrayLike,
    vector: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Rotate vectors.

    Parameters
    ----------
    vector : array_like (..., 3)
        Any vector. Many vectors of one rotation: ``act(quaternion[..., None, :], vectors)``.

    Returns
    -------
    vector : ndarray (..., 3)
        The rotated vector.

    Examples
    --------
    >>> rotations.act([0.0, 0, 1, 0], [1.0, 2.0, 3.0])
    array([-1., -2.,  3.])
    """


@direct
def difference(
    start: ArrayLike, end: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """Rotation vector from one rotation to another: ``end == compose(start, exp(vector))``.

    Parameters
    ----------
    start : array_like (..., 4)
        Rotation before, quaternion x y z w.
    end : array_like (..., 4)
        Rotation after, quaternion x y z w.

    Returns
    -------
    vector
        ... Its components along the axes of `start` and of `end` are the same. Its derivative by a
        further rotation of `end` is `log_jacobian` of the relative rotation
        ``compose(inverse(start), end)``; by one of `start`, it is minus `log_jacobian` with
        ``side="left"``.

    Examples
    --------
    >>> rotations.difference(rotations.exp([0, 0, 0.5]), rotations.exp([0, 0, 2.0])).round(12)
    array([0. , 0. , 1.5])
    """


@direct
def interpolate(
    start: ArrayLike,
    end: ArrayLike,
    t: ArrayLike,
    *,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Interpolate between rotations with a constant angular velocity (slerp).

        compose(start, exp(t difference(start, end)))

    Parameters
    ----------
    start : array_like (..., 4)
        Rotation at ``t = 0``, quaternion x y z w.
    end : array_like (..., 4)
        Rotation at ``t = 1``, quaternion x y z w.
    t : array_like (...)
        Any numbers; it broadcasts like a batch.

    Returns
    -------
    quaternion

    Examples
    --------
    >>> half = rotations.interpolate([0.0, 0, 0, 1], rotations.exp([0, 0, 2.0]), 0.5)
    >>> rotations.log(half).round(12)
    array([0., 0., 1.])
    """
