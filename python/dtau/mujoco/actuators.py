"""Differentiate the forces and the activation of MuJoCo's actuators: `Actuators`."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.scope import disabled

Array = NDArray[np.float64]

_NO_DYNAMICS = int(mujoco.mjtDyn.mjDYN_NONE)
_INTEGRATOR = int(mujoco.mjtDyn.mjDYN_INTEGRATOR)
_FILTER_EXACT = int(mujoco.mjtDyn.mjDYN_FILTEREXACT)


class ActuatorDerivatives(NamedTuple):
    """Derivatives of ``qfrc_actuator``; leading axis: states.

    Attributes
    ----------
    by_q, by_v : ndarray (n, nv)
        Diagonals: each force depends on its own joint only.
    by_inputs : ndarray (n, nv, na + nu)
        Derivative by ``act``, then ``ctrl``.
    by_v_and_inputs : ndarray (n, nv, na + nu)
        Derivative of `by_v` by them.
    """

    by_q: Array
    by_v: Array
    by_inputs: Array
    by_v_and_inputs: Array


class Actuators:
    """Actuators  gear (gain u + bias)  on hinges and slides, affine in length and velocity.

    The input u is the control, or the activation: w' = control (integrator) or
    (control - w) / tau (filter).
    """

    def __init__(self, m: Any) -> None:
        self.na, self.nu, self.nv = m.na, m.nu, m.nv
        self.count = 0 if disabled(m, "ACTUATION") else m.nactuator
        self.dofs = m.jnt_dofadr[m.actuator_trnid[:, 0]].astype(np.intp)
        self.joints = np.zeros((m.nactuator, m.nv))
        self.joints[np.arange(m.nactuator), self.dofs] = 1.0
        self.columns = m.actuator_ctrladr.astype(np.intp)
        self.gear = m.actuator_gear[:, 0].copy()
        self.ctrl_low, self.ctrl_high = _range(
            (m.actuator_ctrllimited != 0) & (not disabled(m, "CLAMPCTRL")), m.actuator_ctrlrange
        )
        self.force_low, self.force_high = _range(
            m.actuator_forcelimited != 0, m.actuator_forcerange
        )
        self.gain = m.actuator_gainprm[:, :3].copy()
        self.gain[m.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_FIXED), 1:] = 0.0
        affine = m.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)
        self.bias = m.actuator_biasprm[:, :3] * affine[:, np.newaxis]
        self._add_dynamics(m)

    def _add_dynamics(self, m: Any) -> None:
        """Read the states: w_next = keep w + step (the control), within its range."""
        owners = np.flatnonzero(m.actuator_dyntype != _NO_DYNAMICS)
        self.owners, self.states = owners, m.actuator_actadr[owners].astype(np.intp)
        kinds, h = m.actuator_dyntype[owners], m.opt.timestep
        tau = np.maximum(mujoco.mjMINVAL, m.actuator_dynprm[owners, 0])
        integrates = kinds == _INTEGRATOR
        rate = np.where(integrates, 1.0, 1.0 / tau)
        span = np.where(kinds == _FILTER_EXACT, tau * (1.0 - np.exp(-h / tau)), h)
        self.rate_by_state, self.rate_by_control = np.where(integrates, 0.0, -rate), rate
        self.span = span
        self.keep, self.step = 1.0 + span * self.rate_by_state, span * rate
        self.act_low, self.act_high = _range(
            m.actuator_actlimited[owners] != 0, m.actuator_actrange[owners]
        )
        self.early = m.actuator_actearly[owners] != 0

    def activation(self, act: Array, act_dot: Array, ctrl: Array) -> tuple[Array, Array]:
        """Return derivatives by inputs, each (n, na, na + nu): of act_dot, and of the next act."""
        n = len(act)
        rate = np.zeros((n, self.na, self.na + self.nu))
        following = np.zeros_like(rate)
        if self.na:
            columns = self.na + self.columns[self.owners]
            follows = self._follows(ctrl)[:, self.owners]
            free = self._unclamped(act, act_dot)
            rate[:, self.states, self.states] = self.rate_by_state
            rate[:, self.states, columns] = self.rate_by_control * follows
            following[:, self.states, self.states] = self.keep * free
            following[:, self.states, columns] = self.step * free * follows
        return rate, following

    def next_activation(self, act: Array, act_dot: Array) -> Array:
        """Return the activation after the step."""
        out = act.copy()
        if self.na:
            following = act[:, self.states] + self.span * act_dot[:, self.states]
            out[:, self.states] = np.clip(following, self.act_low, self.act_high)
        return out

    def advanced(self, act: Array, act_dot: Array, rates: Array, first: Array) -> Array:
        """Return derivatives of the next act, from derivatives of a mean act_dot and of act."""
        free = self._unclamped(act, act_dot)[..., np.newaxis]
        following = first[:, self.states] + self.span[:, np.newaxis] * rates[:, self.states]
        out = first.copy()
        out[:, self.states] = following * free
        return out

    def derivatives(
        self, act: Array, act_dot: Array, ctrl: Array, moved: tuple[Array, Array, Array]
    ) -> ActuatorDerivatives:
        """Return the derivatives; `moved`: lengths, velocities and forces of the actuators."""
        n, width = len(ctrl), self.na + self.nu
        out = ActuatorDerivatives(
            np.zeros((n, self.nv)),
            np.zeros((n, self.nv)),
            np.zeros((n, self.nv, width)),
            np.zeros((n, self.nv, width)),
        )
        if not self.count:
            return out
        length, velocity, force = moved
        unsaturated = (self.force_low < force) & (force < self.force_high)
        values = np.clip(ctrl[:, self.columns], self.ctrl_low, self.ctrl_high)
        follows = unsaturated & self._follows(ctrl)
        if self.na:
            entering = np.where(self.early, self.next_activation(act, act_dot)[:, self.states], 0)
            entering += np.where(self.early, 0.0, act[:, self.states])
            values[:, self.owners] = entering
        by_input = self.gear * (
            self.gain[:, 0] + self.gain[:, 1] * length + self.gain[:, 2] * velocity
        )
        damping = self.gear**2 * self.gain[:, 2]
        factors = self.gear**2 * unsaturated
        by_q = factors * (self.gain[:, 1] * values + self.bias[:, 1])
        by_v = factors * (self.gain[:, 2] * values + self.bias[:, 2])
        columns = self.na + self.columns
        by_control = follows * 1.0
        if self.na:
            free = self.early * self._unclamped(act, act_dot)
            by_state = np.where(self.early, self.keep * free, 1.0)
            by_state *= unsaturated[:, self.owners]
            by_control[:, self.owners] *= self.step * free
            place = (slice(None), self.dofs[self.owners], self.states)
            out.by_inputs[place] = by_state * by_input[:, self.owners]
            out.by_v_and_inputs[place] = by_state * damping[self.owners]
        out.by_inputs[:, self.dofs, columns] = by_control * by_input
        out.by_v_and_inputs[:, self.dofs, columns] = by_control * damping
        return out._replace(by_q=by_q @ self.joints, by_v=by_v @ self.joints)

    def _follows(self, ctrl: Array) -> NDArray[np.bool_]:
        values = ctrl[:, self.columns]
        return np.asarray((self.ctrl_low <= values) & (values <= self.ctrl_high))

    def _unclamped(self, act: Array, act_dot: Array) -> NDArray[np.bool_]:
        following = act[:, self.states] + self.span * act_dot[:, self.states]
        return np.asarray((self.act_low < following) & (following < self.act_high))


def _range(limited: NDArray[np.bool_], values: Array) -> tuple[Array, Array]:
    """Return lower and upper bounds, infinite where there are none."""
    low = np.where(limited, values[:, 0], -np.inf)
    return low, np.where(limited, values[:, 1], np.inf)
