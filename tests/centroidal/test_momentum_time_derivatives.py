"""Time derivatives of momentum: by Taylor series, by inverse dynamics, at order 0.

By complex step in time: test_time_derivatives.py.
"""

from __future__ import annotations

import numpy as np
import pytest
import taylor
from cases import TREES, on_robots, random_q, robot
from compare import TOLERANCE, assert_close
from hypothesis import given
from trees import SEEDS, Array, Tree, trees

import dtau

ORDERS = 6


def trajectory(model: dtau.Model, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return random_q(model, rng), rng.uniform(-1.0, 1.0, (ORDERS, model.nv))


def check_taylor(tree: Tree, seed: int) -> None:
    model = tree.model()
    q, v = trajectory(model, seed)
    about_origin, about_centre = taylor.momentum(tree, model, q, v)
    got = dtau.momentum_time_derivatives(model, q, v)
    centroidal = dtau.centroidal_momentum_time_derivatives(model, q, v)
    assert got.shape == centroidal.shape == (ORDERS, 6)
    for k in range(ORDERS):
        # The angular momentum about the center of mass of a point mass is zero.
        size = float(np.abs(about_origin[k]).max())
        tolerance = TOLERANCE["independent"]
        assert_close(got[k], about_origin[k], tolerance, f"order {k}")
        assert_close(centroidal[k], about_centre[k], tolerance, f"centroidal {k}", floor=size)


@pytest.mark.parametrize("name", TREES)
def test_taylor(name: str) -> None:
    check_taylor(TREES[name], 1)


@given(tree=trees(), seed=SEEDS)
def test_taylor_on_trees(tree: Tree, seed: int) -> None:
    check_taylor(tree, seed)


@on_robots
def test_order_0(name: str) -> None:
    """Also as the first row of longer stacks."""
    model = robot(name)
    q, v = trajectory(model, 2)
    for what in ("momentum", "centroidal_momentum"):
        want = getattr(dtau, what)(model, q, v[0])
        for rows in (1, 3):
            got = getattr(dtau, f"{what}_time_derivatives")(model, q, v[:rows])
            assert_close(got[0], want, TOLERANCE["long sums"], what)


@pytest.mark.parametrize("name", ["one free", "free root, branches", "quadruped"])
def test_forces_from_outside_are_its_rate(name: str) -> None:
    """Gravity and the wrench on the root, at every order, about the origin and the center."""
    model = robot(name) if name == "quadruped" else TREES[name].bare().model()
    q, v = trajectory(model, 3)
    series, product = taylor.coefficients, taylor.product
    k = dtau.kinematics_time_derivatives(model, q, v)
    R, x = series(k.rotation[:-1, 0]), series(k.translation[:-1, 0])
    wrench = series(dtau.inverse_dynamics_time_derivatives(model, q, v)[:, :6])
    force, moment = product(R, wrench[:, :3]), product(R, wrench[:, 3:])

    h = series(dtau.momentum_time_derivatives(model, q, v))
    centre = taylor.integral(dtau.center_of_mass(model, q), h[:, :3] / model.mass)[:ORDERS]
    weight = taylor.constant(model.mass * model.gravity, ORDERS - 1)
    about_origin = moment + product(x, force, np.cross) + product(centre, weight, np.cross)
    about_centre = moment + product(x - centre, force, np.cross)
    centroidal = series(dtau.centroidal_momentum_time_derivatives(model, q, v))
    for got, angular in ((h, about_origin), (centroidal, about_centre)):
        want = np.hstack([force + weight, angular])
        for order, (one, other) in enumerate(zip(taylor.rate(got), want, strict=True)):
            assert_close(one, other, TOLERANCE["identity"], f"rate of order {order}")


@given(tree=trees(), seed=SEEDS)
def test_the_matrix_is_its_derivative_by_the_highest_velocity(tree: Tree, seed: int) -> None:
    model = tree.model()
    q, v = trajectory(model, seed)
    A = dtau.centroidal_momentum_matrix(model, q)
    for k in range(ORDERS):
        still = v[: k + 1].copy()
        still[k] = 0.0
        with_last = dtau.centroidal_momentum_time_derivatives(model, q, v[: k + 1])[k]
        got = with_last - dtau.centroidal_momentum_time_derivatives(model, q, still)[k]
        size = float(np.abs(A).max() + np.abs(with_last).max())
        assert_close(got, A @ v[k], TOLERANCE["identity"], f"order {k}", floor=size)
