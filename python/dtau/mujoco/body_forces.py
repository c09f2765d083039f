"""Read forces on bodies that depend on their motion: `gravity_compensation`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtau.mujoco.scope import disabled
from dtau.support.arrays import Array, Indices

_NO_FORCE, _PASSIVE, _OF_ACTUATORS = range(3)  # Compensation in src/mujoco/step.hpp


def gravity_compensation(m: Any) -> tuple[Indices, Indices, Array]:
    """Return the bodies, what their compensation counts as by degree of freedom, and the forces.

    MuJoCo computes no passive forces if springs and dampers are disabled, and adds no compensation
    to the forces of actuators where there are none.
    """
    off = disabled(m, "GRAVITY") or no_passive_forces(m) or not m.flg_gravcomp
    bodies = np.flatnonzero(m.body_gravcomp * (not off))
    of_actuators = m.jnt_actgravcomp[m.dof_jntid] != 0
    acts = m.nactuator > 0 and not disabled(m, "ACTUATION")
    counts = np.where(of_actuators, _OF_ACTUATORS if acts else _NO_FORCE, _PASSIVE)
    weights = m.body_mass[bodies] * m.body_gravcomp[bodies]
    return bodies, counts.astype(np.intp), -weights[:, np.newaxis] * m.opt.gravity


def no_passive_forces(m: Any) -> bool:
    """Tell if MuJoCo computes no passive forces."""
    return disabled(m, "SPRING") and disabled(m, "DAMPER")
