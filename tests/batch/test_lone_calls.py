"""Calls for one state: their short form (src/python/lone_call.cpp) against the general one."""

from __future__ import annotations

import numpy as np
import pytest
from cases import FEW_ROBOTS, NEAR, random_state, robot, serial
from compare import assert_same_bits, assert_same_results

import dtau


def test_models_in_turn() -> None:
    models = [robot(name) for name in FEW_ROBOTS]
    states = [random_state(model, 3) for model in models]
    expected = [
        dtau.mass_matrix(model, x["q"][None])[0] for model, x in zip(models, states, strict=True)
    ]
    for _ in range(3):
        for model, x, wanted in zip(models, states, expected, strict=True):
            assert_same_bits(dtau.mass_matrix(model, x["q"]), wanted, model.name)


def test_a_model_at_the_address_of_another() -> None:
    for seed in range(30):
        model = serial(*("revolute", "free", "prismatic")[: 1 + seed % 3], seed=seed).model()
        q, v, a = dtau.random_state(model, np.random.default_rng(seed))
        wanted = dtau.inverse_dynamics(model, q[None], v, a)[0]
        assert_same_bits(dtau.inverse_dynamics(model, q, v, a), wanted, str(seed))


def test_frames_in_turn() -> None:
    """The name of a frame means another frame in another model."""
    models = [serial("revolute", "revolute", seed=seed).model() for seed in (1, 2)]
    models = [
        model.add_frame("tip", model.bodies[-1], dtau.Pose(translation=(0.1, 0.2, 0.3 * k)))
        for k, model in enumerate(models)
    ]
    assert models[0].frames == models[1].frames
    names = models[0].frames[-2:]
    q = np.array([0.3, -0.4])
    for _ in range(2):
        for name in names:
            for model in models:
                got = dtau.frame_placements(model, q, name)
                wanted = dtau.frame_placements(model, q, [name])
                assert_same_results(got, tuple(x[0] for x in wanted), name)
                twist = dtau.frame_jacobians(model, q, name, axes="mixed")
                wanted_twist = dtau.frame_jacobians(model, q, [name], axes="mixed")[0]
                assert_same_bits(twist, wanted_twist, name)
    with pytest.raises(ValueError, match="no frame"):
        dtau.frame_placements(models[0], q, "nothing")
    placed = dtau.frame_placements(models[0], q, [names[0]])
    assert_same_results(dtau.frame_placements(models[0], q, names[0]), tuple(x[0] for x in placed))


def test_numbers_as_floats() -> None:
    model = robot(NEAR)
    x = random_state(model, 4)
    for dt in (0.01, 1, np.float64(0.02), np.array(0.03)):
        got = dtau.step(model, x["q"], x["v"], x["tau"], dt)
        wanted = dtau.step(model, x["q"], x["v"], x["tau"], np.array([dt], dtype=float))
        assert_same_results(got, tuple(y[0] for y in wanted), str(dt))


def test_a_state_that_is_not_finite() -> None:
    model = robot(NEAR)
    x = random_state(model, 5)
    x["q"][-1] = np.nan
    assert np.isnan(dtau.mass_matrix(model, x["q"])).all()
    x["v"][0] = np.inf
    assert np.isnan(dtau.integrate(model, random_state(model, 5)["q"], x["v"])).all()


def test_quaternions_are_checked() -> None:
    model = dtau.robots.quadruped()
    q = dtau.neutral(model)
    for norm, right in ((1.0 + 4e-7, True), (1.0 + 2e-6, False), (0.0, False)):
        q[3:7] = (0.0, 0.0, 0.0, norm)
        if right:
            assert np.isfinite(dtau.mass_matrix(model, q)).all()
        else:
            with pytest.raises(ValueError, match="quaternion"):
                dtau.mass_matrix(model, q)


def test_a_subclass() -> None:
    """Only the tree of `dtau.Model` itself is read from its slot at once."""

    class Other(dtau.Model):
        pass

    model = serial("revolute", seed=1).model()
    other = Other(model.name, model.links)
    for _ in range(2):
        for x in (other, model):
            assert_same_bits(
                dtau.mass_matrix(x, np.array([0.1])), dtau.mass_matrix(model, [[0.1]])[0]
            )
