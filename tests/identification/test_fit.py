"""Least squares and fits of bodies that exist: statistics, optimality, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from compare import assert_close

import dtau
from dtau import identification
from dtau.identification import Regressor

TERMS = ("armature", "damping", "coulomb", "offset")
SPEED = 0.1
NOISE = np.array([1.0, 0.7, 0.5, 0.3])


def setup(seed: int = 0, samples: int = 300, noise: float = 1.0):
    """A chain, its base parameters, true parameters that are not the model's, and samples."""
    model = dtau.robots.chain(4)
    regressor = Regressor(model, TERMS, coulomb_speed=SPEED)
    base = identification.base_parameters(regressor)
    rng = np.random.default_rng(seed)
    theta = identification.log_cholesky_from_parameters(model.parameters)
    theta += 0.1 * rng.standard_normal(theta.shape)
    bodies = identification.parameters_from_log_cholesky(theta).ravel()
    joints = rng.uniform(0.5, 1.0, (3, 4)), rng.uniform(-1.0, 1.0, (1, 4))
    truth = np.concatenate([bodies, *(x.ravel() for x in joints)])
    q, v, a = dtau.random_state(model, rng, shape=(samples,))
    tau = regressor.torque(truth, q, v, a) + noise * NOISE * rng.standard_normal((samples, 4))
    return base, truth, (q, v, a, tau)


def test_least_squares_equals_numpys_and_knows_its_errors() -> None:
    base, truth, (q, v, a, tau) = setup()
    found = identification.least_squares(base, q, v, a, tau, noise=NOISE)
    weighted = (base.matrix(q, v, a) / NOISE[:, None]).reshape(-1, base.rank)
    want = np.linalg.lstsq(weighted, (tau / NOISE).ravel(), rcond=None)[0]
    assert_close(found.values, want, 1e-10, "values")
    assert_close(found.condition, np.linalg.cond(weighted), 1e-10, "condition number")
    assert_close(found.covariance, np.linalg.inv(weighted.T @ weighted), 1e-9, "covariance")
    off = (found.values - base.map @ truth) / found.standard_errors
    assert 0.6 < np.sqrt((off**2).mean()) < 1.4
    assert_close(found.noise, NOISE, 0.15, "noise")


def test_samples_in_chunks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    base, _, samples = setup()
    want = identification.least_squares(base, *samples)
    monkeypatch.setattr(identification.samples, "_CHUNK", 4000)
    got = identification.least_squares(base, *samples)
    assert_close(got.values, want.values, 1e-10, "values")
    assert_close(identification.fit(base, *samples).noise, want.noise, 0.1, "noise")


@pytest.mark.parametrize("samples", [12, 300])
def test_bodies_of_a_fit_exist_where_those_of_least_squares_do_not(samples: int) -> None:
    base, _, data = setup(seed=1, samples=samples, noise=3.0)
    found = identification.fit(base, *data, noise=3 * NOISE)
    bodies = found.parameters[:40].reshape(4, 10)
    assert (bodies[:, 0] > 0).all()
    assert (np.linalg.eigvalsh(identification.pseudo_inertia(bodies)) > 0).all()
    assert (found.parameters[40:52] > 0).all()  # armature, damping, Coulomb friction
    assert found.model.massless_joints == ()
    values = np.linalg.lstsq(
        base.matrix(*data[:3]).reshape(-1, base.rank), data[3].ravel(), rcond=None
    )[0]
    ordinary = base.nearest(values, base.regressor.model_parameters)[:40].reshape(4, 10)
    assert (np.linalg.eigvalsh(identification.pseudo_inertia(ordinary)).min(axis=-1) < 0).any()


def test_a_fit_is_the_minimum_in_log_cholesky_parameters() -> None:
    """The cost is convex in the parameters: a point without slope is the only minimum."""
    base, _, data = setup(seed=2, samples=50)
    regressor, weight = base.regressor, 0.7
    prior = regressor.model_parameters
    prior[40:48] = 0.5  # with a prior of armature and damping
    found = identification.fit(base, *data, noise=NOISE, prior=prior, prior_weight=weight)
    x = found.parameters
    matrix = (regressor.matrix(*data[:3]) / NOISE[:, None]).reshape(-1, len(x))
    error = matrix @ x - (data[3] / NOISE).ravel()
    assert_close(found.cost, 0.5 * error @ error, 1e-9, "cost")
    slope = matrix.T @ error
    bodies = x[:40].reshape(4, 10)
    inverses = [
        np.linalg.inv(identification.pseudo_inertia(y)) for y in (bodies, prior[:40].reshape(4, 10))
    ]
    units = identification.pseudo_inertia(np.eye(10))
    prior_slope = weight * np.einsum("nij,kij->nk", inverses[1] - inverses[0], units)
    theta = identification.log_cholesky_from_parameters(bodies)
    by_data = identification.log_cholesky_vjp(theta, slope[:40].reshape(4, 10))
    by_prior = identification.log_cholesky_vjp(theta, prior_slope)
    assert_close(by_data, -by_prior, 1e-7, "gradient of bodies")
    joints = x[40:48]
    assert_close(slope[40:48], weight * (1 / joints - 1 / 0.5), 1e-7, "gradient of joints")
    assert np.abs(slope[52:]).max() < 1e-6 * np.abs(matrix.T @ np.abs(error)).max()  # offsets


def test_without_noise_the_truth_is_found() -> None:
    base, truth, data = setup(noise=0.0)
    found = identification.fit(base, *data)
    assert_close(base.map @ found.parameters, base.map @ truth, 1e-5, "base parameters")
    assert_close(found.torque(*data[:3]), data[3], 1e-5, "torque")
    coulomb = base.regressor.joint_values(found.parameters, "coulomb")
    assert_close(list(coulomb.values()), truth[48:52], 1e-5, "Coulomb friction")
    assert_close(found.model.damping, truth[44:48], 1e-5, "damping")


def test_where_data_tell_nothing_the_prior_stays() -> None:
    base, _, data = setup()
    found = identification.fit(base, *data, noise=1e6)
    model = base.regressor.model
    assert_close(found.model.parameters, model.parameters, 1e-3, "parameters")


def test_mistakes_are_named() -> None:
    base, _, (q, v, a, tau) = setup(samples=30)
    with pytest.raises(ValueError, match=r"tau has shape \(30, 3\), expected \(..., 4\)"):
        identification.fit(base, q, v, a, tau[:, :3])
    with pytest.raises(ValueError, match=r"tau: expected finite numbers; leave out samples"):
        identification.fit(base, q, v, a, np.full_like(tau, np.nan))
    with pytest.raises(ValueError, match=r"expected at least \d+ numbers, one for each base"):
        identification.least_squares(base, q[:3], v[:3], a[:3], tau[:3])
    still = np.zeros_like(v)
    with pytest.raises(
        ValueError, match=r"the motion does not determine 27 of 39 base parameters, see body1.I"
    ):
        identification.least_squares(base, q, still, still, tau)
    prior = base.regressor.model_parameters
    prior[10] = -1.0
    with pytest.raises(ValueError, match=r"prior of body 'body2': expected a positive definite"):
        identification.fit(base, q, v, a, tau, prior=prior)
    prior = base.regressor.model_parameters
    prior[44] = -1.0
    with pytest.raises(ValueError, match=r"prior of 'body1.damping': expected at least 0, got -1"):
        identification.fit(base, q, v, a, tau, prior=prior)
    with pytest.raises(ValueError, match=r"prior_weight: expected a positive number, got 0"):
        identification.fit(base, q, v, a, tau, prior_weight=0.0)
    with pytest.raises(ValueError, match=r"noise: expected positive numbers"):
        identification.fit(base, q, v, a, tau, noise=[1.0, 0.0, 1.0, 1.0])
