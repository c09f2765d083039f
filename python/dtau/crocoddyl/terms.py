"""Run the algorithms of Pinocchio whose results the costs of an action model read: `Terms`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import crocoddyl
import numpy as np
import pinocchio
from numpy.typing import NDArray

from dtau.crocoddyl.members import Members

Array = NDArray[np.float64]

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


class Terms:
    """The algorithms of Pinocchio that a sum of costs needs, inactive ones included.

    They belong to the data of a knot, like crocoddyl's data of costs: both are for the costs that
    the sum has at this time.

    Parameters
    ----------
    model : pinocchio.Model, or None
        None: the costs have no data of Pinocchio's.
    costs : crocoddyl.CostModelSum

    Attributes
    ----------
    costs : Members
    """

    def __init__(self, model: Any, costs: crocoddyl.CostModelSum) -> None:
        self.costs = Members("cost", costs)
        read = {name for cost in self.costs for name in _read(cost)}
        self.joint = "joint" in read
        self.forces = bool(read & {"forces", "everything"})
        self._values: list[Callable[[Any, Array, Array], None]] = []
        self._derivatives: list[Callable[[Any, Array, Array, Array], None]] = []
        if model is None:
            return
        values, derivatives = self._values.append, self._derivatives.append
        if "everything" in read:
            values(lambda data, q, v: pinocchio.computeAllTerms(model, data, q, v))
            values(lambda data, q, v: pinocchio.computeCentroidalMomentum(model, data))
            derivatives(
                lambda data, q, v, a: pinocchio.computeRNEADerivatives(model, data, q, v, a)
            )
        elif "velocities" in read:
            values(lambda data, q, v: pinocchio.forwardKinematics(model, data, q, v))
            derivatives(
                lambda data, q, v, a: pinocchio.computeForwardKinematicsDerivatives(
                    model, data, q, v, a
                )
            )
        elif "placements" in read:
            values(lambda data, q, v: pinocchio.forwardKinematics(model, data, q))
            derivatives(lambda data, q, v, a: pinocchio.computeJointJacobians(model, data))
        if "center of mass" in read and "everything" not in read:
            values(lambda data, q, v: pinocchio.centerOfMass(model, data, False))
            derivatives(lambda data, q, v, a: pinocchio.jacobianCenterOfMass(model, data, False))

    def compute(self, data: Any, q: Array, v: Array) -> None:
        """Compute the terms of Pinocchio's `data` that the costs' values read."""
        for algorithm in self._values:
            algorithm(data, q, v)

    def differentiate(self, data: Any, q: Array, v: Array, a: Array) -> None:
        """Compute the terms that the costs' derivatives read, after `compute`."""
        for algorithm in self._derivatives:
            algorithm(data, q, v, a)


def _read(cost: crocoddyl.CostModelAbstract) -> tuple[str, ...]:
    """What a cost reads of Pinocchio's data."""
    if type(cost) is not crocoddyl.CostModelResidual:
        return EVERYTHING
    return _NAMES.get(type(cost.residual), EVERYTHING)
