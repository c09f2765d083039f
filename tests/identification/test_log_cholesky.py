"""Log-Cholesky parameters: Pinocchio's, complex steps, bodies that exist."""

from __future__ import annotations

import numpy as np
import pytest
from compare import assert_close

import dtau
from dtau import identification

THETA = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 5, 10))
LAM = np.random.default_rng(1).standard_normal((3, 5, 10))
STEP = 1e-30


def textbook(theta: np.ndarray) -> np.ndarray:
    """Parameters of one body of any numbers, complex ones too: U U^T entry by entry."""
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta
    factor = np.exp(alpha) * np.array(
        [
            [np.exp(d1), s12, s13, t1],
            [0.0, np.exp(d2), s23, t2],
            [0.0, 0.0, np.exp(d3), t3],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    matrix = factor @ factor.T
    tensor = np.trace(matrix[:3, :3]) * np.eye(3) - matrix[:3, :3]
    rows, columns = [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]
    return np.concatenate([matrix[3:, 3], matrix[:3, 3], tensor[rows, columns]])


def by_complex_step(function, theta: np.ndarray) -> np.ndarray:
    ways = [function(theta + 1j * STEP * way).imag / STEP for way in np.eye(10)]
    return np.stack(ways, axis=-1)


def test_they_are_pinocchios() -> None:
    pin = pytest.importorskip("pinocchio")
    got = identification.parameters_from_log_cholesky(THETA)
    jacobian = identification.log_cholesky_jacobian(THETA)
    for at in np.ndindex(3, 5):
        peer = pin.LogCholeskyParameters(THETA[at])
        assert_close(got[at], peer.toDynamicParameters(), 1e-14, "parameters")
        assert_close(jacobian[at], peer.calculateJacobian(), 1e-13, "jacobian")


def test_derivatives_equal_complex_step() -> None:
    jacobian = identification.log_cholesky_jacobian(THETA)
    dtheta = LAM[::-1]
    jvp = identification.log_cholesky_jvp(THETA, dtheta)
    vjp = identification.log_cholesky_vjp(THETA, LAM)
    for at in np.ndindex(3, 5):
        want = by_complex_step(textbook, THETA[at])
        assert_close(jacobian[at], want, 1e-13, "jacobian")
        assert_close(jvp[at], want @ dtheta[at], 1e-13, "jvp")
        assert_close(vjp[at], want.T @ LAM[at], 1e-13, "vjp")


def test_the_hessian_equals_differences_of_the_exact_gradient() -> None:
    theta, lam, step = THETA[0, 0], LAM[0, 0], 1e-5
    hessian = identification.log_cholesky_hessian(theta, lam)
    ends = theta + step * np.stack([np.eye(10), -np.eye(10)])
    ahead, behind = identification.log_cholesky_vjp(ends, lam)
    assert_close(hessian, (ahead - behind).T / (2 * step), 1e-8, "hessian")
    assert_close(hessian, hessian.T, 1e-14, "symmetry")


def test_all_numbers_are_bodies_and_all_bodies_numbers() -> None:
    parameters = identification.parameters_from_log_cholesky(THETA)
    assert (np.linalg.eigvalsh(identification.pseudo_inertia(parameters)) > 0).all()
    assert_close(identification.log_cholesky_from_parameters(parameters), THETA, 1e-12, "theta")
    model = dtau.robots.quadruped()
    theta = identification.log_cholesky_from_parameters(model.parameters)
    back = identification.parameters_from_log_cholesky(theta)
    assert_close(back, model.parameters, 1e-14, "parameters")


def test_a_body_that_cannot_exist_is_named() -> None:
    rows = np.array(dtau.robots.chain(3).parameters)
    rows[1, 0] *= -1.0
    with pytest.raises(ValueError, match=r"parameters\[1\]: expected a positive definite"):
        identification.log_cholesky_from_parameters(rows)
