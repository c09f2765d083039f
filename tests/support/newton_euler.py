"""Inverse dynamics by Newton's and Euler's equations, with 3-vectors in world axes.

An oracle: written from the laws of mechanics, with classical accelerations of the bodies' centers
of mass, and sharing nothing with the package but the order of its coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from trees import KINDS, Array, Tree

import dtau


@dataclass
class Motion:
    """A body's motion in the world: pose of its frame, velocity and classical acceleration."""

    rotation: Array
    origin: Array
    omega: Array
    velocity: Array
    alpha: Array
    acceleration: Array


def joint_coordinates(
    tree: Tree, model: dtau.Model, q: Array, v: Array, a: Array
) -> list[tuple[Array, Array, Array]]:
    """The coordinates of every joint of the tree, in the tree's order."""
    rows = []
    for body in tree.bodies:
        if KINDS[body.kind].nv == 0:
            rows.append((np.zeros(0), np.zeros(0), np.zeros(0)))
        else:
            joint = model.joint(body.name)
            rows.append((q[joint.q], v[joint.v], a[joint.v]))
    return rows


def motions(tree: Tree, model: dtau.Model, q: Array, v: Array, a: Array) -> list[Motion]:
    """Motion of every body of the tree, fixed ones included."""
    zero = np.zeros(3)
    world = Motion(np.eye(3), zero, zero, zero, zero, zero)
    out: list[Motion] = []
    for body, (qj, vj, aj) in zip(
        tree.bodies, joint_coordinates(tree, model, q, v, a), strict=True
    ):
        kind = KINDS[body.kind]
        parent = world if body.parent < 0 else out[body.parent]
        joint_rotation, joint_translation = kind.placement(body.axis, body.pitch, qj)
        rotation = parent.rotation @ body.rotation @ joint_rotation
        arm = parent.rotation @ (body.translation + body.rotation @ joint_translation)
        subspace = kind.subspace_at(body.axis, body.pitch, qj)
        rate = kind.subspace_rate(body.axis, body.pitch, qj, vj)
        sliding, turning = rotation @ subspace[:3] @ vj, rotation @ subspace[3:] @ vj
        omega = parent.omega + turning
        # d/dt of a body-fixed direction adds omega x; the arm itself turns with the parent and
        # grows by the sliding.
        out.append(
            Motion(
                rotation=rotation,
                origin=parent.origin + arm,
                omega=omega,
                velocity=parent.velocity + np.cross(parent.omega, arm) + sliding,
                alpha=parent.alpha
                + np.cross(parent.omega, turning)
                + rotation @ (subspace[3:] @ aj + rate[3:]),
                acceleration=parent.acceleration
                + np.cross(parent.alpha, arm)
                + np.cross(parent.omega, np.cross(parent.omega, arm) + sliding)
                + np.cross(omega, sliding)
                + rotation @ (subspace[:3] @ aj + rate[:3]),
            )
        )
    return out


def inverse_dynamics(
    tree: Tree, model: dtau.Model, q: Array, v: Array, a: Array, f_ext: Array | None = None
) -> Array:
    """Joint forces, (nv,), in the model's order."""
    moved = motions(tree, model, q, v, a)
    forces = np.zeros((len(tree.bodies), 3))
    moments = np.zeros((len(tree.bodies), 3))  # about each body's origin
    tau = np.full(model.nv, np.nan)
    for i in reversed(range(len(tree.bodies))):
        body, motion = tree.bodies[i], moved[i]
        kind = KINDS[body.kind]
        arm = motion.rotation @ body.com
        tensor = motion.rotation @ body.tensor @ motion.rotation.T
        at_com = (
            motion.acceleration
            + np.cross(motion.alpha, arm)
            + np.cross(motion.omega, np.cross(motion.omega, arm))
        )
        force = body.mass * (at_com - tree.gravity)
        moment = tensor @ motion.alpha + np.cross(motion.omega, tensor @ motion.omega)
        forces[i] += force
        moments[i] += moment + np.cross(arm, force)
        if f_ext is not None and kind.nv:
            wrench = f_ext[model.joint(body.name).body]
            forces[i] -= motion.rotation @ wrench[:3]
            moments[i] -= motion.rotation @ wrench[3:]
        if kind.nv:
            subspace = kind.subspace_at(body.axis, body.pitch, q[model.joint(body.name).q])
            at = model.joint(body.name).v
            tau[at] = (
                subspace[:3].T @ motion.rotation.T @ forces[i]
                + subspace[3:].T @ motion.rotation.T @ moments[i]
                + body.armature * a[at]
                + body.damping * v[at]
                + body.spring_torque(q[model.joint(body.name).q])
                + body.friction_torque(v[at])
            )
        if body.parent >= 0:
            step = motion.origin - moved[body.parent].origin
            forces[body.parent] += forces[i]
            moments[body.parent] += moments[i] + np.cross(step, forces[i])
    return tau


def energies(tree: Tree, model: dtau.Model, q: Array, v: Array) -> tuple[float, float]:
    """Kinetic energy (with the armatures' energy) and potential energy of what can move."""
    moved = motions(tree, model, q, v, np.zeros(model.nv))
    kinetic = potential = 0.0
    for body, motion in zip(tree.bodies, moved, strict=True):
        arm = motion.rotation @ body.com
        at_com = motion.velocity + np.cross(motion.omega, arm)
        spin = motion.rotation.T @ motion.omega
        kinetic += float(0.5 * body.mass * at_com @ at_com + 0.5 * spin @ body.tensor @ spin)
        potential -= float(body.mass * tree.gravity @ (motion.origin + arm))
        if KINDS[body.kind].nv:
            joint = model.joint(body.name)
            kinetic += float(0.5 * body.armature @ v[joint.v] ** 2)
            if body.stiffness.any():
                potential += float(0.5 * body.stiffness @ body.stretch(q[joint.q]) ** 2)
    return kinetic, potential
