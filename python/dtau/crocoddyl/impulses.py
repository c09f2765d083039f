"""An action model of impacts: `ActionModelImpulseFwdDynamics`."""

from __future__ import annotations

from functools import partial
from typing import Any

import crocoddyl
import numpy as np
import pinocchio

import dtau
from dtau.crocoddyl.batch import Derivatives, Knot
from dtau.crocoddyl.contacts import REGULARIZATION, Status, contacts_of, members_of, place_frames
from dtau.crocoddyl.members import Members
from dtau.crocoddyl.robot import Robot, in_turn, require_robot
from dtau.crocoddyl.terms import Terms
from dtau.model.contacts import Contacts
from dtau.support.arrays import Array
from dtau.support.checks import require

_NONE = np.zeros(0)  # an impact has no controls


class ActionModelImpulseFwdDynamics(crocoddyl.ActionModelAbstract):
    """Impact of contacts: the configuration stays, velocities jump; there are no controls.

    It has the arguments of crocoddyl's class of this name, with a `Robot` for the state. As there,
    weights of costs and the status of impulses may change between evaluations. A cost or impulse
    that joins or leaves needs new data: `calc` and `calcDiff` with data of an earlier `createData`
    raise a ValueError.

    Parameters
    ----------
    robot : Robot
    impulses : crocoddyl.ImpulseModelMultiple or dtau.Contacts
        Only crocoddyl's can have costs of impulses.
    costs : crocoddyl.CostModelSum
    r_coeff : float
        Coefficient of restitution.
    inv_damping : float
        As in `DifferentialActionModelContactFwdDynamics`.
    enable_force : bool
        Compute the derivatives of impulses, which costs of impulses read.

    Attributes
    ----------
    robot : Robot
    impulses : crocoddyl.ImpulseModelMultiple or dtau.Contacts
    costs : crocoddyl.CostModelSum

    Raises
    ------
    ValueError
        If the model does not have the frame of an impulse.
    TypeError
        If an argument is of another class.

    Examples
    --------
    >>> import crocoddyl, dtau, dtau.crocoddyl, numpy as np
    >>> robot = dtau.crocoddyl.Robot(model := dtau.robots.quadruped())
    >>> feet = dtau.Contacts(model, [dtau.PointContact(x) for x in dtau.robots.QUADRUPED_FEET])
    >>> costs = crocoddyl.CostModelSum(robot.state, 0)
    >>> touch_down = dtau.crocoddyl.ActionModelImpulseFwdDynamics(robot, feet, costs)
    >>> data = touch_down.createData()
    >>> touch_down.calc(data, robot.state.rand(), np.zeros(0))
    >>> data.xnext.shape
    (37,)
    """

    def __init__(
        self,
        robot: Robot,
        impulses: crocoddyl.ImpulseModelMultiple | Contacts,
        costs: crocoddyl.CostModelSum,
        r_coeff: float = 0.0,
        inv_damping: float = 0.0,
        enable_force: bool = False,
    ) -> None:
        require_robot(robot)
        require("costs", costs, crocoddyl.CostModelSum)
        crocoddyl.ActionModelAbstract.__init__(self, robot.state, 0, costs.nr)
        self.robot, self.impulses, self.costs = robot, impulses, costs
        self._restitution = float(r_coeff)
        self._regularization = REGULARIZATION if inv_damping > 0.0 else 0.0
        self._enable_force = enable_force
        self._theirs = impulses if isinstance(impulses, crocoddyl.ImpulseModelMultiple) else None
        self.update_impulses()

    def update_impulses(self) -> None:
        """Read the impulses again, after a change of their frames or axes.

        `createData` reads them too, and `calc` after a change of their status.
        """
        self._held = contacts_of(self.robot, self.impulses)
        members = members_of(self.impulses)
        self._status = None if members is None else Status(members)
        key = (self._held, self._restitution, self._regularization)
        self._batch = self.robot.batch(key, partial(_linearize, self.robot, *key))

    def createData(self) -> ImpulseKnot:  # noqa: N802
        """Allocate the data of a knot, for the costs and impulses that there are now."""
        self.update_impulses()
        return ImpulseKnot(self)

    def _check(self, data: ImpulseKnot) -> None:
        """Read the impulses again if they have changed; raise an error if one joined or left."""
        data.summands.check()
        if self._status is not None and self._status.has_changed(data.members):
            self.update_impulses()

    @in_turn
    def calc(self, data: ImpulseKnot, x: Array, u: Array | None = None) -> None:
        """Compute the state after the impact, the impulses and the costs."""
        self._check(data)
        nq = self.robot.nq
        data.move(self._batch, x, _NONE, _NONE)
        q, v = self.robot.to_dtau(x)
        found = dtau.impulse_dynamics(
            self.robot.model,
            q,
            v,
            self._held,
            self._restitution,
            regularization=self._regularization,
        )
        after = self.robot.vectors_from_dtau(found.v)
        data.xnext = np.concatenate([x[:nq], after])
        if self._theirs is not None:
            place_frames(self.robot, data.pinocchio, x[:nq], data.members)
            self._theirs.updateVelocity(data.impulses, after)
            self._theirs.updateForce(data.impulses, found.impulses)
        data.terms.compute(data.pinocchio, x[:nq], x[nq:])
        if u is None:
            self.costs.calc(data.costs, x)
        else:
            self.costs.calc(data.costs, x, u)
        data.cost = data.costs.cost

    @in_turn
    def calcDiff(self, data: ImpulseKnot, x: Array, u: Array | None = None) -> None:  # noqa: N802
        """Set the derivatives of the state after the impact, the impulses and the costs."""
        data.summands.check()
        nq, nv = self.robot.nq, self.robot.nv
        if not data.is_at(self._batch, x, _NONE):
            self.calc(data, x, u)
        dv_dx, dimpulses_dx = data.linearization()
        data.Fx = np.concatenate([np.eye(nv, 2 * nv), dv_dx])
        if self._theirs is not None:
            self._theirs.updateVelocityDiff(data.impulses, dv_dx)
            if self._enable_force:
                self._theirs.updateForceDiff(data.impulses, dimpulses_dx)
        data.terms.differentiate(data.pinocchio, x[:nq], x[nq:], np.zeros(nv))
        if u is None:
            self.costs.calcDiff(data.costs, x)
        else:
            self.costs.calcDiff(data.costs, x, u)

    def quasiStatic(  # noqa: N802
        self, data: ImpulseKnot, x: Array, maxiter: int = 100, tol: float = 1e-9
    ) -> Array:
        """Return no controls: an impact has none."""
        return _NONE


def _linearize(
    robot: Robot, contacts: Contacts, restitution: float, regularization: float, x: Array, _: Array
) -> Derivatives:
    """Derivatives at states (n, nx): of velocities and impulses, by x."""
    q, v = robot.to_dtau(x)
    found = dtau.impulse_dynamics_derivatives(
        robot.model, q, v, contacts, restitution, regularization=regularization
    )
    by_q, by_v = map(robot.matrices_from_dtau, found[:2])
    impulses_q, impulses_v = map(robot.columns_from_dtau, found[2:4])
    return (
        np.concatenate([by_q, by_v], axis=-1),
        np.concatenate([impulses_q, impulses_v], axis=-1),
    )


class ImpulseKnot(crocoddyl.ActionDataAbstract, Knot):
    """Data of one impact."""

    def __init__(self, model: ActionModelImpulseFwdDynamics) -> None:
        crocoddyl.ActionDataAbstract.__init__(self, model)
        self.summands = Members("cost", model.costs)
        self.terms = Terms(model.robot.pinocchio, self.summands)
        self.members: Any = members_of(model.impulses)
        self.pinocchio: Any = None
        self.impulses: Any = None
        self._shared = crocoddyl.DataCollectorAbstract()
        if model.robot.pinocchio is not None:
            self.pinocchio = pinocchio.Data(model.robot.pinocchio)
            self._shared = crocoddyl.DataCollectorMultibody(self.pinocchio)
            if isinstance(model.impulses, crocoddyl.ImpulseModelMultiple):
                self.impulses = model.impulses.createData(self.pinocchio)
                self._shared = crocoddyl.DataCollectorMultibodyInImpulse(
                    self.pinocchio, self.impulses
                )
        self.costs = model.costs.createData(self._shared)
        self.costs.shareMemory(self)
