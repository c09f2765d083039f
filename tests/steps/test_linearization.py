"""Linearization in continuous time: against the derivatives, the flow, and itself moved."""

from __future__ import annotations

from typing import Any

import complex_step
import numpy as np
import pytest
from cases import actuated, on_robots, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_results, cancelled, solved
from core import complex_core
from hypothesis import given
from hypothesis import strategies as st
from textbook import kinematic_block
from trees import SEEDS, Array, Tree, trees

import dtau


def check(model: dtau.Model, seed: int, wrenches: bool, inputs: Any = None) -> None:
    """What `forward_dynamics_derivatives` gives, to the bit, and the kinematics above it."""
    s, n = random_state(model, seed), model.nv
    point = model, s["q"], s["v"], s["tau"], s["f_ext"] if wrenches else None
    lin, d = dtau.linearize(*point, inputs), dtau.forward_dynamics_derivatives(*point)
    a = dtau.forward_dynamics(*point)
    tolerance = solved(TOLERANCE["complex_step"], dtau.mass_matrix(model, s["q"]))
    floor = max(cancelled(d.da_dtau), 0.1 * float(np.abs(a).max()))
    assert_close(lin.a, a, tolerance, "a", floor=floor)
    minus_ad = kinematic_block(model, s["v"])
    assert_close(lin.A[:n, :n], minus_ad, TOLERANCE["short sums"], "-ad", floor=1.0)
    np.testing.assert_array_equal(lin.A[:n, n:], np.eye(n))
    assert_same_results((lin.A[n:, :n], lin.A[n:, n:]), d[:2])
    if inputs is not None and inputs.ndim == 2:
        assert_close(lin.B[n:], d.da_dtau @ inputs, tolerance, "da_du", floor=floor)
    else:
        mask = actuated(model) if inputs is None else inputs
        assert_same_results((lin.B[n:],), (d.da_dtau[:, mask],))
    assert not lin.B[:n].any()


@pytest.mark.parametrize("wrenches", [False, True], ids=["alone", "f_ext"])
@on_robots
def test_robots(name: str, wrenches: bool) -> None:
    check(robot(name), 1, wrenches)


@given(trees(), SEEDS, st.booleans())
def test_trees(tree: Tree, seed: int, wrenches: bool) -> None:
    check(tree.model(), seed, wrenches)


@on_robots
def test_inputs(name: str) -> None:
    """A mask, also of everything and of nothing, and maps of several widths."""
    model = robot(name)
    rng = np.random.default_rng(2)
    mask = rng.random(2 * model.nv) < 0.5
    check(model, 3, True, mask[::-2])
    for kept in (True, False):
        check(model, 3, False, np.full(model.nv, kept))
    for count in (1, 3, 11):
        check(model, 3, False, rng.standard_normal((model.nv, count)))
    assert dtau.linearize(model, *_point(model), inputs=np.zeros((model.nv, 0))).B.size == 0


def _point(model: dtau.Model, seed: int = 4) -> tuple[Array, Array, Array]:
    s = random_state(model, seed)
    return s["q"], s["v"], s["tau"]


@pytest.mark.parametrize(
    ("inputs", "error"),
    [
        (np.zeros(18), ValueError),  # numbers are no mask
        (np.zeros(17, dtype=bool), ValueError),
        (np.zeros((17, 2)), ValueError),
        (np.zeros((18, 2), dtype=bool), ValueError),
        (np.zeros((2, 17, 2)), ValueError),
        (np.zeros((2, 18, 2), dtype=bool), ValueError),
        (np.zeros((18, 2), dtype=complex), TypeError),
        ("all", TypeError),
        ([[1.0], [2.0, 3.0]], ValueError),
    ],
    ids=repr,
)
def test_wrong_inputs(inputs: Any, error: type[Exception]) -> None:
    model = robot("quadruped")
    for function, more in ((dtau.linearize, ()), (dtau.linearize_discrete, (0.01,))):
        with pytest.raises(error, match=r"^inputs: expected"):
            function(model, *_point(model), *more, inputs=inputs)


def test_derivative_by_a_map() -> None:
    """B is linear in it: complex step through the map in the core."""
    model, change = robot("forest"), np.random.default_rng(7).standard_normal((2, 5))
    change = np.resize(change, (model.nv, 2))
    point = [np.asarray(x, complex) for x in _point(model)]
    got = complex_core("linearize", model, *point, None, 1j * complex_step.STEP * change)
    want = dtau.linearize(model, *_point(model), inputs=change).B
    by_map = got[1].imag / complex_step.STEP
    assert_close(by_map, want, TOLERANCE["complex_step"], "B", floor=cancelled(want))


# The flow


def flow(model: dtau.Model, q: Array, v: Array, tau: Array, dt: float, steps: int) -> Any:
    states = [(q, v)]
    for _ in range(steps):
        q, v = dtau.step(model, q, v, tau, dt, "rk4")
        states.append((q, v))
    return states


@pytest.mark.parametrize("name", ["every joint in a chain", "forest", "joints that mimic others"])
def test_flow(name: str) -> None:
    """g^-1 g_eps of two nearby trajectories follows dz/dt = A z."""
    model = robot(name)
    s = random_state(model, 5)
    q, v, tau, n = s["q"], s["v"], np.zeros(model.nv), model.nv
    dt, steps, eps = 2e-4, 40, 1e-5
    z = np.random.default_rng(6).standard_normal(2 * n)
    nominal = flow(model, q, v, tau, dt, steps)
    moved = [
        flow(model, dtau.integrate(model, q, e * z[:n]), v + e * z[n:], tau, dt, steps)[-1]
        for e in (-eps, eps)
    ]
    got = np.r_[dtau.difference(model, moved[0][0], moved[1][0]), moved[1][1] - moved[0][1]] / (
        2.0 * eps
    )

    A = dtau.linearize(model, *(np.array(x) for x in zip(*nominal, strict=True)), tau).A
    for k in range(0, steps, 2):  # the classical method, over two steps of the flow
        h = 2.0 * dt
        k1 = A[k] @ z
        k2 = A[k + 1] @ (z + 0.5 * h * k1)
        k3 = A[k + 1] @ (z + 0.5 * h * k2)
        z = z + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + A[k + 2] @ (z + h * k3))
    assert_close(got, z, 1e-9, "z")  # the difference's error is eps^2
