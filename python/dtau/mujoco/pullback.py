"""Multiply weights with the derivatives of MuJoCo's step: `step_pullback`.

The core goes from the state after the step back to the forces, where it solves for one vector, and
dtau's product of inverse dynamics goes from the smooth forces to the state. No matrix A or B is
formed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dtau import _core
from dtau.mujoco.geometry_differences import GeometryDifferences
from dtau.mujoco.names import Names
from dtau.mujoco.plan import Plan
from dtau.mujoco.solved import Solved
from dtau.mujoco.steps import with_motions
from dtau.support.arrays import Array


def step_pullback(
    plan: Plan,
    mj_model: Any,
    constants: Any,
    solved: Solved,
    following: Array,
    weights: Array,
    names: Names,
    differences: GeometryDifferences | None,
) -> Array:
    """Return gradients by state, control and parameters, (n, width), of steps of Euler's kind.

    `weights`: of the states after the steps, (n, 2 nv + na). The others are as in
    `dtau.mujoco.steps.step_derivatives`.
    """
    q, v, a, accelerations, by_velocity = _core.mujoco_accelerations(constants, solved.arrays)
    arguments = constants, solved, accelerations, following, by_velocity
    by, multipliers, lam = with_motions(
        _core.mujoco_step_pullback, mj_model, *arguments, weights, names, differences
    )
    product = _core.inverse_dynamics_vjp(plan.model, q, v, a, lam)
    _core.mujoco_add_smooth(constants, solved.arrays, accelerations, multipliers, product, by)
    return np.asarray(by)
