"""Dynamics and their time derivatives by CasADi, in the two ways that one may go about it.

The equations are those of `dtau.robots.aerial_manipulator`, in body coordinates, written as an
expression of x = [gravity in the base's axes, angles, v, a, jerk, ...], for forward dynamics
[..., v, tau and its derivatives]. An order more is CasADi's
directional derivative along dx/dt. Repeated, that alone makes expressions that grow exponentially;
with common-subexpression elimination after every order they grow as the recursion itself does, and
C code of them, compiled, is the best that CasADi can do.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

import dtau
from benchmarks.experiment import Array

_BASE = dtau.Inertia(2.5, tensor=np.diag([0.03, 0.03, 0.05]))  # [HO-FBS] table 3
_LINK = dtau.Inertia(0.25, com=(0, 0, -0.06), tensor=np.diag([0.002, 0.002, 0.001]))

_NAME = "dynamics"


# Expressions


class Derivatives:
    """Expressions of a function along a trajectory, with or without elimination."""

    def __init__(self, model: dtau.Model, orders: int, *, eliminate: bool) -> None:
        self.model, self._eliminate = model, eliminate
        self._gravity = casadi.SX.sym("g", 3)
        self._angles = casadi.SX.sym("q", model.nv - 6)
        # v, a, jerk, ...; or v, tau and its derivatives
        self._stack = [casadi.SX.sym(f"x{k}", model.nv) for k in range(orders + 2)]
        self._x = casadi.vertcat(self._gravity, self._angles, *self._stack)
        self.outputs = [self._order_zero()]
        if eliminate:
            self.outputs = casadi.cse(self.outputs)
        v = self._stack[0]
        self._rate = casadi.vertcat(
            -casadi.cross(v[3:6], self._gravity),
            v[6:],
            self._acceleration(),
            *self._stack[2:],
            casadi.SX.zeros(model.nv),  # of what no expression holds yet
        )

    def differentiate(self) -> None:
        """Add an order."""
        self.outputs.append(casadi.jtimes(self.outputs[-1], self._x, self._rate))
        if self._eliminate:
            self.outputs = casadi.cse(self.outputs)

    def function(self) -> Any:
        """All orders so far, as a function of x without what only higher orders need."""
        x = casadi.vertcat(self._gravity, self._angles, *self._stack[: len(self.outputs) + 1])
        return casadi.Function(_NAME, [x], [casadi.vertcat(*self.outputs)])

    def _order_zero(self) -> Any:
        raise NotImplementedError

    def _acceleration(self) -> Any:
        raise NotImplementedError


class InverseDynamics(Derivatives):
    """Torques by Newton and Euler, linear before angular."""

    def _acceleration(self) -> Any:
        return self._stack[1]

    def _order_zero(self) -> Any:
        v, a = self._stack[0], self._stack[1]
        twists = {0: (v[:3], v[3:6], a[:3] - self._gravity, a[3:6])}
        turns: dict[int, Any] = {}
        joints = {joint.body: joint for joint in self.model.joints}
        for body, joint in joints.items():
            if body == 0:
                continue
            axis, at = _axis(joint), joint.v.start
            turn = joint.placement.rotation @ _rotation(axis, self._angles[at - 6])
            turns[body] = turn
            p = casadi.DM(joint.placement.translation)
            lin, ang, lin_rate, ang_rate = twists[joint.parent]
            rate, speed = casadi.SX.zeros(3), casadi.SX.zeros(3)
            speed[axis], rate[axis] = v[at], a[at]
            lin_here = turn.T @ (lin + casadi.cross(ang, p))
            ang_here = turn.T @ ang + speed
            twists[body] = (
                lin_here,
                ang_here,
                turn.T @ (lin_rate + casadi.cross(ang_rate, p)) + casadi.cross(lin_here, speed),
                turn.T @ ang_rate + rate + casadi.cross(ang_here, speed),
            )
        torques = casadi.SX.zeros(self.model.nv)
        wrenches = {body: self._wrench(body, *twist) for body, twist in twists.items()}
        for body in reversed(list(joints)):
            joint, (force, moment) = joints[body], wrenches[body]
            if body == 0:
                torques[joint.v] = casadi.vertcat(force, moment)
                continue
            torques[joint.v.start] = moment[_axis(joint)]
            force, moment = turns[body] @ force, turns[body] @ moment
            above = wrenches[joint.parent]
            moment += casadi.cross(casadi.DM(joint.placement.translation), force)
            wrenches[joint.parent] = (above[0] + force, above[1] + moment)
        return torques

    def _wrench(self, body: int, lin: Any, ang: Any, lin_rate: Any, ang_rate: Any) -> Any:
        """Rate of a body's momentum, gravity counted in `lin_rate`, at its frame's origin."""
        inertia = _LINK if body else _BASE
        com, tensor = casadi.DM(inertia.com), casadi.DM(inertia.tensor)
        at_com = lin + casadi.cross(ang, com)
        rate = lin_rate + casadi.cross(ang_rate, com) + casadi.cross(ang, at_com)
        force = inertia.mass * rate
        moment = tensor @ ang_rate + casadi.cross(ang, tensor @ ang) + casadi.cross(com, force)
        return force, moment


class ForwardDynamics(Derivatives):
    """Accelerations by articulated bodies, 6-vectors with the angular part first."""

    def _acceleration(self) -> Any:
        return self.outputs[0]

    def _order_zero(self) -> Any:
        v, tau = self._stack[0], self._stack[1]
        zero = casadi.SX(3, 3)
        joints = {joint.body: joint for joint in self.model.joints}
        twists = {0: casadi.vertcat(v[3:6], v[:3])}
        maps: dict[int, Any] = {}
        for body, joint in list(joints.items())[1:]:
            at = joint.v.start
            back = (joint.placement.rotation @ _rotation(_axis(joint), self._angles[at - 6])).T
            lower = -back @ casadi.skew(casadi.DM(joint.placement.translation))
            maps[body] = casadi.blockcat([[back, zero], [lower, back]])
            twists[body] = maps[body] @ twists[joint.parent]
            twists[body][_axis(joint)] += v[at]

        inertias: dict[int, Any] = {}
        biases: dict[int, Any] = {}
        for body, twist in twists.items():
            inertia = _LINK if body else _BASE
            com, one = casadi.skew(casadi.DM(inertia.com)), casadi.DM.eye(3)
            tensor = casadi.DM(inertia.tensor) - inertia.mass * com @ com
            rows = [[tensor, inertia.mass * com], [-inertia.mass * com, inertia.mass * one]]
            inertias[body] = casadi.SX(casadi.sparsify(casadi.blockcat(rows)))
            biases[body] = -_motion_cross(twist).T @ inertias[body] @ twist

        rates, solved = {}, {}
        for body, joint in reversed(list(joints.items())[1:]):
            axis, at = _axis(joint), joint.v.start
            rates[body] = _motion_cross(twists[body])[:, axis] * v[at]
            column = inertias[body][:, axis]
            pivot, rest = column[axis], tau[at] - biases[body][axis]
            solved[body] = column, pivot, rest
            left = inertias[body] - column @ column.T / pivot
            bias = biases[body] + left @ rates[body] + column * (rest / pivot)
            inertias[joint.parent] += maps[body].T @ left @ maps[body]
            biases[joint.parent] += maps[body].T @ bias

        wrench = casadi.vertcat(tau[3:6], tau[:3])
        factors = casadi.ldl(casadi.densify(inertias[0]))
        accelerations = {0: casadi.ldl_solve(wrench - biases[0], *factors)}
        out = casadi.SX.zeros(self.model.nv)
        out[:3] = accelerations[0][3:] + self._gravity
        out[3:6] = accelerations[0][:3]
        for body, joint in list(joints.items())[1:]:
            column, pivot, rest = solved[body]
            here = maps[body] @ accelerations[joint.parent] + rates[body]
            out[joint.v.start] = (rest - column.T @ here) / pivot
            here[_axis(joint)] += out[joint.v.start]
            accelerations[body] = here
        return out


def _motion_cross(twist: Any) -> Any:
    """The matrix of the cross product with a twist from the left."""
    turning = casadi.skew(twist[:3])
    return casadi.blockcat([[turning, casadi.SX(3, 3)], [casadi.skew(twist[3:]), turning]])


def _axis(joint: dtau.Joint) -> int:
    """The coordinate axis of a revolute joint."""
    assert isinstance(joint.type, dtau.Revolute)
    return int(np.argmax(np.abs(joint.type.axis)))


def _rotation(axis: int, angle: Any) -> Any:
    """The rotation about a coordinate axis."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    out = casadi.SX.eye(3)
    out[j, j] = out[k, k] = casadi.cos(angle)
    out[k, j] = casadi.sin(angle)
    out[j, k] = -out[k, j]
    return casadi.densify(out)


def inputs(model: dtau.Model, q: Array, stack: Array) -> Array:
    """What the functions take, a row for each state; the stack as that of the expressions."""
    base = dtau.frame_placements(model, q, model.bodies[0]).rotation
    gravity = np.einsum("...ji,j->...i", base, model.gravity)
    return np.concatenate([gravity, q[:, 7:], stack.reshape(len(q), -1)], axis=1)


KINDS: dict[str, type[Derivatives]] = {"inverse": InverseDynamics, "forward": ForwardDynamics}
