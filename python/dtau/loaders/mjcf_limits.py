"""Read the largest forces of an MJCF's motors on joints: `effort_limits`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtau.loaders.mjcf_forces import acting_actuators, geared, is_off
from dtau.support.arrays import Array


def effort_limits(mujoco: Any, m: Any) -> Array:
    """Return the largest magnitude of the actuators' force on each joint (njnt,).

    Forces of the actuators on a joint add up, each times its gear. `actuatorfrcrange` bounds the
    sum. Joints without actuators, and joints with one that has no bound, are unlimited otherwise.
    """
    low, high = np.zeros((2, m.njnt))
    driven = np.zeros(m.njnt, dtype=bool)
    acting = acting_actuators(mujoco, m)
    for actuator, joint, gear in geared(mujoco, m):
        if not acting[actuator]:
            continue
        ends = sorted(gear * x if gear else 0.0 for x in _range(mujoco, m, actuator))
        low[joint] += ends[0]
        high[joint] += ends[1]
        driven[joint] = True
    low[~driven], high[~driven] = -np.inf, np.inf
    limited = np.asarray(m.jnt_actfrclimited, dtype=bool)
    low[limited] = np.maximum(low, m.jnt_actfrcrange[:, 0])[limited]
    high[limited] = np.minimum(high, m.jnt_actfrcrange[:, 1])[limited]
    largest: Array = np.maximum(np.abs(low), np.abs(high))
    return largest


def _range(mujoco: Any, m: Any, actuator: int) -> tuple[float, float]:
    """Return the range of an actuator's force before its gear."""
    low, high = -np.inf, np.inf
    ones = np.ones(m.nu, dtype=int)  # of versions without actuators of several controls
    if any(getattr(m, f"actuator_{x}num", ones)[actuator] != 1 for x in ("ctrl", "out")):
        return low, high
    if _is_motor(mujoco, m, actuator):
        gain = float(m.actuator_gainprm[actuator, 0])
        low, high = sorted((gain * m.actuator_ctrlrange[actuator]).tolist())
    if m.actuator_forcelimited[actuator]:
        least, most = m.actuator_forcerange[actuator].tolist()
        low, high = np.clip((low, high), least, most).tolist()
    return low, high


def _is_motor(mujoco: Any, m: Any, actuator: int) -> bool:
    """Whether the force is a multiple of a bounded control, maybe filtered."""
    dynamics = mujoco.mjtDyn
    direct = dynamics.mjDYN_NONE, dynamics.mjDYN_FILTER, dynamics.mjDYN_FILTEREXACT
    return bool(
        m.actuator_ctrllimited[actuator]
        and m.actuator_plugin[actuator] < 0
        and not is_off(mujoco, m, "CLAMPCTRL")
        and m.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_FIXED
        and m.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_NONE
        and any(m.actuator_dyntype[actuator] == kind for kind in direct)
    )
