"""Keep the constants of MuJoCo's actuators: `Actuators`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from dtau.mujoco.muscles import muscle_curves
from dtau.mujoco.scope import SITE_TRANSMISSION, TENDON_TRANSMISSION, disabled, spatial_actuators
from dtau.support.arrays import Array, Indices, Mask

_NO_DYNAMICS = int(mujoco.mjtDyn.mjDYN_NONE)
_INTEGRATOR = int(mujoco.mjtDyn.mjDYN_INTEGRATOR)
_FILTER_EXACT = int(mujoco.mjtDyn.mjDYN_FILTEREXACT)
_MUSCLE = int(mujoco.mjtDyn.mjDYN_MUSCLE)


class Actuators:
    """Actuators  gain u + bias  affine in length and velocity, on joints, tendons and sites.

    Muscles add curves of length and velocity. The input u is the control, or the activation:
    w' = control (integrator) or (control - w) / tau (filter, muscle).

    Attributes
    ----------
    moments : ndarray (nactuator, nv)
        Derivatives of the lengths by q; of sites and spatial tendons, whose derivatives move, 1
        where there may be one.
    arms : ndarray
        Moments that are not 0, row by row.
    moving : ndarray
        Places in `arms` that each state has anew.
    """

    def __init__(self, m: Any, of_tendons: Array, ancestors: Array) -> None:
        self.na, self.nu = m.na, m.nu
        self.columns = m.actuator_ctrladr.astype(np.intp)
        of_sites = m.actuator_trntype == SITE_TRANSMISSION
        of_joints = (m.actuator_trntype != TENDON_TRANSMISSION) & ~of_sites
        self.dofs = np.full(m.nactuator, -1, dtype=np.intp)
        self.dofs[of_joints] = m.jnt_dofadr[m.actuator_trnid[of_joints, 0]]
        of_lines = spatial_actuators(m)
        self.moments = self._moments(m, of_tendons, ancestors, of_sites)
        if not disabled(m, "ACTUATION"):
            self.moments[of_lines] = 1.0
        self.arms = self.moments[self.moments != 0.0]
        self.moving = np.flatnonzero((of_sites | of_lines)[np.nonzero(self.moments)[0]])
        self.thrusters = _thrusters(m, of_sites & (not disabled(m, "ACTUATION")))
        self.ctrl_low, self.ctrl_high = _range(
            (m.actuator_ctrllimited != 0) & (not disabled(m, "CLAMPCTRL")), m.actuator_ctrlrange
        )
        self._force_low, self._force_high = _range(
            m.actuator_forcelimited != 0, m.actuator_forcerange
        )
        self.joint_low, self.joint_high = _range(
            m.jnt_actfrclimited[m.dof_jntid] != 0, m.jnt_actfrcrange[m.dof_jntid]
        )
        fixed = m.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_FIXED)
        affine = m.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_AFFINE)
        counts = np.stack([fixed | affine, affine, affine], axis=1)
        self._gain = m.actuator_gainprm[:, :3] * counts
        affine = m.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)
        self._bias = m.actuator_biasprm[:, :3] * affine[:, np.newaxis]
        self._gain[of_sites, 1], self._bias[of_sites, 1] = 0.0, 0.0  # their length is 0
        self._curves = muscle_curves(m)
        self._add_dynamics(m)

    def moving_arms(self, m: Any, data: Any) -> Array:
        """Return the arms of `moving` in the state of the data."""
        out = np.zeros(self.moments.shape)
        structure = data.moment_rownnz, data.moment_rowadr, data.moment_colind
        mujoco.mju_sparse2dense(out, data.actuator_moment, *structure)
        return np.asarray(out[self.moments != 0.0][self.moving])

    def _moments(self, m: Any, of_tendons: Array, ancestors: Array, of_sites: Mask) -> Array:
        """Return `moments`; 0 if actuators are disabled."""
        out = np.zeros((m.nactuator, m.nv))
        if disabled(m, "ACTUATION"):
            return out
        owners, tendons = m.actuator_trnid[:, 0], m.actuator_trntype == TENDON_TRANSMISSION
        joints = np.flatnonzero(self.dofs >= 0)
        out[joints, self.dofs[joints]] = 1.0
        out[tendons] = of_tendons[owners[tendons]]
        out *= m.actuator_gear[:, :1]
        out[of_sites] = ancestors[m.site_bodyid[owners[of_sites]]]
        return out

    def _add_dynamics(self, m: Any) -> None:
        """Read the states, whose rate is affine in the state and the control but for muscles."""
        owners = np.flatnonzero(m.actuator_dyntype != _NO_DYNAMICS)
        self.owners, self.states = owners, m.actuator_actadr[owners].astype(np.intp)
        kinds, h = m.actuator_dyntype[owners], m.opt.timestep
        self.state_of = np.full(m.nactuator, -1, dtype=np.intp)
        self.state_of[owners] = self.states
        tau = np.maximum(mujoco.mjMINVAL, m.actuator_dynprm[owners, 0])
        integrates = kinds == _INTEGRATOR
        rate = np.where(integrates, 1.0, 1.0 / tau)
        span = np.where(kinds == _FILTER_EXACT, tau * (1.0 - np.exp(-h / tau)), h)
        rate_by_state = np.where(integrates, 0.0, -rate)
        limited = m.actuator_actlimited[owners] != 0
        muscles = kinds == _MUSCLE
        if disabled(m, "ACTUATION"):  # activations stay
            span, limited = 0.0 * span, np.zeros_like(limited)
            rate_by_state, rate, muscles = 0.0 * rate, 0.0 * rate, np.zeros_like(limited)
        self.span = span
        self.act_low, self.act_high = _range(limited, m.actuator_actrange[owners])
        self._dynamics = np.stack(
            [
                *(rate_by_state, rate, span, self.act_low, self.act_high),
                *(m.actuator_actearly[owners] != 0, muscles, *m.actuator_dynprm[owners, :3].T),
            ],
            axis=1,
        )

    def advanced(self, act: Array, act_dot: Array, rates: Array, first: Array) -> Array:
        """Return derivatives of the next act, from derivatives of a mean act_dot and of act."""
        free = self._unclamped(act, act_dot)[..., np.newaxis]
        following = first[:, self.states] + self.span[:, np.newaxis] * rates[:, self.states]
        out = first.copy()
        out[:, self.states] = following * free
        return out

    def numbers(self) -> Array:
        """Return the constants of each actuator, as the core's Actuator has them."""
        out = np.full((len(self.columns), 31), np.nan)
        out[:, 0:2] = np.stack([self.ctrl_low, self.ctrl_high], axis=1)
        out[:, 2:4] = np.stack([self._force_low, self._force_high], axis=1)
        out[:, 4:7], out[:, 7:10] = self._gain, self._bias
        out[self.owners, 10:20] = self._dynamics
        out[:, 20:] = self._curves
        return out

    def _unclamped(self, act: Array, act_dot: Array) -> Mask:
        following = act[:, self.states] + self.span * act_dot[:, self.states]
        return np.asarray((self.act_low < following) & (following < self.act_high))


def _thrusters(m: Any, chosen: Mask) -> tuple[Indices, Indices, Array]:
    """Return actuators of sites, the bodies, and `Thruster` of src/mujoco/step.hpp, (n, 18)."""
    actuators = np.flatnonzero(chosen)
    sites = m.actuator_trnid[actuators, 0]
    bodies = m.site_bodyid[sites].astype(np.intp)
    rotations = np.empty((len(sites), 9))
    for rotation, quaternion in zip(rotations, m.site_quat[sites], strict=True):
        mujoco.mju_quat2Mat(rotation, quaternion)
    offsets = m.site_pos[sites] - m.body_ipos[bodies]
    return actuators, bodies, np.hstack([offsets, rotations, m.actuator_gear[actuators]])


def _range(limited: Mask, values: Array) -> tuple[Array, Array]:
    """Return lower and upper bounds, infinite where there are none."""
    low = np.where(limited, values[:, 0], -np.inf)
    return low, np.where(limited, values[:, 1], np.inf)
