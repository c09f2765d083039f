"""Differentiate springs and dampers of fixed tendons: `Tendons`; `moment_arms`, `polynomial`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.scope import OF_JOINTS, disabled

Array = NDArray[np.float64]


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


class Tendons:
    """Tendons whose lengths  L = C q  are linear in positions of hinges and slides.

    A spring pulls where L is outside of the range in which it is slack.

    Attributes
    ----------
    of_velocity : ndarray (ntendon, nv)
        Derivatives of the lengths by q.
    damping : ndarray (nv, nv)
        Derivative of minus the joint forces by the velocity.
    """

    def __init__(self, m: Any) -> None:
        of_velocity, self._lengths = np.zeros((m.ntendon, m.nv)), np.zeros((m.ntendon, m.nq))
        for tendon in range(m.ntendon):
            first = m.tendon_adr[tendon]
            if m.wrap_type[first] != OF_JOINTS:
                continue
            for wrap in range(first, first + m.tendon_num[tendon]):
                joint, factor = m.wrap_objid[wrap], m.wrap_prm[wrap]
                of_velocity[tendon, m.jnt_dofadr[joint]] += factor
                self._lengths[tendon, m.jnt_qposadr[joint]] += factor
        stiffness = m.tendon_stiffness * (not disabled(m, "SPRING"))
        damping = m.tendon_damping * (not disabled(m, "DAMPER"))
        self._slack = m.tendon_lengthspring.copy()
        self._springs = (stiffness[:, np.newaxis] * of_velocity).T
        self.of_velocity = of_velocity
        self.damping = np.asarray((damping[:, np.newaxis] * of_velocity).T @ of_velocity)

    def stiffness(self, q: Array) -> Array:
        """Return the derivatives (n, nv, nv) of minus the joint forces of the springs."""
        length = q @ self._lengths.T
        taut = (length < self._slack[:, 0]) | (length > self._slack[:, 1])
        return np.asarray((self._springs * taut[:, np.newaxis]) @ self.of_velocity)
