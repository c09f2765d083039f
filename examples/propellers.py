"""The six tilted propellers that fly the aerial manipulator of the examples."""

from __future__ import annotations

import numpy as np

import dtau

ARM = 0.4  # m, from the base's center of mass to a propeller
TILT = np.deg2rad(35.0), np.deg2rad(10.0)  # about an arm, in turns to either side; inward
DRAG = 0.016  # m: a propeller's moment by its thrust, in turns to either side


def inputs(model: dtau.Model) -> np.ndarray:
    """The map (nv, 6 + joints) from the propellers' thrusts (N) and the joints' torques (N m).

    Because the propellers are tilted, their thrusts give every force and moment on the base
    ([HO-FBS] eq. 28): it need not lean to fly sideways, and it can hover in any attitude if the
    propellers push both ways.
    """
    joints = np.eye(model.nv)[:, 6:]
    thrusts = np.zeros((model.nv, 6))
    for i in range(6):
        side = (-1.0) ** i
        at = (
            dtau.Pose.from_rpy((0, 0, i * np.pi / 3))
            @ dtau.Pose(translation=(ARM, 0, 0))
            @ dtau.Pose.from_rpy((side * TILT[0], 0, 0))
            @ dtau.Pose.from_rpy((0, -TILT[1], 0))
        )
        force = at.rotation[:, 2]  # along the propeller's axis
        thrusts[:6, i] = np.concatenate(
            [force, np.cross(at.translation, force) + side * DRAG * force]
        )
    return np.hstack([thrusts, joints])


def hover(model: dtau.Model) -> np.ndarray:
    """A configuration with bent arms, level, at the origin."""
    q = dtau.neutral(model)
    q[7:] = np.resize(np.deg2rad([50.0, 20.0, 0.0, -50.0, -20.0, 0.0]), model.nq - 7)
    return q
