"""Differentiate forces of spatial tendons, by differences of their moment arms: `SpatialTendons`.

A tendon has the length L and the moment arms  J = dL/dq,  and pulls with the joint forces  J^T f.
The forces f have exact derivatives by L and  J v.  The derivatives of J by q come from MuJoCo's
kinematics and tendons at two displacements of each degree of freedom. The dynamics is not repeated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

from dtau.mujoco.rows import Rows
from dtau.mujoco.scope import disabled, spatial_actuators, spatial_tendons
from dtau.mujoco.tendons import moment_arms, polynomial, spring_constants
from dtau.support.arrays import Array, Mask

Motion = tuple[Array, Array, Array]

_EQUALITY, _FRICTION, _LIMIT = (
    int(getattr(mujoco.mjtConstraint, f"mjCNSTR_{name}"))
    for name in ("EQUALITY", "FRICTION_TENDON", "LIMIT_TENDON")
)
_OF_TENDONS = int(mujoco.mjtEq.mjEQ_TENDON)
_STEP = 1e-6  # meters and radians


class Pull(NamedTuple):
    """Actuators at n states."""

    force: Array  # (n, nactuator)
    by_velocity: Array  # (n, nactuator)
    free: Mask  # (n, nv): the joint forces of all are within their ranges


class SpatialTendons:
    """Forces of tendons that pass through sites."""

    def __init__(self, m: Any) -> None:
        self._which = np.flatnonzero(spatial_tendons(m))
        self._stiffness, self._damping = (x[self._which] for x in spring_constants(m))
        self._low, self._high = m.tendon_lengthspring[self._which].T.copy()
        pulling = np.flatnonzero(spatial_actuators(m) & (not disabled(m, "ACTUATION")))
        places = np.searchsorted(self._which, m.actuator_trnid[pulling, 0])
        gears = m.actuator_gear[pulling, 0]
        self._actuators = list(zip(pulling.tolist(), places.tolist(), gears.tolist(), strict=True))

    def terms(
        self, mj_model: Any, data: Any, motion: Motion, rows: Rows | None, pull: Pull
    ) -> Array:
        """Return derivatives of the joint forces by q and by v, (n, nv, 2 nv).

        `motion` has q (n, nq), v (n, nv) and a (n, nv). The core adds the derivatives of actuators
        and rows at constant moment arms. Positions in `data` are overwritten.
        """
        nv = mj_model.nv
        out = np.zeros((len(motion[0]), nv, 2 * nv))
        for k, (q, v, a) in enumerate(zip(*motion, strict=True)):
            lengths, arms, by_q = self._moments(mj_model, data, q)
            length = lengths[self._which]
            stretched = np.minimum(length - self._low, 0.0) + np.maximum(length - self._high, 0.0)
            stiffness = np.where(stretched != 0.0, self._stiffness, 0.0)
            force = -self._stiffness * stretched - self._damping * (arms @ v)
            change = -stiffness[:, np.newaxis] * arms
            change -= self._damping[:, np.newaxis] * np.vecmat(v, by_q)
            out[k, :, :nv] = arms.T @ change + np.tensordot(force, by_q, 1)
            out[k, :, nv:] = -(arms.T * self._damping) @ arms
            out[k, :, :nv] += self._of_actuators(pull, k, v, arms, by_q)
            if rows is not None:
                of_state = rows.chosen(rows.state == k)
                turned = self._turned(mj_model, of_state, lengths, arms, by_q)
                out[k, :, :nv] += self._of_rows(of_state, a, v, turned)
        return out

    def _of_actuators(self, pull: Pull, k: int, v: Array, arms: Array, by_q: Array) -> Array:
        """Return the derivative of the forces of actuators by the motion of their moment arms."""
        out = np.zeros(by_q.shape[1:])
        for actuator, place, gear in self._actuators:
            turned = gear * by_q[place]
            by_speed = gear * pull.by_velocity[k, actuator] * arms[place]
            out += pull.force[k, actuator] * turned + np.outer(by_speed, v @ turned)
        return out * pull.free[k, :, np.newaxis]

    def _turned(self, m: Any, rows: Rows, lengths: Array, arms: Array, by_q: Array) -> Array:
        """Return the derivatives of the rows' Jacobians by the motion of the arms, (n, nv, nv)."""
        out = np.zeros((len(rows.id), len(arms)))  # parts of the spatial tendons
        of_tendon = np.isin(rows.kind, (_FRICTION, _LIMIT))
        alone = rows.id[of_tendon, np.newaxis] == self._which
        out[of_tendon] = alone * np.sign(rows.jacobian[of_tendon] @ arms.T)
        coupled = rows.kind == _EQUALITY
        coupled[coupled] = m.eq_type[rows.id[coupled]] == _OF_TENDONS
        equality = rows.id[coupled]
        first, second = m.eq_obj1id[equality], m.eq_obj2id[equality]
        slope, bend = polynomial(m.eq_data[equality], lengths[second] - m.tendon_length0[second])
        is_second = (second[:, np.newaxis] == self._which).astype(float)
        out[coupled] = first[:, np.newaxis] == self._which
        out[coupled] -= slope[:, np.newaxis] * is_second
        turned = np.tensordot(out, by_q, 1)
        other = is_second @ arms
        bent = bend[:, np.newaxis] * other
        turned[coupled] -= bent[..., np.newaxis] * other[:, np.newaxis]
        return np.asarray(turned)

    def _of_rows(self, rows: Rows, a: Array, v: Array, turned: Array) -> Array:
        """Return the derivative of the forces of rows by the motion of their Jacobians."""
        out = np.zeros(turned.shape[1:])
        for i in np.flatnonzero(turned.any(axis=(1, 2))):
            jacobian, weight, loss = rows.jacobian[i], rows.weight[i], rows.loss[i]
            force = -weight * (jacobian @ a - rows.reference[i])
            friction = rows.kind[i] == _FRICTION
            active = abs(force) < loss if friction else force > 0.0 or rows.kind[i] == _EQUALITY
            if active:
                rate = a + rows.parameters[i, 1] * v
                out -= weight * np.outer(jacobian, rate @ turned[i])
            if active or friction:
                out += turned[i] * (np.clip(force, -loss, loss) if friction else force)
        return out

    def _moments(self, m: Any, data: Any, q: Array) -> tuple[Array, Array, Array]:
        """Return lengths of all tendons, arms (nt, nv) and their derivatives by q (nt, nv, nv)."""

        def at(displacement: Array) -> Array:
            data.qpos[:] = q
            mujoco.mj_integratePos(m, data.qpos, displacement, 1.0)
            mujoco.mj_kinematics(m, data)
            mujoco.mj_comPos(m, data)
            mujoco.mj_tendon(m, data)
            return moment_arms(m, data)[self._which]

        steps = _STEP * np.eye(m.nv)
        by_q = np.stack([(at(x) - at(-x)) / (2.0 * _STEP) for x in steps], axis=-1)
        arms = at(np.zeros(m.nv))
        return data.ten_length.copy(), arms, by_q
