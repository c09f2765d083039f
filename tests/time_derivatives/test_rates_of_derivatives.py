"""Time derivatives of first derivatives along a motion: by complex step in time, and identities."""

from __future__ import annotations

from math import comb
from typing import Any, get_args

import numpy as np
import pytest
from cases import ROBOTS, on_robots, random_q, robot
from compare import TOLERANCE, assert_close, cancelled, solved
from complex_step import STEP, moved
from core import complex_core
from hypothesis import given, settings
from hypothesis import strategies as st
from test_time_derivatives import Trajectory, rows_close
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau.support.options import Axes

AXES = get_args(Axes)
RATES = "inverse_dynamics_derivatives_time_derivatives"
FORWARD_RATES = "forward_dynamics_derivatives_time_derivatives"


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
    """Order 1 is compiled for itself: its rows are as in higher orders."""
    at = Trajectory(robot(name), 4, 5)
    call: Any = dtau.inverse_dynamics_derivatives_time_derivatives
    short: Array
    for short, long in zip(
        call(at.model, at.q, at.v, at.f_ext, order=1),
        call(at.model, at.q, at.v, at.f_ext, order=3),
        strict=True,
    ):
        rows_close(short, long[:2], TOLERANCE["short sums"], "rows", floor=cancelled(long))


# Forward dynamics


class Driven:
    """A state, torques and wrenches, with time derivatives of orders 0 ... rows - 1."""

    def __init__(self, model: dtau.Model, seed: int, rows: int, wrenches: bool = True) -> None:
        rng = np.random.default_rng(seed)
        self.model, self.q = model, random_q(model, rng)
        self.v = rng.uniform(-1.0, 1.0, model.nv)
        self.tau = rng.uniform(-1.0, 1.0, (rows, model.nv))
        self.f_ext = rng.uniform(-5.0, 5.0, (rows, model.nbodies, 6)) if wrenches else None
        self.tolerance = solved(TOLERANCE["complex_step"], dtau.mass_matrix(model, self.q))

    def a_step_later(self, axes: Axes) -> tuple[Any, ...]:
        """The arguments at the time i STEP: one row less."""
        f = None if self.f_ext is None else self.f_ext[0]
        a = dtau.forward_dynamics(self.model, self.q, self.v, self.tau[0], f, f_ext_axes=axes)
        later = moved(self.model, self.q, self.v[np.newaxis])[0]
        stacks = (None if x is None else Trajectory.step(x) for x in (self.tau, self.f_ext))
        return later, self.v + 1j * STEP * a, *stacks


def check_forward(at: Driven, axes: Axes) -> None:
    """Order 0 is the first derivatives; each order is the rate of the one before."""
    arguments = (at.model, at.q, at.v, at.tau, at.f_ext)
    got = dtau.forward_dynamics_derivatives_time_derivatives(*arguments, f_ext_axes=axes)
    f = None if at.f_ext is None else at.f_ext[0]
    first = dtau.forward_dynamics_derivatives(at.model, at.q, at.v, at.tau[0], f, f_ext_axes=axes)
    later = complex_core(FORWARD_RATES, at.model, *at.a_step_later(axes), f_ext_axes=axes)
    check_equation(at, axes, got)
    for name, x, y, z in zip(got._fields, got, first, later, strict=True):
        assert_close(x[0], y, at.tolerance, name, floor=cancelled(x[0]))
        for k in range(len(x) - 1):  # errors of low orders enter the higher ones
            rate, tolerance = z[k].imag / STEP, 30.0**k * at.tolerance
            assert_close(x[k + 1], rate, tolerance, f"order {k + 1} of {name}", floor=cancelled(x))


def check_equation(at: Driven, axes: Axes, X: dtau.ForwardDynamicsDerivatives) -> None:
    """The matrices solve the differentiated equation M X = -(dtau_dq, dtau_dv, -1)."""
    a = dtau.forward_dynamics_time_derivatives(
        at.model, at.q, at.v, at.tau, at.f_ext, f_ext_axes=axes
    )
    D = dtau.inverse_dynamics_derivatives_time_derivatives(
        at.model, at.q, np.concatenate([[at.v], a]), at.f_ext, f_ext_axes=axes
    )
    minus_identity = np.zeros_like(D.dtau_da)
    minus_identity[0] = -np.eye(at.model.nv)
    for name, x, y in zip(X._fields, X, (D.dtau_dq, D.dtau_dv, minus_identity), strict=True):
        for k in range(len(x)):
            terms = [comb(k, m) * D.dtau_da[m] @ x[k - m] for m in range(k + 1)]
            sizes = [np.abs(D.dtau_da[m]).max() * np.abs(x[k - m]).max() for m in range(k + 1)]
            floor = float(max(sizes))
            assert_close(-sum(terms), y[k], TOLERANCE["identity"], f"M {name}^({k})", floor=floor)


@on_robots
@pytest.mark.parametrize("axes", AXES)
def test_forward(name: str, axes: Axes) -> None:
    check_forward(Driven(robot(name), 1, 4), axes)
    check_forward(Driven(robot(name), 2, 2), axes)


@given(tree=trees(), seed=SEEDS, wrenches=st.booleans(), axes=st.sampled_from(AXES))
@settings(max_examples=60)
def test_forward_on_trees(tree: Tree, seed: int, wrenches: bool, axes: Axes) -> None:
    check_forward(Driven(tree.model(), seed, 4, wrenches), axes)


# Linearization


@on_robots
def test_linearization(name: str) -> None:
    """The lower rows are derivatives of forward dynamics; each order is the rate of the last."""
    at, n = Driven(robot(name), 3, 3), robot(name).nv
    arguments = (at.model, at.q, at.v, at.tau, at.f_ext)
    every = np.ones(n, bool)
    got = dtau.linearize_time_derivatives(*arguments, inputs=every)
    first = dtau.linearize(at.model, at.q, at.v, at.tau[0], at.f_ext[0], inputs=every)
    later = complex_core(
        "linearize_time_derivatives", *arguments[:1], *at.a_step_later("body"), inputs=every
    )
    lower = dtau.forward_dynamics_derivatives_time_derivatives(*arguments)
    for field, x, y, z in zip(got._fields, got, first, later, strict=True):
        assert_close(x[0], y, at.tolerance, field, floor=cancelled(x[0]))
        for k in range(len(x) - 1):
            rate, tolerance = z[k].imag / STEP, 30.0**k * at.tolerance
            assert_close(x[k + 1], rate, tolerance, f"order {k + 1} of {field}", floor=cancelled(x))
    np.testing.assert_array_equal(got.A[:, n:, :n], lower.da_dq)
    np.testing.assert_array_equal(got.A[:, n:, n:], lower.da_dv)
    np.testing.assert_array_equal(got.B[:, n:], lower.da_dtau)
    assert not got.B[:, :n].any()
