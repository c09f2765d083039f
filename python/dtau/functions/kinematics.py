"""Placements of bodies, and where their centre of mass is."""

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

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> dtau.forward_kinematics(model, dtau.neutral(model)).translation.shape
    (13, 3)
    """
    return _core.forward_kinematics(model, q, out, threads)


def center_of_mass(
    model: Model,
    q: ArrayLike,
    *,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Centre of mass of all moving bodies, in the world.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration.
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., 3)
        Position in metres, in the world's axes; NaN for a model without mass. What is fixed to the
        world does not count.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics`.

    Notes
    -----
    [RBDA] section 2.13; O(N).

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> q[:3] = 1.0, 2.0, 3.0  # where the trunk is
    >>> print(dtau.center_of_mass(model, q).round(2))
    [1.   2.   2.97]
    """
    return _core.center_of_mass(model, q, out, threads)
