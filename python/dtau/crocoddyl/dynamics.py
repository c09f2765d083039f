"""Differential action models of forward dynamics, free and with contacts."""

from __future__ import annotations

from functools import partial
from typing import Any

import crocoddyl
import numpy as np
import pinocchio
from numpy.typing import NDArray

import dtau
from dtau.crocoddyl.batch import Derivatives, Knot
from dtau.crocoddyl.contacts import (
    REGULARIZATION,
    Status,
    contacts_of,
    members_of,
    place_frames,
    turn_contacts,
)
from dtau.crocoddyl.robot import Robot
from dtau.crocoddyl.terms import Terms
from dtau.functions.dynamics_equilibrium import pushed_wrenches
from dtau.model.contact_kinds import Loop
from dtau.model.contacts import Contacts

Array = NDArray[np.float64]


class DifferentialActionModelContactFwdDynamics(crocoddyl.DifferentialActionModelAbstract):
    """Forward dynamics with contacts, for crocoddyl's integrators.

    It has the arguments of crocoddyl's class of this name, with a `Robot` for the state. As there,
    weights of costs, and status and references of contacts, may change between evaluations. A cost
    or contact that joins or leaves needs new data: `calc` and `calcDiff` with data of an earlier
    `createData` raise a ValueError.

    Parameters
    ----------
    robot : Robot
    actuation : crocoddyl.ActuationModelAbstract
    contacts : crocoddyl.ContactModelMultiple or dtau.Contacts
        Contacts of class ContactModel1D, ContactModel3D and ContactModel6D, or any of
        `dtau.Contacts`. Only crocoddyl's can have costs of their forces.
    costs : crocoddyl.CostModelSum
    inv_damping : float
        A positive number allows rows that depend on each other, as `regularization` of
        `dtau.constrained_dynamics` does: contacts hold, with forces of least norm, whatever the
        number is. crocoddyl's contacts yield by its amount.
    enable_force : bool
        Compute the derivatives of forces, which costs of forces read.

    Attributes
    ----------
    robot : Robot
    actuation : crocoddyl.ActuationModelAbstract
    contacts : crocoddyl.ContactModelMultiple or dtau.Contacts
    costs : crocoddyl.CostModelSum

    Raises
    ------
    ValueError
        If a contact is of another class, or the model does not have its frame.
    TypeError
        If an argument is of another class.

    Examples
    --------
    >>> import crocoddyl, dtau, dtau.crocoddyl, numpy as np
    >>> robot = dtau.crocoddyl.Robot(model := dtau.robots.quadruped())
    >>> legs = dtau.crocoddyl.Actuation(robot.state, np.eye(model.nv)[:, 6:])
    >>> contacts = dtau.Contacts(model, [dtau.PointContact(x) for x in dtau.robots.QUADRUPED_FEET])
    >>> costs = crocoddyl.CostModelSum(robot.state, legs.nu)
    >>> standing = dtau.crocoddyl.DifferentialActionModelContactFwdDynamics(
    ...     robot, legs, contacts, costs
    ... )
    >>> knot = crocoddyl.IntegratedActionModelEuler(standing, 0.01)
    >>> data = knot.createData()
    >>> knot.calc(data, robot.state.zero(), np.zeros(12))
    >>> data.xnext.shape
    (37,)
    """

    def __init__(
        self,
        robot: Robot,
        actuation: crocoddyl.ActuationModelAbstract,
        contacts: crocoddyl.ContactModelMultiple | Contacts,
        costs: crocoddyl.CostModelSum,
        inv_damping: float = 0.0,
        enable_force: bool = False,
    ) -> None:
        crocoddyl.DifferentialActionModelAbstract.__init__(
            self, robot.state, actuation.nu, costs.nr
        )
        self.robot, self.actuation, self.costs, self.contacts = robot, actuation, costs, contacts
        self.u_lb, self.u_ub = actuation.u_lb, actuation.u_ub
        self._regularization = REGULARIZATION if inv_damping > 0.0 else 0.0
        self._enable_force = enable_force
        self._theirs: Any = (
            contacts if isinstance(contacts, crocoddyl.ContactModelMultiple) else None
        )
        plain = (crocoddyl.ActuationModelFull, crocoddyl.ActuationModelFloatingBase)
        self._plain = isinstance(actuation, plain)  # torques of the last nu velocities
        self._first = robot.nv - actuation.nu
        self.update_contacts()

    def update_contacts(self) -> None:
        """Read the contacts again, after a change of their frames or axes.

        `createData` reads them too, and `calc` after a change of their status or references.
        """
        self._held = contacts_of(self.robot, self.contacts)
        members = members_of(self.contacts)
        self._status = None if members is None else Status(members)
        if self._held.nrows:
            key = (self._held, self._regularization)
            self._batch = self.robot.batch(key, partial(_linearize_held, self.robot, *key))
        else:
            self._batch = self.robot.batch((), partial(_linearize_free, self.robot))

    def createData(self) -> DynamicsKnot:  # noqa: N802
        """Allocate the data of a knot, for the costs and contacts that there are now."""
        self.update_contacts()
        return DynamicsKnot(self)

    def _check(self, data: DynamicsKnot) -> None:
        """Read the contacts again if they have changed; raise an error if one joined or left."""
        data.terms.costs.check()
        if self._status is not None and self._status.has_changed(data.members):
            self.update_contacts()

    def calc(self, data: DynamicsKnot, x: Array, u: Array | None = None) -> None:
        """Compute the acceleration, the forces and the costs; without controls, only the costs."""
        self._check(data)
        nq = self.robot.nq
        if u is None:
            data.terms.compute(data.pinocchio, x[:nq], x[nq:])
            self.costs.calc(data.costs, x)
            data.cost = data.costs.cost
            return
        self.actuation.calc(data.actuation, x, u)
        tau = data.actuation.tau
        data.move(self._batch, x, u, tau)
        q, v = self.robot.to_dtau(x)
        tau = self.robot.torque_to_dtau(tau)
        data.terms.compute(data.pinocchio, x[:nq], x[nq:])
        if self._held.nrows:
            found = dtau.constrained_dynamics(
                self.robot.model, q, v, tau, self._held, regularization=self._regularization
            )
            a = found.a
            data.forces = found.forces
            if data.terms.forces:
                data.show_forces()
        else:
            a = dtau.forward_dynamics(self.robot.model, q, v, tau)
        data.xout = a = self.robot.vectors_from_dtau(a)
        if data.terms.joint:
            data.joint.a, data.joint.tau = a, u
        self.costs.calc(data.costs, x, u)
        data.cost = data.costs.cost

    def calcDiff(self, data: DynamicsKnot, x: Array, u: Array | None = None) -> None:  # noqa: N802
        """Set the derivatives of the acceleration, the forces and the costs."""
        data.terms.costs.check()
        nq = self.robot.nq
        if u is None:
            data.terms.differentiate(data.pinocchio, x[:nq], x[nq:], np.zeros(self.robot.nv))
            self.costs.calcDiff(data.costs, x)
            return
        if not data.is_at(self._batch, x, u):
            self.calc(data, x, u)
        da_dx, da_dtau, *forces = data.linearization()
        data.Fx, data.Fu = self._by_state_and_control(data, x, u, da_dx, da_dtau)
        if forces and self._enable_force and self._theirs is not None:
            by_state, by_control = self._by_state_and_control(data, x, u, *forces)
            self._theirs.updateForceDiff(data.force_data, by_state, by_control)
        if data.terms.joint:
            data.joint.da_dx, data.joint.da_du = data.Fx, data.Fu
        data.terms.differentiate(data.pinocchio, x[:nq], x[nq:], data.xout)
        self.costs.calcDiff(data.costs, x, u)

    def quasiStatic(  # noqa: N802
        self, data: DynamicsKnot, x: Array, maxiter: int = 100, tol: float = 1e-9
    ) -> Array:
        """Return the controls that hold the posture of x, of least norm with their forces."""
        self._check(data)
        rest = np.concatenate([x[: self.state.nq], np.zeros(self.state.nv)])
        u = np.zeros(self.nu)
        self.actuation.calc(data.actuation, rest, u)
        self.actuation.calcDiff(data.actuation, rest, u)
        q, _ = self.robot.to_dtau(rest)
        gravity = self.robot.vectors_from_dtau(dtau.gravity_torque(self.robot.model, q))
        gravity = gravity - data.actuation.tau  # without controls, the torque of servos
        columns = [data.actuation.dtau_du]
        if self._held.nrows:
            columns.append(self._rows(q).T)
        return np.asarray((np.linalg.pinv(np.hstack(columns)) @ gravity)[: self.nu])

    def _rows(self, q: Array) -> Array:
        """The Jacobian of the contacts, in the state's order."""
        parts = []
        for contact in self._held:
            if isinstance(contact, Loop):
                raise ValueError(
                    f"quasiStatic: expected contacts with the world, got the loop {contact.name!r}"
                )
            whole = dtau.frame_jacobians(self.robot.model, q, contact.frame, contact.axes)
            parts.append(pushed_wrenches(contact).T @ whole)
        return self.robot.columns_from_dtau(np.concatenate(parts))

    def _by_state_and_control(
        self, data: DynamicsKnot, x: Array, u: Array, by_state: Array, by_tau: Array
    ) -> tuple[Array, Array]:
        """Derivatives by the state and the control, through the torque that both determine."""
        if self._plain:
            return by_state, by_tau[:, self._first :]
        self.actuation.calcDiff(data.actuation, x, u)
        torque = data.actuation
        return by_state + by_tau @ torque.dtau_dx, by_tau @ torque.dtau_du


def _linearize_free(robot: Robot, x: Array, tau: Array) -> Derivatives:
    """Derivatives of accelerations at points (n, nx), (n, nv), by x and tau."""
    q, v = robot.to_dtau(x)
    free = dtau.forward_dynamics_derivatives(robot.model, q, v, robot.torque_to_dtau(tau))
    by_q, by_v, by_tau = map(robot.matrices_from_dtau, free)
    return np.concatenate([by_q, by_v], axis=-1), by_tau


def _linearize_held(
    robot: Robot, contacts: Contacts, regularization: float, x: Array, tau: Array
) -> Derivatives:
    """Derivatives of accelerations and forces at points (n, nx), (n, nv), by x and tau."""
    q, v = robot.to_dtau(x)
    tau = robot.torque_to_dtau(tau)
    held = dtau.constrained_dynamics_derivatives(
        robot.model, q, v, tau, contacts, regularization=regularization
    )
    by_q, by_v, by_tau = map(robot.matrices_from_dtau, held[:3])
    forces_q, forces_v, forces_tau = map(robot.columns_from_dtau, held[3:6])
    by_x = np.concatenate([by_q, by_v], axis=-1)
    forces_x = np.concatenate([forces_q, forces_v], axis=-1)
    return by_x, by_tau, forces_x, forces_tau


class DifferentialActionModelFreeFwdDynamics(DifferentialActionModelContactFwdDynamics):
    """Forward dynamics without contacts, for crocoddyl's integrators.

    It has the arguments of crocoddyl's class of this name, with a `Robot` for the state.

    Parameters
    ----------
    robot : Robot
    actuation : crocoddyl.ActuationModelAbstract
    costs : crocoddyl.CostModelSum

    Raises
    ------
    TypeError
        If an argument is of another class.

    Examples
    --------
    >>> import crocoddyl, dtau, dtau.crocoddyl
    >>> robot = dtau.crocoddyl.Robot(dtau.robots.chain(3))
    >>> costs = crocoddyl.CostModelSum(robot.state)
    >>> actuation = crocoddyl.ActuationModelFull(robot.state)
    >>> swing = dtau.crocoddyl.DifferentialActionModelFreeFwdDynamics(robot, actuation, costs)
    >>> crocoddyl.IntegratedActionModelRK(swing, crocoddyl.RKType.four, 0.01).nu
    3
    """

    def __init__(
        self,
        robot: Robot,
        actuation: crocoddyl.ActuationModelAbstract,
        costs: crocoddyl.CostModelSum,
    ) -> None:
        super().__init__(robot, actuation, Contacts(robot.model, []), costs)


class DynamicsKnot(crocoddyl.DifferentialActionDataAbstract, Knot):
    """Data of one knot of forward dynamics."""

    def __init__(self, model: DifferentialActionModelContactFwdDynamics) -> None:
        crocoddyl.DifferentialActionDataAbstract.__init__(self, model)
        self.terms = Terms(model.robot.pinocchio, model.costs)
        self.members: Any = members_of(model.contacts)
        self.actuation = model.actuation.createData()
        self.joint = crocoddyl.JointDataAbstract(model.robot.state, model.actuation, model.nu)
        np.fill_diagonal(self.joint.dtau_du, 1.0)
        self.pinocchio: Any = None
        self.force_data: Any = None
        self.forces: Array | None = None  # where `force_data` does not have them yet
        self._model = model
        theirs = model.robot.pinocchio
        if theirs is None:
            self._shared = crocoddyl.DataCollectorJointActuation(self.actuation, self.joint)
        else:
            self.pinocchio = pinocchio.Data(theirs)
            parts = [self.pinocchio, self.actuation, self.joint]
            if isinstance(model.contacts, crocoddyl.ContactModelMultiple):
                self.force_data = model.contacts.createData(self.pinocchio)
                parts.append(self.force_data)
                self._shared = crocoddyl.DataCollectorJointActMultibodyInContact(*parts)
            else:
                self._shared = crocoddyl.DataCollectorJointActMultibody(*parts)
        self.costs = model.costs.createData(self._shared)
        self.costs.shareMemory(self)

    @property
    def contacts(self) -> Any:
        """The contacts' data of crocoddyl, with the forces of the last point."""
        self.show_forces()
        return self.force_data

    def show_forces(self) -> None:
        """Give the forces to crocoddyl's data, whose axes depend on the configuration."""
        if self.forces is None or self.force_data is None:
            return
        model, robot = self._model, self._model.robot
        assert self.point is not None
        x = np.frombuffer(self.point.x)
        place_frames(robot, self.pinocchio, x[: robot.nq], self.members)
        turn_contacts(model._theirs, self.force_data, x)
        model._theirs.updateForce(self.force_data, self.forces)
        self.forces = None
