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


def thin_chain() -> dtau.Model:
    """A chain whose second body is a sheet, and its fourth a rod: nearly singular."""
    model = dtau.robots.chain(5)
    parameters = model.parameters.copy()
    sheet, rod = np.diag([1e-3, 1e-3, 1e-6]), np.diag([1e-6, 1e-3, 1e-6])
    for body, spread in ((1, sheet), (3, rod)):
        inertia = dtau.Inertia(
            1.0, com=(0.0, 0.1, 0.0), tensor=np.trace(spread) * np.eye(3) - spread
        )
        parameters[body] = inertia.parameters
    return model.replace(parameters=parameters)


def file_model(end: str) -> dtau.Model:
    pairs = pytest.importorskip("pinocchio_pair")
    (name,) = (name for name in pairs.FILES if name.endswith("/" + end))
    return pairs.pair(name, "fixed").model


def measured(model: dtau.Model, seed: int):
    """A robot that differs from its model, with friction, moved along Fourier series."""
    regressor = Regressor(model, ["damping", "coulomb"], coulomb_speed=0.05)
    base, n = identification.base_parameters(regressor), model.nv
    rng = np.random.default_rng(seed)
    theta = identification.log_cholesky_from_parameters(model.parameters)
    theta[:, 0] += 0.5 * np.log(rng.uniform(0.7, 1.3, len(theta)))
    theta[:, 1:4] += 0.05 * rng.standard_normal((len(theta), 3))
    theta[:, 4:] += 0.02 * rng.standard_normal((len(theta), 6))
    bodies = identification.parameters_from_log_cholesky(theta)
    joints = np.concatenate([rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 3.0, n)])
    truth = np.concatenate([bodies.ravel(), joints])
    t = np.arange(0.0, 8.0, 0.01)[:, None]
    w = 2 * np.pi / 8 * np.arange(1, 6)[:, None, None]
    size, phase = 0.3 * rng.standard_normal((5, 1, n)), rng.uniform(0.0, 6.0, (5, 1, n))
    q = (size * np.sin(w * t + phase)).sum(axis=0)
    v = (size * w * np.cos(w * t + phase)).sum(axis=0)
    a = (-size * w**2 * np.sin(w * t + phase)).sum(axis=0)
    tau = regressor.torque(truth, q, v, a) + 0.3 * rng.standard_normal(q.shape)
    return base, truth, (q, v, a, tau)


def root_mean_square(x: np.ndarray) -> float:
    return float(np.sqrt((x**2).mean()))


ROBOTS = {
    "chain": lambda: dtau.robots.chain(6),
    "thin chain": thin_chain,
    "panda": lambda: file_model("panda.urdf").lock(
        {"panda_finger_joint1": 0.0, "panda_finger_joint2": 0.0}
    ),
    "ur5": lambda: file_model("ur5_robot.urdf"),
}


@pytest.mark.filterwarnings("error::dtau.ModelWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("robot", ROBOTS)
def test_the_default_prior_leaves_what_least_squares_finds(robot: str, seed: int) -> None:
    """Base parameters are about as close to the truth as least squares' own, or closer.

    With a prior of weight 1 nearly singular bodies pull them 2 to 4 standard errors away.
    """
    base, truth, data = measured(ROBOTS[robot](), seed)
    ordinary = identification.least_squares(base, *data)
    found = identification.fit(base, *data)
    values, want = base.map @ found.parameters, base.map @ truth
    errors = ordinary.standard_errors
    unbiased = root_mean_square((ordinary.values - want) / errors)
    assert root_mean_square((values - want) / errors) < max(1.2, unbiased)
    assert_close(found.standard_errors, errors, 1e-9, "standard errors")
    assert 0.0 <= found.prior_cost < base.rank


def test_a_prior_that_pulls_is_reported_with_its_share() -> None:
    base, _, data = measured(thin_chain(), 0)
    assert identification.fit(base, *data).prior_weight < 1.0
    with pytest.warns(
        dtau.ModelWarning,
        match=r"leave the 99 % confidence region of least_squares, in its standard errors body\d.*"
        r" by \d+\.\d, .*give a prior_weight below 10, or none",
    ) as caught:
        stiff = identification.fit(base, *data, prior_weight=10.0)
    assert caught[0].filename == __file__
    ordinary = identification.least_squares(base, *data)
    offsets = np.abs(base.map @ stiff.parameters - ordinary.values) / ordinary.standard_errors
    worst = base.regressor.names[base.columns[np.argmax(offsets)]]
    assert f"errors {worst} by {offsets.max():.1f}, " in str(caught[0].message)
    # the prior's share, from its definition
    count = base.regressor.model.nbodies
    bodies = np.stack([stiff.parameters, base.regressor.model_parameters])[:, : 10 * count]
    new, old = identification.pseudo_inertia(bodies.reshape(2, count, 10))
    ratio = np.linalg.solve(old, new)
    total = (np.trace(ratio, axis1=1, axis2=2) - np.linalg.slogdet(ratio)[1] - 4.0).sum()
    assert stiff.prior_weight == 10.0
    assert_close(stiff.prior_cost, 10.0 * total, 1e-7, "share of the prior")


def test_bodies_that_cannot_explain_the_torques_are_reported() -> None:
    """Torques of a negative mass: no weight of the prior brings base parameters close."""
    base, truth, (q, v, a, _) = measured(dtau.robots.chain(3), 0)
    wrong = truth.copy()
    wrong[20:30] *= -1.0
    tau = base.regressor.torque(wrong, q, v, a)
    tau += 0.01 * np.random.default_rng(1).standard_normal(tau.shape)
    with pytest.warns(dtau.ModelWarning, match=r"no bodies that exist and positive joint terms"):
        found = identification.fit(base, q, v, a, tau)
    bodies = found.parameters[:30].reshape(3, 10)
    assert (np.linalg.eigvalsh(identification.pseudo_inertia(bodies)) > 0).all()


def test_standard_errors_are_those_of_least_squares_where_the_motion_determines() -> None:
    base, _, (q, v, a, tau) = setup()
    ordinary = identification.least_squares(base, q, v, a, tau, noise=NOISE)
    found = identification.fit(base, q, v, a, tau, noise=NOISE)
    assert_close(found.standard_errors, ordinary.standard_errors, 1e-9, "standard errors")
    still = np.zeros_like(v)
    resting = identification.fit(base, q, still, still, tau, noise=NOISE)
    names = [base.regressor.names[k] for k in base.columns]
    moving = [
        name.rsplit(".")[-1] in ("damping", "coulomb", "armature", "Ixx", "Iyy", "Izz")
        for name in names
    ]
    assert np.isinf(resting.standard_errors[moving]).all()
    assert np.isfinite(resting.standard_errors).any()


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
    for identify in (identification.fit, identification.least_squares):
        with pytest.raises(ValueError, match=r"tau: expected torques that are not all zero, or th"):
            identify(base, q, v, a, 0.0 * tau)
    assert not identification.least_squares(base, q, v, a, 0.0 * tau, noise=1.0).values.any()
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
