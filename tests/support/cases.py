"""The table of robots that drives the tests, and random states of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from trees import MOVING, Array, Tree, grow, kind_of, random_quaternion, random_tree, stretch

import dtau
from dtau.model.parameters import to_parameters

State = dict[str, Array]

# Robots


def serial(*kinds: str, seed: int = 1) -> Tree:
    return grow(kinds, range(-1, len(kinds) - 1), seed)


TREES: dict[str, Tree] = {
    **{f"one {kind}": serial(kind, seed=3) for kind in MOVING},
    "every joint in a chain": serial("fixed", *MOVING, "fixed", *MOVING[::-1], seed=5),
    "free root, branches": grow(
        ["free", "revolute", "spherical", "fixed", "helical", "prismatic", "revolute", "revolute"],
        [-1, 0, 1, 1, 3, 0, 5, 0],
        seed=7,
    ),
    "forest": grow(
        ["revolute", "free", "spherical", "prismatic", "revolute", "free", "fixed", "helical"],
        [-1, -1, 0, 1, 3, 2, -1, 6],
        seed=11,
    ),
    "children listed late": grow(
        ["revolute", "prismatic", "spherical", "revolute", "helical", "revolute", "revolute"],
        [-1, 0, 0, 1, 2, 1, 4],
        seed=13,
    ),
    "gantry, branches": grow(
        [*["prismatic"] * 3, "cylindrical", "revolute", "fixed", "free", "planar"],
        [-1, 0, 0, 1, 3, 2, 5, 6],
        seed=37,
    ),
    "long chain": serial(*["revolute"] * 12, seed=17),
    "random tree": random_tree(19, bodies=15),
}
# That may stand anywhere in the world.
FAR = ("free root, branches", "two free robots", "planar", "prismatic")
TREES_FAR = {
    "two free robots": grow(["free", "free", "revolute", "spherical"], [-1, -1, 0, 1], seed=3),
    "planar": serial("planar", "prismatic", "revolute", seed=4),
    "prismatic": serial("prismatic", "planar", "revolute", seed=4),
}


@cache
def robot(name: str) -> dtau.Model:
    """The model of a row of `TREES`, or one that the package carries."""
    if name == "quadruped":
        return dtau.robots.quadruped()
    if name == "joints that mimic others":
        return GRIPPERS.model(MIMICS)
    return {**TREES, **TREES_FAR}[name].model()


# Followers before and after what they follow, in the same branch and in others.
GRIPPERS = grow(
    ["free", "revolute", "prismatic", "universal", "helical", "revolute", "prismatic", "revolute"],
    [-1, 0, 1, 0, 3, 4, -1, 6],
    seed=23,
)
MIMICS = {
    "revolute1": dtau.Mimic("helical4", -0.7, 0.2),
    "prismatic2": dtau.Mimic("revolute5", 0.3),
    "prismatic6": dtau.Mimic("helical4", 0.5, -0.1),
}

ROBOTS = (*TREES, "quadruped", "joints that mimic others")
# For what does not depend on the algorithm: how arrays are taken and given, batches, errors.
NEAR = "free root, branches"
FEW_ROBOTS = ("every joint in a chain", NEAR, "forest")
on_robots = pytest.mark.parametrize("name", ROBOTS)


def lone(joint: dtau.JointType, *, gravity: Any = (0.0, 0.0, -9.81), **given: Any) -> dtau.Model:
    """One joint, of the name "joint", and its body; what a builder takes may be given."""
    builder = dtau.ModelBuilder("lone", gravity=gravity)
    builder.add(joint, name="joint", **{"inertia": dtau.Inertia(1.0, tensor=np.eye(3)), **given})
    return builder.build()


def standing() -> Array:
    """The configuration of the quadruped on bent legs."""
    angles = {"HFE": 0.6, "KFE": -1.2}
    legs = {"LF": 1.0, "RF": 1.0, "LH": -1.0, "RH": -1.0}
    bent = {f"{leg}_{x}": s * angle for leg, s in legs.items() for x, angle in angles.items()}
    return dtau.configuration(robot("quadruped"), bent)


def actuated(model: dtau.Model) -> list[int]:
    """Where the velocities of all joints but free roots are."""
    joints = (j for j in model.joints if j.mimic is None)
    kept = (j for j in joints if not (isinstance(j.type, dtau.Free) and j.parent < 0))
    return [k for joint in kept for k in range(joint.v.start, joint.v.stop)]


# States


def random_q(model: dtau.Model, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> Array:
    q = rng.uniform(-2.0, 2.0, (*shape, model.nq))
    for joint in model.joints:
        start = kind_of(joint.type).quaternion
        if start is not None:
            at = slice(joint.q.start + start, joint.q.start + start + 4)
            q[..., at] = random_quaternion(rng, shape)
    return q


def spring_torque(model: dtau.Model, q: Array) -> Array:
    """What the springs of joints add to the torque of inverse dynamics."""
    torque = np.zeros((*q.shape[:-1], model.nv))
    for joint in model.joints:
        if joint.mimic is None and model.stiffness[joint.v].any():
            stretched = stretch(model.rest_position[joint.v], q[..., joint.q])
            torque[..., joint.v] = model.stiffness[joint.v] * stretched
    return torque


def without_friction(model: dtau.Model) -> dtau.Model:
    return model.replace(friction=np.zeros(model.nv))


def friction_torque(model: dtau.Model, v: Array) -> Array:
    """What Coulomb friction of joints adds to the torque of inverse dynamics."""
    torque = np.zeros(v.shape)
    links = {link.joint_name: link for link in model.links}
    for joint in model.joints:
        link = links[joint.name]
        if any(link.friction):
            scale = joint.mimic.multiplier if joint.mimic else 1.0
            y = np.tanh(scale * v[..., joint.v] / np.array(link.friction_speed))
            torque[..., joint.v] += scale * np.array(link.friction) * y
    return torque


def contacts(model: dtau.Model) -> dtau.Contacts:
    """Of any robot: a point of its first body and the last body, along both kinds of axes."""
    first, last = model.bodies[0], model.bodies[-1]
    return dtau.Contacts(
        model,
        [
            dtau.PointContact(first, kd=1.0, name="first"),
            dtau.FrameContact(last, axes="mixed", kd=2.0, name="last"),
        ],
    )


def held_contacts(model: dtau.Model) -> dtau.Contacts:
    """The same, pulled to where they are held."""
    point, flat = contacts(model)
    assert isinstance(flat, dtau.FrameContact)
    placement = dtau.Pose(np.eye(3), (0.3, -0.2, 0.1))
    held = [
        replace(point, kp=3.0, position=(0.1, 0.2, 0.3)),
        replace(flat, kp=2.0, placement=placement),
    ]
    return dtau.Contacts(model, held)


CONTACTS, CONTACT_ROWS = 2, 9  # of these
CONFIGURATIONS = ("q", "q0", "q1")  # arguments whose quaternions must have unit norm
ROWS = 3  # of stacks of time derivatives: orders 0, 1, 2
LONGER_STACKS = ("v_derivatives", "dv_derivatives")  # by a row


def random_state(model: dtau.Model, seed: int, shape: tuple[int, ...] = ()) -> State:
    """Every array that some function takes, by the name of the argument."""
    rng = np.random.default_rng(seed)
    state = {name: random_q(model, rng, shape) for name in CONFIGURATIONS}
    for name in ("v", "a", "tau", "dq"):
        state[name] = rng.uniform(-1.5, 1.5, (*shape, model.nv))
    state["f_ext"] = rng.uniform(-5.0, 5.0, (*shape, model.nbodies, 6))
    state["wrench"] = rng.uniform(-5.0, 5.0, (*shape, 6))
    for name in ("dv", "da", "dtau", "lam"):
        state[name] = rng.uniform(-1.5, 1.5, (*shape, model.nv))
    state["df_ext"] = rng.uniform(-5.0, 5.0, (*shape, model.nbodies, 6))
    for name, rows in (("v", ROWS + 1), ("a", ROWS), ("tau", ROWS)):
        state[f"{name}_derivatives"] = rng.uniform(-1.5, 1.5, (*shape, rows, model.nv))
    state["f_ext_derivatives"] = rng.uniform(-5.0, 5.0, (*shape, ROWS, model.nbodies, 6))
    for name in ("lam_q", "lam_v"):
        state[name] = rng.uniform(-1.5, 1.5, (*shape, model.nv))
    state["dt"] = np.asarray(rng.uniform(0.005, 0.05, shape))
    state["ddt"] = np.asarray(np.linspace(-1.0, 1.0, state["dt"].size).reshape(shape))
    state["inputs"] = rng.uniform(-1.5, 1.5, (*shape, model.nv, 2))
    state["active"] = rng.integers(0, 2, (*shape, CONTACTS)).astype(float)
    state["lam_forces"] = rng.uniform(-1.5, 1.5, (*shape, CONTACT_ROWS))
    state["lam_impulses"] = rng.uniform(-1.5, 1.5, (*shape, CONTACT_ROWS))
    state["restitution"] = np.asarray(rng.uniform(0.0, 1.0, shape))
    state["drestitution"] = np.asarray(0.5 - state["restitution"])
    state["dparameters"] = rng.uniform(-1.0, 1.0, (*shape, 10 * model.nbodies))
    for name, rows in (("dv", ROWS + 1), ("dtau", ROWS), ("lam", ROWS)):
        state[f"{name}_derivatives"] = rng.uniform(-1.5, 1.5, (*shape, rows, model.nv))
    state["df_ext_derivatives"] = rng.uniform(-5.0, 5.0, (*shape, ROWS, model.nbodies, 6))
    state["positions"] = rng.uniform(-1.0, 1.0, (*shape, CONTACTS, 3))
    turns = rng.standard_normal((*shape, len(model.frames), 4))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    state["targets"] = np.concatenate([rng.uniform(-1.0, 1.0, (*turns.shape[:-1], 3)), turns], -1)
    mass = rng.uniform(0.3, 3.0, (*shape, model.nbodies))
    com = rng.uniform(-0.2, 0.2, (*mass.shape, 3))
    tensor = 0.02 * mass[..., None, None] * np.diag([1.0, 1.2, 1.5])
    parameters = to_parameters(mass, com, tensor).reshape(*shape, 10 * model.nbodies)
    state["parameters"] = parameters.copy()  # writable
    return state


def rows(state: State, at: int | slice | Array) -> State:
    """A part of a batch of states."""
    return {name: x[at] for name, x in state.items()}
