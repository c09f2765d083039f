"""Crocoddyl's data of costs, forces and Pinocchio, for one knot or for several in turn: `Parts`.

Knots whose costs and contacts have the same classes share a set of such data. A set takes a hundred
kilobytes: of a hundred knots, each set would leave the cache between a solver's visits. In return,
the derivatives of costs evaluate them again. A knot whose data someone reads gets a set of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import crocoddyl
import numpy as np
import pinocchio

from dtau.crocoddyl.contacts import turned_contacts
from dtau.crocoddyl.members import Members
from dtau.crocoddyl.terms import LOCAL, Terms
from dtau.support.arrays import Array

Forces = Callable[[], tuple[Array, Array]]

# Activations whose data keeps nothing between evaluations, but for weights (`Parts._refresh`).
_WEIGHTED = crocoddyl.ActivationModelWeightedQuad
_ACTIVATIONS = (
    crocoddyl.ActivationModelQuad,
    _WEIGHTED,
    crocoddyl.ActivationModelQuadraticBarrier,
    crocoddyl.ActivationModelWeightedQuadraticBarrier,
)
# Residuals that are zero inside a cone of forces, and the activation that makes them so.
_CONES = (crocoddyl.ResidualModelContactFrictionCone, crocoddyl.ResidualModelContactWrenchCone)
_BARRIER = crocoddyl.ActivationModelQuadraticBarrier


class Parts:
    """A set of data of crocoddyl and Pinocchio.

    Parameters
    ----------
    model : DifferentialActionModelContactFwdDynamics
    costs : Members
        The costs of the model.
    shared : bool
        Whether knots use it in turn. Otherwise someone may read its forces.

    Attributes
    ----------
    pinocchio : pinocchio.Data, or None
    actuation, joint, costs
        Data of crocoddyl.
    force_data : crocoddyl.ContactDataMultiple, or None
    terms : Terms
    shared : bool
    """

    def __init__(self, model: Any, costs: Members, shared: bool) -> None:
        robot = model.robot
        self.actuation = model.actuation.createData()
        self.joint = crocoddyl.JointDataAbstract(robot.state, model.actuation, model.nu)
        np.fill_diagonal(self.joint.dtau_du, 1.0)
        self.pinocchio: Any = None
        self.force_data: Any = None
        data = [self.actuation, self.joint]
        # Of forces, costs read the numbers alone; their transforms are for readers.
        self._turned: list[Any] = []
        frames: list[int] = []
        if robot.pinocchio is None:
            kind: Any = crocoddyl.DataCollectorJointActuation
        else:
            self.pinocchio = pinocchio.Data(robot.pinocchio)
            data.insert(0, self.pinocchio)
            kind = crocoddyl.DataCollectorJointActMultibody
            if isinstance(model.contacts, crocoddyl.ContactModelMultiple):
                self.force_data = model.contacts.createData(self.pinocchio)
                data.append(self.force_data)
                kind = crocoddyl.DataCollectorJointActMultibodyInContact
                if not shared:
                    self._turned = turned_contacts(model.contacts, self.force_data)
                    frames = [x.contact.id for x in model.contacts.contacts.todict().values()]
        self._collector = kind(*data)
        self.costs = model.costs.createData(self._collector)
        self.terms = Terms(robot.pinocchio, costs, frames)
        self.shows_forces = self.force_data is not None and (self.terms.forces > 0 or not shared)
        self.shared, self._nq = shared, robot.nq
        found = self.costs.costs.todict()
        self._cones = [found[name] for name in cones(costs)]
        self._weights = [activation.weights.tobytes() for activation in weighted(costs)]

    def evaluate(self, knot: Any, x: Array, u: Array | None) -> None:
        """Evaluate the costs of a knot, whose acceleration and forces are known."""
        self.terms.compute(self.pinocchio, x[: self._nq], x[self._nq :])
        self._sum(knot, x, u)
        knot.cost = self.costs.cost

    def _sum(self, knot: Any, x: Array, u: Array | None) -> None:
        """Evaluate the costs after the terms that they read."""
        model = knot.model
        if u is None:
            model.costs.calc(self.costs, x)
        else:
            if self.shows_forces:
                self._show(knot.forces, model.contacts, x)
            if self.terms.joint:
                self.joint.a, self.joint.tau = knot.xout, u
            model.costs.calc(self.costs, x, u)

    def _show(self, forces: Array, contacts: Any, x: Array) -> None:
        """Give the forces to crocoddyl's data."""
        for item, data in self._turned:
            if item.active:
                item.contact.calc(data, x)  # nothing else sets the turn of its frame
        contacts.updateForce(self.force_data, forces)

    def differentiate(self, knot: Any, x: Array, u: Array | None, forces: Forces | None) -> None:
        """Set the derivatives of a knot's costs, whose dynamics are differentiated.

        ``forces`` returns the derivatives of the forces, by state and control.
        """
        model = knot.model
        terms, a = self.terms, None
        if terms.accelerations:
            a = np.zeros(len(x) - self._nq) if u is None else knot.xout
        terms.differentiate(self.pinocchio, x[: self._nq], x[self._nq :], a)
        idle: list[Any] = []
        if self.shared:  # another knot was here
            self._sum(knot, x, u)
            self._refresh(knot)
            self.costs.shareMemory(knot)
            if self._cones and u is not None:
                idle = self._idle(knot)
        if u is None:
            model.costs.calcDiff(self.costs, x)
            return
        if forces is not None and (not idle or len(idle) < self.terms.forces):
            model.contacts.updateForceDiff(self.force_data, *forces())
        if terms.joint:
            self.joint.da_dx, self.joint.da_du = knot.Fx, knot.Fu
        for item in idle:
            item.active = False
        try:
            model.costs.calcDiff(self.costs, x, u)
        finally:
            for item in idle:
                item.active = True

    def _idle(self, knot: Any) -> list[Any]:
        """Return the active cones that add nothing, since their forces are inside.

        A force of zero is at the tip of its cone, where crocoddyl counts it as outside.
        """
        if 0.0 in knot.forces.tolist():
            return []
        pairs = zip(knot.cones, self._cones, strict=True)
        return [item for item, data in pairs if item.active and data.cost == 0.0]

    def _refresh(self, knot: Any) -> None:
        """Let crocoddyl read weights of activations again that differ from the last knot's.

        It copies them to its data when they are set, for one data alone.
        """
        for i, activation in enumerate(knot.weighted):
            weights = activation.weights
            if (now := weights.tobytes()) != self._weights[i]:
                activation.weights, self._weights[i] = weights, now


def weighted(costs: Members) -> list[Any]:
    """Return the activations with weights that their data copies."""
    found = [getattr(cost, "activation", None) for cost in costs]
    return [activation for activation in found if type(activation) is _WEIGHTED]


def cones(costs: Members) -> dict[str, Any]:
    """Return the items of costs that are zero while a force is inside its cone, by name."""
    return {
        name: item
        for name, item in costs.items.items()
        if type(getattr(item.cost, "residual", None)) in _CONES
        and type(item.cost.activation) is _BARRIER
    }


def structure(model: Any, costs: Members) -> Hashable | None:
    """Return what the data of knots has to have in common to be shared; None if it cannot be."""
    if model.robot.pinocchio is None or not model.plain:
        return None
    key: list[Any] = [type(model.actuation), model.nu, model.enable_force]
    for name, item in costs.items.items():
        cost = item.cost
        if type(cost) is not crocoddyl.CostModelResidual:
            return None
        residual, activation = cost.residual, cost.activation
        if type(residual) not in LOCAL or type(activation) not in _ACTIVATIONS:
            return None
        frame = getattr(residual, "id", None)  # data of forces belongs to the contact of its frame
        key.append((name, type(residual), residual.nr, residual.nu, frame, type(activation)))
    if isinstance(model.contacts, crocoddyl.ContactModelMultiple):
        for name, item in model.contacts.contacts.todict().items():
            key.append((name, type(item.contact), item.contact.id, item.contact.type))
    return tuple(key)
