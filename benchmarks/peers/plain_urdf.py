"""A robot as the plainest URDF file: moving joints only, fixed links merged into their carriers.

What all packages read alike: adam 0.5 takes no <inertial> without <origin>.
"""

from __future__ import annotations

import numpy as np

import dtau
from benchmarks.checks import Array
from benchmarks.robots import Robot, pinocchio


def plain_urdf(robot: Robot) -> str:
    """The text. Links have the names of the model's bodies, a fixed root is called world."""
    peer, model = robot.peer, robot.model
    names = ["world", *(model.bodies[joint.body] for joint in robot.joints)]
    parts = ['<link name="world"/>'] if robot.root == "fixed" else []
    for i, joint in enumerate(robot.joints, 1):
        inertia = peer.inertias[i]
        tensor = inertia.inertia
        sides = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2))
        moments = "".join(f' {k}="{float(tensor[r, c])!r}"' for k, r, c in (*sides, ("izz", 2, 2)))
        parts.append(
            f'<link name="{names[i]}"><inertial>{_origin(inertia.lever, np.zeros(3))}'
            f'<mass value="{float(inertia.mass)!r}"/><inertia{moments}/></inertial></link>'
        )
        if joint.type.nv > 1:
            continue  # the free root
        kind = "prismatic" if isinstance(joint.type, dtau.Prismatic) else "revolute"
        placement = peer.jointPlacements[i]
        parts.append(
            f'<joint name="{joint.name}" type="{kind}"><parent link="{names[peer.parents[i]]}"/>'
            f'<child link="{names[i]}"/>'
            f"{_origin(placement.translation, pinocchio.rpy.matrixToRpy(placement.rotation))}"
            f'<axis xyz="{_numbers(axis_of(joint))}"/>'
            '<limit lower="-100" upper="100" effort="1000" velocity="1000"/></joint>'
        )
    return f'<robot name="robot">{"".join(parts)}</robot>'


def axis_of(joint: dtau.Joint) -> Array:
    """The axis of a revolute or a prismatic joint."""
    if not isinstance(joint.type, dtau.Revolute | dtau.Prismatic):
        raise TypeError(f"joint {joint.name!r}: expected one with an axis, got {joint.type}")
    return np.array(joint.type.axis)


def _origin(xyz: Array, rpy: Array) -> str:
    return f'<origin xyz="{_numbers(xyz)}" rpy="{_numbers(rpy)}"/>'


def _numbers(x: Array) -> str:
    return " ".join(repr(float(value)) for value in x)
