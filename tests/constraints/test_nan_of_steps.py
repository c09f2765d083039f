"""Which numbers of steps and linearizations are NaN where rows of contacts depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import assert_same_bits

import dtau
from dtau.registry import arrays_of

MODEL = dtau.robots.quadruped()
TWICE = dtau.Contacts(
    MODEL, [dtau.PointContact("LF_FOOT"), dtau.PointContact("LF_FOOT", name="again")]
)
NV = MODEL.nv
Q, V, TAU = dtau.random_state(MODEL, np.random.default_rng(0), shape=(2,))
HELD: dict[str, Any] = {"contacts": TWICE, "active": [[1, 1], [0, 0]]}  # the second has none


def assert_nan(*arrays: np.ndarray) -> None:
    for array in arrays:
        assert np.isnan(array[0]).all()
        assert np.isfinite(array[1]).all()


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "rk4"])
def test_nan_from_contacts_in_steps(integrator: Any) -> None:
    after = dtau.step(MODEL, Q, V, TAU, 0.01, integrator, **HELD)
    assert_nan(after.v)
    if integrator == "euler":  # q (+) dt v knows no acceleration
        assert_same_bits(after.q, dtau.step(MODEL, Q, V, TAU, 0.01, integrator).q)
    else:
        assert_nan(after.q)
    products = dtau.step_vjp(MODEL, Q, V, TAU, 0.01, V, V, integrator, **HELD)
    assert_nan(*arrays_of(products))


def test_nan_from_contacts_in_linearizations() -> None:
    found = dtau.linearize(MODEL, Q, V, TAU, **HELD)
    free = dtau.linearize(MODEL, Q, V, TAU)
    assert_nan(found.a, found.A[:, NV:], found.B[:, NV:])
    assert_same_bits(found.A[:, :NV], free.A[:, :NV])  # the kinematics
    assert_same_bits(found.B[:, :NV], free.B[:, :NV])


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "rk4"])
def test_nan_from_contacts_in_linearizations_of_steps(integrator: Any) -> None:
    found = dtau.linearize_discrete(MODEL, Q, V, TAU, 0.01, integrator, **HELD)
    assert_nan(found.v, found.A[:, NV:], found.B[:, NV:])
    upper = found.q, found.A[:, :NV], found.B[:, :NV]
    if integrator == "euler":
        free = dtau.linearize_discrete(MODEL, Q, V, TAU, 0.01, integrator)
        for x, y in zip(upper, (free.q, free.A[:, :NV], free.B[:, :NV]), strict=True):
            assert_same_bits(x, y)
    else:
        assert_nan(*upper)
