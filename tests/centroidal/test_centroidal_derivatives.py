"""Derivatives of the center of mass's motion, of momentum and of energy, by complex step."""

from __future__ import annotations

import numpy as np
import pytest
from cases import ROBOTS, on_robots, random_state, robot
from compare import TOLERANCE, assert_close, cancelled
from complex_step import by_q, by_vector
from core import complex_core
from hypothesis import given
from trees import SEEDS, Tree, trees

import dtau

# function: what it takes beside q
ARGUMENTS = {
    "center_of_mass_velocity": ("v",),
    "center_of_mass_acceleration": ("v", "a"),
    "centroidal_momentum": ("v",),
    "centroidal_momentum_rate": ("v", "a"),
    "kinetic_energy": ("v",),
    "potential_energy": (),
}
on_functions = pytest.mark.parametrize("name", ARGUMENTS)


def check(name: str, model: dtau.Model, seed: int) -> None:
    s = random_state(model, seed)
    q, rest = s["q"], [s[x] for x in ARGUMENTS[name]]
    got = getattr(dtau, f"{name}_derivatives")(model, q, *rest)
    want = [by_q(model, q, lambda y: complex_core(name, model, y, *rest))]
    for k, x in enumerate(rest):
        before, after = rest[:k], rest[k + 1 :]
        want.append(
            by_vector(x, lambda y, b=before, c=after: complex_core(name, model, q, *b, y, *c))
        )
    fields = got._fields if isinstance(got, tuple) else ("dV_dq",)
    got = got if isinstance(got, tuple) else (got,)
    # Blocks that vanish hold rounding errors of what cancels in them.
    floor = max(cancelled(x) for x in want)
    for field, x, y in zip(fields, got, want, strict=True):
        assert_close(x, y, TOLERANCE["complex_step"], field, floor=floor)


@on_functions
@pytest.mark.parametrize("of", ROBOTS)
def test_robots(name: str, of: str) -> None:
    check(name, robot(of), 1)


@on_functions
@given(tree=trees(), seed=SEEDS)
def test_trees(name: str, tree: Tree, seed: int) -> None:
    check(name, tree.model(), seed)


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
