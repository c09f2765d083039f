"""The same robot in MuJoCo, and the exact derivative of its own time step to compare with.

MuJoCo's "Euler" step is v+ = v + h a, then q moves by h v+ in its own coordinates: the position of
a free joint along world axes, its rotation by exp of the angular velocity in body axes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError
from benchmarks.optional import optional
from benchmarks.robots import Robot

mujoco = optional("mujoco")

EPS = 1e-6  # of MuJoCo's differences, central


class Peer:
    """A robot of the benchmark in MuJoCo, without contacts, limits and couplings."""

    def __init__(self, robot: Robot, dt: float) -> None:
        text = re.sub(r"<(visual|collision)\b.*?</\1\s*>", "", robot.urdf, flags=re.DOTALL)
        spec = _accepted(partial(mujoco.MjSpec.from_string, text))
        spec.compiler.fusestatic = True
        if robot.root == "free":
            spec.worldbody.first_body().add_freejoint()
        for equality in list(spec.equalities):  # mimic joints are independent in dtau.load
            spec.delete(equality)
        for body in spec.bodies:  # MuJoCo makes 1e-6 kg of links without inertia, and no inertia
            if 0.0 < body.mass <= 1e-6:
                body.mass, body.fullinertia[:] = 1e-12, [1e-14, 1e-14, 1e-14, 0.0, 0.0, 0.0]
        for joint in spec.joints:
            joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
        spec.option.timestep = dt
        self.model = _accepted(spec.compile)
        self.data = mujoco.MjData(self.model)
        self.robot, self.dt = robot, dt
        self.convention = dtau.conventions.mujoco(robot.model, self.model)

    def states(self, at: dict[str, Array]) -> list[tuple[Array, Array, Array]]:
        """Configurations, velocities and torques in MuJoCo's coordinates."""
        q, v, _ = self.convention.from_dtau(at["q"], at["v"], at["a"])
        tau = self.convention.convert(at["tau"], of="tau", at={"q": at["q"]})
        return [(q[i].copy(), v[i].copy(), tau[i].copy()) for i in range(len(q))]

    def transition(self, q: Array, v: Array, tau: Array, out: Array) -> None:
        """A by MuJoCo's finite differences."""
        data = self.data
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mjd_transitionFD(self.model, data, EPS, True, out, None, None, None)

    def buffer(self) -> Array:
        """What `transition` writes to."""
        return np.full((2 * self.model.nv, 2 * self.model.nv), np.nan)

    def exact(self, at: dict[str, Array]) -> Array:
        """The same A, from the derivatives of forward dynamics in MuJoCo's coordinates."""
        h, model = self.dt, self.robot.model
        q, v, a, tau = (at[x] for x in ("q", "v", "a", "tau"))
        d = dtau.forward_dynamics_derivatives(model, q, v, tau)
        d = self.convention.convert(d, at={"q": q, "v": v, "a": a, "tau": tau})
        there = self.convention.from_dtau(q, v, a)
        after = there.v + h * there.a
        nv = self.model.nv
        unit = np.eye(nv)
        by_v = np.concatenate([h * d.da_dq, unit + h * d.da_dv], axis=-1)
        shift, turn = np.tile(unit, (len(q), 1, 1)), np.tile(unit, (len(q), 1, 1))
        for j in range(self.model.njnt):
            if self.model.jnt_type[j] != mujoco.mjtJoint.mjJNT_FREE:
                continue
            k = self.model.jnt_dofadr[j]
            turned = slice(k + 3, k + 6)
            w = h * after[:, turned]
            shift[:, turned, turned] = dtau.rotations.to_matrix(dtau.rotations.exp(-w))
            turn[:, turned, turned] = dtau.rotations.exp_jacobian(w)
        by_q = h * turn @ by_v
        by_q[..., :nv] += shift
        return np.concatenate([by_q, by_v], axis=-2)


def _accepted(make: Callable[[], Any]) -> Any:
    """What MuJoCo makes of a robot; raise `UnavailableError` where it refuses the robot."""
    try:
        return make()
    except ValueError as error:
        raise UnavailableError(str(error).splitlines()[0]) from error


def available() -> bool:
    """Whether MuJoCo is installed."""
    return mujoco is not None


def buildable(robot: Robot, dt: float) -> Peer | str:
    """The robot in MuJoCo, or why there is none."""
    try:
        return Peer(robot, dt)
    except UnavailableError as reason:
        return str(reason)


def largest(got: Any, want: Any) -> float:
    """The largest error, of the largest element of what is expected."""
    return float(np.abs(np.asarray(got) - want).max() / np.abs(want).max())
