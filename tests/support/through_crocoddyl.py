"""Robots, costs and comparisons of the tests of `dtau.crocoddyl`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import Array

import dtau

crocoddyl = pytest.importorskip("crocoddyl")
import pinocchio as pin  # noqa: E402

import dtau.crocoddyl as dc  # noqa: E402

FEET = dtau.robots.QUADRUPED_FEET
URDF = Path(dtau.robots.__file__).with_name("quadruped.urdf")
AXES = {
    "local": pin.ReferenceFrame.LOCAL,
    "aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    "world": pin.ReferenceFrame.WORLD,
}
LEGS = 12
DT = 0.01
TOLERANCE = 1e-9

# Branches in another order than Pinocchio's, and a continuous joint: cosine and sine there.
LINK = '<link name="{}"><inertial><origin xyz="0.1 0.02 -0.3"/><mass value="1.5"/><inertia \
ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial></link>'
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="0 0.1 -0.5" \
rpy="0.1 0.2 0.3"/><axis xyz="{}"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
BRANCHES = "\n".join(
    [
        '<robot name="branches"><link name="world"/>',
        *(LINK.format(name) for name in ("trunk", "z", "a", "tip")),
        JOINT.format("lift", "prismatic", "world", "trunk", "0 0 1"),
        JOINT.format("second", "continuous", "trunk", "z", "0 1 0"),
        JOINT.format("first", "revolute", "trunk", "a", "1 0 0"),
        JOINT.format("third", "revolute", "z", "tip", "1 0 0"),
        LINK.format("toe"),
        JOINT.format("toe joint", "fixed", "tip", "toe", "0 0 1"),
        "</robot>",
    ]
)


@cache
def quadruped() -> tuple[dtau.Model, Any]:
    model = dtau.robots.quadruped()
    return model, crocoddyl.StateMultibody(
        pin.buildModelFromUrdf(str(URDF), pin.JointModelFreeFlyer())
    )


@cache
def branches() -> tuple[dtau.Model, Any]:
    """The same robot, with its joints in another order there."""
    read, theirs = pin.buildModelFromXML(BRANCHES), pin.Model()
    for name in ("lift", "second", "third", "first"):
        i = read.getJointId(name)
        parent = theirs.getJointId(read.names[read.parents[i]])
        own = theirs.addJoint(parent, read.joints[i], read.jointPlacements[i], name)
        theirs.appendBodyToJoint(own, read.inertias[i], pin.SE3.Identity())
        if name == "third":
            toe = read.frames[read.getFrameId("toe")].placement
            theirs.addBodyFrame("toe", own, toe, 0)
    return dtau.load(BRANCHES), crocoddyl.StateMultibody(theirs)


def random_states(state: Any, count: int) -> Iterator[Array]:
    rng = np.random.default_rng(1)
    for _ in range(count):
        x = state.integrate(state.zero(), rng.normal(size=state.ndx))
        yield np.asarray(x)


def held(state: Any, axes: str, gains: tuple[float, float] = (0.0, 0.0), feet: Any = FEET) -> Any:
    contacts = crocoddyl.ContactModelMultiple(state, LEGS)
    for i, foot in enumerate(feet):
        contacts.addContact(
            f"hold {foot}",
            crocoddyl.ContactModel3D(
                state,
                state.pinocchio.getFrameId(foot),
                np.array([0.1, 0.2, -0.3 + 0.1 * i]),
                AXES[axes],
                LEGS,
                np.array(gains),
            ),
        )
    return contacts


def held_elsewhere(
    state: Any, kind: int, axes: str, gains: tuple[float, float], nu: int, frames: Any
) -> Any:
    """Contacts of one or six rows, held at places and along directions without symmetry."""
    contacts, rng = crocoddyl.ContactModelMultiple(state, nu), np.random.default_rng(kind)
    for name in frames:
        frame = state.pinocchio.getFrameId(name)
        place = pin.exp6(pin.Motion(0.5 * rng.normal(size=6)))
        end = (AXES[axes], place.rotation, nu) if kind == 1 else (AXES[axes], nu)
        make = {1: crocoddyl.ContactModel1D, 6: crocoddyl.ContactModel6D}[kind]
        reference = 0.3 if kind == 1 else place
        contacts.addContact(name, make(state, frame, reference, *end, np.array(gains)))
    return contacts


def cost(state: Any, nu: int, *residuals: Any) -> Any:
    """Costs of states and controls, and of other residuals."""
    costs = crocoddyl.CostModelSum(state, nu)
    target = state.integrate(state.zero(), 0.1 * np.ones(state.ndx))
    tracking = dc if isinstance(state, dc.State) else crocoddyl
    own = [tracking.ResidualModelState(state, target, nu)]
    if nu:
        own.append(crocoddyl.ResidualModelControl(state, 0.1 * np.ones(nu)))
    for i, residual in enumerate([*own, *residuals]):
        costs.addCost(f"{i}", crocoddyl.CostModelResidual(state, residual), 1.0 + i)
    return costs


def residuals(state: Any, actuation: Any) -> dict[str, Any]:
    """One residual of each class that needs no collision model."""
    foot = state.pinocchio.getFrameId(FEET[1])
    nu, up, place = LEGS, np.eye(3), pin.SE3.Random()
    cone = crocoddyl.FrictionCone(up, 0.7, 4, False)
    return {
        "center of mass": crocoddyl.ResidualModelCoMPosition(state, np.ones(3), nu),
        "momentum": crocoddyl.ResidualModelCentroidalMomentum(state, np.ones(6), nu),
        "placement": crocoddyl.ResidualModelFramePlacement(state, foot, place, nu),
        "translation": crocoddyl.ResidualModelFrameTranslation(state, foot, np.ones(3), nu),
        "rotation": crocoddyl.ResidualModelFrameRotation(state, foot, up, nu),
        "velocity": crocoddyl.ResidualModelFrameVelocity(
            state, foot, pin.Motion.Random(), pin.ReferenceFrame.LOCAL, nu
        ),
        "force": crocoddyl.ResidualModelContactForce(state, foot, pin.Force.Random(), 3, nu),
        "friction": crocoddyl.ResidualModelContactFrictionCone(state, foot, cone, nu),
        "effort": crocoddyl.ResidualModelJointEffort(state, actuation, np.ones(nu), nu),
        "acceleration": crocoddyl.ResidualModelJointAcceleration(state, np.ones(state.nv), nu),
        "gravity": crocoddyl.ResidualModelContactControlGrav(state, nu),
    }


def assert_alike(
    ours: Any, theirs: Any, x: Array, u: Array | None, datas: Any = None
) -> tuple[Any, Any]:
    """Values and derivatives of two action models are the same; returns their data."""
    datas = datas or [knot.createData() for knot in (ours, theirs)]
    arguments = (x,) if u is None else (x, u)
    for knot, data in zip((ours, theirs), datas, strict=True):
        knot.calc(data, *arguments)
        knot.calcDiff(data, *arguments)
    mine, other = datas
    for name in ("xnext", "cost", "Fx", "Fu", "Lx", "Lu", "Lxx", "Lxu", "Luu"):
        if u is None and name in ("xnext", "Fx", "Fu"):
            continue
        found, expected = np.asarray(getattr(mine, name)), np.asarray(getattr(other, name))
        assert found.shape == expected.shape
        if found.size:
            assert np.abs(found - expected).max() <= TOLERANCE * (1.0 + np.abs(expected).max()), (
                name
            )
    return mine, other


def integrators() -> dict[str, Callable[[Any], Any]]:
    kinds = {"rk2": "two", "rk3": "three", "rk4": "four"}
    found: dict[str, Callable[[Any], Any]] = {
        name: lambda dynamics, kind=kind: crocoddyl.IntegratedActionModelRK(
            dynamics, getattr(crocoddyl.RKType, kind), DT
        )
        for name, kind in kinds.items()
    }
    return {"euler": lambda dynamics: crocoddyl.IntegratedActionModelEuler(dynamics, DT)} | found


def start() -> Array:
    x = np.array(quadruped()[1].zero())
    x[7:19] = np.tile([-0.1, 0.7, -1.4], 4)
    return x
