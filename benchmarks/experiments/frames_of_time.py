"""Inverse dynamics of higher order in body, spatial and hybrid axes, as recursions that count.

A free base with revolute joints. Every quantity is a row of Taylor coefficients in time, and every
recursion keeps the fewest numbers that its axes allow:

    body     twists and forces of a body along its own axes, which turn with it; two vectors are
             turned on the way out and two on the way back, inertias are constant
    spatial  all about the world's origin, along its axes: [HO-FBS] algorithms 1 and 2. Nothing is
             turned or moved; screws and inertias have rates of their own, in 6 and 10 numbers
             (eqs. 20, 61) instead of the paper's matrices
    hybrid   along the world's axes at each body's joint: forces are moved, and axes, arms and
             inertias about centers of mass have rates

`inverse_dynamics(model, frame, q, v, tally)` gives the wrench on the base, in these axes, and the
joints' torques; the tally has the multiplications and additions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

import dtau
from benchmarks.checks import Array

Frame = Literal["body", "spatial", "hybrid"]
Z = np.array([0.0, 0.0, 1.0])


@dataclass
class Tally:
    """Arithmetic that counts itself."""

    products: int = 0
    sums: int = 0

    def add(self, *terms: Array) -> Array:
        """Return the sum of arrays of one shape."""
        self.sums += (len(terms) - 1) * np.size(terms[0])
        return np.sum(terms, axis=0)

    def scaled(self, a: float, x: Array) -> Array:
        """Return a x."""
        self.products += np.size(x)
        return np.asarray(a * x)

    def cross(self, a: Array, b: Array) -> Array:
        """Return a x b."""
        self.products += 6
        self.sums += 3
        return np.array(
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        )

    def dot(self, a: Array, b: Array) -> Array:
        """Return the product of two vectors, a matrix and a vector, or two matrices."""
        count = np.size(a) * (b.shape[1] if b.ndim > 1 else 1)
        self.products += count
        self.sums += count - count // a.shape[-1]
        return np.asarray(a @ b)

    def turned(self, cs: Array, x: Array) -> Array:
        """Return x turned about z by (cos, sin); z itself is left out."""
        self.products += 4
        self.sums += 2
        return np.array([cs[0] * x[0] - cs[1] * x[1], cs[1] * x[0] + cs[0] * x[1], 0.0])

    def twice_symmetric(self, a: Array, matrix: Array) -> Array:
        """Return a x J + (a x J)^T for a symmetric J: its rate where it turns by a."""
        self.products += 18
        self.sums += 9 + 3
        half = np.cross(a, matrix, axisb=0, axisc=0)
        return np.asarray(half + half.T)

    def times(self, matrix: Array, x: Array) -> Array:
        """Return J x for a symmetric J."""
        return self.dot(matrix, x)


Product = Callable[[Array, Array], Array]


@dataclass
class Series:
    """Rows of Taylor coefficients: products of them, up to one order."""

    tally: Tally

    def term(self, product: Product, a: Array, b: Array, k: int) -> Array:
        """The k-th coefficient of a product."""
        return self.tally.add(*(product(a[m], b[k - m]) for m in range(k + 1)))

    def product(self, product: Product, a: Array, b: Array, rows: int) -> Array:
        """Return so many coefficients of a product."""
        return np.array([self.term(product, a, b, k) for k in range(rows)])

    def rate(self, x: Array) -> Array:
        """The coefficients of the time derivative: one row less."""
        factors = np.arange(1.0, len(x))
        self.tally.products += x[1:].size
        return np.asarray(factors.reshape(-1, *[1] * (x.ndim - 1)) * x[1:])

    def grown(self, start: Array, rate: Callable[[list[Array], int], Array], rows: int) -> Array:
        """Integrate: from the first coefficient, and those of the rate by the ones so far."""
        found = [start]
        for k in range(rows - 1):
            found.append(self.tally.scaled(1.0 / (k + 1), rate(found, k)))
        return np.array(found)

    def carried(self, product: Product, by: Array, start: Array, rows: int) -> Array:
        """Integrate what moves with a body: its rate is a product with the twist."""
        return self.grown(start, lambda x, k: self.term(product, by, np.array(x), k), rows)


@dataclass(frozen=True)
class Link:
    """A body with its joint's axis as z of its frame."""

    parent: int
    turn: Array  # of the frame in the parent's, at the joint's zero
    arm: Array  # from the parent's origin, along the parent's axes
    mass: float
    com: Array
    tensor: Array  # about the center of mass
    column: int  # of v; -1: the base
    entry: int  # of q


def links(model: dtau.Model) -> list[Link]:
    """Bodies of a free base with revolute joints, parents first."""
    found: list[Link] = []
    axes: list[Array] = []
    for joint, inertia in zip(model.joints, model.inertias, strict=True):
        own = np.eye(3)
        if isinstance(joint.type, dtau.Revolute):
            z = np.asarray(joint.type.axis) / np.linalg.norm(joint.type.axis)
            x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
            x /= np.linalg.norm(x)
            own = np.stack([x, np.cross(z, x), z], axis=1)
        elif found or not isinstance(joint.type, dtau.Free):
            raise ValueError("expected a free base with revolute joints")
        outer = axes[joint.parent].T if found else np.eye(3)
        axes.append(own)
        found.append(
            Link(
                joint.parent,
                outer @ joint.placement.rotation @ own,
                outer @ joint.placement.translation,
                inertia.mass,
                own.T @ inertia.com,
                own.T @ inertia.tensor @ own,
                joint.v.start if len(found) else -1,
                joint.q.start,
            )
        )
    return found


def inverse_dynamics(
    model: dtau.Model, frame: Frame, q: Array, v: Array, tally: Tally
) -> tuple[Array, Array]:
    """Wrenches on the base (order + 1, 6) and torques (order + 1, joints), as derivatives.

    q (nq,) and v (order + 2, nv): the velocity and its derivatives, the base's in these axes.
    """
    order = len(v) - 2
    factorials = np.cumprod([1.0, *range(1, order + 2)])
    recursion = {"body": _body, "spatial": _spatial, "hybrid": _hybrid}[frame]
    series = v / factorials[:, np.newaxis]  # conversions of arguments and results are not counted
    wrench, tau = recursion(model, links(model), q, series, Series(tally))
    back = factorials[: order + 1, np.newaxis]
    return back * wrench, back * tau


def _body(
    model: dtau.Model, tree: list[Link], q: Array, v: Array, s: Series
) -> tuple[Array, Array]:
    """Along each body's own axes; accelerations of origins with gravity's taken off."""
    t, rows = s.tally, len(v) - 1
    base = _rotation(q[3:7])
    omega, accel = [v[:, 3:6]], []
    g = s.carried(t.cross, -omega[0], base.T @ model.gravity, rows)
    turning = s.product(t.cross, omega[0], v[:, :3], rows)
    accel.append(t.add(s.rate(v[:, :3]), turning, -g))
    turns: list[Array] = []
    force, moment = [], []
    for i, link in enumerate(tree):
        if i:
            p, speed = link.parent, v[:, link.column]
            turns.append(_turn(q[link.entry], speed, s))
            w = _inward(link, turns[-1], omega[p], s, rows + 1)
            w[:, 2] = t.add(w[:, 2], speed)
            omega.append(w)
            moved = t.add(accel[p], _swept(s, omega[p], link.arm, rows))
            accel.append(_inward(link, turns[-1], moved, s, rows))
        at_com = t.add(accel[i], _swept(s, omega[i], link.com, rows))
        f = t.scaled(link.mass, at_com)
        spin = np.array([t.times(link.tensor, x) for x in omega[i]])
        gyro = s.product(t.cross, omega[i], spin, rows)
        shifted = np.array([t.cross(link.com, x) for x in f])
        force.append(f)
        moment.append(t.add(s.rate(spin), gyro, shifted))
    tau = np.zeros((rows, model.nv - 6))
    for i in range(len(tree) - 1, 0, -1):
        link, turn, p = tree[i], turns[i - 1], tree[i].parent
        tau[:, link.column - 6] = moment[i][:, 2]
        f = _outward(link, turn, force[i], s, rows)
        n = _outward(link, turn, moment[i], s, rows)
        force[p] = t.add(force[p], f)
        moment[p] = t.add(moment[p], n, np.array([t.cross(link.arm, x) for x in f]))
    return np.hstack([force[0], moment[0]]), tau


def _swept(s: Series, omega: Array, arm: Array, rows: int) -> Array:
    """Acceleration of an arm that turns: omega' x arm + omega x (omega x arm)."""
    t = s.tally
    speed = np.array([t.cross(x, arm) for x in omega])
    return t.add(s.rate(speed), s.product(t.cross, omega, speed, rows))


def _turn(angle: float, speed: Array, s: Series) -> Array:
    """Cosine and sine of an angle, from its rate."""

    def rate(found: list[Array], k: int) -> Array:
        s.tally.products += 2 * (k + 1)
        s.tally.sums += 2 * k
        terms = (speed[k - m] * np.array([-x[1], x[0]]) for m, x in enumerate(found))
        return np.sum(list(terms), axis=0)

    return s.grown(np.array([np.cos(angle), np.sin(angle)]), rate, len(speed))


def _inward(link: Link, turn: Array, x: Array, s: Series, rows: int) -> Array:
    """A parent's vectors along the body's axes."""
    at_zero = np.array([s.tally.dot(link.turn.T, y) for y in x[:rows]])
    back = turn * (1.0, -1.0)
    out = s.product(s.tally.turned, back, at_zero, rows)
    out[:, 2] = at_zero[:, 2]
    return out


def _outward(link: Link, turn: Array, x: Array, s: Series, rows: int) -> Array:
    """A body's vectors along the parent's axes."""
    turned = s.product(s.tally.turned, turn, x, rows)
    turned[:, 2] = x[:, 2]
    return np.array([s.tally.dot(link.turn, y) for y in turned])


def _poses(
    tree: list[Link], q: Array, t: Tally, origin: Array
) -> tuple[list[Array], list[Array], list[Array], list[Array]]:
    """Rotations, origins, centers of mass (from `origin`), tensors along the world's axes, now."""
    turns, p = [_rotation(q[3:7])], [origin]
    for link in tree[1:]:
        c, s = np.cos(q[link.entry]), np.sin(q[link.entry])
        t.products, t.sums = t.products + 12, t.sums + 6
        turn = link.turn @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        p.append(t.add(p[link.parent], t.dot(turns[link.parent], link.arm)))
        turns.append(t.dot(turns[link.parent], turn))
    com = [t.add(y, t.dot(x, link.com)) for x, y, link in zip(turns, p, tree, strict=True)]
    tensor = [t.dot(t.dot(x, link.tensor), x.T) for x, link in zip(turns, tree, strict=True)]
    return turns, p, com, tensor


def _hybrid(
    model: dtau.Model, tree: list[Link], q: Array, v: Array, s: Series
) -> tuple[Array, Array]:
    """Along the world's axes, at the origin of each body."""
    t, rows = s.tally, len(v) - 1
    turns, p, com, tensor = _poses(tree, q, t, np.zeros(3))
    gravity = np.zeros((rows, 3))
    gravity[0] = model.gravity
    omega, accel = [v[:, 3:6]], [t.add(s.rate(v[:, :3]), -gravity)]
    axes, arms, force, moment = [np.empty(0)], [np.empty(0)], [], []

    for i, link in enumerate(tree):
        if i:
            parent = link.parent
            axes.append(s.carried(t.cross, omega[parent], turns[i] @ Z, rows + 1))
            spin = s.product(t.scaled, v[:, link.column], axes[i], rows + 1)
            omega.append(t.add(omega[parent], spin))
            arms.append(s.carried(t.cross, omega[parent], p[i] - p[parent], rows + 2))
            accel.append(t.add(accel[parent], s.rate(s.rate(arms[i]))))
        lever = s.carried(t.cross, omega[i], com[i] - p[i], rows + 2)
        f = t.scaled(link.mass, t.add(accel[i], s.rate(s.rate(lever))))
        tensors = s.carried(t.twice_symmetric, omega[i], tensor[i], rows + 1)
        spin = s.rate(s.product(t.times, tensors, omega[i], rows + 1))
        force.append(f)
        moment.append(t.add(spin, s.product(t.cross, lever, f, rows)))
    tau = np.zeros((rows, model.nv - 6))
    for i in range(len(tree) - 1, 0, -1):
        parent = tree[i].parent
        tau[:, tree[i].column - 6] = s.product(t.dot, axes[i], moment[i], rows)
        moved = s.product(t.cross, arms[i], force[i], rows)
        force[parent] = t.add(force[parent], force[i])
        moment[parent] = t.add(moment[parent], moment[i], moved)
    return np.hstack([force[0], moment[0]]), tau


def _spatial(
    model: dtau.Model, tree: list[Link], q: Array, v: Array, s: Series
) -> tuple[Array, Array]:
    """Along the world's axes, about its origin."""
    t, rows = s.tally, len(v) - 1
    turns, p, com, tensor = _poses(tree, q, t, q[:3])
    twists, screws = [v[:, :6]], [np.empty(0)]
    force, moment = [], []

    def moved(twist: Array, screw: Array) -> Array:
        """Apply ad of a twist, linear part first."""
        linear = t.add(t.cross(twist[3:], screw[:3]), t.cross(twist[:3], screw[3:]))
        return np.concatenate([linear, t.cross(twist[3:], screw[3:])])

    for i, link in enumerate(tree):
        if i:
            axis, carrier = turns[i] @ Z, twists[link.parent]
            start = np.concatenate([t.cross(p[i], axis), axis])
            screws.append(s.carried(moved, carrier, start, rows + 1))
            own = s.product(t.scaled, v[:, link.column], screws[i], rows + 1)
            twists.append(t.add(carrier, own))
        linear, angular = twists[i][:, :3], twists[i][:, 3:]
        start = link.mass * com[i]
        outer = np.outer(com[i], com[i])
        tensors = [tensor[i] + link.mass * (np.trace(outer) * np.eye(3) - outer)]
        t.products, t.sums = t.products + 12, t.sums + 12
        h, momentum = [start], []
        for k in range(rows + 1):  # h' is the momentum; J' = w x J + (w x J)^T + (h v) terms
            turning = s.term(t.cross, angular, np.array(h), k)
            momentum.append(t.add(t.scaled(link.mass, linear[k]), turning))
            h.append(t.scaled(1.0 / (k + 1), momentum[k]))
            if k < rows:
                rate = t.add(
                    s.term(t.twice_symmetric, angular, np.array(tensors), k),
                    s.term(_shear(t), linear, np.array(h[: k + 1]), k),
                )
                tensors.append(t.scaled(1.0 / (k + 1), rate))
        first = np.array(h)
        spin = t.add(
            s.product(t.times, np.array(tensors), angular, rows + 1),
            s.product(t.cross, first, linear, rows + 1),
        )
        weight = np.zeros((rows, 3))
        weight[0] = link.mass * model.gravity
        pull = np.array([t.cross(x, model.gravity) for x in first[:rows]])
        force.append(t.add(s.rate(np.array(momentum)), -weight))
        moment.append(t.add(s.rate(spin), -pull))
    tau = np.zeros((rows, model.nv - 6))
    for i in range(len(tree) - 1, 0, -1):
        wrench = np.hstack([force[i], moment[i]])
        tau[:, tree[i].column - 6] = s.product(t.dot, screws[i], wrench, rows)
        parent = tree[i].parent
        force[parent] = t.add(force[parent], force[i])
        moment[parent] = t.add(moment[parent], moment[i])
    return np.hstack([force[0], moment[0]]), tau


def _shear(t: Tally) -> Product:
    """2 (v h) 1 - v h^T - h v^T: the rate of an inertia whose first moment h moves with v."""

    def product(v: Array, h: Array) -> Array:
        t.products, t.sums = t.products + 9, t.sums + 6
        outer = np.outer(v, h)
        return np.asarray(2.0 * np.trace(outer) * np.eye(3) - outer - outer.T)

    return product


def _rotation(quaternion: Array) -> Array:
    """The matrix of a unit quaternion (x, y, z, w)."""
    pose = dtau.Pose.from_quaternion(quaternion, order="xyzw")
    return np.asarray(pose.rotation)
