"""Read the curves of MuJoCo's muscles: `muscle_curves`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from dtau.support.arrays import Array

_GAIN, _BIAS = int(mujoco.mjtGain.mjGAIN_MUSCLE), int(mujoco.mjtBias.mjBIAS_MUSCLE)


def muscle_curves(m: Any) -> Array:
    """Return `active` and `passive` of src/mujoco/step.hpp, (nactuator, 11); else the force is 0.

    They are functions of the length  origin + scale (length)  in units of the optimal one.
    """
    out = np.zeros((m.nactuator, 11))
    for i in np.flatnonzero(m.actuator_gaintype == _GAIN).tolist():
        force, origin, scale, optimum = _scaled(m, i, m.actuator_gainprm[i])
        low, high, speed, _, most = m.actuator_gainprm[i, 4:9]
        speed_scale = 1.0 / max(mujoco.mjMINVAL, optimum * speed)
        out[i, :7] = force, origin, scale, low, high, speed_scale, most
    for i in np.flatnonzero(m.actuator_biastype == _BIAS).tolist():
        force, origin, scale, _ = _scaled(m, i, m.actuator_biasprm[i])
        high, _, passive = m.actuator_biasprm[i, 5:8]
        out[i, 7:] = force * passive, origin, scale, high
    return out


def _scaled(m: Any, i: int, parameters: Array) -> tuple[float, float, float, float]:
    """Return force, origin and scale, and the optimal length."""
    short, long, force, scale = parameters[:4]
    if force < 0.0:
        force = scale / max(mujoco.mjMINVAL, m.actuator_acc0[i])
    start, end = m.actuator_lengthrange[i]
    optimum = (end - start) / max(mujoco.mjMINVAL, long - short)
    per_length = 1.0 / max(mujoco.mjMINVAL, optimum)
    return force, short - start * per_length, per_length, optimum
