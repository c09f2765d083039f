"""Replace the dynamics of a whole problem of crocoddyl by dtau's: `shooting_problem`."""

from __future__ import annotations

from typing import Any

import crocoddyl
import numpy as np

from dtau.crocoddyl.contacts import CONTACTS
from dtau.crocoddyl.dynamics import (
    DifferentialActionModelContactFwdDynamics,
    DifferentialActionModelFreeFwdDynamics,
)
from dtau.crocoddyl.impulses import ActionModelImpulseFwdDynamics
from dtau.crocoddyl.robot import Robot
from dtau.model.model import Model
from dtau.support.checks import require

_RUNGE_KUTTA = {2: crocoddyl.RKType.two, 3: crocoddyl.RKType.three, 4: crocoddyl.RKType.four}
_LARGEST_DAMPING = 1e-8  # crocoddyl's contacts yield visibly by more


def shooting_problem(model: Model, problem: crocoddyl.ShootingProblem) -> crocoddyl.ShootingProblem:
    """Return the same problem with the dynamics of dtau, which share the costs of the other.

    Knots keep crocoddyl's own action models where dtau has no counterpart: contacts of class
    ContactModel2D, dampings of contacts above 1e-8, constraints, armatures set on the action model,
    other dynamics and integrators.

    Parameters
    ----------
    model : Model
        The robot of the problem, as `dtau.load` reads it.
    problem : crocoddyl.ShootingProblem
        A problem on a ``crocoddyl.StateMultibody``. It is not changed.

    Returns
    -------
    crocoddyl.ShootingProblem
        With ``nthreads = 1``, which action models in Python need.

    Raises
    ------
    ValueError
        If the model is of another robot than the problem.
    TypeError
        If an argument is of another class.

    Examples
    --------
    >>> import crocoddyl, dtau, dtau.crocoddyl, numpy as np, pinocchio
    >>> from pathlib import Path
    >>> urdf = Path(dtau.robots.__file__).with_name("quadruped.urdf")
    >>> free = pinocchio.JointModelFreeFlyer()
    >>> state = crocoddyl.StateMultibody(pinocchio.buildModelFromUrdf(str(urdf), free))
    >>> actuation = crocoddyl.ActuationModelFloatingBase(state)
    >>> costs = crocoddyl.CostModelSum(state, actuation.nu)
    >>> fall = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
    >>> knot = crocoddyl.IntegratedActionModelEuler(fall, 0.01)
    >>> theirs = crocoddyl.ShootingProblem(state.zero(), [knot] * 10, knot)
    >>> ours = dtau.crocoddyl.shooting_problem(dtau.robots.quadruped(), theirs)
    >>> us = [np.ones(12)] * 10
    >>> bool(np.allclose(ours.rollout(us), theirs.rollout(us)))
    True
    """
    require("problem", problem, crocoddyl.ShootingProblem)
    robot = Robot(model, problem.terminalModel.state)
    running = [_replaced(robot, knot) for knot in problem.runningModels]
    terminal = _replaced(robot, problem.terminalModel)
    ours = crocoddyl.ShootingProblem(problem.x0, running, terminal)
    ours.nthreads = 1
    return ours


def _replaced(robot: Robot, knot: Any) -> Any:
    """The action model with our dynamics and its limits, or itself where there are none."""
    ours = _counterpart(robot, knot)
    if ours is not knot:
        ours.u_lb, ours.u_ub = knot.u_lb, knot.u_ub
    return ours


def _counterpart(robot: Robot, knot: Any) -> Any:
    if type(knot) is crocoddyl.ActionModelImpulseFwdDynamics:
        if _is_plain(knot):
            return ActionModelImpulseFwdDynamics(
                robot, knot.impulses, knot.costs, knot.r_coeff, knot.JMinvJt_damping, True
            )
        return knot
    dynamics: Any = getattr(knot, "differential", None)
    if type(dynamics) is crocoddyl.DifferentialActionModelFreeFwdDynamics:
        if not _is_plain(dynamics):
            return knot
        ours = DifferentialActionModelFreeFwdDynamics(robot, dynamics.actuation, dynamics.costs)
    elif type(dynamics) is crocoddyl.DifferentialActionModelContactFwdDynamics:
        contacts = dynamics.contacts.contacts.todict().values()
        known = all(type(item.contact) in CONTACTS for item in contacts)
        if not (_is_plain(dynamics) and known) or dynamics.contacts.computeAllContacts:
            return knot
        ours = DifferentialActionModelContactFwdDynamics(
            robot,
            dynamics.actuation,
            dynamics.contacts,
            dynamics.costs,
            dynamics.JMinvJt_damping,
            True,
        )
    else:
        return knot
    if type(knot) is crocoddyl.IntegratedActionModelEuler:
        return crocoddyl.IntegratedActionModelEuler(ours, knot.control, knot.dt)
    if type(knot) is crocoddyl.IntegratedActionModelRK:
        return crocoddyl.IntegratedActionModelRK(ours, knot.control, _RUNGE_KUTTA[knot.ni], knot.dt)
    return knot


def _is_plain(dynamics: Any) -> bool:
    """Whether the dynamics have no constraints, no armature of their own and firm contacts."""
    damping = getattr(dynamics, "JMinvJt_damping", 0.0)
    without = dynamics.ng + dynamics.nh == 0 and not np.any(dynamics.armature)
    return bool(without and damping <= _LARGEST_DAMPING)
