"""Time derivatives of first derivatives along a motion: by complex step in time, and identities."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from cases import ROBOTS, on_robots, robot
from compare import TOLERANCE, assert_close, cancelled
from complex_step import STEP
from core import complex_core
from hypothesis import given, settings
from hypothesis import strategies as st
from test_time_derivatives import Trajectory, rows_close
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau.options import Axes

AXES = get_args(Axes)
RATES = "inverse_dynamics_derivatives_time_derivatives"


def check_inverse(at: Trajectory, axes: Axes) -> None:
    """Order 0 is the first derivatives; each order is the rate of the one before."""
    got = dtau.inverse_dynamics_derivatives_time_derivatives(
        at.model, at.q, at.v, at.f(at.rows - 1), f_ext_axes=axes
    )
    f = None if at.f_ext is None else at.f_ext[0]
    first = dtau.inverse_dynamics_derivatives(at.model, at.q, at.v[0], at.v[1], f, f_ext_axes=axes)
    q, v, f = at.a_step_later()
    f = None if f is None else f[: at.rows - 2]
    later = complex_core(RATES, at.model, q, v, f, f_ext_axes=axes)
    for name, x, y, z in zip(got._fields, got, first, later, strict=True):
        assert_close(x[0], y, TOLERANCE["short sums"], name, floor=cancelled(x[0]))
        rows_close(x[1:], z.imag / STEP, TOLERANCE["complex_step"], name, floor=cancelled(x))


@on_robots
@pytest.mark.parametrize("axes", AXES)
def test_inverse(name: str, axes: Axes) -> None:
    check_inverse(Trajectory(robot(name), 1, 6), axes)
    check_inverse(Trajectory(robot(name), 2, 3), axes)  # order 1 is compiled for itself


@given(tree=trees(), seed=SEEDS, wrenches=st.booleans(), axes=st.sampled_from(AXES))
@settings(max_examples=60)
def test_inverse_on_trees(tree: Tree, seed: int, wrenches: bool, axes: Axes) -> None:
    model = tree.model()
    check_inverse(Trajectory(model, seed, 6, wrenches), axes)
    check_inverse(Trajectory(model, seed, 3, wrenches), axes)


@on_robots
def test_mass_matrix(name: str) -> None:
    """The derivative by the acceleration is the mass matrix, at all orders."""
    at = Trajectory(robot(name), 3, 6)
    got = dtau.inverse_dynamics_derivatives_time_derivatives(at.model, at.q, at.v)
    want = dtau.mass_matrix_time_derivatives(at.model, at.q, at.v, order=4)
    rows_close(got.dtau_da, want, TOLERANCE["long sums"], "M", floor=cancelled(want))


@pytest.mark.parametrize("name", ROBOTS)
def test_orders_agree(name: str) -> None:
    """Order 1 is compiled for itself: its rows are those of higher orders."""
    at = Trajectory(robot(name), 4, 5)
    call: Any = dtau.inverse_dynamics_derivatives_time_derivatives
    short: Array
    for short, long in zip(
        call(at.model, at.q, at.v, at.f_ext, order=1),
        call(at.model, at.q, at.v, at.f_ext, order=3),
        strict=True,
    ):
        rows_close(short, long[:2], TOLERANCE["short sums"], "rows", floor=cancelled(long))
