"""Time derivatives by truncated Taylor series, in world axes: an oracle.

A series is an array whose first axis counts the coefficients x_k = x^(k) / k!. Poses of all bodies
in the world are series; velocities, accelerations and angular momenta are their derivatives; Newton
and Euler do the rest. It shares nothing with the package but the order of its coordinates.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from trees import KINDS, Array, Body, Tree, rotation_about, second_axis, skew

import dtau


def factorials(count: int) -> Array:
    return np.array([float(factorial(k)) for k in range(count)])


def coefficients(derivatives: Array) -> Array:
    """Derivatives, stacked along the first axis, as a series."""
    return (derivatives.T / factorials(len(derivatives))).T


def derivatives(series: Array) -> Array:
    return (series.T * factorials(len(series))).T


def product(a: Array, b: Array, operation: Any = np.matmul) -> Array:
    """Of two series, as long as the shorter one."""
    count = min(len(a), len(b))
    return np.array([sum(operation(a[m], b[k - m]) for m in range(k + 1)) for k in range(count)])


def rate(a: Array) -> Array:
    return (a[1:].T * np.arange(1, len(a))).T


def hyperbolic_tangent(x: Array) -> Array:
    """1 - 2 / (exp(2 x) + 1), entry by entry; the core integrates (1 - y^2) x' instead."""
    more = [np.exp(2.0 * x[0])]
    for k in range(1, len(x)):
        more.append(sum(2.0 * m * x[m] * more[k - m] for m in range(1, k + 1)) / k)
    more[0] = more[0] + 1.0
    inverse = [1.0 / more[0]]
    for k in range(1, len(x)):
        inverse.append(-sum(more[m] * inverse[k - m] for m in range(1, k + 1)) / more[0])
    return constant(np.ones_like(x[0]), len(x)) - 2.0 * np.array(inverse)


def friction_torque(model: dtau.Model, v_derivatives: Array) -> Array:
    """Derivatives of what Coulomb friction of joints adds to the torque."""
    v = coefficients(v_derivatives)
    torque = np.zeros_like(v)
    links = {link.joint_name: link for link in model.links}
    for joint in model.joints:
        link = links[joint.name]
        if any(link.friction):
            scale = joint.mimic.multiplier if joint.mimic else 1.0
            y = hyperbolic_tangent(scale * v[:, joint.v] / np.array(link.friction_speed))
            torque[:, joint.v] += scale * np.array(link.friction) * y
    return derivatives(torque)


def integral(start: Array, derivative: Array) -> Array:
    """The series that begins so and has this derivative."""
    return np.concatenate([[start], (derivative.T / np.arange(1, len(derivative) + 1)).T])


def turning(start: Array, omega: Array) -> Array:
    """The rotation R with R' = R omega^, omega along body axes."""
    hats = np.array([skew(w) for w in omega])
    R = [start]
    for k in range(len(omega)):
        R.append(sum(R[m] @ hats[k - m] for m in range(k + 1)) / (k + 1.0))
    return np.array(R)


def rotation_vector(start: Array, omega: Array) -> Array:
    """The rotation vector that begins so and turns by omega, along body axes.

    By its quaternion (x, w): 2 arccos(w) / |x| times x; the core integrates the vector itself.
    """
    angle = float(np.linalg.norm(start))
    if angle == 0.0:
        return np.concatenate([[start], np.zeros_like(omega)])  # without a spring
    x, w = [np.sin(0.5 * angle) / angle * start], [np.cos(0.5 * angle)]
    for k in range(len(omega)):
        turned = [w[m] * omega[k - m] + np.cross(x[m], omega[k - m]) for m in range(k + 1)]
        x.append(0.5 * sum(turned) / (k + 1.0))
        w.append(-0.5 * sum(x[m] @ omega[k - m] for m in range(k + 1)) / (k + 1.0))
    square = [sum(x[m] @ x[k - m] for m in range(k + 1)) for k in range(len(x))]
    f = [angle / np.sin(0.5 * angle)]  # |x|^2 f' = (w f - 2) w'
    for k in range(1, len(x)):
        wf = [sum(w[m] * f[i - m] for m in range(i + 1)) - 2.0 * (i == 0) for i in range(k)]
        sum_of = sum(wf[i] * (k - i) * w[k - i] for i in range(k))
        sum_of -= sum(m * f[m] * square[k - m] for m in range(1, k))
        f.append(sum_of / (k * square[0]))
    return np.array([sum(f[m] * x[k - m] for m in range(k + 1)) for k in range(len(x))])


def transposed(a: Array) -> Array:
    return a.swapaxes(-1, -2)


def angular_velocity(R: Array) -> Array:
    """Of the series of a rotation, along world axes."""
    spin = product(rate(R), transposed(R))
    return np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)


def moved(rotation: Array, offset: Array, R: Array, p: Array) -> tuple[Array, Array]:
    """The pose (R, p) in a frame whose pose is (rotation, offset)."""
    return product(rotation, R), offset[: len(p)] + product(rotation, p)


def constant(x: Array, count: int) -> Array:
    return np.concatenate([x[np.newaxis], np.zeros((count - 1, *x.shape))])


def joint_pose(body: Body, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Pose of the body in the joint's frame, and the joint's motion subspace in body axes."""
    kind, count = KINDS[body.kind], len(v) + 1
    if kind.subspace is None:  # a universal joint: one axis after the other
        first, second = body.axis, second_axis(body.axis)
        one = turning(rotation_about(first, q[0]), v[:, :1] * first)
        two = turning(rotation_about(second, q[1]), v[:, 1:] * second)
        axes = np.stack([transposed(two) @ first, constant(second, count)], axis=-1)
        S = np.concatenate([np.zeros_like(axes), axes], axis=-2)
        return product(one, two), np.zeros((count, 3)), S
    S = kind.subspace(body.axis, body.pitch)
    twist = v @ S.T
    start, origin = kind.placement(body.axis, body.pitch, q)
    R = turning(start, twist[:, 3:])
    return R, integral(origin, product(R, twist[:, :3])), constant(S, count)


Poses = list[tuple[Array, Array, Array]]  # rotation, origin, motion subspace


def poses(tree: Tree, model: dtau.Model, q: Array, v_derivatives: Array) -> Poses:
    """Series of all bodies of the tree in the world, fixed ones included."""
    count = len(v_derivatives) + 1
    v = coefficients(v_derivatives)
    out: Poses = []
    for body in tree.bodies:
        if KINDS[body.kind].nv:
            joint = model.joint(body.name)
            pose = joint_pose(body, q[joint.q], v[:, joint.v])
        else:
            pose = (constant(np.eye(3), count), np.zeros((count, 3)), np.zeros((count, 6, 0)))
        frame = constant(body.rotation, count), constant(body.translation, count)
        R, p = moved(*frame, *pose[:2])
        if body.parent >= 0:
            R, p = moved(*out[body.parent][:2], R, p)
        out.append((R, p, pose[2]))
    return out


def inverse_dynamics(
    tree: Tree,
    model: dtau.Model,
    q: Array,
    v_derivatives: Array,
    f_ext_derivatives: Array | None = None,
) -> Array:
    """Torques and their derivatives, (r + 1, nv), of a stack of r + 2 rows."""
    count = len(v_derivatives) - 1
    moving = poses(tree, model, q, v_derivatives)
    v = coefficients(v_derivatives)
    f_ext = None if f_ext_derivatives is None else coefficients(f_ext_derivatives)
    forces: list[Array] = []  # on the body, and their moments about the world's origin
    moments: list[Array] = []
    for body, (R, p, _) in zip(tree.bodies, moving, strict=True):
        centre = p + product(R, constant(body.com, len(R)))
        force = body.mass * rate(rate(centre))
        force[0] -= body.mass * tree.gravity
        omega = angular_velocity(R)
        tensor = product(product(R, constant(body.tensor, len(R))), transposed(R))
        moment = rate(product(tensor, omega)) + product(centre, force, np.cross)
        if f_ext is not None and KINDS[body.kind].nv:
            at = model.joint(body.name).body
            pull, twist = (product(R, f_ext[:, at, part]) for part in (slice(3), slice(3, 6)))
            force = force - pull
            moment = moment - twist - product(p, pull, np.cross)
        forces.append(force)
        moments.append(moment)
    tau = np.full((count, model.nv), np.nan)
    for i in reversed(range(len(tree.bodies))):
        body, (R, p, S) = tree.bodies[i], moving[i]
        if body.parent >= 0:
            forces[body.parent] = forces[body.parent] + forces[i]
            moments[body.parent] = moments[body.parent] + moments[i]
        if not KINDS[body.kind].nv:
            continue
        about = moments[i] - product(p, forces[i], np.cross)
        wrench = np.concatenate(
            [product(transposed(R), forces[i]), product(transposed(R), about)], axis=-1
        )
        joint = model.joint(body.name)
        own_v = joint.v
        own = body.armature * rate(v)[:, own_v] + body.damping * v[:-1, own_v]
        if body.kind == "spherical":
            turned = rotation_vector(body.stretch(q[joint.q]), v[: count - 1, own_v])
            own += body.stiffness * turned
        else:
            own[0] += body.spring_torque(q[joint.q])
            own[1:] += body.stiffness * v[: count - 1, own_v] / np.arange(1, count)[:, np.newaxis]
        own += body.friction * hyperbolic_tangent(v[:-1, own_v] / body.speed)
        tau[:, own_v] = product(transposed(S), wrench) + own
    return derivatives(tau)


def momentum(tree: Tree, model: dtau.Model, q: Array, v_derivatives: Array) -> tuple[Array, Array]:
    """Derivatives of the momentum about the world's origin and about the center of mass.

    (r + 1, 6) each, of a stack of r + 1 rows. What is fixed to the world does not count.
    """
    mass, count = 0.0, len(v_derivatives)
    first, linear, angular = np.zeros((count + 1, 3)), np.zeros((count, 3)), np.zeros((count, 3))
    moves: list[bool] = []
    for body, (R, p, _) in zip(tree.bodies, poses(tree, model, q, v_derivatives), strict=True):
        moves.append(body.kind != "fixed" or (body.parent >= 0 and moves[body.parent]))
        if not moves[-1]:
            continue
        centre = p + R @ body.com
        tensor = product(R @ body.tensor, transposed(R))
        mass, first = mass + body.mass, first + body.mass * centre
        linear = linear + body.mass * rate(centre)
        orbital = body.mass * product(centre, rate(centre), np.cross)
        angular = angular + orbital + product(tensor, angular_velocity(R))
    about_centre = angular - product(first / mass, linear, np.cross)
    return derivatives(np.hstack([linear, angular])), derivatives(np.hstack([linear, about_centre]))


def energies(tree: Tree, model: dtau.Model, q: Array, v: Array) -> tuple[float, float]:
    """Kinetic energy (with the armatures' energy) and potential energy of what can move."""
    kinetic = potential = 0.0
    for body, (R, p, _) in zip(tree.bodies, poses(tree, model, q, v[np.newaxis]), strict=True):
        centre, spin = p + R @ body.com, R[0].T @ angular_velocity(R)[0]
        speed = rate(centre)[0]
        kinetic += float(0.5 * body.mass * speed @ speed + 0.5 * spin @ body.tensor @ spin)
        potential -= float(body.mass * tree.gravity @ centre[0])
        if KINDS[body.kind].nv:
            joint = model.joint(body.name)
            kinetic += float(0.5 * body.armature @ v[joint.v] ** 2)
            if body.stiffness.any():
                potential += float(0.5 * body.stiffness @ body.stretch(q[joint.q]) ** 2)
    return kinetic, potential
