"""Implicit steps: MuJoCo's, a robot with more armature, stability, their order.

Their derivatives are compared with complex step beside those of the other integrators.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import random_state, robot, without_friction
from compare import assert_close

import dtau

STIFF = """
<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body>
  <joint name="j" damping="1"/><inertial pos="0 0 0" mass="1" diaginertia="1e-4 1e-4 1e-4"/>
</body></worldbody></mujoco>"""
# All kinds of joints on a fixed base. The derivatives of the bias are no part of this integrator.
ARM = """
<mujoco><option timestep="0.01" integrator="implicitfast"><flag contact="disable"/></option>
<worldbody><body>
  <joint type="slide" axis="1 2 0" damping="30" stiffness="7"/><geom size=".1" pos="0 .1 0"/>
  <body pos="0 0 .3"><joint type="ball" damping="2" armature=".1"/>
    <geom size=".05 .1" type="capsule"/>
  <body pos="0 .2 0"><joint axis="1 0 1" damping="9"/><geom size=".03" pos="0 .1 0"/></body>
  <body pos=".2 0 0"><joint axis="0 1 0"/><geom size=".04" pos=".1 0 .1"/></body></body>
</body></worldbody></mujoco>"""


def test_steps_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    mj_model = mujoco.MjModel.from_xml_string(ARM)
    data, model = mujoco.MjData(mj_model), dtau.from_mujoco(mj_model)
    convention = dtau.conventions.mujoco(model, mj_model)
    q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    there = convention.from_dtau(q, v)
    data.qpos[:], data.qvel[:] = there.q, there.v
    data.qfrc_applied[:] = convention.convert(tau, of="tau", at={"q": q})
    for _ in range(20):
        mujoco.mj_step(mj_model, data)
        q, v = dtau.step(model, q, v, tau, 0.01, "implicit")
        there = convention.from_dtau(q, v)
        assert_close(there.q, data.qpos, 1e-12, "q")
        assert_close(there.v, data.qvel, 1e-12, "v")


def test_stiff_damping_decays() -> None:
    model = dtau.load(STIFF)
    q, v = np.zeros(1), np.array([0.1])
    for _ in range(10):
        before = v
        q, v = dtau.step(model, q, v, np.zeros(1), 0.002, "implicit")
        assert_close(v, before / 21.0, 1e-13, "v")


@pytest.mark.parametrize(("dt", "factor"), [(-5e-5, 2.0), (-2e-4, -1.0)])
def test_steps_back_in_time(dt: float, factor: float) -> None:
    """1 / (1 + dt D / I): beyond I / D = 1e-4 s the velocity changes its sign."""
    after = dtau.step(dtau.load(STIFF), [0.0], [0.1], [0.0], dt, "implicit")
    assert_close(after.v, np.array([0.1 * factor]), 1e-13, "v")


def test_without_damping_it_is_semi_implicit() -> None:
    model = robot("every joint in a chain").replace(damping=0.0, friction=0.0)
    s = random_state(model, 1)
    point = s["q"], s["v"], s["tau"], 0.03
    for ours, other in zip(
        dtau.linearize_discrete(model, *point, "implicit"),
        dtau.linearize_discrete(model, *point, "semi_implicit"),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, other)


@pytest.mark.parametrize("name", ["every joint in a chain", "joints that mimic others"])
def test_as_a_robot_with_more_armature(name: str) -> None:
    """D is the derivative of the torque at rest by v, to which mimic joints add theirs."""
    model, dt = without_friction(robot(name)), 0.05
    s = random_state(model, 2)
    rest = np.zeros(model.nv)
    D = np.diagonal(dtau.inverse_dynamics_derivatives(model, s["q"], rest, rest).dtau_dv)
    heavy = model.replace(armature=model.armature + dt * D)
    point = s["q"], s["v"], s["tau"], dt
    for ours, other in zip(
        dtau.linearize_discrete(model, *point, "implicit"),
        dtau.linearize_discrete(heavy, *point, "semi_implicit"),
        strict=True,
    ):
        assert_close(ours, other, 1e-11, "linearization")


def test_the_order_is_one() -> None:
    model = robot("every joint in a chain")
    s = random_state(model, 3)

    def after(steps: int) -> Any:
        q, v = s["q"], s["v"]
        for _ in range(steps):
            q, v = dtau.step(model, q, v, s["tau"], 0.02 / steps, "implicit")
        return q, v

    q, v = s["q"], s["v"]
    for _ in range(200):
        q, v = dtau.step(model, q, v, s["tau"], 1e-4, "rk4")

    def error(steps: int) -> float:
        at = after(steps)
        return float(np.linalg.norm(np.r_[dtau.difference(model, q, at[0]), at[1] - v]))

    assert 1.7 < error(200) / error(400) < 2.3
