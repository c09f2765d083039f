"""Trots of Solo12 and Go1 as problems of crocoddyl's, for the experiment `crocoddyl`: `trot`.

Two cycles with 25 knots a step, as users write them: costs of the center of mass, of swing feet and
their velocity at touchdown, of friction cones, states and controls, and impacts where feet land.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array
from benchmarks.optional import optional

crocoddyl = optional("crocoddyl")
pinocchio = optional("pinocchio")
data = optional("example_robot_data")

# Feet of the left front, right front, left hind and right hind leg.
ROBOTS = {
    "solo12": ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
    "go1": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
}
STEP = 0.01  # s
CYCLES, SWING, STANCE = 2, 25, 5  # knots of a swing, and on four feet before and after
LENGTH, HEIGHT = 0.08, 0.05  # m, of a step
DIAGONALS = ((0, 3), (1, 2))
BRAKE = 50.0  # 1/s, on velocities of feet that are held


def trot(name: str) -> tuple[dtau.Model, Any, Array]:
    """A robot's trot: the model, crocoddyl's problem and the first state."""
    robot = data.load(name)
    made = _Trot(robot.model, robot.q0, ROBOTS[name])
    knots = [*made.knots()]
    problem = crocoddyl.ShootingProblem(made.start, knots[:-1], knots[-1])
    problem.nthreads = 1
    return dtau.from_pinocchio(robot.model).replace(damping=0.0), problem, made.start


class _Trot:
    def __init__(self, model: Any, q: Array, feet: tuple[str, ...]) -> None:
        self.model, self.state = model, crocoddyl.StateMultibody(model)
        self.actuation = crocoddyl.ActuationModelFloatingBase(self.state)
        self.start = np.concatenate([q, np.zeros(model.nv)])
        self.feet = [model.getFrameId(foot) for foot in feet]
        at = model.createData()
        pinocchio.framesForwardKinematics(model, at, q)
        self.places = np.array([at.oMf[foot].translation for foot in self.feet])
        self.center = np.array(pinocchio.centerOfMass(model, at, q))
        legs = model.nv - 6
        self.weights = np.repeat([0.0, 500.0, 1.0, 10.0, 1.0], [3, 3, legs, 6, legs]) ** 2

    def knots(self) -> Iterable[Any]:
        """All knots; the last one is terminal."""
        places, center, along = self.places.copy(), self.center.copy(), np.array([1.0, 0.0, 0.0])
        stance = self._knot(range(4), {}, center)
        yield from [stance] * STANCE
        for k in range(2 * CYCLES):
            swing, length = DIAGONALS[k % 2], LENGTH if k else LENGTH / 2.0
            support = [foot for foot in range(4) if foot not in swing]
            for part in np.arange(1, SWING + 1) / SWING:
                lift = np.array([length * part, 0.0, HEIGHT * np.sin(np.pi * part)])
                goals = {foot: places[foot] + lift for foot in swing}
                above = center + 0.5 * length * part * along
                yield self._knot(support, goals, above, touchdown=part == 1.0)
            places[list(swing)] += length * along
            center += 0.5 * length * along
            yield self._impact({foot: places[foot] for foot in swing})
        stance = self._knot(range(4), {}, center)
        yield from [stance] * STANCE

    def _costs(self, nu: int, goals: dict[int, Array], weight: float) -> Any:
        costs = crocoddyl.CostModelSum(self.state, nu)
        for foot, goal in goals.items():
            there = crocoddyl.ResidualModelFrameTranslation(self.state, self.feet[foot], goal, nu)
            self._add(costs, f"swing {foot}", there, weight)
        posture = crocoddyl.ResidualModelState(self.state, self.start, nu)
        weights = crocoddyl.ActivationModelWeightedQuad(self.weights)
        self._add(costs, "state", posture, 0.1, weights)
        return costs

    def _knot(
        self, support: Iterable[int], goals: dict[int, Array], above: Array, touchdown: bool = False
    ) -> Any:
        nu, state = self.actuation.nu, self.state
        aligned = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        contacts = crocoddyl.ContactModelMultiple(state, nu)
        costs = self._costs(nu, goals, 1e5)
        self._add(costs, "center", crocoddyl.ResidualModelCoMPosition(state, above, nu), 1e5)
        self._add(costs, "control", crocoddyl.ResidualModelControl(state, nu), 0.1)
        cone, gains = crocoddyl.FrictionCone(np.eye(3), 0.7, 4, False), np.array([0.0, BRAKE])
        for foot in support:
            frame = self.feet[foot]
            held = crocoddyl.ContactModel3D(state, frame, np.zeros(3), aligned, nu, gains)
            contacts.addContact(self.model.frames[frame].name, held)
            bounds = crocoddyl.ActivationBounds(cone.lb, cone.ub)
            inside = crocoddyl.ResidualModelContactFrictionCone(state, frame, cone, nu)
            barrier = crocoddyl.ActivationModelQuadraticBarrier(bounds)
            self._add(costs, f"cone {foot}", inside, 10.0, barrier)
        for foot in goals if touchdown else ():
            rest = pinocchio.Motion.Zero()
            speed = crocoddyl.ResidualModelFrameVelocity(state, self.feet[foot], rest, aligned, nu)
            self._add(costs, f"speed {foot}", speed, 1e3)
        dynamics = crocoddyl.DifferentialActionModelContactFwdDynamics(
            state, self.actuation, contacts, costs, 0.0, True
        )
        return crocoddyl.IntegratedActionModelEuler(dynamics, STEP)

    def _impact(self, goals: dict[int, Array]) -> Any:
        aligned = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        impulses = crocoddyl.ImpulseModelMultiple(self.state)
        for frame in self.feet:
            held = crocoddyl.ImpulseModel3D(self.state, frame, aligned)
            impulses.addImpulse(self.model.frames[frame].name, held)
        return crocoddyl.ActionModelImpulseFwdDynamics(
            self.state, impulses, self._costs(0, goals, 1e6)
        )

    def _add(self, costs: Any, name: str, residual: Any, weight: float, *activation: Any) -> None:
        cost = crocoddyl.CostModelResidual(self.state, *activation, residual)
        costs.addCost(name, cost, weight)
