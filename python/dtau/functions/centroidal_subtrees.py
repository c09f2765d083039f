"""Masses and centers of mass of subtrees: of each body with all that it carries."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtau.docstrings import documented
from dtau.functions.frames import forward_kinematics
from dtau.model.model import Model
from dtau.results import Subtrees
from dtau.support.checks import require, require_memory


@documented
def subtree_centers_of_mass(model: Model, q: ArrayLike, *, threads: int | None = None) -> Subtrees:
    """Masses and centers of mass of subtrees: each body with all bodies that it carries.

        c_i = (sum of m_k c_k) / (sum of m_k)    over k in the subtree of i

    Returns
    -------
    Subtrees
    mass : ndarray (nbodies,)
        Mass in kilograms, in the order of ``model.bodies``; it is the same in all configurations.
    center : ndarray (..., nbodies, 3)
        Position in the world, in meters; NaN for a subtree without mass.

    Notes
    -----
    [RBDA] section 2.13; O(N²): one product with the matrix of the bodies that each body carries.

    Examples
    --------
    >>> mass, center = dtau.subtree_centers_of_mass(model, dtau.neutral(model))
    >>> bool(abs(mass[0] - model.mass) < 1e-12), center.shape
    (True, (13, 3))
    """
    require("model", model, Model)
    carried = np.eye(model.nbodies)  # [i, k]: whether body i carries body k, or is it
    for joint in model.joints:
        if joint.parent >= 0:
            carried[:, joint.body] += carried[:, joint.parent]
    masses = np.array([inertia.mass for inertia in model.inertias])
    centers = np.array([inertia.com for inertia in model.inertias])
    rotation, translation = forward_kinematics(model, q, threads=threads)
    require_memory("the subtrees of a batch", 3.0 * translation.size)
    moments = masses[:, None] * ((rotation @ centers[..., None])[..., 0] + translation)
    mass = carried @ masses
    with np.errstate(invalid="ignore", divide="ignore"):
        center = carried @ moments / mass[:, None]
    return Subtrees(mass, center)
