"""The benchmarks' derivatives in 80-bit numbers: against float64, closed forms and symmetry."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.checks import UnavailableError
from benchmarks.experiments.paper_004_accuracy import rms, worst
from benchmarks.experiments.paper_004_truth import by_columns
from benchmarks.wide_step import wide, wide_partials
from compare import TOLERANCE, assert_close, solved
from complex_step import dynamics_derivatives

import dtau

pytestmark = pytest.mark.benchmarks


@pytest.fixture(autouse=True)
def _long_double() -> None:
    try:
        wide(0.0)
    except UnavailableError as reason:
        pytest.skip(str(reason))


def test_derivatives_of_a_tree_are_those_of_the_package() -> None:
    model = dtau.robots.chain(9, branching=2)
    q, v, tau = dtau.random_state(model, np.random.default_rng(3))
    want = dynamics_derivatives("forward_dynamics", model, q, v, tau, None)
    tolerance = solved(TOLERANCE["complex_step"], dtau.mass_matrix(model, q))
    for got, right in zip(wide_partials(model, q, v, tau), want, strict=True):
        assert_close(got.astype(float), right, tolerance)


def test_a_double_pendulum_has_more_digits_than_float64() -> None:
    """Its inverse mass matrix and the derivative of gravity, from the book, in the same numbers."""
    masses, lengths, tensor = (2.0, 3.0), (0.5, 0.25), 0.125
    builder = dtau.ModelBuilder("pendulum")
    for i, (mass, length) in enumerate(zip(masses, lengths, strict=True)):
        builder.add(
            dtau.Revolute([0.0, 1.0, 0.0]),
            name=f"link{i}",
            parent=f"link{i - 1}" if i else None,
            placement=dtau.Pose(np.eye(3), [0.0, 0.0, -1.0 if i else 0.0]),
            inertia=dtau.Inertia(mass, [0.0, 0.0, -length], tensor * np.eye(3)),
        )
    model = builder.build()
    q = np.array([0.7, -1.9])
    (m1, m2), (l1, l2), g = wide(masses), wide(lengths), wide(-model.gravity[2])
    first, second = wide(q)
    inner = tensor + m2 * l2 * l2
    coupled = inner + m2 * l2 * np.cos(second)
    outer = tensor + m1 * l1 * l1 + m2 + inner + 2 * m2 * l2 * np.cos(second)
    inverse = np.array([[inner, -coupled], [-coupled, outer]]) / (outer * inner - coupled**2)
    both = m2 * g * l2 * np.cos(first + second)
    stiffness = np.array([(m1 * l1 + m2) * g * np.cos(first) + both, both])
    by_q, _, by_tau = wide_partials(model, q, np.zeros(2), np.zeros(2))
    tolerance = 30.0 * float(np.finfo(np.longdouble).eps)
    np.testing.assert_allclose(by_tau, inverse, rtol=tolerance)
    np.testing.assert_allclose(by_q[:, 0], -inverse @ stiffness, rtol=tolerance)


def test_the_inverse_mass_matrix_of_a_chain_is_symmetric_to_the_wider_rounding() -> None:
    model = dtau.robots.chain(30)
    q, v, tau = dtau.random_state(model, np.random.default_rng(5))
    by_tau = wide_partials(model, q, v, tau)[2]
    assert np.abs(by_tau - by_tau.T).max() < 1e-17 * np.abs(by_tau).max()


def test_columns_of_a_long_chain_keep_digits_of_small_elements() -> None:
    """And matrices keep theirs by the largest element, as promised of all that solves with M."""
    model = dtau.robots.chain(125)
    state = dtau.random_state(model, np.random.default_rng(11))
    truth = wide_partials(model, *state)
    columns = by_columns(model, *state)
    assert rms(columns[:2], truth[:2]) < 1e-3
    assert rms(columns[2:], truth[2:]) < 1e-9
    matrices = np.stack(dtau.forward_dynamics_derivatives(model, *state))
    promised = solved(1e-12, dtau.mass_matrix(model, state[0]))
    for way in columns, matrices:
        for got, want in zip(way, truth, strict=True):
            assert worst(got[None], want[None]) < promised


def test_models_that_it_cannot_take_are_refused() -> None:
    floating = dtau.robots.chain(2, root="free")
    with pytest.raises(ValueError, match="expected independent revolute joints only"):
        wide_partials(floating, np.zeros(8), np.zeros(7), np.zeros(7))
    damped = dtau.robots.chain(2).replace(damping=1.0)
    with pytest.raises(ValueError, match="expected no armature, damping"):
        wide_partials(damped, *np.zeros((3, 2)))
