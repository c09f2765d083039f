"""Differentiate the mass matrix and the Jacobians of contacts of one state by q: `Axes`.

A degree of freedom j displaces the later axes of its path:  dS_i/dq_j = S_j x S_i.  Relative to a
body, the axes that j leaves where they are move by  -S_j x S_i.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.solved import Solved
from dtau.mujoco.vectors import twist_cross

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Axes:
    """Axes of the degrees of freedom in state `k`.

    `inertias`: MuJoCo's composite inertias (nbody, 10), about the center of mass of each tree.
    """

    def __init__(self, solved: Solved, k: int, inertias: Array) -> None:
        self._plan, self.nv = solved.plan, solved.plan.nv
        self._axes = solved.axes[k]
        self._about_com, self._inertias = solved.axes_about_com[k], inertias
        crosses = _products(self._axes)
        self._moved = self._plan.moves[..., np.newaxis] * crosses  # (j, i, 6)
        self._by_mass: Array | None = None

    def by_mass(self) -> Array:
        """Return the derivatives of the mass matrix by q, (nv, nv, nv)."""
        if self._by_mass is None:
            self._by_mass = self._mass_derivatives()
        return self._by_mass

    def _mass_derivatives(self) -> Array:
        plan, axes = self._plan, self._about_com
        momenta = np.einsum("bxy,iy->bix", _matrices(self._inertias), axes)[plan.dof_bodies]
        path = plan.ancestors[plan.dof_bodies] > 0.0  # [j, i]: i moves the body of j
        diagonal = np.arange(self.nv)
        own = momenta[diagonal, diagonal]
        momenta = np.where(path[..., np.newaxis], momenta, path.T[..., np.newaxis] * own)
        still = plan.still[..., np.newaxis] * _products(axes)
        out = -still @ momenta.swapaxes(1, 2)  # [j, i, l]
        return np.asarray((out + out.swapaxes(1, 2)).transpose(1, 2, 0))

    def turning(self, bodies: Indices, point: Array, frame: Array, motion: Array) -> Array:
        """Return the derivatives (6, nv, nv) of the Jacobian of a contact by q.

        `motion` (7, nv): how the point moves and the frame turns.
        """
        one, other = self._plan.ancestors[bodies]
        sign = (other - one)[:, np.newaxis]
        lin, ang = self._axes[:, :3], self._axes[:, 3:]
        moved_lin, moved_ang = self._moved[..., :3], self._moved[..., 3:]
        shift, turn = motion[:3].T[:, np.newaxis], motion[3:6].T[:, np.newaxis]
        by_lin = moved_lin + np.cross(moved_ang, point) + np.cross(ang, shift)
        by_lin += np.cross(lin + np.cross(ang, point), turn)
        by_ang = moved_ang + np.cross(ang, turn)
        both = [(sign * by) @ frame.T for by in (by_lin, by_ang)]
        return np.concatenate(both, axis=-1).transpose(2, 1, 0)


def _products(axes: Array) -> Array:
    """Return the twists  S_j x S_i,  (nv, nv, 6)."""
    return np.asarray(axes @ twist_cross(axes).swapaxes(1, 2))


def _matrices(inertias: Array) -> Array:
    """Return the matrices (n, 6, 6) of MuJoCo's inertias, for twists [linear, angular]."""
    xx, yy, zz, xy, xz, yz, x, y, z, mass = inertias.T
    no = np.zeros_like(mass)
    rows = [
        [mass, no, no, no, z, -y],
        [no, mass, no, -z, no, x],
        [no, no, mass, y, -x, no],
        [no, -z, y, xx, xy, xz],
        [z, no, -x, xy, yy, yz],
        [-y, x, no, xz, yz, zz],
    ]
    return np.array(rows).transpose(2, 0, 1)
