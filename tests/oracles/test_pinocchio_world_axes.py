"""How Pinocchio's derivatives of frames along world axes differ: the rule of docs/coming_from.md.

It holds for trees with joints of several degrees of freedom anywhere, which no URDF has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import assert_close
from trees import random_quaternion, rotation_of

import dtau

pin = pytest.importorskip("pinocchio")

KINDS: dict[str, tuple[dtau.JointType, Any]] = {
    "r": (dtau.Revolute((0, 0, 1)), pin.JointModelRZ),
    "p": (dtau.Prismatic((1, 0, 0)), pin.JointModelPX),
    "s": (dtau.Spherical(), pin.JointModelSpherical),
    "f": (dtau.Free(), pin.JointModelFreeFlyer),
    "l": (dtau.Planar((0, 0, 1)), pin.JointModelPlanar),
}
AXES = {"body": pin.LOCAL, "mixed": pin.LOCAL_WORLD_ALIGNED, "world": pin.WORLD}
CHAINS = ("frr", "sr", "lr", "rsr", "rfr", "rlr", "rss", "pf", "fsr", "ffr", "rlsr")
TOLERANCE = 1e-12


def cross(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The cross product of twists [linear, angular]."""
    linear = np.cross(one[3:], other[:3]) + np.cross(one[:3], other[3:])
    return np.concatenate([linear, np.cross(one[3:], other[3:])])


def both(kinds: str, rng: np.random.Generator) -> tuple[dtau.Model, Any]:
    """A chain with a frame at its end, in both packages."""
    builder, peer = dtau.ModelBuilder(kinds), pin.Model()
    parent, last = None, 0

    def placement() -> dtau.Pose:
        return dtau.Pose(rotation_of(random_quaternion(rng)), rng.normal(size=3))

    for i, kind in enumerate(kinds):
        ours, theirs = KINDS[kind]
        at = placement()
        inertia = dtau.Inertia(1.0, tensor=np.eye(3))
        parent = builder.add(ours, parent=parent, name=f"{i}", placement=at, inertia=inertia)
        last = peer.addJoint(last, theirs(), pin.SE3(at.rotation, at.translation), f"{i}")
    at = placement()
    model = builder.build().add_frame("tool", str(parent), at)
    tool = pin.SE3(at.rotation, at.translation)
    peer.addFrame(pin.Frame("tool", last, 0, tool, pin.FrameType.OP_FRAME))
    return model, peer


def coordinates(model: dtau.Model, q: np.ndarray) -> np.ndarray:
    """Pinocchio's: a planar joint has a cosine and a sine."""
    parts = []
    for joint in model.joints:
        x = q[joint.q]
        planar = isinstance(joint.type, dtau.Planar)
        parts.append([x[0], x[1], np.cos(x[2]), np.sin(x[2])] if planar else x)
    return np.concatenate(parts)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("kinds", CHAINS)
def test_the_rule(kinds: str, axes: Any) -> None:
    rng = np.random.default_rng(len(kinds))
    model, peer = both(kinds, rng)
    q, v, a = dtau.random_state(model, rng)
    data, frame = peer.createData(), peer.getFrameId("tool")
    pin.computeForwardKinematicsDerivatives(peer, data, coordinates(model, q), v, a)
    pin.updateFramePlacements(peer, data)
    twists = pin.getFrameVelocityDerivatives(peer, data, frame, AXES[axes])
    accelerations = pin.getFrameAccelerationDerivatives(peer, data, frame, AXES[axes])[1:]

    more = [np.zeros((6, model.nv)), np.zeros((6, model.nv))]
    J = dtau.frame_jacobians(model, q, "tool", axes)
    if axes == "mixed":
        twist = dtau.frame_velocities(model, q, v, "tool", axes)
        acceleration = dtau.frame_accelerations(model, q, v, a, "tool", axes)
        for x, of in zip(more, (twist, acceleration), strict=True):
            x[:3] += np.cross(J[:3].T, of[3:]).T
    if axes != "body":
        more[1] += beyond(model, q, v, J, axes)
    ours = dtau.frame_velocities_derivatives(model, q, v, "tool", axes)
    for theirs, here, by in zip(twists, ours, (more[0], 0.0), strict=True):
        assert_close(theirs, here + by, TOLERANCE)
    ours = dtau.frame_accelerations_derivatives(model, q, v, a, "tool", axes)
    for theirs, here, by in zip(accelerations, ours, (more[1], 0.0, 0.0), strict=True):
        assert_close(theirs, here + by, TOLERANCE)


def beyond(model: dtau.Model, q: Any, v: Any, J: np.ndarray, axes: Any) -> np.ndarray:
    """-(V - V_parent) x (V_joint x J), at the point that the axes are about."""

    def twist(name: str) -> np.ndarray:
        at_origin = dtau.frame_velocities(model, q, v, name, "world")
        if axes == "world":
            return at_origin
        point = dtau.frame_placements(model, q, "tool").translation
        return at_origin + np.concatenate([np.cross(at_origin[3:], point), np.zeros(3)])

    found = np.zeros_like(J)
    for joint in model.joints:
        if joint.parent < 0:
            continue
        parent, child = twist(model.bodies[joint.parent]), twist(model.bodies[joint.body])
        for k in range(joint.v.start, joint.v.stop):
            found[:, k] = -cross(twist("tool") - parent, cross(child - parent, J[:, k]))
    return found


@pytest.mark.parametrize("kinds", ["rsr", "rfr", "rlr"])
def test_pinocchios_are_not_derivatives_of_its_own(kinds: str) -> None:
    """Differences of its own accelerations are the package's derivatives, not Pinocchio's."""
    rng = np.random.default_rng(7)
    model, peer = both(kinds, rng)
    q, v, a = dtau.random_state(model, rng)
    data, frame, h = peer.createData(), peer.getFrameId("tool"), 1e-6

    def acceleration(dq: np.ndarray) -> np.ndarray:
        moved = coordinates(model, dtau.integrate(model, q, dq))
        pin.forwardKinematics(peer, data, moved, v, a)
        pin.updateFramePlacements(peer, data)
        return np.array(pin.getFrameAcceleration(peer, data, frame, pin.WORLD).vector)

    pairs = [(acceleration(h * e), acceleration(-h * e)) for e in np.eye(model.nv)]
    differences = np.transpose([(more - less) / (2 * h) for more, less in pairs])
    ours = dtau.frame_accelerations_derivatives(model, q, v, a, "tool", "world").dacceleration_dq
    assert_close(differences, ours, 1e-7)
    pin.computeForwardKinematicsDerivatives(peer, data, coordinates(model, q), v, a)
    theirs = pin.getFrameAccelerationDerivatives(peer, data, frame, pin.WORLD)[1]
    assert np.abs(theirs - ours).max() > 0.01 * np.abs(ours).max()
