"""Convert variations and weights of states between the numbers of qpos and displacements.

MuJoCo normalizes the quaternions of a state, and its step returns unit quaternions. With the
numbers x of a quaternion, u = x / |x| and a rotation vector w along the body's axes,

    w = 2 / |x| vec(conj(u) dx)    and, at a unit quaternion,    dx = u (0, w) / 2
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dtau.mujoco.scope import QUATERNIONS
from dtau.support.arrays import Array


class StateNumbers:
    """Convert between full states [time, qpos, qvel, act] and displacements [of qpos, qvel, act].

    Arrays have leading axes.
    """

    def __init__(self, mj_model: Any) -> None:
        m = mj_model
        self.nq, self.nv, self.na = m.nq, m.nv, m.na
        self._turning = []
        plain = np.ones(m.nq, dtype=bool)
        for kind, place, dof in zip(m.jnt_type, m.jnt_qposadr, m.jnt_dofadr, strict=True):
            if kind in QUATERNIONS:
                further = 3 if kind == QUATERNIONS[0] else 0
                numbers = slice(1 + place + further, 5 + place + further)
                self._turning.append((numbers, slice(dof + further, dof + further + 3)))
                plain[place + further : place + further + 4] = False
        self._numbers = 1 + np.flatnonzero(plain)
        angles = np.zeros(m.nv, dtype=bool)
        for _, dofs in self._turning:
            angles[dofs] = True
        self._dofs = np.flatnonzero(~angles)

    def displacements(self, states: Array, variations: Array) -> Array:
        """Return the displacements for variations of the numbers of states."""
        out: Array = np.empty((*variations.shape[:-1], 2 * self.nv + self.na))
        out[..., self._dofs] = variations[..., self._numbers]
        out[..., self.nv :] = variations[..., 1 + self.nq :]
        for numbers, dofs in self._turning:
            x, inverse = _unit(states[..., numbers])
            out[..., dofs] = 2.0 * inverse * _turn(x, variations[..., numbers])
        return out

    def variations(self, states: Array, displacements: Array) -> Array:
        """Return the variations of the numbers of states, with unit quaternions; not of time."""
        out: Array = np.zeros((*displacements.shape[:-1], 1 + self.nq + self.nv + self.na))
        out[..., self._numbers] = displacements[..., self._dofs]
        out[..., 1 + self.nq :] = displacements[..., self.nv :]
        for numbers, dofs in self._turning:
            out[..., numbers] = 0.5 * _product(states[..., numbers], displacements[..., dofs])
        return out

    def weights_of_displacements(self, states: Array, weights: Array) -> Array:
        """Transpose `variations`."""
        out: Array = np.empty((*weights.shape[:-1], 2 * self.nv + self.na))
        out[..., self._dofs] = weights[..., self._numbers]
        out[..., self.nv :] = weights[..., 1 + self.nq :]
        for numbers, dofs in self._turning:
            out[..., dofs] = 0.5 * _turn(states[..., numbers], weights[..., numbers])
        return out

    def weights_of_numbers(self, states: Array, weights: Array) -> Array:
        """Transpose `displacements`; the weight of time is zero."""
        out: Array = np.zeros((*weights.shape[:-1], 1 + self.nq + self.nv + self.na))
        out[..., self._numbers] = weights[..., self._dofs]
        out[..., 1 + self.nq :] = weights[..., self.nv :]
        for numbers, dofs in self._turning:
            x, inverse = _unit(states[..., numbers])
            out[..., numbers] = 2.0 * inverse * _product(x, weights[..., dofs])
        return out


def _unit(x: Array) -> tuple[Array, Array]:
    """Normalize quaternions, and return the inverses of their norms; 0 where MuJoCo resets one."""
    norm = np.sqrt((x**2).sum(axis=-1, keepdims=True))
    inverse = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > _LEAST)
    return x * inverse, inverse


def _turn(x: Array, y: Array) -> Array:
    """Return the vector part of conj(x) y for quaternions."""
    a, b = x[..., 1:], y[..., 1:]
    return x[..., :1] * b - y[..., :1] * a - np.cross(a, b)


def _product(x: Array, w: Array) -> Array:
    """Return the product x (0, w) of quaternions and vectors."""
    a = x[..., 1:]
    scalar = -(a * w).sum(axis=-1, keepdims=True)
    return np.concatenate([scalar, x[..., :1] * w + np.cross(a, w)], axis=-1)


_LEAST = 1e-15  # mjMINVAL: MuJoCo replaces shorter quaternions by the identity
