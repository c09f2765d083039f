"""First derivatives: identities of them, and Jacobians that are no function's derivatives."""

from __future__ import annotations

import complex_step
import numpy as np
import pytest
from cases import ROBOTS, friction_torque, random_state, robot
from compare import SMALL, TOLERANCE, assert_close, cancelled, solved
from core import complex_core
from function import FRAME_AXES
from hypothesis import given
from hypothesis import strategies as st
from trees import SEEDS, Array, Tree, trees

import dtau


def residual_is_small(mass: Array, da_dx: Array, dtau_dx: Array, what: str) -> None:
    """M da_dx + dtau_dx = 0, backward error."""
    residual = np.linalg.norm(mass @ da_dx + dtau_dx)
    size = np.linalg.norm(mass) * np.linalg.norm(da_dx) + np.linalg.norm(dtau_dx)
    allowed = TOLERANCE["residual"] * size
    assert residual <= allowed, f"{what}: residual {residual:.3e}, allowed {allowed:.3e}"


def check_residual(model: dtau.Model, seed: int, *, wrenches: bool) -> None:
    state = random_state(model, seed)
    q, v, tau = state["q"], state["v"], state["tau"]
    f_ext = state["f_ext"] if wrenches else None
    got = dtau.forward_dynamics_derivatives(model, q, v, tau, f_ext)
    mass = dtau.mass_matrix(model, q)
    a = dtau.forward_dynamics(model, q, v, tau, f_ext)
    inverse = dtau.inverse_dynamics_derivatives(model, q, v, a, f_ext)
    residual_is_small(mass, got.da_dq, inverse.dtau_dq, "da_dq")
    residual_is_small(mass, got.da_dv, inverse.dtau_dv, "da_dv")
    residual_is_small(mass, got.da_dtau, -np.eye(model.nv), "da_dtau")


@pytest.mark.parametrize("wrenches", [False, True], ids=["alone", "f_ext"])
@pytest.mark.parametrize("name", ROBOTS)
def test_residual_of_forward_dynamics(name: str, wrenches: bool) -> None:
    check_residual(robot(name), 2, wrenches=wrenches)


@given(trees(), SEEDS, st.booleans())
def test_residual_of_forward_dynamics_on_trees(tree: Tree, seed: int, wrenches: bool) -> None:
    check_residual(tree.model(), seed, wrenches=wrenches)


@pytest.mark.parametrize("name", ROBOTS)
def test_derivative_by_acceleration_is_the_mass_matrix(name: str) -> None:
    model = robot(name)
    s = random_state(model, 4)
    d = dtau.inverse_dynamics_derivatives(model, s["q"], s["v"], s["a"], s["f_ext"])
    assert_close(d.dtau_da, dtau.mass_matrix(model, s["q"]), TOLERANCE["short sums"], "dtau_da")


@pytest.mark.parametrize("name", ROBOTS)
def test_derivative_by_torque_is_the_inverse_mass_matrix(name: str) -> None:
    model = robot(name)
    s = random_state(model, 4)
    d = dtau.forward_dynamics_derivatives(model, s["q"], s["v"], s["tau"], s["f_ext"])
    inverse = dtau.mass_matrix_inverse(model, s["q"])
    assert_close(
        d.da_dtau,
        inverse,
        solved(TOLERANCE["long sums"], dtau.mass_matrix(model, s["q"])),
        "da_dtau",
    )


@given(trees(), SEEDS)
def test_complex_numbers_agree_at_real_arguments(tree: Tree, seed: int) -> None:
    """What complex steps are taken of is what the package computes."""
    model = tree.model()
    s = random_state(model, seed)
    pairs = {
        "inverse_dynamics_derivatives": (
            dtau.inverse_dynamics_derivatives(model, s["q"], s["v"], s["a"], s["f_ext"]),
            complex_core("inverse_dynamics_derivatives", model, s["q"], s["v"], s["a"], s["f_ext"]),
        ),
        "coriolis_matrix": (
            (dtau.coriolis_matrix(model, s["q"], s["v"]),),
            (complex_core("coriolis_matrix", model, s["q"], s["v"]),),
        ),
        "forward_kinematics": (
            dtau.forward_kinematics(model, s["q"]),
            complex_core("forward_kinematics", model, s["q"]),
        ),
    }
    for name, (real, complex_) in pairs.items():
        for x, y in zip(real, complex_, strict=True):
            assert not y.imag.any(), name
            assert_close(x, y.real, TOLERANCE["long sums"], name, floor=SMALL)


def frame_twists(model: dtau.Model, q: Array, frame: str, axes: str) -> Array:
    """Jacobian (6, nv) of a frame from complex steps of the bodies' placements."""
    record = model.frame(frame)
    if record.body < 0:
        return np.zeros((6, model.nv))
    points = complex_step.moved(model, q, np.eye(model.nv))
    rotation, translation = complex_core("forward_kinematics", model, points)
    rotation, translation = rotation[:, record.body], translation[:, record.body]
    translation = translation + rotation @ record.placement.translation
    rotation = rotation @ record.placement.rotation
    r, p = rotation[0].real, translation[0].real
    rates = rotation.imag / complex_step.STEP
    spin = rates @ r.T  # skew-symmetric, world axes
    omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]])
    velocity = translation.imag.T / complex_step.STEP
    if axes == "body":
        return np.vstack([r.T @ velocity, r.T @ omega])
    if axes == "world":
        velocity = velocity - np.cross(omega, p, axisa=0, axisc=0)
    return np.vstack([velocity, omega])


def check_jacobians(model: dtau.Model, seed: int) -> None:
    q = random_state(model, seed)["q"]
    for axes in FRAME_AXES:
        got = dtau.frame_jacobians(model, q, model.frames, axes=axes)
        for i, frame in enumerate(model.frames):
            want = frame_twists(model, q, frame, axes)
            assert_close(got[i], want, TOLERANCE["complex_step"], f"{frame}, {axes}", floor=SMALL)
            alone = dtau.frame_jacobians(model, q, frame, axes=axes)
            assert_close(alone, got[i], 0.0, f"{frame} alone, {axes}")


@pytest.mark.parametrize("name", ROBOTS)
def test_frame_jacobians_of_robots(name: str) -> None:
    check_jacobians(robot(name), seed=5)


@given(trees(), SEEDS)
def test_frame_jacobians(tree: Tree, seed: int) -> None:
    check_jacobians(tree.model(), seed)


def check_coriolis(model: dtau.Model, seed: int) -> None:
    """C is admissible: dM/dt = C + C^T along v, and C v + D v + g is the bias."""
    s = random_state(model, seed)
    q, v = s["q"], s["v"]
    coriolis = dtau.coriolis_matrix(model, q, v)
    point = complex_step.moved(model, q, v[np.newaxis])
    rate = complex_core("mass_matrix", model, point)[0].imag / complex_step.STEP
    floor = cancelled(dtau.mass_matrix(model, q))
    assert_close(coriolis + coriolis.T, rate, TOLERANCE["complex_step"], "C + C^T", floor=floor)
    bias = dtau.bias_torque(model, q, v)
    lost = model.damping * v + friction_torque(model, v)
    got = coriolis @ v + lost + dtau.gravity_torque(model, q)
    assert_close(got, bias, TOLERANCE["identity"], "C v + D v + g", floor=floor)


@pytest.mark.parametrize("name", ROBOTS)
def test_coriolis_matrix_of_robots(name: str) -> None:
    check_coriolis(robot(name), seed=6)


@given(trees(), SEEDS)
def test_coriolis_matrix(tree: Tree, seed: int) -> None:
    check_coriolis(tree.model(), seed)
