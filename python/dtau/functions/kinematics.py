"""Placements of bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.results import Placements


@documented
def forward_kinematics(
    model: Model,
    q: ArrayLike,
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> Placements:
    """Poses of all bodies in the world.

        T_i = T_p X_i J_i(q_i)    p the parent, X_i where the joint sits on it, J_i what it does

    Returns
    -------
    Placements
    rotation : ndarray (..., nbodies, 3, 3)
        Rotation of each body in the world, in the order of ``model.bodies``.
    translation : ndarray (..., nbodies, 3)
        Position of each body in the world, in meters.

    Notes
    -----
    [RBDA] section 4.4; O(N).

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> dtau.forward_kinematics(model, dtau.neutral(model)).translation.shape
    (13, 3)
    """
    return _core.forward_kinematics(model, q, out, threads)
