"""Test `dtau.mujoco.StepFunction`: products with the derivatives of MuJoCo's step."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from mujoco_creature import creature, states_of
from trees import Array

mujoco = pytest.importorskip("mujoco")

import dtau.mujoco  # noqa: E402

NOSLIP = 'noslip_iterations="3" noslip_tolerance="0"'
OPTIONS = [(x, "") for x in ("Euler", "implicitfast", "RK4")] + [("Euler", NOSLIP)]
IDS = [integrator + ("-noslip" if option else "") for integrator, option in OPTIONS]
CONES = ("pyramidal", "elliptic")


def fourth_order(f: Any, h: float) -> Array:
    found: Array = (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
    return found


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize(("integrator", "option"), OPTIONS, ids=IDS)
def test_products_are_those_with_differences(integrator: str, option: str, cone: str) -> None:
    mj_model, data = creature(integrator, cone, option)
    states, ctrl = states_of(mj_model, data)
    states[:, 4:8] *= 1.2  # the quaternion of the base: MuJoCo normalizes it
    step = dtau.mujoco.StepFunction(mj_model, data)
    rng = np.random.default_rng(0)
    dx, du = rng.normal(size=states.shape), rng.normal(size=ctrl.shape)
    got = step.jvp(states, ctrl, dx, du)
    # Differences may straddle a change of the active set: the better of two steps counts.
    numeric = [
        fourth_order(lambda h: step(states + h * dx, ctrl + h * du), h) for h in (1e-6, 1e-7)
    ]
    errors = np.min([np.abs(x - got).max(axis=-1) for x in numeric], axis=0)
    assert (errors < 1e-8 * np.abs(got).max(axis=-1)).all()
    weights = rng.normal(size=states.shape)
    by_state, by_ctrl = step.vjp(states, ctrl, weights)
    both = (by_state * dx).sum(-1) + (by_ctrl * du).sum(-1)
    np.testing.assert_allclose(both, (got * weights).sum(-1), rtol=1e-9, atol=1e-9)
    # Several weights share the matrices.
    some = np.stack([weights, 2.0 * weights])
    for one, two in zip((by_state, by_ctrl), step.vjp(states, ctrl, some), strict=True):
        np.testing.assert_allclose(two, [one, 2.0 * one], rtol=1e-7, atol=1e-8 * np.abs(one).max())


def test_the_step_is_mujocos() -> None:
    mj_model, data = creature("Euler", "elliptic")
    states, ctrl = states_of(mj_model, data)
    data.qfrc_applied[:] = 0.3
    step = dtau.mujoco.StepFunction(mj_model, data, threads=2)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    expected = np.empty_like(states)
    for state, u, after in zip(states, ctrl, expected, strict=True):
        mujoco.mj_setState(mj_model, data, state, kind)
        data.ctrl[:], data.qacc_warmstart[:] = u, 0.0
        mujoco.mj_step(mj_model, data)
        mujoco.mj_getState(mj_model, data, after, kind)
    np.testing.assert_array_equal(step(states, ctrl), expected)
    after = step.rollout(states[0], np.tile(ctrl[0], (3, 1)))
    np.testing.assert_allclose(after[2], step(after[1], ctrl[0]), atol=1e-9)


@pytest.mark.parametrize(("integrator", "option"), OPTIONS, ids=IDS)
def test_kept_solutions_give_the_same_products(integrator: str, option: str) -> None:
    mj_model, data = creature(integrator, "elliptic", option)
    states, ctrl = states_of(mj_model, data)
    step = dtau.mujoco.StepFunction(mj_model, data, threads=2)
    after = step(states, ctrl)
    weights = np.random.default_rng(0).normal(size=states.shape)
    for n in (1, len(states)):
        x, u, w = states[:n], ctrl[:n], weights[:n]
        expected = step.vjp(x, u, w)
        moved = step.jvp(x, u, w, 0.0 * u)
        np.testing.assert_allclose(step(x, u, keep=True), after[:n], rtol=1e-12, atol=1e-14)
        step(x + 1e-3, u)  # other states in between
        for _ in range(2):  # the second one solves again
            for got, theirs in zip(step.vjp(x, u, w), expected, strict=True):
                np.testing.assert_allclose(got, theirs, atol=1e-9 * np.abs(theirs).max())
        step(x, u, keep=True)
        got = step.jvp(x, u, w, 0.0 * u)
        np.testing.assert_allclose(got, moved, atol=1e-9 * np.abs(moved).max())


@pytest.mark.parametrize(("integrator", "option"), OPTIONS, ids=IDS)
def test_products_of_rollouts_compose_those_of_steps(integrator: str, option: str) -> None:
    mj_model, data = creature(integrator, "elliptic", option)
    states, ctrl = states_of(mj_model, data)
    step = dtau.mujoco.StepFunction(mj_model, data)
    rng = np.random.default_rng(1)
    u = np.stack([ctrl, ctrl[::-1], -ctrl], axis=1)
    after = step.rollout(states, u)
    weights, dx, du = (rng.normal(size=x.shape) for x in (after, states, u))
    by_state, by_ctrl = step.rollout_vjp(states, u, weights, after=after)
    below, expected = np.zeros_like(states), np.empty_like(u)
    for k in reversed(range(3)):
        before = after[:, k - 1] if k else states
        below, expected[:, k] = step.vjp(before, u[:, k], below + weights[:, k])
    for got, theirs in ((by_state, below), (by_ctrl, expected)):
        np.testing.assert_allclose(got, theirs, rtol=1e-6, atol=1e-7 * np.abs(theirs).max())
    moved = step.rollout_jvp(states, u, dx, du, after=after)
    both = (by_state * dx).sum() + (by_ctrl * du).sum()
    np.testing.assert_allclose((moved * weights).sum(), both, rtol=1e-7)


HOPPER = """<mujoco><option timestep="0.005" tolerance="0" iterations="60"/><worldbody>
<geom type="plane" size="5 5 1"/><body pos="0 0 0.85"><joint type="slide" axis="1 0 0"/>
<joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0 0 0.4" mass="4"/><body>
<joint name="hip" axis="0 1 0" damping="1"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.4" mass="3"/>
<body pos="0 0 -0.4"><joint name="knee" axis="0 1 0" damping="1"/>
<geom type="capsule" size="0.04" fromto="0 0 0 0 0 -0.4" mass="2"/><body pos="0 0 -0.4">
<joint name="ankle" axis="0 1 0" damping="1"/>
<geom type="capsule" size="0.06" fromto="-0.1 0 0 0.2 0 0" mass="1"/>
</body></body></body></body></worldbody>
<actuator><motor joint="hip" gear="50"/>
<motor joint="knee" gear="50"/><motor joint="ankle" gear="50"/></actuator></mujoco>"""


def test_gradient_of_a_rollout_by_its_first_action() -> None:
    mj_model = mujoco.MjModel.from_xml_string(HOPPER)
    step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    start = np.zeros(13)
    start[2:7] = -0.04, 0.0, -0.5, 1.0, -0.45
    start[7] = 0.5
    ctrl = np.tile([0.1, -0.2, 0.1], (32, 1))
    weights = np.zeros((32, 13))
    weights[-1, 1:3] = 1.0, 0.5

    def reached(k: int, h: float) -> float:
        u = ctrl.copy()
        u[0, k] += h
        return float((step.rollout(start, u) * weights).sum())

    expected = [fourth_order(lambda h, k=k: reached(k, h), 1e-3) for k in range(3)]
    got = step.rollout_vjp(start, ctrl, weights)[1][0]
    np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(expected).max())


def pendulum(gear: float = 1.0) -> Any:
    return mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="pivot" axis="0 1 0"/>'
        '<geom size="0.1" pos="0 0 -1" mass="1"/></body></worldbody>'
        f'<actuator><motor joint="pivot" gear="{gear}"/></actuator></mujoco>'
    )


def test_a_function_and_its_copies_keep_their_model() -> None:
    mj_model = pendulum()
    step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    x, u, weights = np.zeros(3), np.ones(1), np.array([0.0, 0.0, 1.0])
    want = step.vjp(x, u, weights)
    step(x, u, keep=True)
    mj_model.body_mass[1], mj_model.opt.timestep = 4.0, 0.02
    for other in (step, copy.deepcopy(step), pickle.loads(pickle.dumps(step))):
        for _ in range(2):  # with a kept solution, and without
            for got, expected in zip(other.vjp(x, u, weights), want, strict=True):
                np.testing.assert_allclose(got, expected, rtol=1e-12)
        assert other is step or other.number != step.number
    heavier = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    assert abs(heavier.vjp(x, u, weights)[1] - want[1])[0] > 1e-4


def test_states_that_mujoco_resets_have_no_derivative() -> None:
    mj_model = pendulum(1e13)
    step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    states, ctrl = np.zeros((3, 3)), np.array([[0.0], [1.0], [0.0]])
    np.testing.assert_array_equal(step(states, ctrl, keep=True), step(states, ctrl))
    with pytest.raises(ValueError, match="the step from state 1 has no derivative: MuJoCo resets"):
        step.vjp(states, ctrl, np.ones((3, 3)))
    with pytest.raises(ValueError, match="MuJoCo resets"):  # it ignores such controls
        step.vjp(states[0], np.array([1e11]), np.ones(3))


def test_steps_to_states_that_mujoco_resets_have_no_derivative() -> None:
    mj_model = mujoco.MjModel.from_xml_string(
        """<mujoco><option integrator="RK4"/><worldbody><body><joint name="pivot" axis="0 1 0"/>
        <geom size=".1" pos="0 0 -1"/></body></worldbody>
        <actuator><cylinder joint="pivot" timeconst="0"/></actuator></mujoco>"""
    )
    data = mujoco.MjData(mj_model)
    data.ctrl[0] = 1.0
    with pytest.raises(ValueError, match="the step has no derivative: MuJoCo resets"):
        dtau.mujoco.transition_derivatives(mj_model, data)
    mujoco.mj_step(mj_model, data)
    assert abs(data.qvel[0]) > mujoco.mjMAXVAL


def test_callbacks_are_refused_when_they_are_set_later() -> None:
    mj_model = pendulum()
    step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    mujoco.set_mjcb_passive(lambda m, d: None)
    try:
        with pytest.raises(NotImplementedError, match="callbacks"):
            step.vjp(np.zeros(3), np.zeros(1), np.ones(3))
    finally:
        mujoco.set_mjcb_passive(None)


def test_the_oldest_solutions_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    from dtau.mujoco import runs

    monkeypatch.setattr(runs, "_MOST_KEPT", 3 * runs._OVERHEAD + 4000)
    mj_model = pendulum()
    step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    angles = np.linspace(0.0, 1.0, 5)
    for angle in (*angles, angles[2]):
        step(np.array([0.0, angle, 0.0]), np.zeros(1), keep=True)
    kept = [
        step._kept.take(np.array([[0.0, angle, 0.0]]), np.zeros((1, 1))) is not None
        for angle in angles
    ]
    assert kept == [False, False, True, True, True]
    assert step._kept._size == 0


def test_errors_name_arguments() -> None:
    mj_model, data = creature("Euler", "elliptic")
    step = dtau.mujoco.StepFunction(mj_model, data)
    x, u = np.zeros(step.nstate), np.zeros(step.nu)
    for call, message in (
        (lambda: step(x[1:], u), "state: expected shape"),
        (lambda: step(x, u[1:]), "ctrl: expected shape"),
        (lambda: step.rollout(x, u), "ctrl: expected shape .*steps"),
        (lambda: step(np.zeros((2, len(x))), np.zeros((3, len(u)))), "state and ctrl: .*broadcast"),
        (lambda: step(x + np.nan, u), "state: expected finite numbers"),
        (lambda: step.vjp(x, u, x[1:]), "weights: expected shape"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match=r"mj_data: expected a mujoco\.MjData"):
        dtau.mujoco.StepFunction(mj_model, mj_model)
    mj_model.opt.disableactuator = 1
    with pytest.raises(NotImplementedError, match="actuatorgroupdisable"):
        dtau.mujoco.StepFunction(mj_model, data)
    mj_model.opt.disableactuator = 0
    assert step(np.zeros((0, step.nstate)), np.zeros((0, step.nu))).shape == (0, step.nstate)
    assert step.vjp(x[None][:0], u[None][:0], x[None][:0])[1].shape == (0, step.nu)
