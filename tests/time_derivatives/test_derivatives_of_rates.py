"""First derivatives of time derivatives: by complex step of what they are the derivatives of."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from cases import on_robots, robot
from compare import TOLERANCE, assert_close, cancelled
from complex_step import STEP, by_q, by_vector
from core import complex_core
from hypothesis import given, settings
from hypothesis import strategies as st
from test_rates_of_derivatives import Driven
from test_time_derivatives import Trajectory
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau.support.options import Axes

AXES = get_args(Axes)


def by_row(stack: Array, m: int, function: Any) -> Array:
    """Derivatives by row m of a stack, as the last axis."""
    n = stack.shape[-1]
    points = np.repeat(stack[np.newaxis].astype(complex), n, axis=0)
    points[:, m] += 1j * STEP * np.eye(n)
    return np.moveaxis(np.asarray(function(points)).imag / STEP, 0, -1)


def one_for_all(stack: Any) -> Any:
    """A stack of derivatives as a batch of one; None stays."""
    return None if stack is None else stack[np.newaxis]


def check_inverse(at: Trajectory, axes: Axes) -> None:
    name, f = "inverse_dynamics_time_derivatives", at.f(at.rows - 1)
    got = dtau.inverse_dynamics_time_derivatives_derivatives(
        at.model, at.q, at.v, f, f_ext_axes=axes
    )

    def tau(q: Any, v: Any) -> Any:
        return complex_core(name, at.model, q, v, one_for_all(f), f_ext_axes=axes)

    orders = at.rows - 1
    assert got.dtau_dq.shape == (orders, at.model.nv, at.model.nv)
    assert got.dtau_dv_derivatives.shape == (orders, at.rows, at.model.nv, at.model.nv)
    want_q = by_q(at.model, at.q, lambda q: tau(q, at.v[np.newaxis]))
    want_v = [by_row(at.v, m, lambda v: tau(at.q, v)) for m in range(at.rows)]
    for k in range(orders):
        of_order = [want_q[k], *(x[k] for x in want_v)]
        floor = max(map(cancelled, of_order))
        found = [got.dtau_dq[k], *got.dtau_dv_derivatives[k]]
        for m, (x, y) in enumerate(zip(found, of_order, strict=True)):
            what = f"order {k} by {'q' if m == 0 else f'v^({m - 1})'}"
            assert_close(x, y, TOLERANCE["complex_step"], what, floor=floor)
        assert not got.dtau_dv_derivatives[k, k + 2 :].any()


@on_robots
@pytest.mark.parametrize("axes", AXES)
def test_inverse(name: str, axes: Axes) -> None:
    check_inverse(Trajectory(robot(name), 1, 6), axes)
    check_inverse(Trajectory(robot(name), 2, 3), axes)


@given(tree=trees(), seed=SEEDS, wrenches=st.booleans(), axes=st.sampled_from(AXES))
@settings(max_examples=60)
def test_inverse_on_trees(tree: Tree, seed: int, wrenches: bool, axes: Axes) -> None:
    check_inverse(Trajectory(tree.model(), seed, 5, wrenches), axes)


def check_forward(at: Driven, axes: Axes) -> None:
    got = dtau.forward_dynamics_time_derivatives_derivatives(
        at.model, at.q, at.v, at.tau, at.f_ext, f_ext_axes=axes
    )

    def a(q: Any, v: Any, tau: Any) -> Any:
        name = "forward_dynamics_time_derivatives"
        return complex_core(name, at.model, q, v, tau, one_for_all(at.f_ext), f_ext_axes=axes)

    orders = len(at.tau)
    assert got.da_dtau_derivatives.shape == (orders, orders, at.model.nv, at.model.nv)
    want_q = by_q(at.model, at.q, lambda q: a(q, at.v, at.tau[np.newaxis]))
    want_v = by_vector(at.v, lambda v: a(at.q, v, at.tau[np.newaxis]))
    want_tau = [by_row(at.tau, m, lambda tau: a(at.q, at.v, tau)) for m in range(orders)]
    for k in range(orders):
        of_order = [want_q[k], want_v[k], *(x[k] for x in want_tau)]
        found = [got.da_dq[k], got.da_dv[k], *got.da_dtau_derivatives[k]]
        tolerance = 30.0**k * at.tolerance  # errors of low orders enter the higher ones
        floor = max(map(cancelled, of_order))
        for m, (x, y) in enumerate(zip(found, of_order, strict=True)):
            what = f"order {k} by {('q', 'v')[m] if m < 2 else f'tau^({m - 2})'}"
            assert_close(x, y, tolerance, what, floor=floor)
        assert not got.da_dtau_derivatives[k, k + 1 :].any()


@on_robots
@pytest.mark.parametrize("axes", AXES)
def test_forward(name: str, axes: Axes) -> None:
    check_forward(Driven(robot(name), 1, 3), axes)


@given(tree=trees(), seed=SEEDS, wrenches=st.booleans(), axes=st.sampled_from(AXES))
@settings(max_examples=60)
def test_forward_on_trees(tree: Tree, seed: int, wrenches: bool, axes: Axes) -> None:
    check_forward(Driven(tree.model(), seed, 3, wrenches), axes)


def test_rates_of_matrices() -> None:
    """For joints whose displacements add, order 1 is made of the matrices and their rates."""
    model = dtau.robots.chain(6)
    at = Trajectory(model, 3, 3)
    d = dtau.inverse_dynamics_time_derivatives_derivatives(model, at.q, at.v, at.f(2))
    D = dtau.inverse_dynamics_derivatives_time_derivatives(model, at.q, at.v, at.f(2))
    by_v = d.dtau_dv_derivatives
    for got, want in (
        (d.dtau_dq[1], D.dtau_dq[1]),
        (by_v[1, 0], D.dtau_dq[0] + D.dtau_dv[1]),
        (by_v[1, 1], D.dtau_dv[0] + D.dtau_da[1]),
        (by_v[1, 2], D.dtau_da[0]),
    ):
        assert_close(got, want, TOLERANCE["rounding"], "order 1", floor=float(np.abs(want).max()))
