"""Read fixed tendons of a MuJoCo model: `fixed_tendons`, `tendon_springs`, `lengths`.

Their lengths  L = C q  are linear in positions of hinges and slides.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from dtau.mujoco.numbers import lists
from dtau.mujoco.scope import OF_JOINTS, disabled
from dtau.support.arrays import Array, Indices


def moment_arms(m: Any, data: Any) -> Array:
    """Return the derivatives of the lengths of all tendons by q, (ntendon, nv)."""
    out = np.zeros((m.ntendon, m.nv))
    structure = m.ten_J_rownnz, m.ten_J_rowadr, m.ten_J_colind
    mujoco.mju_sparse2dense(out, data.ten_J, *structure)
    return out


def polynomial(data: Array, x: Array) -> tuple[Array, Array]:
    """Return the first and second derivative at x of the polynomials of ``eq_data`` (n, 5)."""
    _, c1, c2, c3, c4 = data[:, :5].T
    slope = c1 + 2.0 * c2 * x + 3.0 * c3 * x**2 + 4.0 * c4 * x**3
    return slope, 2.0 * c2 + 6.0 * c3 * x + 12.0 * c4 * x**2


def fixed_tendons(m: Any) -> Array:
    """Return the moment arms of fixed tendons, (ntendon, nv); zeros of spatial ones."""
    out = np.zeros((m.ntendon, m.nv))
    for tendon, (first, count) in enumerate(zip(m.tendon_adr, m.tendon_num, strict=True)):
        if m.wrap_type[first] == OF_JOINTS:
            some = slice(first, first + count)
            np.add.at(out[tendon], m.jnt_dofadr[m.wrap_objid[some]], m.wrap_prm[some])
    return out


def spring_constants(m: Any) -> tuple[Array, Array]:
    """Return stiffness and damping of all tendons; zeros of what is disabled."""
    stiffness = m.tendon_stiffness * (not disabled(m, "SPRING"))
    return stiffness, m.tendon_damping * (not disabled(m, "DAMPER"))


def tendon_springs(m: Any, of_tendons: Array) -> tuple[Indices, Indices, Indices, Array, Array]:
    """Return `Lengths` and `TendonSpring` of src/mujoco/step.hpp of fixed tendons.

    `of_tendons`: `fixed_tendons`.
    """
    stiffness, damping = spring_constants(m)
    some = np.flatnonzero(((stiffness != 0.0) | (damping != 0.0)) & of_tendons.any(axis=1))
    springs = np.stack([stiffness, damping, *m.tendon_lengthspring.T], axis=1)
    return *lengths(m, of_tendons[some]), springs[some]


def lengths(m: Any, arms: Array) -> tuple[Indices, Indices, Indices, Array]:
    """Return `Lengths` of src/mujoco/step.hpp, by their moment arms (n, nv)."""
    starts, dofs = lists(arms)
    numbers = m.jnt_qposadr[m.dof_jntid[dofs]].astype(np.intp)
    return starts, dofs, numbers, arms[arms != 0.0]
