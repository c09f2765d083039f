"""Placements of bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.model import Model
from dtau.results import Placements


def forward_kinematics(
    model: Model,
    q: ArrayLike,
    *,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> Placements:
    """Poses of all bodies in the world.

        T_i = T_p X_i J_i(q_i)    p the parent, X_i where the joint sits on it, J_i what it does

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the two arrays of the results.

    Returns
    -------
    Placements
        ``rotation`` (..., nbodies, 3, 3) and ``translation`` (..., nbodies, 3) in metres, in the
        order of ``model.bodies``.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics`.

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
