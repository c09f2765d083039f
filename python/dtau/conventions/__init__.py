"""Convert states, forces and derivatives between dtau's and other conventions, in both directions.

Make a `Convention` once for a model, by one of the functions below. It converts arrays whose
leading axes are the batch. docs/conventions.md compares the packages in one table.

A convention has maps of configurations (`coordinates`), of velocities (`twists`, then
`velocity_order`) and of external wrenches (`wrenches`). `states` converts states, `conversion` the
results of functions, with a module for each rule: `arrays`, `derivatives`, `second_derivatives` and
`linearizations`.
"""

from __future__ import annotations

from dtau.conventions.convention import Convention
from dtau.conventions.mujoco_model import mujoco
from dtau.conventions.pinocchio_model import pinocchio
from dtau.conventions.spatial_vectors import angular_first, mixed_twist, spatial_twist

__all__ = ["Convention", "angular_first", "mixed_twist", "mujoco", "pinocchio", "spatial_twist"]


def __dir__() -> list[str]:
    return sorted(__all__)
