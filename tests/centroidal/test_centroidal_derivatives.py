"""Derivatives of the center of mass's motion, of momentum and of energy: by each other."""

from __future__ import annotations

import numpy as np
from cases import on_robots, random_state, robot
from compare import TOLERANCE, assert_close, cancelled
from complex_step import by_q
from core import complex_core

import dtau


@on_robots
def test_jacobian(name: str) -> None:
    """It is the derivative of the position, and what derivatives by v and a are."""
    model = robot(name)
    s = random_state(model, 2)
    q, v, a = s["q"], s["v"], s["a"]
    J = dtau.center_of_mass_jacobian(model, q)
    want = by_q(model, q, lambda y: complex_core("center_of_mass", model, y))
    assert_close(J, want, TOLERANCE["complex_step"], "J")
    tolerance = TOLERANCE["short sums"]
    by_v = dtau.center_of_mass_velocity_derivatives(model, q, v).dvelocity_dv
    assert_close(by_v, J, tolerance, "dvelocity_dv")
    by_a = dtau.center_of_mass_acceleration_derivatives(model, q, v, a).dacceleration_da
    assert_close(by_a, J, tolerance, "dacceleration_da")
    A = dtau.centroidal_momentum_matrix(model, q)
    tolerance = TOLERANCE["long sums"]
    assert_close(A[:3] / model.mass, J, tolerance, "linear momentum")
    assert_close(dtau.centroidal_momentum_derivatives(model, q, v).dh_dv, A, tolerance, "dh_dv")
    by_a = dtau.centroidal_momentum_rate_derivatives(model, q, v, a).drate_da
    assert_close(by_a, A, tolerance, "drate_da")


@on_robots
def test_linear_momentum_is_that_of_the_centre(name: str) -> None:
    """Rows of derivatives, by two algorithms."""
    model = robot(name)
    s = random_state(model, 3)
    q, v, a = s["q"], s["v"], s["a"]
    for of_centre, of_momentum in (
        (
            dtau.center_of_mass_velocity_derivatives(model, q, v),
            dtau.centroidal_momentum_derivatives(model, q, v),
        ),
        (
            dtau.center_of_mass_acceleration_derivatives(model, q, v, a),
            dtau.centroidal_momentum_rate_derivatives(model, q, v, a),
        ),
    ):
        floor = max(cancelled(x) for x in of_momentum)
        for field, x, y in zip(of_centre._fields, of_centre, of_momentum, strict=True):
            assert_close(model.mass * x, y[:3], TOLERANCE["identity"], field, floor=floor)


@on_robots
def test_energy(name: str) -> None:
    """The generalized momentum, and the torque of gravity to the bit."""
    model = robot(name)
    s = random_state(model, 4)
    q, v = s["q"], s["v"]
    by_v = dtau.kinetic_energy_derivatives(model, q, v).dT_dv
    assert_close(by_v, dtau.mass_matrix(model, q) @ v, TOLERANCE["identity"], "M v")
    assert np.array_equal(
        dtau.potential_energy_derivatives(model, q), dtau.gravity_torque(model, q)
    )
