"""Calls of plain arrays (src/python/plain_call.cpp), of one state or a batch: the general form."""

from __future__ import annotations

import contextvars
import gc
from typing import Any

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


def test_states_of_a_batch_that_do_not_fit_are_named() -> None:
    model = dtau.robots.quadruped()
    q, v, a = dtau.random_state(model, np.random.default_rng(6), shape=(19,))
    q[17, 3:7] *= 1.1
    with pytest.raises(ValueError, match=r"batch index \(17,\) has norm"):
        dtau.inverse_dynamics(model, q, v, a)
    with pytest.raises(ValueError, match=r"broadcast"):
        dtau.inverse_dynamics(model, q[:5], v, a)


@pytest.mark.parametrize("n", [None, 300])
def test_finalizers_call_the_function(n: int | None) -> None:
    """The collector may run them, for another model, wherever a call allocates (Python 3.11)."""
    models = [dtau.robots.chain(10), dtau.robots.chain(3)]
    states = [random_state(model, 4, () if n is None else (n,)) for model in models]

    def call(k: int, **given: Any) -> Any:
        s = states[k]
        wrenches = np.zeros((*s["q"].shape[:-1], len(models[k].bodies), 6))
        tau, lam = s["v"], s["v"]
        f = dtau.forward_dynamics_vjp
        return f(models[k], s["q"], s["v"], tau, lam, f_ext=wrenches, **given)

    out, want, calls = call(0), call(0), []

    class Cycle:
        def __init__(self) -> None:
            self.own = self

        def __del__(self) -> None:
            calls.append(call(1))

    before = gc.get_threshold()
    held = [(k, k, k, k + 1) for k in range(5000)]  # no free tuples are left
    for k in range(20):  # among many context variables, setting NumPy's handler allocates more
        contextvars.ContextVar(str(k)).set(k)
    try:
        for k in range(200):
            Cycle()
            gc.set_threshold(1 + k % 20)
            got = call(0, out=out) if k % 2 else call(0)
            gc.set_threshold(0)
            assert_same_results(got, want)
            assert_same_bits(got.by_f_ext, want.by_f_ext)
            held.append((k, k, k, k + 1))
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert len(calls) == 200


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
