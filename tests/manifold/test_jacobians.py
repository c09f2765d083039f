"""integrate_jacobians, difference_jacobians and tangent_map."""

from __future__ import annotations

import complex_step
import numpy as np
import pytest
from cases import GRIPPERS, MIMICS, ROBOTS, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits
from core import complex_core
from hypothesis import given
from trees import SEEDS, Array, Tree, kind_of, trees

import dtau

PI = float(np.pi)
# Rotations where closed forms cancel, series take over, and beside half a turn.
ANGLES = [0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 0.5, 0.999999, 1.000001, 1.5, 2.0]
ANGLES += [3.0, PI - 1e-3, PI - 1e-6, PI - 1e-9, PI - 1e-12]


def tangents(model: dtau.Model, at: Array, points: Array) -> Array:
    """Displacements that complex configurations are off by from `at`, as columns."""
    rates = points.imag / complex_step.STEP
    return np.stack([complex_step.tangent(model, at, rate) for rate in rates], axis=-1)


def check_integrate(model: dtau.Model, q: Array, dq: Array) -> None:
    reached = dtau.integrate(model, q, dq)
    units = np.eye(model.nv)
    by_q = complex_core("integrate", model, complex_step.moved(model, q, units), dq)
    by_dq = complex_core("integrate", model, q, dq + 1j * complex_step.STEP * units)
    got = dtau.integrate_jacobians(model, q, dq)
    for name, x, points in (("by_q", got.by_q, by_q), ("by_dq", got.by_dq, by_dq)):
        assert_close(x, tangents(model, reached, points), TOLERANCE["complex_step"], name)


def check_difference(model: dtau.Model, q0: Array, q1: Array) -> None:
    """That the displacement leads to q1, however q0 and q1 move."""
    d = dtau.difference(model, q0, q1)
    got = dtau.difference_jacobians(model, q0, q1)
    step = dtau.integrate_jacobians(model, q0, d)
    scale = max(1.0, float(np.abs(step.by_dq).max())) * float(np.abs(got.by_q0).max())
    assert_close(
        step.by_dq @ got.by_q1, np.eye(model.nv), TOLERANCE["complex_step"], "by_q1", floor=scale
    )
    assert_close(
        step.by_dq @ got.by_q0, -step.by_q, TOLERANCE["complex_step"], "by_q0", floor=scale
    )


@given(trees(), SEEDS)
def test_integrate_jacobians_are_those_of_complex_step(tree: Tree, seed: int) -> None:
    model = tree.model()
    s = random_state(model, seed)
    check_integrate(model, s["q"], s["dq"])


@given(trees(), SEEDS)
def test_difference_jacobians_undo_those_of_integrate(tree: Tree, seed: int) -> None:
    model = tree.model()
    s = random_state(model, seed)
    check_difference(model, s["q0"], s["q1"])


@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name: str) -> None:
    model = robot(name)
    for seed in range(2):
        s = random_state(model, seed)
        check_integrate(model, s["q"], 2.0 * s["dq"])
        check_difference(model, s["q0"], s["q1"])


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("kind", ["spherical", "free", "planar"])
def test_angles(kind: str, angle: float) -> None:
    model, rng = robot(f"one {kind}"), np.random.default_rng(3)
    for seed in range(5):
        q = random_state(model, seed)["q"]
        dq = rng.uniform(-1.0, 1.0, model.nv)
        turning = slice(model.nv - (1 if kind == "planar" else 3), model.nv)
        dq[turning] *= angle / np.linalg.norm(dq[turning])
        check_integrate(model, q, dq)
        check_integrate(model, q, -7.0 * dq)
        check_difference(model, q, dtau.integrate(model, q, dq))


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_half_a_turn(kind: str) -> None:
    """The derivatives of the one of two displacements that is returned."""
    model = robot(f"one {kind}")
    q0 = dtau.neutral(model)
    q1 = random_state(model, 1)["q"]
    for axis in (np.eye(3)[0], np.eye(3)[2], -np.eye(3)[1], np.array([0.6, -0.64, 0.48])):
        q1[-4:] = [*axis, 0.0]
        check_difference(model, q0, q1)


@pytest.mark.parametrize("size", [1e-12, 1e-8, 1e-4, 1e-2])
def test_small_displacements_keep_their_digits(size: float) -> None:
    """What differs from 1 is half the bracket, then a twelfth of the double one."""
    model = robot("one free")
    q = dtau.neutral(model)
    d = size * np.array([0.3, -0.7, 1.1, 0.4, 0.5, -0.6])
    reached = dtau.configuration(model, {model.joints[0].name: dtau.Pose.exp(d)})
    got = dtau.difference_jacobians(model, q, reached)
    ad = np.zeros((6, 6))
    ad[:3, :3] = ad[3:, 3:] = cross_matrix(d[3:])
    ad[:3, 3:] = cross_matrix(d[:3])
    floor = float(np.abs(ad).max())
    odd = 0.5 * (got.by_q0 + got.by_q1)
    assert_close(odd, 0.5 * ad, 1e-15 + TOLERANCE["rounding"] / size, "odd", floor=floor)
    even = 0.5 * (got.by_q1 - got.by_q0)
    series = np.eye(6) + ad @ ad / 12 - ad @ ad @ ad @ ad / 720
    assert_close(even, series, max(TOLERANCE["rounding"], size**6), "even")


def cross_matrix(x: Array) -> Array:
    return np.cross(np.eye(3), x)


@given(trees(), SEEDS)
def test_tangent_map(tree: Tree, seed: int) -> None:
    check_tangent_map(tree.model(), seed)


@pytest.mark.parametrize("name", ROBOTS)
def test_tangent_map_of_robots(name: str) -> None:
    check_tangent_map(robot(name), 5)


def check_tangent_map(model: dtau.Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = random_state(model, seed)["q"]
    got = dtau.tangent_map(model, q)
    points = complex_step.moved(model, q, np.eye(model.nv))
    rates = points.imag.T / complex_step.STEP
    assert_close(got.from_tangent, rates, TOLERANCE["complex_step"], "from_tangent")
    one = got.to_tangent @ got.from_tangent
    assert_close(one, np.eye(model.nv), TOLERANCE["rounding"], "left inverse")
    rate = rng.standard_normal(model.nq)
    want = complex_step.tangent(model, q, rate)
    assert_close(got.to_tangent @ rate, want, TOLERANCE["short sums"], "to_tangent")
    for joint in model.joints:  # rates along a quaternion itself
        start = kind_of(joint.type).quaternion
        if start is not None and joint.mimic is None:
            along = np.zeros(model.nq)
            at = slice(joint.q.start + start, joint.q.start + start + 4)
            along[at] = q[at]
            still = got.to_tangent @ along
            assert_close(still, np.zeros(model.nv), TOLERANCE["rounding"], "along", floor=1.0)


def test_tangent_map_takes_quaternions_as_normalized() -> None:
    """By any four numbers: the way back is the derivative of normalize."""
    model = robot("every joint in a chain")
    q = random_state(model, 6)["q"]
    for joint in model.joints:
        if (start := kind_of(joint.type).quaternion) is not None:
            q[joint.q.start + start : joint.q.start + start + 4] *= 1.0 + 9e-7
    got = dtau.tangent_map(model, q)
    one = got.to_tangent @ got.from_tangent
    assert_close(one, np.eye(model.nv), TOLERANCE["rounding"], "left inverse")
    step = 1e-5 * np.eye(model.nq)
    ends = [dtau.normalize(model, q + sign * step) for sign in (1.0, -1.0)]
    ahead, back = (dtau.difference(model, dtau.normalize(model, q), end) for end in ends)
    assert_close((ahead - back).T / 2e-5, got.to_tangent, 1e-8, "to_tangent")  # steps squared


def test_gradient_by_the_numbers_of_q() -> None:
    """Of a distance on the manifold, by both maps: what an optimizer over numbers needs."""
    model = dtau.robots.quadruped()
    goal, q = dtau.random_state(model, np.random.default_rng(8), (2,)).q

    def cost(numbers: Array) -> Array:
        d = dtau.difference(model, goal, dtau.normalize(model, numbers))
        return 0.5 * np.asarray(np.sum(d**2, axis=-1))

    d = dtau.difference(model, goal, q)
    gradient = dtau.difference_jacobians(model, goal, q).by_q1.T @ d
    step = 1e-5 * np.eye(model.nq)
    want = (cost(q + step) - cost(q - step)) / 2e-5
    assert_close(dtau.tangent_map(model, q).to_tangent.T @ gradient, want, 1e-8, "by the numbers")


def test_joints_that_mimic_others() -> None:
    """Matrices of the independent joints: beside a free base they have 1."""
    model = GRIPPERS.model(MIMICS)
    s = random_state(model, 9)
    got = dtau.integrate_jacobians(model, s["q"], s["dq"])
    assert got.by_q.shape == (model.nv, model.nv)
    base = model.joint("free0")
    rest = np.ones(model.nv, dtype=bool)
    rest[base.v] = False
    for x in (*got, dtau.difference_jacobians(model, s["q0"], s["q1"]).by_q1):
        assert_same_bits(x[np.ix_(rest, rest)], np.eye(int(rest.sum())))
        assert not x[np.ix_(rest, ~rest)].any()
        assert not x[np.ix_(~rest, rest)].any()
    maps = dtau.tangent_map(model, s["q"])
    assert maps.from_tangent.shape == (model.nq, model.nv)
    assert maps.to_tangent.shape == (model.nv, model.nq)
