"""`Model.stable_step` beside steps of a little less and a little more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import random_state, robot
from compare import assert_close
from trees import Array

import dtau


def grown(model: dtau.Model, dt: float, integrator: str) -> float:
    q, v = dtau.neutral(model), 1e-6 * np.ones(model.nv)
    for _ in range(2000):
        q, v = dtau.step(model, q, v, np.zeros(model.nv), dt, integrator)
        if not np.abs(v).max() < 1.0:
            return np.inf
    return float(np.abs(v).max() / 1e-6)


@pytest.mark.parametrize(
    "joints", [{"damping": 3.0}, {"stiffness": 50.0}, {"friction": 2.0, "friction_speed": 0.5}]
)
def test_the_largest_stable_step(joints: dict[str, Any]) -> None:
    model = dtau.robots.chain(3).replace(gravity=(0, 0, 0), **joints)
    largest = model.stable_step(dtau.neutral(model))
    assert grown(model, 0.98 * largest, "semi_implicit") < 1e3
    assert grown(model, 1.05 * largest, "semi_implicit") > 1e3


def test_stable_steps_in_batches() -> None:
    model = robot("every joint in a chain")
    q: Array = random_state(model, 4, (2, 3))["q"]
    steps = model.stable_step(q)
    assert steps.shape == (2, 3)
    assert_close(steps[1, 2], model.stable_step(q[1, 2]), 1e-13, "alone")
    free = dtau.robots.chain(2)
    assert np.isinf(free.stable_step(dtau.neutral(free)))
