"""Errors of frames from targets, for inverse kinematics and tracking: `frame_errors`."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.poses.reading import PoseLike, pose_array
from dtau.results import FrameErrors
from dtau.support.arrays import Array
from dtau.support.options import Coordinates


@documented
def frame_errors(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    targets: PoseLike,
    *,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> FrameErrors:
    """Errors of frames from target poses, and their Jacobians by configuration.

        error = log(target^-1 placement)    placement = target exp(error)

    The error is zero where the frame is at its target. Inverse kinematics steps by a dq with
    ``J dq = -error``; J is exact, also far from the target.

    Returns
    -------
    FrameErrors

    Notes
    -----
    [Sola]; [Derivations] eq. 25.3: ``dtau.poses.difference(targets, placement)``, and
    `dtau.poses.log_jacobian` of the relative pose times the Jacobian of the frame in its own axes;
    O(d) for all columns of a frame at depth d. Where the frame is turned by exactly pi from its
    target the error jumps, and J is the derivative on one side. In Pinocchio
    ``log6(target.actInv(oMf))`` and ``Jlog6(target.actInv(oMf)) @ getFrameJacobian(..., LOCAL)``.

    Examples
    --------
    A step of inverse kinematics for a thousand targets:

    >>> import dtau, numpy as np
    >>> arm = dtau.robots.chain(7)
    >>> there, _, _ = dtau.random_state(arm, np.random.default_rng(0), shape=(1000,))
    >>> tool = arm.bodies[-1]
    >>> targets = dtau.poses.from_placements(dtau.frame_placements(arm, there, tool))
    >>> q = there + 0.01
    >>> error, J = dtau.frame_errors(arm, q, tool, targets)
    >>> step = np.linalg.pinv(J) @ error[..., None]
    >>> left = dtau.frame_errors(arm, q - step[..., 0], tool, targets).error
    >>> bool(np.median(abs(left)) < 0.01 * np.median(abs(error)))
    True
    """
    return _core.frame_errors(model, q, frames, pose_array(targets), coordinates, out, threads)
