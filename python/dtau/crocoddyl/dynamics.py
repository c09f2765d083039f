"""Differential action models of forward dynamics, free and with contacts."""

from __future__ import annotations

from functools import partial
from typing import Any

import crocoddyl
import numpy as np

import dtau
from dtau.crocoddyl.batch import Derivatives, Knot
from dtau.crocoddyl.contacts import REGULARIZATION, Status, contacts_of, members_of
from dtau.crocoddyl.members import Members
from dtau.crocoddyl.parts import Parts, cones, structure, weighted
from dtau.crocoddyl.robot import Robot, in_turn, require_robot
from dtau.functions.dynamics_equilibrium import pushed_wrenches
from dtau.model.contact_kinds import Loop
from dtau.model.contacts import Contacts
from dtau.support.arrays import Array
from dtau.support.checks import require


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
        require_robot(robot)
        require("actuation", actuation, crocoddyl.ActuationModelAbstract)
        require("costs", costs, crocoddyl.CostModelSum)
        crocoddyl.DifferentialActionModelAbstract.__init__(
            self, robot.state, actuation.nu, costs.nr
        )
        self.robot, self.actuation, self.costs, self.contacts = robot, actuation, costs, contacts
        self.u_lb, self.u_ub = actuation.u_lb, actuation.u_ub
        self._regularization = REGULARIZATION if inv_damping > 0.0 else 0.0
        self.enable_force = enable_force
        self._theirs: Any = (
            contacts if isinstance(contacts, crocoddyl.ContactModelMultiple) else None
        )
        plain = (crocoddyl.ActuationModelFull, crocoddyl.ActuationModelFloatingBase)
        self.plain = isinstance(actuation, plain)  # torques of the last nu velocities
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
        data.summands.check()
        if self._status is not None and self._status.has_changed(data.members):
            self.update_contacts()

    @in_turn
    def calc(self, data: DynamicsKnot, x: Array, u: Array | None = None) -> None:
        """Compute the acceleration, the forces and the costs; without controls, only the costs."""
        self._check(data)
        data.differentiated = False
        if u is None:
            data.rest = x.copy()
        else:
            self._accelerate(data, x, u)
        data.parts.evaluate(data, x, u)

    def _accelerate(self, data: DynamicsKnot, x: Array, u: Array) -> None:
        """Compute the acceleration and the forces."""
        data.rest = None
        if data.parts.shared:  # a plain actuation, whose data no cost reads
            tau = np.zeros(self.robot.nv)
            tau[self._first :] = u
        else:
            self.actuation.calc(data.parts.actuation, x, u)
            tau = data.parts.actuation.tau
        data.move(self._batch, x, u, tau)
        q, v = self.robot.to_dtau(x)
        tau = self.robot.torque_to_dtau(tau)
        if self._held.nrows:
            found = dtau.constrained_dynamics(
                self.robot.model, q, v, tau, self._held, regularization=self._regularization
            )
            a, data.forces = found.a, found.forces
        else:
            a, data.forces = dtau.forward_dynamics(self.robot.model, q, v, tau), np.zeros(0)
        data.xout = self.robot.vectors_from_dtau(a)

    @in_turn
    def calcDiff(self, data: DynamicsKnot, x: Array, u: Array | None = None) -> None:  # noqa: N802
        """Set the derivatives of the acceleration, the forces and the costs."""
        data.summands.check()
        if u is None:
            if data.rest is None or not np.array_equal(data.rest, x):
                self.calc(data, x)
        else:
            if data.rest is not None or not data.is_at(self._batch, x, u):
                self.calc(data, x, u)
            da_dx, da_dtau, *_ = data.linearization()
            data.Fx, data.Fu = self._by_state_and_control(data, x, u, da_dx, da_dtau)
        data.differentiated = True
        self.differentiate_costs(data, x, u)

    def differentiate_costs(self, data: DynamicsKnot, x: Array, u: Array | None) -> None:
        """Set the derivatives of the costs, after those of the acceleration."""
        forces = None
        if u is not None and self.enable_force and data.parts.shows_forces:
            forces = partial(self._differentiate_forces, data, x, u)
        data.parts.differentiate(data, x, u, forces)

    def _differentiate_forces(self, data: DynamicsKnot, x: Array, u: Array) -> tuple[Array, Array]:
        """Derivatives of the forces by the state and the control."""
        if not self._held.nrows:
            return np.zeros((0, self.state.ndx)), np.zeros((0, self.nu))
        return self._by_state_and_control(data, x, u, *data.linearization()[2:])

    def quasiStatic(  # noqa: N802
        self, data: DynamicsKnot, x: Array, maxiter: int = 100, tol: float = 1e-9
    ) -> Array:
        """Return the controls that hold the posture of x, of least norm with their forces."""
        self._check(data)
        rest = np.concatenate([x[: self.state.nq], np.zeros(self.state.nv)])
        u = np.zeros(self.nu)
        actuation = self.actuation.createData()
        self.actuation.calc(actuation, rest, u)
        self.actuation.calcDiff(actuation, rest, u)
        q, _ = self.robot.to_dtau(rest)
        gravity = self.robot.vectors_from_dtau(dtau.gravity_torque(self.robot.model, q))
        gravity = gravity - actuation.tau  # without controls, the torque of servos
        columns = [self._matrix(actuation.dtau_du)]
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
        if self.plain:
            return by_state, by_tau[:, self._first :]
        torque = data.parts.actuation
        self.actuation.calcDiff(torque, x, u)
        by_x, by_u = self._matrix(torque.dtau_dx), self._matrix(torque.dtau_du)
        return by_state + by_tau @ by_x, by_tau @ by_u

    def _matrix(self, derivatives: Array) -> Array:
        """Return derivatives of torques as a matrix: of one row or column, they are vectors."""
        return derivatives.reshape(self.robot.nv, -1)


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
        require_robot(robot)
        super().__init__(robot, actuation, Contacts(robot.model, []), costs)


class DynamicsKnot(crocoddyl.DifferentialActionDataAbstract, Knot):
    """Data of one knot of forward dynamics."""

    def __init__(self, model: DifferentialActionModelContactFwdDynamics) -> None:
        crocoddyl.DifferentialActionDataAbstract.__init__(self, model)
        self.model = model
        self.summands = Members("cost", model.costs)
        self.members: Any = members_of(model.contacts)
        self.weighted = weighted(self.summands)
        self.cones = [*cones(self.summands).values()]
        self.rest: Array | None = None  # the state, where it was evaluated without controls
        self.forces = np.zeros(0)
        self.differentiated = False
        key = structure(model, self.summands)
        if key is None:
            self._take_parts()
        else:
            self.parts = model.robot.parts(key, lambda: Parts(model, self.summands, True))

    def _take_parts(self) -> None:
        self.parts = Parts(self.model, self.summands, False)
        self.parts.costs.shareMemory(self)

    def own(self) -> Parts:
        """Return data of this knot alone, with the values of its last point."""
        if not self.parts.shared:
            return self.parts
        self._take_parts()
        if self.rest is not None:
            x, u = self.rest, None
        elif self.point is not None:
            point, nx = np.frombuffer(self.point), self.model.state.nx
            x, u = point[:nx], point[nx : nx + self.model.nu]
            self.model.actuation.calc(self.parts.actuation, x, u)
        else:
            return self.parts
        self.parts.evaluate(self, x, u)
        if self.differentiated:
            self.model.differentiate_costs(self, x, u)
        return self.parts

    @property
    def costs(self) -> Any:
        """The costs' data of crocoddyl."""
        return self.own().costs

    @property
    def contacts(self) -> Any:
        """The contacts' data of crocoddyl, with the forces of the last point."""
        return self.own().force_data

    @property
    def pinocchio(self) -> Any:
        """Pinocchio's data, with what the costs read."""
        return self.own().pinocchio

    @property
    def actuation(self) -> Any:
        """The actuation's data of crocoddyl."""
        return self.own().actuation

    @property
    def joint(self) -> Any:
        """The joints' data of crocoddyl, which some costs read."""
        return self.own().joint
