"""Time derivatives, of any order, of the poses, twists and Jacobians of frames along a trajectory.

See `dtau.functions.time_derivatives` for how trajectories are given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import KinematicsTimeDerivatives


@documented
def frame_kinematics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    order: int | None = None,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> KinematicsTimeDerivatives:
    """Poses and twists of frames along a trajectory, and their time derivatives.

        d^k/dt^k of T and of J v    k = 0, 1, ..., r

    Parameters
    ----------
    v_derivatives : array_like (..., r, nv)
        ... ``order=0`` takes no rows.

    Returns
    -------
    KinematicsTimeDerivatives
    rotation : ndarray (..., r + 1, nframes, 3, 3)
        Rotation of each frame in the world and its time derivatives, entry by entry, row k of
        order k.
    translation : ndarray (..., r + 1, nframes, 3)
        Position of each frame in the world and its time derivatives.
    twist : ndarray (..., r, nframes, 6)
        [linear, angular] in ``axes``, and the time derivatives of these components of order 1
        to r - 1. With ``"mixed"`` row 1 is the classical acceleration of the frame's origin,
        and the angular acceleration, along world axes; then jerk, and so on.

    Notes
    -----
    [HO-FBS] Algorithm 1 for any frame, from joints in body coordinates and poses in the world;
    O(d r^2) with the depth d of the frame.

    Examples
    --------
    Acceleration and jerk of a foot, along world axes:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> jerk = rng.standard_normal(model.nv)
    >>> foot = dtau.frame_kinematics_time_derivatives(model, q, [v, a, jerk], "LF_FOOT", "mixed")
    >>> foot.rotation.shape, foot.translation.shape, foot.twist.shape
    ((4, 3, 3), (4, 3), (3, 6))
    >>> bool(np.allclose(foot.twist[:, :3], foot.translation[1:]))
    True
    """
    return _core.frame_kinematics_time_derivatives(
        model, q, v_derivatives, frames, axes, order, out, threads
    )


@documented
def frame_jacobians_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    frames: str | Sequence[str],
    axes: Axes = "body",
    *,
    order: int | None = None,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Jacobians of frames along a trajectory, and their time derivatives of order 1 to r.

        d^k/dt^k J(q(t))    k = 0, 1, ..., r

    Parameters
    ----------
    v_derivatives : array_like (..., r, nv)
        ... ``order=0`` takes no rows.

    Returns
    -------
    J : ndarray (..., r + 1, nframes, 6, nv)
        Row 0 is `dtau.frame_jacobians`, row k its time derivative of order k, entry by entry. Rows
        of each [linear, angular].

    Notes
    -----
    [HO-FBS] Algorithm 1 for any frame; O(d r^2) for all columns together, with the depth d of the
    frame.

    Examples
    --------
    The acceleration that the motion alone gives a foot, and the whole of it:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> J, J_dot = dtau.frame_jacobians_time_derivatives(model, q, [v], "LF_FOOT", "mixed")
    >>> foot = dtau.frame_kinematics_time_derivatives(model, q, [v, a], "LF_FOOT", "mixed")
    >>> bool(np.allclose(J @ a + J_dot @ v, foot.twist[1]))
    True

    Of twelve states; the axis before the last of ``v_derivatives`` is that of the orders:

    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(12,))
    >>> dtau.frame_jacobians_time_derivatives(model, q, v[:, None], "LF_FOOT").shape
    (12, 2, 6, 18)
    """
    return _core.frame_jacobians_time_derivatives(
        model, q, v_derivatives, frames, axes, order, out, threads
    )
