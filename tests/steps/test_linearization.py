"""Linearization in continuous time: against complex step, the flow, oracles and itself moved."""

from __future__ import annotations

from typing import Any

import complex_step
import numpy as np
import pytest
from cases import TREES, actuated, on_robots, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_results, cancelled, solved
from core import complex_core
from hypothesis import given
from hypothesis import strategies as st
from textbook import kinematic_block
from trees import SEEDS, Array, Tree, random_quaternion, rotation_of, trees

import dtau


def check(model: dtau.Model, seed: int, wrenches: bool, inputs: Any = None) -> None:
    s = random_state(model, seed)
    q, v, tau = s["q"], s["v"], s["tau"]
    f_ext = s["f_ext"] if wrenches else None
    lin = dtau.linearize(model, q, v, tau, f_ext, inputs)
    n = model.nv
    da_dq, da_dv, da_dtau = complex_step.dynamics_derivatives(
        "forward_dynamics", model, q, v, tau, f_ext
    )
    a = dtau.forward_dynamics(model, q, v, tau, f_ext)
    tolerance = solved(TOLERANCE["complex_step"], dtau.mass_matrix(model, q))
    floor = max(cancelled(da_dtau), 0.1 * float(np.abs(a).max()))
    assert_close(lin.a, a, tolerance, "a", floor=floor)
    assert_close(
        lin.A[:n, :n], kinematic_block(model, v), TOLERANCE["short sums"], "-ad", floor=1.0
    )
    np.testing.assert_array_equal(lin.A[:n, n:], np.eye(n))
    assert_close(lin.A[n:, :n], da_dq, tolerance, "da_dq", floor=floor)
    assert_close(lin.A[n:, n:], da_dv, tolerance, "da_dv", floor=floor)
    if inputs is None:
        by_input = da_dtau[:, actuated(model)]
    else:
        by_input = da_dtau @ inputs if inputs.ndim == 2 else da_dtau[:, inputs]
    np.testing.assert_array_equal(lin.B[:n], np.zeros(by_input.shape))
    assert_close(lin.B[n:], by_input, tolerance, "da_du", floor=floor)


@pytest.mark.parametrize("wrenches", [False, True], ids=["alone", "f_ext"])
@on_robots
def test_complex_step_of_robots(name: str, wrenches: bool) -> None:
    check(robot(name), 1, wrenches)


@given(trees(), SEEDS, st.booleans())
def test_linearizations_match_complex_step_on_trees(tree: Tree, seed: int, wrenches: bool) -> None:
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


def test_a_map_a_knot() -> None:
    """Of batches that broadcast, in any layout; and one that is not finite spoils its own knot."""
    model = robot("free root, branches")
    s = random_state(model, 5, (7,))
    maps = np.random.default_rng(6).standard_normal((3, 1, model.nv, 4))
    point = s["q"], s["v"], s["tau"]
    for function, more in ((dtau.linearize, ()), (dtau.linearize_discrete, (0.01, "rk4"))):
        lin = function(model, *point, *more, inputs=maps)
        everything = function(model, *point, *more, inputs=np.ones(model.nv, dtype=bool)).B
        want = everything @ maps
        assert_close(lin.B, want, TOLERANCE["complex_step"], "B", floor=float(np.abs(want).max()))
        for i in range(3):
            one = function(model, *point, *more, inputs=maps[i, 0])
            assert_same_results([x[i] for x in lin], one)
        scattered = np.asfortranarray(np.repeat(maps, 2, axis=-1))[..., ::2]
        assert_same_results(function(model, *point, *more, inputs=scattered), lin)
        at_one = function(model, *(x[2] for x in point), *more, inputs=maps[:, 0])
        assert_same_results(at_one, [x[:, 2] for x in lin])
        spoilt = maps.repeat(7, axis=1)
        spoilt[1, 4, 0, 0] = np.nan
        for x, y in zip(function(model, *point, *more, inputs=spoilt), lin, strict=True):
            assert np.isnan(x[1, 4]).all()
            x[1, 4] = y[1, 4]
            assert_same_results([x], [y])
        with pytest.raises(ValueError, match=r"do not broadcast.*q \(7,\).*inputs \(3,\)"):
            function(model, *point, *more, inputs=maps[:, 0])


def test_derivative_by_a_map() -> None:
    """B is linear in it: complex step through the map in the core."""
    model, change = robot("forest"), np.random.default_rng(7).standard_normal((2, 5))
    change = np.resize(change, (model.nv, 2))
    point = [np.asarray(x, complex) for x in _point(model)]
    got = complex_core("linearize", model, *point, None, 1j * complex_step.STEP * change)
    want = dtau.linearize(model, *_point(model), inputs=change).B
    by_map = got[1].imag / complex_step.STEP
    assert_close(by_map, want, TOLERANCE["complex_step"], "B", floor=cancelled(want))


@on_robots
def test_the_same_numbers_as_the_derivatives(name: str) -> None:
    model = robot(name)
    lin = dtau.linearize(model, *_point(model))
    d = dtau.forward_dynamics_derivatives(model, *_point(model))
    n = model.nv
    want = (d.da_dq, d.da_dv, d.da_dtau[:, actuated(model)])
    got = (lin.A[n:, :n], lin.A[n:, n:], lin.B[n:])
    assert_same_results(got, want)


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


# Invariance


@pytest.mark.parametrize("name", ["one free", "free root, branches", "quadruped"])
def test_turning_the_scene_about_gravity(name: str) -> None:
    """A rigid motion that leaves gravity as it is leaves A and B as they are."""
    model = robot(name)
    q, v, tau = _point(model, 7)
    root = next(j for j in model.joints if isinstance(j.type, dtau.Free) and j.parent < 0)
    down = root.placement.rotation.T @ model.gravity  # in the axes of q
    turn = np.r_[np.sin(0.4) * down / np.linalg.norm(down), np.cos(0.4)]
    moved = q.copy()
    p, x = moved[root.q][:3], moved[root.q][3:]
    p[:] = rotation_of(turn) @ p + [3.0, -2.0, 5.0]
    x[:] = np.r_[
        turn[3] * x[:3] + x[3] * turn[:3] + np.cross(turn[:3], x[:3]),
        turn[3] * x[3] - turn[:3] @ x[:3],
    ]
    for discrete in (False, True):
        function: Any = dtau.linearize_discrete if discrete else dtau.linearize
        more = (0.02, "rk4") if discrete else ()
        want, got = function(model, q, v, tau, *more), function(model, moved, v, tau, *more)
        assert_close(got.A, want.A, TOLERANCE["identity"], "A")
        assert_close(got.B, want.B, TOLERANCE["identity"], "B")


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "rk4"])
@pytest.mark.parametrize("name", ["one free", "free root, branches", "forest", "quadruped"])
def test_moving_the_scene_changes_no_bit_of_a_step(name: str, integrator: str) -> None:
    """(For `linearize` this is tested with all other functions.)"""
    model = robot(name)
    q, v, tau = _point(model, 8)
    want = dtau.linearize_discrete(model, q, v, tau, 0.02, integrator)
    far = q.copy()
    for j in model.joints:
        if isinstance(j.type, dtau.Free) and j.parent < 0:
            far[j.q][:3] += [1e6, -2e5, 3e9]
    got = dtau.linearize_discrete(model, far, v, tau, 0.02, integrator)
    assert_same_results((got.A, got.B, got.v), (want.A, want.B, want.v))


def test_attitudes_are_all_alike() -> None:
    """No attitude is special: A of a lone body is the same but for the direction of gravity."""
    model = TREES["one free"].bare().model()  # armature has axes of its own
    rng = np.random.default_rng(9)
    q = np.tile(dtau.neutral(model), (100, 1))
    q[:, 3:] = random_quaternion(rng, (100,))
    v, tau = np.zeros(6), np.zeros(6)
    sizes = np.linalg.norm(dtau.linearize(model, q, v, tau).A, axis=(1, 2))
    assert_close(sizes, np.full(100, sizes[0]), TOLERANCE["identity"], "norm of A")
