"""A robot's dynamics as expressions of CasADi's, in body coordinates, as one would write them.

Newton and Euler's recursion, composite bodies and articulated bodies; derivatives are CasADi's own.
Configurations, velocities and results are in the package's convention. A free root enters by
gravity along its axes, g: it turns by -w x g when the root turns by w, which gives derivatives
along the tangent space without a quaternion in the way.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

import dtau
from benchmarks.peers.plain_urdf import axis_of


class Body:
    """A body, its joint and its inertia."""

    def __init__(self, joint: dtau.Joint, inertia: dtau.Inertia) -> None:
        self.parent = joint.parent
        self.v, self.q = joint.v.start, joint.q.start
        self.free = joint.type.nv == 6
        placement = joint.placement
        self.turn0, self.shift0 = _constant(placement.rotation), _constant(placement.translation)
        self.mass = float(inertia.mass)
        self.com, self.tensor = _constant(inertia.com), _constant(inertia.tensor)
        self.prismatic = isinstance(joint.type, dtau.Prismatic)
        self.axis = np.zeros(3) if self.free else axis_of(joint)

    def pose(self, x: Any) -> tuple[Any, Any]:
        """Rotation to and position in the parent, at this coordinate."""
        if self.prismatic:
            return casadi.SX(self.turn0), self.shift0 + self.turn0 @ _constant(self.axis) * x
        return self.turn0 @ _rotation(self.axis, x), casadi.SX(self.shift0)

    def subspace(self) -> Any:
        """The motion subspace [linear, angular]."""
        zero = np.zeros(3)
        parts = [self.axis, zero] if self.prismatic else [zero, self.axis]
        return _constant(np.concatenate(parts))

    def inertia(self) -> Any:
        """The 6x6 inertia, linear part first."""
        c = casadi.skew(self.com)
        upper = [self.mass * casadi.SX.eye(3), -self.mass * c]
        return casadi.SX(
            casadi.sparsify(
                casadi.blockcat([upper, [self.mass * c, self.tensor - self.mass * c @ c]])
            )
        )


class Expressions:
    """Symbols of a state, and what follows from them."""

    def __init__(self, model: dtau.Model) -> None:
        self.bodies = [Body(*of) for of in zip(model.joints, model.inertias, strict=True)]
        self.names, self.free = model.bodies, self.bodies[0].free
        self.nv, self.moving = model.nv, model.nv - 6 * self.free
        self.gravity = np.array(model.gravity)
        self.g = casadi.SX.sym("g", 3)  # in the root's axes
        self.s = casadi.SX.sym("s", self.moving)  # coordinates of the other joints
        self.v = casadi.SX.sym("v", self.nv)
        self.u = casadi.SX.sym("u", self.nv)  # accelerations, or torques

    def poses(self) -> list[tuple[Any, Any]]:
        """Of the bodies in their parents; of the root nothing."""
        return [
            (casadi.SX.eye(3), casadi.SX.zeros(3)) if b.free else b.pose(self._coordinate(b))
            for b in self.bodies
        ]

    def _coordinate(self, body: Body) -> Any:
        return self.s[body.v - 6 * self.free]

    # Dynamics

    def inverse_dynamics(self, v: Any, a: Any) -> Any:
        """Torques by Newton and Euler; v None: at rest."""
        poses, twists, wrenches = self.poses(), [], []
        still = v is None
        for b, (turn, shift) in zip(self.bodies, poses, strict=True):
            if b.free:
                lin, ang = (casadi.SX(3, 1),) * 2 if still else (v[:3], v[3:6])
                dlin = -self.g if a is None else a[:3] - self.g
                dang = casadi.SX(3, 1) if a is None else a[3:6]
                twists.append((lin, ang, dlin, dang))
            else:
                zero = casadi.SX(3, 1)
                above = twists[b.parent] if b.parent >= 0 else (zero, zero, -self.g, zero)
                lin, ang, dlin, dang = above
                lin, dlin = lin + casadi.cross(ang, shift), dlin + casadi.cross(dang, shift)
                lin, ang, dlin, dang = (turn.T @ x for x in (lin, ang, dlin, dang))
                axis = _constant(b.axis)
                speed = casadi.SX(3, 1) if still else axis * v[b.v]
                rate = casadi.SX(3, 1) if a is None else axis * a[b.v]
                if b.prismatic:
                    dlin = dlin + rate + casadi.cross(ang, speed)
                    lin = lin + speed
                else:
                    dlin = dlin + casadi.cross(lin, speed)
                    dang = dang + rate + casadi.cross(ang, speed)
                    ang = ang + speed
                twists.append((lin, ang, dlin, dang))
            wrenches.append(self._wrench(b, *twists[-1]))
        return self._torques(poses, wrenches)

    def _wrench(self, b: Body, lin: Any, ang: Any, dlin: Any, dang: Any) -> tuple[Any, Any]:
        at_com = lin + casadi.cross(ang, b.com)
        rate = dlin + casadi.cross(dang, b.com) + casadi.cross(ang, at_com)
        force = b.mass * rate
        moment = b.tensor @ dang + casadi.cross(ang, b.tensor @ ang) + casadi.cross(b.com, force)
        return force, moment

    def _torques(self, poses: list[tuple[Any, Any]], wrenches: list[tuple[Any, Any]]) -> Any:
        tau = casadi.SX.zeros(self.nv)
        for i in reversed(range(len(self.bodies))):
            b, (force, moment), (turn, shift) = self.bodies[i], wrenches[i], poses[i]
            if b.free:
                tau[:3], tau[3:6] = force, moment
                continue
            tau[b.v] = casadi.dot(_constant(b.axis), force if b.prismatic else moment)
            if b.parent >= 0:
                force, moment = turn @ force, turn @ moment
                above = wrenches[b.parent]
                moment = above[1] + moment + casadi.cross(shift, force)
                wrenches[b.parent] = above[0] + force, moment
        return tau

    def mass_matrix(self) -> Any:
        """By composite bodies."""
        maps, composite = self._maps(), [b.inertia() for b in self.bodies]
        out = casadi.SX(self.nv, self.nv)
        for i in reversed(range(len(self.bodies))):
            b = self.bodies[i]
            if b.free:
                out[:6, :6] = composite[i]
                continue
            if b.parent >= 0:
                composite[b.parent] += maps[i].T @ composite[i] @ maps[i]
            force = composite[i] @ b.subspace()
            out[b.v, b.v] = casadi.dot(b.subspace(), force)
            j = i
            while self.bodies[j].parent >= 0:
                force, j = maps[j].T @ force, self.bodies[j].parent
                c = self.bodies[j]
                cross = force if c.free else casadi.dot(c.subspace(), force)
                rows = slice(0, 6) if c.free else slice(c.v, c.v + 1)
                out[rows, b.v], out[b.v, rows] = cross, cross.T
        return casadi.densify(out)

    def forward_dynamics(self, v: Any, tau: Any) -> Any:
        """Accelerations by articulated bodies."""
        maps, twists = self._maps(), []
        for b, back in zip(self.bodies, maps, strict=True):
            if b.free:
                twists.append(v[:6])
                continue
            above = back @ twists[b.parent] if b.parent >= 0 else casadi.SX(6, 1)
            twists.append(above + b.subspace() * v[b.v])
        inertias = [b.inertia() for b in self.bodies]
        biases = [-_cross(t).T @ inertia @ t for t, inertia in zip(twists, inertias, strict=True)]
        solved: dict[int, Any] = {}
        for i in reversed(range(len(self.bodies))):
            b = self.bodies[i]
            if b.free:
                continue
            axis = b.subspace()
            rate = _cross(twists[i]) @ axis * v[b.v]
            column = inertias[i] @ axis
            pivot, rest = casadi.dot(axis, column), tau[b.v] - casadi.dot(axis, biases[i])
            solved[i] = column, pivot, rest, rate
            if b.parent < 0:
                continue
            left = inertias[i] - column @ column.T / pivot
            bias = biases[i] + left @ rate + column * (rest / pivot)
            inertias[b.parent] += maps[i].T @ left @ maps[i]
            biases[b.parent] += maps[i].T @ bias
        out, accelerations = casadi.SX.zeros(self.nv), []
        lift = casadi.vertcat(self.g, casadi.SX(3, 1))
        for i, (b, back) in enumerate(zip(self.bodies, maps, strict=True)):
            if b.free:
                factors = casadi.ldl(casadi.densify(inertias[i]))
                accelerations.append(
                    casadi.ldl_solve(casadi.densify(tau[:6] - biases[i]), *factors)
                )
                out[:6] = accelerations[-1] + lift
                continue
            column, pivot, rest, rate = solved[i]
            above = back @ (accelerations[b.parent] if b.parent >= 0 else -lift) + rate
            out[b.v] = (rest - casadi.dot(column, above)) / pivot
            accelerations.append(above + b.subspace() * out[b.v])
        return out

    def _maps(self) -> list[Any]:
        """What takes twists in the parent's frame to the body's."""
        maps = []
        for turn, shift in self.poses():
            back = turn.T
            corner = -back @ casadi.skew(shift)
            maps.append(casadi.blockcat([[back, corner], [casadi.SX(3, 3), back]]))
        return maps

    # Kinematics, in the world

    def placements(self, q: Any) -> list[tuple[Any, Any]]:
        """Rotations and positions of all bodies."""
        out: list[tuple[Any, Any]] = []
        for b, (turn, shift) in zip(self.bodies, self.poses(), strict=True):
            if b.free:
                out.append((b.turn0 @ _matrix(q[3:7]), b.turn0 @ q[:3] + b.shift0))
            elif b.parent < 0:
                out.append((turn, shift))
            else:
                above = out[b.parent]
                out.append((above[0] @ turn, above[1] + above[0] @ shift))
        return out

    def jacobian(self, q: Any, body: int) -> Any:
        """Of the origin of a body, [linear, angular] along the world's axes."""
        out, placed = casadi.SX(6, self.nv), self.placements(q)
        at, i = placed[body][1], body
        while i >= 0:
            b, (turn, origin) = self.bodies[i], placed[i]
            if b.free:
                out[:3, :3], out[3:, 3:6] = turn, turn
                out[:3, 3:6] = -casadi.skew(at - origin) @ turn
            else:
                axis = turn @ _constant(b.axis)
                out[:3, b.v] = axis if b.prismatic else casadi.cross(axis, at - origin)
                if not b.prismatic:
                    out[3:, b.v] = axis
            i = b.parent
        return casadi.densify(out)

    def center_of_mass(self, q: Any) -> Any:
        """Of all bodies that move."""
        placed = self.placements(q)
        weights = [
            b.mass * (turn @ b.com + at) for b, (turn, at) in zip(self.bodies, placed, strict=True)
        ]
        return sum(weights[1:], weights[0]) / sum(b.mass for b in self.bodies)

    # Derivatives

    def by_q(self, y: Any) -> Any:
        """The derivative of a column along the tangent space of configurations."""
        by_s = casadi.jacobian(y, self.s)
        if not self.free:
            return by_s
        by_g = casadi.jacobian(y, self.g) @ casadi.skew(self.g)
        return casadi.horzcat(casadi.SX(y.shape[0], 3), by_g, by_s)

    def along(self, dq: Any) -> Any:
        """How g and s change along a displacement."""
        if not self.free:
            return casadi.vertcat(casadi.SX(3, 1), dq)
        return casadi.vertcat(casadi.cross(self.g, dq[3:6]), dq[6:])

    def against(self, y: Any) -> Any:
        """The transpose of `along`."""
        if not self.free:
            return y[3:]
        return casadi.vertcat(casadi.SX(3, 1), -casadi.cross(self.g, y[:3]), y[3:])

    def of_state(self, q: Any) -> tuple[Any, Any]:
        """G and s of a configuration."""
        root = self.bodies[0]
        if not self.free:
            coordinates = [q[b.q] for b in sorted(self.bodies, key=lambda b: b.v)]
            return casadi.SX(_constant(self.gravity)), casadi.vertcat(*coordinates)
        turn = root.turn0 @ _matrix(q[3:7])
        others = [q[b.q] for b in sorted(self.bodies, key=lambda b: b.v) if not b.free]
        return turn.T @ _constant(self.gravity), casadi.vertcat(*others)


def _constant(x: Any) -> Any:
    """Numbers, zeros being structural."""
    return casadi.sparsify(casadi.DM(x))


def _rotation(axis: Any, angle: Any) -> Any:
    """About a unit axis; of a coordinate axis as short as one would write it."""
    along = casadi.sparsify(casadi.DM(np.outer(axis, axis)))
    across = casadi.sparsify(casadi.DM(np.eye(3) - np.outer(axis, axis)))
    turning = casadi.sin(angle) * casadi.skew(_constant(axis))
    return along + casadi.cos(angle) * across + turning


def _matrix(x: Any) -> Any:
    """The rotation of a unit quaternion (x, y, z, w)."""
    cross = casadi.skew(x[:3])
    return casadi.SX.eye(3) + 2.0 * x[3] * cross + 2.0 * cross @ cross


def _cross(twist: Any) -> Any:
    """The matrix of the cross product with a twist [linear, angular] from the left."""
    turning = casadi.skew(twist[3:])
    return casadi.blockcat([[turning, casadi.skew(twist[:3])], [casadi.SX(3, 3), turning]])
