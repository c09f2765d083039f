"""Collect what the main solver leaves to the sweeps of MuJoCo's noslip solver: `Noslip`.

The core differentiates the sweeps (``src/mujoco/noslip.hpp``).
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import mujoco
import numpy as np

from dtau import _core
from dtau.mujoco.scope import not_covered
from dtau.support.arrays import Indices

# Arrays of MjData that do not move.
FIXED = attrgetter("solver_niter", "qacc", "qfrc_constraint", "crb")


class Noslip:
    """Accelerations before the noslip solver at n states, and the sweeps that it takes.

    Attributes
    ----------
    a : ndarray (n, nv)
        The accelerations.
    """

    def __init__(self, mj_model: Any, n: int) -> None:
        self.a = np.empty((n, mj_model.nv))
        self._inertias = np.empty((n, mj_model.nbody, 10))
        self._sweeps: list[Indices] = []  # of each row of constraints

    def clear(self) -> None:
        """Forget the states."""
        self._sweeps.clear()

    def add(self, k: int, without: Any, data: Any, fixed: tuple[Any, ...]) -> None:
        """Collect the solution of the main solver in `data`, where the noslip solver has run.

        `without`: the model without it. `fixed`: the arrays `FIXED` of the data.
        """
        if data.nisland > (most := len(fixed[0])):
            raise not_covered(
                f"the noslip solver with more than {most} islands, unless option/flag "
                "disables island"
            )
        to = self.a, self._inertias
        self._sweeps.append(
            _core.mujoco_collect_before_sweeps(data, fixed, to, k, mujoco.mj_fwdConstraint, without)
        )

    def sweeps(self) -> tuple[Any, ...]:
        """Return `Sweeps` of src/mujoco/step.hpp, with the accelerations before them."""
        of_states = self._sweeps
        joined = of_states[0] if len(of_states) == 1 else np.concatenate(of_states)
        return joined, self._inertias, self.a

    def size(self) -> int:
        """Return the size of the arrays in bytes."""
        return sum(x.nbytes for x in (self.a, self._inertias, *self._sweeps))
