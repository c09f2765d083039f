"""Robots in both libraries: the package's model, Pinocchio's, and how their coordinates map."""

from __future__ import annotations

import importlib.metadata
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import dtau
from benchmarks.checks import Array, UnavailableError
from benchmarks.optional import optional
from dtau.cli.timing import random_inputs

# Eigen's large products would go on threads, which on one core wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
pinocchio = optional("pinocchio")

Root = Literal["free", "fixed"]

# name on the command line: name in the tables, file of example-robot-data, root
KNOWN: dict[str, tuple[str, str, Root]] = {
    "panda": ("Panda", "panda_description/urdf/panda.urdf", "fixed"),
    "hyq": ("HyQ", "hyq_description/robots/hyq_no_sensors.urdf", "free"),
    "anymal": ("ANYmal B", "anymal_b_simple_description/robots/anymal.urdf", "free"),
    "g1": ("G1", "g1_description/urdf/g1_29dof_rev_1_0.urdf", "free"),
    "talos": ("Talos", "talos_data/robots/talos_full_v2.urdf", "free"),
}

# Robots that experiments ask for by name alone.
OTHERS: dict[str, tuple[str, str, Root]] = {
    "ur3": ("UR3", "ur_description/urdf/ur3_robot.urdf", "fixed"),
    "ur5": ("UR5", "ur_description/urdf/ur5_robot.urdf", "fixed"),
    "baxter": ("Baxter", "baxter_description/urdf/baxter.urdf", "fixed"),
}


FEET: dict[str, tuple[int, tuple[str, ...]]] = {  # rows of each contact, and their frames
    "hyq": (3, ("lf_foot", "rf_foot", "lh_foot", "rh_foot")),
    "talos": (6, ("left_sole_link", "right_sole_link")),
}


@dataclass(frozen=True)
class Robot:
    """One robot in both libraries, without damping and armature; in one, if there is no other."""

    label: str
    root: Root
    model: dtau.Model
    peer: Any  # pinocchio.Model, or None
    joints: list[dtau.Joint]  # the package's records in the peer's order
    columns: NDArray[np.intp]  # the peer's v is v[..., columns]
    urdf: str  # the text that both were read from
    key: str = ""  # in `KNOWN`, or empty

    def peer_q(self, q: Array) -> Array:
        """Configurations (..., nq) as Pinocchio writes them: continuous joints as (cos, sin)."""
        parts = []
        for theirs, ours in zip(list(self.peer.joints)[1:], self.joints, strict=True):
            part = q[..., ours.q]
            if (theirs.nq, theirs.nv) == (2, 1):
                part = np.concatenate([np.cos(part), np.sin(part)], axis=-1)
            parts.append(part)
        return np.concatenate(parts, axis=-1)

    def peer_v(self, v: Array) -> Array:
        """Velocities, accelerations or torques (..., nv) in Pinocchio's order."""
        return np.ascontiguousarray(v[..., self.columns])

    def peer_order(self, result: Array, axes: int) -> Array:
        """A result of the package whose last `axes` axes are nv long, in Pinocchio's order."""
        for axis in range(1, axes + 1):
            result = np.take(result, self.columns, axis=-axis)
        return result


def known(name: str) -> Robot:
    """One of the robots of `KNOWN` and `OTHERS`, from example-robot-data."""
    label, file, root = {**KNOWN, **OTHERS}[name]
    try:
        listed = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        listed = []
    for path in listed:
        if str(path).replace("\\", "/").endswith(file):
            return replace(from_urdf(Path(str(path.locate())), root), label=label, key=name)
    raise UnavailableError(
        f"{label}: left out: {Path(file).name} comes with example-robot-data: "
        "python -m pip install example-robot-data"
    )


def from_urdf(path: Path, root: Root) -> Robot:
    """The robot of a URDF file, without the <dynamics> that the file may give.

    Raises ValueError where it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from error
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise ValueError(f"expected a URDF file, got {path}, which is no XML")
    text = re.sub(r"<dynamics\b[^>]*?(/>|>.*?</dynamics\s*>)", "", text, flags=re.DOTALL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        try:
            model = dtau.load(text, root=root)
        except dtau.ModelError as error:
            raise ValueError(f"{path}: {error}") from error
    if pinocchio is None:
        return Robot(model.name, root, model, None, [], np.arange(model.nv), text)
    free = (pinocchio.JointModelFreeFlyer(),) if root == "free" else ()
    peer = pinocchio.buildModelFromXML(text, *free)
    peer.armature[:] = 0.0
    peer.damping[:] = 0.0
    joints = [model.joint(name) for name in list(peer.names)[1:]]
    columns = np.concatenate([np.r_[joint.v] for joint in joints])
    if sorted(columns) != list(range(model.nv)):
        raise ValueError(f"{path}: Pinocchio reads other joints than dtau")
    return Robot(model.name, root, model, peer, joints, columns, text)


# Robots made here, from a URDF too: name on the command line: name in the tables, parents, root
GENERATED: dict[str, tuple[str, list[int], Root]] = {
    "chain20": ("chain of 20", list(range(-1, 19)), "fixed"),
    "chain50": ("chain of 50", list(range(-1, 49)), "fixed"),
    "tree7": ("tree of 7", [-1, 0, 1, 2, 0, 4, 5], "free"),  # a base with two arms of three
}


def generated(name: str) -> Robot:
    """One of the robots of `GENERATED`."""
    label, parents, root = GENERATED[name]
    return replace(_of_parents(parents, root), label=label, key=name)


def grown(bodies: int, branching: int) -> Robot:
    """A chain on a fixed base whose links carry so many others each."""
    label = f"{bodies} bodies, branching {branching}"
    return replace(_of_parents([(i - 1) // branching for i in range(bodies)], "fixed"), label=label)


def _of_parents(parents: Sequence[int], root: Root) -> Robot:
    """The robot of `urdf`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(urdf(parents, root), encoding="utf-8")
        return from_urdf(path, root)


OWN: list[Robot] = []  # what --urdf adds


def chosen(names: Sequence[str], left_out: Callable[[str], None]) -> list[Robot]:
    """Robots of these tables, and those of --urdf; a line for each that is not here."""
    found = []
    for name in names:
        try:
            found.append(generated(name) if name in GENERATED else known(name))
        except UnavailableError as reason:
            left_out(str(reason))
    return found + OWN


def urdf(parents: Sequence[int], root: Root) -> str:
    """Equal links by their parents, a smaller number each, or -1: the world, or the free base.

    Joints are revolute, about x, y and z by turns.
    """
    parts = ['<link name="world"/>'] if root == "fixed" else []
    for i, parent in enumerate(parents):
        parts.append(
            f'<link name="link{i}"><inertial><origin xyz="0 0.01 0.05"/><mass value="0.5"/>'
            '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        if parent < 0 and root == "free":
            continue  # the base
        start = f"link{parent}" if parent >= 0 else "world"
        axis = ("1 0 0", "0 1 0", "0 0 1")[i % 3]
        parts.append(
            f'<joint name="joint{i}" type="revolute"><parent link="{start}"/>'
            f'<child link="link{i}"/><origin xyz="0 {0.05 * (i % 2)} 0.1"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
        )
    return f'<robot name="robot">{"".join(parts)}</robot>'


def states(robot: Robot, count: int) -> dict[str, Array]:
    """Random states by the name of the argument; `tau` is the torque that gives `a`."""
    return random_inputs(robot.model, ("inverse_dynamics", "forward_dynamics"), count)


def contacts_of(robot: Robot) -> dtau.Contacts:
    """The contacts of the robot's feet with the ground."""
    rows, frames = FEET[robot.key]
    make = dtau.PointContact if rows == 3 else dtau.FrameContact
    return dtau.Contacts(robot.model, [make(frame) for frame in frames])


def depth(model: dtau.Model) -> int:
    """The number of bodies on the longest path."""
    depths: dict[int, int] = {-1: 0}
    for joint in model.joints:
        depths[joint.body] = depths[joint.parent] + 1
    return max(depths.values())
