"""The six tilted propellers that fly the aerial manipulator of the examples."""

from __future__ import annotations

import numpy as np

import dtau

ARM = 0.4  # m, from the base's center of mass to a propeller
TILT = np.deg2rad(35.0), np.deg2rad(10.0)  # about an arm, in turns to either side; inward
DRAG = 0.016  # m: a propeller's moment by its thrust, in turns to either side


def inputs(model: dtau.Model) -> np.ndarray:
    """The map (nv, 6 + joints) from the propellers' thrusts (N) and the joints' torques (N m).

    Because the propellers are tilted, to either side by turns, their thrusts give every force and
    moment on the base ([HO-FBS] eq. 28): it need not lean to fly sideways, and it can hover in any
    attitude if the propellers push both ways.
    """
    sides = [(-1.0) ** i for i in range(6)]
    places = [place(i * np.pi / 3, side * TILT[0], -TILT[1]) for i, side in enumerate(sides)]
    return thrusts(model, places, sides)


def printed(model: dtau.Model, *, alpha: float = TILT[0], beta: float = TILT[1]) -> np.ndarray:
    """The same map for eq. 28 as the paper prints it: one pair of fixed angles for all propellers.

    Propeller i = 1, ..., 6 is at the angle (2 - i) pi / 3, and turns to either side by turns. With
    equal tilts three of the six directions come from the propellers' drag alone.
    """
    places = [place((2 - i) * np.pi / 3, alpha, beta) for i in range(1, 7)]
    return thrusts(model, places, [(-1.0) ** i for i in range(1, 7)])


def place(angle: float, alpha: float, beta: float) -> dtau.Pose:
    """Eq. 28: the pose of a propeller at an arm's end, turned about the arm's x and its own y."""
    return (
        dtau.Pose.from_rpy((0, 0, angle))
        @ dtau.Pose(translation=(ARM, 0, 0))
        @ dtau.Pose.from_rpy((alpha, 0, 0))
        @ dtau.Pose.from_rpy((0, beta, 0))
    )


def thrusts(model: dtau.Model, places: list[dtau.Pose], sides: list[float]) -> np.ndarray:
    """The map of propellers at these poses, which turn to these sides, and of the joints."""
    wrenches = np.zeros((model.nv, len(places)))
    for i, (at, side) in enumerate(zip(places, sides, strict=True)):
        force = at.rotation[:, 2]  # along the propeller's axis
        moment = np.cross(at.translation, force) + side * DRAG * force
        wrenches[:6, i] = np.concatenate([force, moment])
    return np.hstack([wrenches, np.eye(model.nv)[:, 6:]])


def hover(model: dtau.Model) -> np.ndarray:
    """A configuration with bent arms, level, at the origin."""
    q = dtau.neutral(model)
    q[7:] = np.resize(np.deg2rad([50.0, 20.0, 0.0, -50.0, -20.0, 0.0]), model.nq - 7)
    return q
