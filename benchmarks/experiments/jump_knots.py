"""A jump of ANYmal as a problem of crocoddyl's, for the experiment `crocoddyl`: `Jump`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array
from benchmarks.optional import optional

crocoddyl = optional("crocoddyl")
pinocchio = optional("pinocchio")
data = optional("example_robot_data")

FEET = ("LF_FOOT", "LH_FOOT", "RF_FOOT", "RH_FOOT")  # in the order of crocoddyl's rows
STEP = 0.01  # s
PHASES = (40, 20, 40)  # knots before, during and after the flight; the impact comes between
BRAKE = 50.0  # 1/s, on velocities of feet that are held


@dataclass(frozen=True)
class Weights:
    """Weights of the squares of displacements from a reference, [xi, dv], and of controls."""

    stance: Array
    flight: Array
    landing: Array
    control: float


def weights() -> Weights:
    """The height follows a ballistic reference in flight; posture and place come back."""
    stance = np.repeat([1.0, 10.0, 0.1, 0.1, 0.01], [3, 3, 12, 6, 12])
    flight = stance.copy()
    flight[2] = 100.0
    landing = np.repeat([1e3, 100.0, 100.0, 10.0], [6, 12, 6, 12])
    return Weights(stance, flight, landing, 1e-3)


class Jump:
    """The jump: 40 knots on four feet, 20 in the air, an impact, 40 on four feet."""

    def __init__(self) -> None:
        robot = data.load("anymal")
        self.model = dtau.load(robot.urdf, root="free")
        self.peer = robot.model
        self.state = crocoddyl.StateMultibody(self.peer)
        standing = self.peer.referenceConfigurations["standing"]
        self.start = np.concatenate([standing, np.zeros(self.peer.nv)])
        self.weights = weights()
        before, flight, after = PHASES
        times = STEP * np.arange(flight)
        speed = 9.81 * STEP * flight / 2.0
        air = np.tile(self.start, (flight, 1))
        air[:, 2] += speed * times - 9.81 * times**2 / 2.0
        air[:, self.peer.nq + 2] = speed - 9.81 * times
        rest = np.tile(self.start, (max(before, after) + 2, 1))
        self.references = np.concatenate([rest[:before], air, rest[: after + 2]])

    def problem(self) -> Any:
        """The problem with crocoddyl's own action models."""
        w = self.weights
        before, flight, after = PHASES
        first, landed = self.references[:before], self.references[before + flight + 1 :]
        air = self.references[before : before + flight]
        knots = [self._knot(FEET, w.stance, x, STEP) for x in first]
        knots += [self._knot((), w.flight, x, STEP) for x in air]
        knots.append(self._impact())
        knots += [self._knot(FEET, w.stance, x, STEP) for x in landed[:after]]
        terminal = self._knot(FEET, w.landing, self.start, 0.0)
        problem = crocoddyl.ShootingProblem(self.start, knots, terminal)
        problem.nthreads = 1
        return problem

    def _costs(self, nu: int, weight: Array, reference: Array) -> Any:
        costs = crocoddyl.CostModelSum(self.state, nu)
        tracking = crocoddyl.ResidualModelState(self.state, reference, nu)
        activation = crocoddyl.ActivationModelWeightedQuad(weight)
        states = crocoddyl.CostModelResidual(self.state, activation, tracking)
        costs.addCost("state", states, 1.0)
        if nu:
            effort = crocoddyl.ResidualModelControl(self.state, nu)
            controls = crocoddyl.CostModelResidual(self.state, effort)
            costs.addCost("control", controls, self.weights.control)
        return costs

    def _knot(self, feet: tuple[str, ...], weight: Array, reference: Array, step: float) -> Any:
        actuation = crocoddyl.ActuationModelFloatingBase(self.state)
        nu = actuation.nu
        contacts = crocoddyl.ContactModelMultiple(self.state, nu)
        aligned = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for foot in feet:
            frame, gains = self.peer.getFrameId(foot), np.array([0.0, BRAKE])
            held = crocoddyl.ContactModel3D(self.state, frame, np.zeros(3), aligned, nu, gains)
            contacts.addContact(foot, held)
        dynamics = crocoddyl.DifferentialActionModelContactFwdDynamics(
            self.state, actuation, contacts, self._costs(nu, weight, reference), 0.0, False
        )
        return crocoddyl.IntegratedActionModelEuler(dynamics, step)

    def _impact(self) -> Any:
        impulses = crocoddyl.ImpulseModelMultiple(self.state)
        aligned = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for foot in FEET:
            frame = self.peer.getFrameId(foot)
            impulses.addImpulse(foot, crocoddyl.ImpulseModel3D(self.state, frame, aligned))
        costs = self._costs(0, self.weights.landing, self.start)
        return crocoddyl.ActionModelImpulseFwdDynamics(self.state, impulses, costs)


def gait() -> tuple[dtau.Model, Any, Array]:
    """The jump of crocoddyl's own examples, with friction cones; its model and first state."""
    from crocoddyl.utils.quadruped import SimpleQuadrupedalGaitProblem

    robot = data.load("anymal")
    standing = robot.model.referenceConfigurations["standing"]
    start = np.concatenate([standing, np.zeros(robot.model.nv)])
    problem = SimpleQuadrupedalGaitProblem(
        robot.model, "LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"
    ).createJumpingProblem(start, 0.15, [0.0, 0.3, 0.0], 1e-2, 10, 20)
    problem.nthreads = 1
    return dtau.load(robot.urdf, root="free"), problem, start
