"""Condition numbers with their gradients, and motions within limits."""

from __future__ import annotations

import numpy as np
import pytest
from compare import assert_close
from complex_step import STEP
from core import complex_core

import dtau
from dtau import identification
from dtau.identification import Regressor

NOISE = np.array([2.0, 1.0, 0.5])


def base_of(model: dtau.Model) -> identification.BaseParameters:
    regressor = Regressor(model, ["damping", "coulomb"], coulomb_speed=0.1)
    return identification.base_parameters(regressor)


def limited_arm() -> dtau.Model:
    model = dtau.robots.chain(3)
    limits = dtau.Limits(-1.5, 0.5, velocity=2.0, effort=200.0)
    return model.replace(limits={joint.name: limits for joint in model.joints})


def test_gradient_of_the_condition_number_by_complex_step_of_the_regressor() -> None:
    model = dtau.robots.chain(3)
    base = identification.base_parameters(Regressor(model))
    rng = np.random.default_rng(0)
    q, v, a = dtau.random_state(model, rng, shape=(2, 20))
    rated = identification.condition_number(base, q, v, a, noise=NOISE)

    def stacked(*states: np.ndarray) -> np.ndarray:
        whole = complex_core("inverse_dynamics_regressor", model, *states, False)
        return (whole[..., base.columns] / NOISE[:, None]).reshape(-1, base.rank)

    left, sizes, right = np.linalg.svd(stacked(q, v, a).real, full_matrices=False)
    assert_close(rated.value, sizes[0] / sizes[-1], 1e-11, "condition number")
    for k, got in enumerate(rated[1:]):
        way = rng.standard_normal((2, 20, 3))
        states = [q, v, a]
        states[k] = states[k] + 1j * STEP * way
        change = stacked(*states).imag / STEP
        want = (
            left[:, 0] @ change @ right[0] / sizes[0] - left[:, -1] @ change @ right[-1] / sizes[-1]
        )
        assert_close((got * way).sum(), want, 1e-10, "qva"[k])


def test_a_motion_that_tells_nothing_apart_has_no_condition_number() -> None:
    base = base_of(dtau.robots.chain(3))
    rated = identification.condition_number(base, *np.zeros((3, 50, 3)))
    assert rated.value == np.inf
    assert not rated.by_q.any()


def test_the_motion_stays_within_limits_at_all_times_and_is_better_than_random_ones() -> None:
    model = limited_arm()
    base = base_of(model)
    found = identification.excite(base, period=6.0, acceleration_limits=8.0, iterations=40)
    assert found.condition < 0.7 * found.start_condition
    q, v, a = found.motion.states(np.linspace(0.0, 6.0, 20001))
    assert (q > model.lower_limits).all()
    assert (q < model.upper_limits).all()
    assert np.abs(v).max() < 2.0
    assert np.abs(a).max() < 8.0
    tau = dtau.inverse_dynamics(model, q[::100], v[::100], a[::100])
    assert np.abs(tau).max() < 200.0
    assert np.ptp(q, axis=0).min() > 0.3  # it does move


def test_states_of_a_motion_are_derivatives_of_each_other_and_begin_at_rest() -> None:
    base = base_of(limited_arm())
    motion = identification.excite(base, period=6.0, harmonics=3, iterations=1).motion
    q, v, a = motion.states(np.linspace(0.0, 6.0, 7))
    assert_close(q[0], q[-1], 1e-13, "period")
    assert np.abs(v[0]).max() < 1e-12
    assert np.abs(a[0]).max() < 1e-11
    t, step = 1.3, 1e-5
    ahead, behind = motion.states(t + step), motion.states(t - step)
    here = motion.states(t)
    assert_close((ahead[0] - behind[0]) / (2 * step), here[1], 1e-8, "velocity")
    assert_close((ahead[1] - behind[1]) / (2 * step), here[2], 1e-8, "acceleration")


def test_mistakes_are_named() -> None:
    base = base_of(dtau.robots.chain(3))
    with pytest.raises(ValueError, match=r"velocity_limits: expected a finite number for joint 'b"):
        identification.excite(base, period=5.0)
    with pytest.raises(ValueError, match=r"effort_limits: .* found no motion within them"):
        identification.excite(base, period=5.0, velocity_limits=1.0, effort_limits=1e-3)
    with pytest.raises(ValueError, match=r"period: expected a positive number, got -5"):
        identification.excite(base, period=-5.0, velocity_limits=1.0)
    held = dtau.robots.chain(3).replace(limits={"body2": dtau.Limits(1.0, 1.0)})
    with pytest.raises(ValueError, match=r"joints that can move, got 'body2' with the range 1"):
        identification.excite(base_of(held), period=5.0, velocity_limits=1.0)
    free = base_of(dtau.robots.chain(3, root="free"))
    with pytest.raises(ValueError, match=r"joints have one coordinate each, got 'body1'"):
        identification.excite(free, period=5.0, velocity_limits=1.0)
