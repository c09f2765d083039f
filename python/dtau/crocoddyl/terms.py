"""Run the algorithms of Pinocchio whose results the costs of an action model read: `Terms`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import crocoddyl
import pinocchio

from dtau.crocoddyl.members import Members
from dtau.support.arrays import Array

# What residuals read of Pinocchio's data; one that is not listed may read everything.
_READ = {
    "State": (),
    "Control": (),
    "ContactForce": ("forces",),
    "ContactFrictionCone": ("forces",),
    "ContactWrenchCone": ("forces",),
    "ContactCoPPosition": ("forces",),
    "JointEffort": ("joint",),
    "JointAcceleration": ("joint",),
    "FrameTranslation": ("placements",),
    "FrameRotation": ("placements",),
    "FramePlacement": ("placements",),
    "FrameVelocity": ("velocities",),
    "CoMPosition": ("placements", "center of mass"),
    "ImpulseCoM": (),
}
_NAMES = {getattr(crocoddyl, f"ResidualModel{name}"): read for name, read in _READ.items()}
EVERYTHING = ("everything", "joint")
# Residuals whose data keeps nothing between evaluations.
LOCAL = {x for x, read in _NAMES.items() if "joint" not in read} - {
    crocoddyl.ResidualModelImpulseCoM
}


class Terms:
    """The algorithms of Pinocchio that a sum of costs needs, inactive ones included.

    Parameters
    ----------
    model : pinocchio.Model, or None
        None: the costs have no data of Pinocchio's.
    costs : Members
    frames : sequence of int
        Frames to place beside those that the costs read.

    Attributes
    ----------
    joint, accelerations : bool
        Whether a cost reads joint data, or accelerations by Pinocchio's data.
    forces : int
        Number of costs that read forces of contacts.
    """

    def __init__(self, model: Any, costs: Members, frames: Sequence[int] = ()) -> None:
        read = {name for cost in costs for name in _read(cost)}
        self.joint = "joint" in read
        self.forces = sum(not {"forces", "everything"}.isdisjoint(_read(cost)) for cost in costs)
        self.accelerations = bool(read & {"everything", "velocities"})
        self._values: list[Callable[[Any, Array, Array], Any]] = []
        self._derivatives: list[Callable[[Any, Array, Array, Array | None], Any]] = []
        if model is None:
            return
        p, values, derivatives = pinocchio, self._values.append, self._derivatives.append
        if "everything" in read:
            values(lambda data, q, v: p.computeAllTerms(model, data, q, v))
            values(lambda data, q, v: p.computeCentroidalMomentum(model, data))
            derivatives(lambda data, q, v, a: p.computeRNEADerivatives(model, data, q, v, a))
        elif "velocities" in read:
            values(lambda data, q, v: p.forwardKinematics(model, data, q, v))
            derivatives(
                lambda data, q, v, a: p.computeForwardKinematicsDerivatives(model, data, q, v, a)
            )
            if "center of mass" in read:
                values(lambda data, q, v: p.centerOfMass(model, data, False))
                derivatives(lambda data, q, v, a: p.jacobianCenterOfMass(model, data, False))
        elif "center of mass" in read:  # these two place all joints, and set their Jacobians
            values(lambda data, q, v: p.centerOfMass(model, data, q, False))
            derivatives(lambda data, q, v, a: p.jacobianCenterOfMass(model, data, q, False))
        elif "placements" in read:
            values(lambda data, q, v: p.forwardKinematics(model, data, q))
            derivatives(lambda data, q, v, a: p.computeJointJacobians(model, data, q))
        elif frames:
            values(lambda data, q, v: p.forwardKinematics(model, data, q))
        if frames:
            values(lambda data, q, v: [p.updateFramePlacement(model, data, x) for x in frames])

    def compute(self, data: Any, q: Array, v: Array) -> None:
        """Compute the terms of Pinocchio's `data` that the costs' values read."""
        for algorithm in self._values:
            algorithm(data, q, v)

    def differentiate(self, data: Any, q: Array, v: Array, a: Array | None) -> None:
        """Compute the terms that the costs' derivatives read.

        Unless a cost reads everything, these include the terms of their values.
        """
        for algorithm in self._derivatives:
            algorithm(data, q, v, a)


def _read(cost: crocoddyl.CostModelAbstract) -> tuple[str, ...]:
    """What a cost reads of Pinocchio's data."""
    if type(cost) is not crocoddyl.CostModelResidual:
        return EVERYTHING
    return _NAMES.get(type(cost.residual), EVERYTHING)
