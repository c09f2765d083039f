"""Values: an independent inverse dynamics, and the identities of mechanics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import taylor
from cases import ROBOTS, TREES, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits, cancelled, solved
from function import FRAME_AXES
from hypothesis import given
from trees import SEEDS, Tree, grow, random_tree, rotation_about, trees

import dtau

IDENTITY = TOLERANCE["identity"]


def mass_scale(model: dtau.Model, q: np.ndarray) -> float:
    """What is small against it is a rounding error."""
    return cancelled(dtau.mass_matrix(model, q))


# Newton and Euler


def check_newton_euler(tree: Tree, seed: int) -> None:
    model = tree.model()
    s = random_state(model, seed)
    q, v, a, f_ext = s["q"], s["v"], s["a"], s["f_ext"]
    zero = np.zeros(model.nv)
    tolerance, floor = TOLERANCE["independent"], mass_scale(model, q)

    def expected(*args: np.ndarray) -> np.ndarray:
        v, a, *f_ext = args
        wrenches = f_ext[0][np.newaxis] if f_ext else None
        return taylor.inverse_dynamics(tree, model, q, np.stack([v, a]), wrenches)[0]

    def check(got: np.ndarray, want: np.ndarray, what: str) -> None:
        assert_close(got, want, tolerance, what, floor=floor)

    check(dtau.inverse_dynamics(model, q, v, a), expected(v, a), "inverse_dynamics")
    check(dtau.inverse_dynamics(model, q, v, a, f_ext), expected(v, a, f_ext), "with f_ext")
    check(dtau.bias_torque(model, q, v), expected(v, zero), "bias_torque")
    check(dtau.bias_torque(model, q, v, f_ext), expected(v, zero, f_ext), "bias_torque, f_ext")
    gravity = expected(zero, zero)
    check(dtau.gravity_torque(model, q), gravity, "gravity_torque")
    columns = np.stack([expected(zero, e) - gravity for e in np.eye(model.nv)], axis=1)
    check(dtau.mass_matrix(model, q), columns, "mass_matrix")

    moved = [(R[0], p[0]) for R, p, _ in taylor.poses(tree, model, q, v[np.newaxis])]
    placements = dtau.forward_kinematics(model, q)
    frames = dtau.frame_placements(model, q, [body.name for body in tree.bodies])
    for i, (body, (rotation, origin)) in enumerate(zip(tree.bodies, moved, strict=True)):
        if body.kind != "fixed":
            k = model.joint(body.name).body
            check(placements.rotation[k], rotation, f"rotation of {body.name}")
            check(placements.translation[k], origin, f"translation of {body.name}")
        check(frames.rotation[i], rotation, f"rotation of frame {body.name}")
        check(frames.translation[i], origin, f"translation of frame {body.name}")

    moves: list[bool] = []  # and is not fixed to the world
    for body in tree.bodies:
        moves.append(body.kind != "fixed" or (body.parent >= 0 and moves[body.parent]))
    points = np.stack([p + R @ body.com for body, (R, p) in zip(tree.bodies, moved, strict=True)])
    masses = np.array([body.mass for body in tree.bodies]) * moves
    check(dtau.center_of_mass(model, q), masses @ points / masses.sum(), "center_of_mass")

    kinetic, _ = taylor.energies(tree, model, q, v)
    got = 0.5 * v @ dtau.mass_matrix(model, q) @ v
    assert_close(got, kinetic, tolerance, "kinetic energy")


@pytest.mark.parametrize("name", TREES)
def test_newton_euler_on_robots(name: str) -> None:
    check_newton_euler(TREES[name], seed=1)


@given(trees(), SEEDS)
def test_newton_euler(tree: Tree, seed: int) -> None:
    check_newton_euler(tree, seed)


@pytest.mark.parametrize("tilt", [0.0, 1e-16, 1e-15, 1e-12, 1e-7, 1e-6, 1e-3, np.pi])
def test_newton_euler_where_axes_are_nearly_parallel(tilt: float) -> None:
    tree = random_tree(7, bodies=9, kinds=("revolute",))
    bodies = [
        replace(
            body,
            axis=np.array([0.0, 0.0, 1.0]),
            rotation=rotation_about(np.array([0.0, 0.0, 1.0]), 0.4 * i)
            @ rotation_about(np.array([1.0, 0.0, 0.0]), tilt)
            @ rotation_about(np.array([0.0, 0.0, 1.0]), 1.0 - i),
        )
        for i, body in enumerate(tree.bodies)
    ]
    check_newton_euler(replace(tree, bodies=tuple(bodies)), seed=3)


# Identities


def check_identities(model: dtau.Model, seed: int) -> None:
    s = random_state(model, seed)
    q, v, a, tau, f_ext = s["q"], s["v"], s["a"], s["tau"], s["f_ext"]
    zero = np.zeros(model.nv)
    mass = dtau.mass_matrix(model, q)
    inverse = dtau.mass_matrix_inverse(model, q)
    floor = mass_scale(model, q)

    forces = dtau.inverse_dynamics(model, q, v, a, f_ext)
    sum_of_terms = mass @ a + dtau.bias_torque(model, q, v, f_ext)
    assert_close(sum_of_terms, forces, IDENTITY, "M a + bias", floor=floor)
    back = dtau.forward_dynamics(model, q, v, forces, f_ext)
    assert_close(back, a, solved(IDENTITY, mass), "forward of inverse dynamics")

    accelerated = dtau.forward_dynamics(model, q, v, tau, f_ext)
    returned = dtau.inverse_dynamics(model, q, v, accelerated, f_ext)
    size = float(np.abs(mass).max() * np.abs(accelerated).max())
    assert_close(returned, tau, IDENTITY, "inverse of forward dynamics", floor=size)

    assert_close(inverse @ mass, np.eye(model.nv), solved(IDENTITY, mass), "Minv M")
    assert_same_bits(mass, mass.T, "mass_matrix transposed")
    assert_same_bits(inverse, inverse.T, "mass_matrix_inverse transposed")
    assert np.linalg.eigvalsh(mass).min() > 0.0

    at_rest = dtau.inverse_dynamics(model, q, zero, zero)
    assert_close(dtau.gravity_torque(model, q), at_rest, IDENTITY, "gravity", floor=floor)
    at_a_zero = dtau.inverse_dynamics(model, q, v, zero, f_ext)
    assert_close(dtau.bias_torque(model, q, v, f_ext), at_a_zero, IDENTITY, "bias", floor=floor)


@pytest.mark.parametrize("name", ROBOTS)
def test_identities_of_robots(name: str) -> None:
    check_identities(robot(name), seed=2)


@given(trees(), SEEDS)
def test_identities(tree: Tree, seed: int) -> None:
    check_identities(tree.model(), seed)


def test_energies_of_the_oracle_agree_with_its_forces() -> None:
    """Guards the oracle itself: a small step of the motion costs the work of its forces."""
    kinds = ["free", "helical", "spherical", "prismatic"]
    tree = grow(kinds, [-1, 0, 1, 2], 23, damping=False, friction=False)
    model = tree.model()
    s = random_state(model, 4)
    q, v, a = s["q"], s["v"], s["a"]
    dt = 1e-4

    def energy(t: float) -> float:
        # v is body-fixed: q' = q (+) (v t + a t^2 / 2) is exact to second order in t.
        moved = dtau.integrate(model, q, v * t + 0.5 * a * t**2)
        return sum(taylor.energies(tree, model, moved, v + a * t))

    rate = (energy(dt) - energy(-dt)) / (2.0 * dt)
    power = v @ taylor.inverse_dynamics(tree, model, q, np.stack([v, a]))[0]
    assert_close(np.float64(rate), np.float64(power), 1e-6, "dE/dt")  # errors are dt^2


# External wrenches


def check_wrench(model: dtau.Model, seed: int) -> None:
    s = random_state(model, seed)
    q, v, a, wrench = s["q"], s["v"], s["a"], s["wrench"]
    free = dtau.inverse_dynamics(model, q, v, a)
    floor = float(np.abs(wrench).max())
    for frame in model.frames:
        if model.frame(frame).body < 0:
            continue
        for axes in FRAME_AXES:
            f_ext = dtau.wrench_at_frame(model, q, frame, wrench, axes=axes)
            others = np.delete(f_ext, model.frame(frame).body, axis=0)
            assert_same_bits(others, np.zeros_like(others), "wrench on the other bodies")
            jacobian = dtau.frame_jacobians(model, q, frame, axes=axes)
            got = dtau.inverse_dynamics(model, q, v, a, f_ext)
            want = free - jacobian.T @ wrench
            assert_close(got, want, IDENTITY, f"J^T f at {frame}, {axes}", floor=floor)


@pytest.mark.parametrize("name", ROBOTS)
def test_wrench_at_frame_of_robots(name: str) -> None:
    check_wrench(robot(name), seed=5)


@given(trees(), SEEDS)
def test_wrench_at_frame(tree: Tree, seed: int) -> None:
    check_wrench(tree.model(), seed)


# Locked joints


def check_lock(tree: Tree, seed: int) -> None:
    """A locked joint is one at rest that carries any load."""
    full = tree.model()
    s = random_state(full, seed)
    q, v, a = s["q"].copy(), s["v"].copy(), s["a"].copy()
    moving = [joint.name for joint in full.joints]
    rng = np.random.default_rng(seed)
    held = [name for name in moving[1:] if rng.random() < 0.5] or moving[1:2]
    values = {}
    for name in held:
        joint = full.joint(name)
        v[joint.v] = a[joint.v] = 0.0
        coordinates = q[joint.q]
        values[name] = float(coordinates[0]) if coordinates.size == 1 else coordinates.copy()
    model = full.lock(values)
    kept = [joint.name for joint in model.joints]
    assert kept == [name for name in moving if name not in held]
    iq = np.concatenate([np.r_[full.joint(name).q] for name in kept])
    iv = np.concatenate([np.r_[full.joint(name).v] for name in kept])
    block = np.ix_(iv, iv)
    floor = mass_scale(full, q)

    def check(got: np.ndarray, want: np.ndarray, what: str) -> None:
        assert_close(got, want, IDENTITY, what, floor=floor)

    check(
        dtau.inverse_dynamics(model, q[iq], v[iv], a[iv]),
        dtau.inverse_dynamics(full, q, v, a)[iv],
        "inverse_dynamics",
    )
    check(dtau.mass_matrix(model, q[iq]), dtau.mass_matrix(full, q)[block], "mass_matrix")
    got = dtau.inverse_dynamics_derivatives(model, q[iq], v[iv], a[iv])
    want = dtau.inverse_dynamics_derivatives(full, q, v, a)
    for name, x, y in zip(got._fields, got, want, strict=True):
        check(x, y[block], name)
    check(
        dtau.coriolis_matrix(model, q[iq], v[iv]),
        dtau.coriolis_matrix(full, q, v)[block],
        "coriolis_matrix",
    )
    assert set(model.frames) >= set(full.bodies)
    frames = list(full.frames)
    for name, x, y in zip(
        ("rotation", "translation"),
        dtau.frame_placements(model, q[iq], frames),
        dtau.frame_placements(full, q, frames),
        strict=True,
    ):
        check(x, y, name)


@pytest.mark.parametrize("name", [name for name in TREES if len(TREES[name].bodies) > 1])
def test_lock_on_robots(name: str) -> None:
    check_lock(TREES[name], seed=6)


@given(trees().filter(lambda tree: sum(body.kind != "fixed" for body in tree.bodies) > 1), SEEDS)
def test_lock(tree: Tree, seed: int) -> None:
    check_lock(tree, seed)
