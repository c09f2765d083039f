"""Differentiate forces that the core does not: `other_terms`, of equalities and tendons."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.equalities import equality_terms
from dtau.mujoco.geometry_differences import GeometryDifferences
from dtau.mujoco.scope import not_covered
from dtau.mujoco.solved import Solved
from dtau.mujoco.spatial_tendons import Pull
from dtau.mujoco.terms import Terms

Array = NDArray[np.float64]


def other_terms(
    mj_model: Any, solved: Solved, differences: GeometryDifferences | None, by_velocity: Array
) -> tuple[Array | None, Array | None]:
    """Return the derivatives of joint forces (n, nv, 3 nv), and the wrenches on axes (n, nv, 6).

    The columns are as in `Terms`. None if there are none. `by_velocity`: derivatives of the
    actuators' forces by their velocities.
    """
    plan, n = solved.plan, solved.n
    nv = plan.nv
    rows = solved.equalities()
    spatial = plan.spatial_tendons
    if spatial is not None and differences is None:
        raise not_covered("spatial tendons, unless geometry='differences'")
    if rows is None and plan.tendons is None:
        return None, None
    total, wrenches = np.zeros((n, nv, 3 * nv)), None
    if plan.tendons is not None:
        total[:, :, nv : 2 * nv] -= plan.tendons.stiffness(solved.q)
        total[:, :, 2 * nv :] -= plan.tendons.damping
    if spatial is not None and differences is not None:
        motion, rows_of_all = (solved.q, solved.v, solved.a), solved.plain_rows()
        low, high = plan.actuators.joint_low, plan.actuators.joint_high
        free = (low < solved.actuation) & (solved.actuation < high)
        pull = Pull(solved.force, by_velocity, free)
        total += spatial.terms(mj_model, differences.data, motion, rows_of_all, pull)
    if rows is not None:
        wrenches = np.zeros((n, nv, 6))
        for terms in equality_terms(mj_model, solved, rows):
            total += _summed(terms, n)
            if terms.wrenches is not None:
                first = np.flatnonzero(np.diff(terms.state, prepend=-1))
                wrenches[terms.state[first]] += np.add.reduceat(terms.wrenches, first)
    return total, wrenches


def _summed(terms: Terms, n: int) -> Array:
    """Return the sums of left^T right over the rows of each of `n` states."""
    k, nv = terms.left.shape[1:]
    left, right = terms.left.reshape(-1, nv), terms.right.reshape(-1, 3 * nv)
    if n == 1:
        return np.asarray(left.T @ right)[np.newaxis]
    ends = k * np.searchsorted(terms.state, np.arange(n + 1))
    parts = [slice(*ends[i : i + 2]) for i in range(n)]
    return np.stack([left[part].T @ right[part] for part in parts])
