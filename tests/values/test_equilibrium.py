"""Configurations that inputs and contacts hold still, or cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import random_q, robot
from compare import TOLERANCE, assert_close, assert_same_bits
from trees import Array

import dtau
from dtau.functions.control_inputs import input_map

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
AT_REST = 1e-8  # an acceleration: residuals over the inertia of the lightest links
TREES_ON_THE_GROUND = ("every joint in a chain", "children listed late", "long chain")


def acceleration(
    model: dtau.Model, q: Array, hold: dtau.Equilibrium, frames: tuple[str, ...]
) -> Array:
    """Of the robot at rest that is held so: zero in an equilibrium."""
    f_ext = np.zeros((*q.shape[:-1], model.nbodies, 6))
    for i, frame in enumerate(frames):
        f_ext += dtau.wrench_at_frame(model, q, frame, hold.wrenches[..., i, :], axes="mixed")
    assert_close(hold.f_ext, f_ext, TOLERANCE["rounding"], "f_ext")
    return dtau.forward_dynamics(model, q, np.zeros(model.nv), hold.tau, hold.f_ext)


def lstsq(model: dtau.Model, q: Array, drive: Array, frames: tuple[str, ...], rows: int) -> Array:
    """u and w of one state by another method."""
    jacobians = [dtau.frame_jacobians(model, q, frame, "mixed")[:rows].T for frame in frames]
    return np.linalg.lstsq(np.hstack([drive, *jacobians]), dtau.gravity_torque(model, q), 1e-12)[0]


@pytest.mark.parametrize(
    ("frames", "contacts"),
    [(FEET, "force"), (FEET, "wrench"), (FEET[:3], "force"), (("LF_SHANK",), "wrench")],
)
def test_it_holds_a_quadruped(frames: tuple[str, ...], contacts: Any) -> None:
    model = dtau.robots.quadruped()
    q = random_q(model, np.random.default_rng(1), (2, 3))
    hold = dtau.equilibrium(model, q, contact_frames=frames, contacts=contacts)
    assert hold.exists.shape == (2, 3)
    assert hold.exists.all()
    assert hold.residual.shape == hold.tau.shape == (2, 3, model.nv)
    assert np.abs(hold.residual).max() < TOLERANCE["identity"] * 9.81 * model.mass
    assert_close(acceleration(model, q, hold, frames), np.zeros((2, 3, 18)), AT_REST, floor=1.0)
    rows = 3 if contacts == "force" else 6
    for at in np.ndindex(2, 3):
        want = lstsq(model, q[at], np.eye(18)[:, 6:], frames, rows)
        assert_close(hold.u[at], want[:12], TOLERANCE["identity"], "u")
        assert_close(hold.wrenches[at][:, :rows].ravel(), want[12:], TOLERANCE["identity"], "w")
        assert (hold.wrenches[at][:, rows:] == 0).all()
        assert_close(
            hold.tau[at], np.concatenate([np.zeros(6), hold.u[at]]), TOLERANCE["rounding"], "tau"
        )


def test_forces_carry_the_weight() -> None:
    model = dtau.robots.quadruped()
    q = random_q(model, np.random.default_rng(2))
    hold = dtau.equilibrium(model, q, contact_frames=FEET, contacts="force")
    total = hold.wrenches.sum(axis=0)[:3]
    assert_close(
        total, np.array([0.0, 0.0, 9.81 * model.mass]), TOLERANCE["identity"], "sum of forces"
    )


@pytest.mark.parametrize("name", TREES_ON_THE_GROUND)
def test_a_fixed_robot_is_held_by_its_gravity_torque(name: str) -> None:
    model = robot(name)
    q = random_q(model, np.random.default_rng(3), (4,))
    hold = dtau.equilibrium(model, q)
    assert hold.exists.all()
    assert_close(hold.u, dtau.gravity_torque(model, q), TOLERANCE["long sums"], "u")
    assert_close(hold.tau, hold.u, TOLERANCE["long sums"], "tau")
    assert hold.wrenches.shape == (4, 0, 6)


def test_joints_that_mimic_others_are_held() -> None:
    model = robot("joints that mimic others")
    frames = (model.bodies[0], model.bodies[3])
    q = random_q(model, np.random.default_rng(4), (5,))
    hold = dtau.equilibrium(model, q, contact_frames=frames)
    assert hold.exists.all()
    assert_close(acceleration(model, q, hold, frames), np.zeros((5, model.nv)), AT_REST, floor=1.0)


def test_nothing_holds_a_robot_in_the_air() -> None:
    model = dtau.robots.quadruped()
    q = random_q(model, np.random.default_rng(5), (3,))
    hold = dtau.equilibrium(model, q)
    assert not hold.exists.any()
    gravity = dtau.gravity_torque(model, q)
    assert_close(
        hold.residual[:, :6], gravity[:, :6], TOLERANCE["identity"], "residual of the base"
    )
    assert np.abs(hold.residual[:, 6:]).max() < TOLERANCE["identity"]
    assert_close(hold.u, gravity[:, 6:], TOLERANCE["identity"], "u")


def test_a_point_foot_alone_holds_only_what_stands_above_it() -> None:
    model = dtau.robots.quadruped()
    q = random_q(model, np.random.default_rng(6))
    assert not dtau.equilibrium(model, q, contact_frames="LF_FOOT", contacts="force").exists
    assert dtau.equilibrium(model, q, contact_frames="LF_FOOT").exists


def pendulum() -> dtau.Model:
    builder = dtau.ModelBuilder("double pendulum")
    bar = dtau.Inertia(1.5, (0.1, 0, -0.4), np.diag([0.02, 0.02, 0.001]))
    upper = builder.add(dtau.Revolute((0, 1, 0)), name="upper", inertia=bar)
    at = dtau.Pose(translation=(0, 0, -0.8))
    builder.add(dtau.Revolute((0, 1, 0)), name="lower", parent=upper, placement=at, inertia=bar)
    return builder.build()


def test_a_pendulum_without_a_motor_rests_where_its_weight_has_no_moment() -> None:
    model = pendulum()
    none = np.zeros(2, dtype=bool)

    def moment(q: Array) -> Array:
        return dtau.gravity_torque(model, q)

    q = np.zeros(2)
    for _ in range(20):  # Newton's method to where the weight has no moment
        q = q - np.linalg.solve(
            dtau.inverse_dynamics_derivatives(model, q, 0 * q, 0 * q).dtau_dq, moment(q)
        )
    hold = dtau.equilibrium(model, q, inputs=none)
    assert hold.exists  # although the moment is rounding, not zero
    assert hold.u.shape == (0,)
    assert not dtau.equilibrium(model, q + 1e-6, inputs=none).exists


def test_the_residual_of_a_driven_joint_is_least() -> None:
    model = pendulum()
    q = np.array([0.3, -0.8])
    hold = dtau.equilibrium(model, q, inputs=np.array([True, False]))
    assert not hold.exists
    gravity = dtau.gravity_torque(model, q)
    assert_close(hold.u, gravity[:1], TOLERANCE["short sums"], "u")
    assert_close(
        hold.residual, np.array([0.0, gravity[1]]), TOLERANCE["short sums"], "residual", floor=1
    )


def rotors() -> Array:
    """Six forces on the hull that turn it all ways, per square of a rotor's speed."""
    rng = np.random.default_rng(7)
    thrust = np.zeros((12, 6))
    thrust[:6] = 1e-6 * rng.uniform(-1, 1, (6, 6))
    return np.hstack([thrust, np.eye(12)[:, 6:]])


def test_an_input_map_of_very_unequal_columns() -> None:
    model = dtau.robots.aerial_manipulator()
    q = random_q(model, np.random.default_rng(8), (50,))  # upside down, too
    hold = dtau.equilibrium(model, q, inputs=rotors())
    assert hold.exists.all()
    assert hold.u.shape == (50, 12)
    assert_close(hold.tau, dtau.gravity_torque(model, q), TOLERANCE["identity"], "tau")


def test_of_all_solutions_it_is_the_shortest() -> None:
    model = dtau.robots.quadruped()
    q = random_q(model, np.random.default_rng(9))
    drive = np.eye(18)[:, 6:]
    hold = dtau.equilibrium(model, q, contact_frames=FEET)
    x = np.concatenate([hold.u, hold.wrenches.ravel()])
    jacobians = dtau.frame_jacobians(model, q, FEET, "mixed").reshape(24, 18)
    null = np.linalg.svd(np.hstack([drive, jacobians.T]))[2][18:]
    assert null.shape == (18, 36)
    assert np.abs(null @ x).max() < TOLERANCE["identity"] * np.abs(x).max()


def test_a_state_alone_is_as_in_a_batch() -> None:
    model = dtau.robots.quadruped()
    q = random_q(model, np.random.default_rng(10), (4,))
    q[2, 9] = np.nan
    hold = dtau.equilibrium(model, q, contact_frames=FEET, contacts="force")
    assert hold.exists.tolist() == [True, True, False, True]
    for name in ("u", "tau", "wrenches", "f_ext", "residual"):
        part = getattr(hold, name)
        assert np.isfinite(part[[0, 1, 3]]).all(), name
    assert np.isnan(hold.u[2]).all()
    assert np.isnan(hold.residual[2]).all()
    alone = dtau.equilibrium(model, q[1], contact_frames=FEET, contacts="force")
    assert_close(alone.u, hold.u[1], TOLERANCE["identity"], "u")
    assert alone.exists.shape == ()
    empty = dtau.equilibrium(model, q[:0], contact_frames=FEET, contacts="force")
    assert [x.shape for x in empty] == [(0, 12), (0, 18), (0, 4, 6), (0, 13, 6), (0, 18), (0,)]


def test_moving_the_scene_changes_no_bit() -> None:
    model = dtau.robots.quadruped()
    q = random_q(model, np.random.default_rng(11))
    far = q.copy()
    far[:3] += 1000.0
    for one, other in zip(
        dtau.equilibrium(model, q, contact_frames=FEET)[:4],
        dtau.equilibrium(model, far, contact_frames=FEET)[:4],
        strict=True,
    ):
        assert_same_bits(one, other)


# What drives


def test_inputs() -> None:
    model = robot("forest")
    free = [joint for joint in model.joints if isinstance(joint.type, dtau.Free)]
    roots = [joint for joint in free if joint.parent < 0]
    default = input_map(model, None)
    assert default.shape == (model.nv, model.nv - 6 * len(roots))
    assert roots
    driven = default.any(axis=1)
    assert not driven[np.concatenate([np.r_[joint.v] for joint in roots])].any()
    assert_same_bits(input_map(model, driven), default)
    assert_same_bits(input_map(model, default), default)
    assert_same_bits(input_map(model, np.ones((model.nv, 2), dtype=int)), np.ones((model.nv, 2)))


def test_a_free_joint_that_hangs_on_a_body_is_driven() -> None:
    builder = dtau.ModelBuilder("carrier")
    ball = dtau.Inertia(1.0, tensor=np.eye(3))
    builder.add(dtau.Free(), name="hull", inertia=ball)
    builder.add(dtau.Free(), name="load", parent="hull", inertia=ball)
    assert_same_bits(input_map(builder.build(), None), np.eye(12)[:, 6:])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"inputs": np.ones(17, bool)},
            ValueError,
            r"inputs: .*mask of shape \(18,\).*bool.*\(17,\)",
        ),
        ({"inputs": np.ones((18, 3), bool)}, ValueError, r"inputs: .*got bool of shape \(18, 3"),
        ({"inputs": np.ones(18)}, ValueError, r"inputs: .*\(18, nu\), got float64 of shape \(18,"),
        ({"inputs": np.ones((3, 18))}, ValueError, r"inputs: .*\(18, nu\).*\(3, 18\)"),
        ({"inputs": np.full((18, 2), np.nan)}, ValueError, "inputs: expected finite numbers"),
        ({"inputs": 1j * np.ones((18, 2))}, TypeError, "inputs: expected real numbers"),
        ({"contacts": "point"}, ValueError, "contacts: expected 'wrench' or 'force', got 'point'"),
        ({"contact_frames": "LF_FOT"}, ValueError, "no frame named 'LF_FOT'; close names: 'LF_F"),
        ({"contact_frames": [3]}, TypeError, r"contact_frames: expected names, got 3"),
    ],
)
def test_errors(options: dict[str, Any], error: type[Exception], message: str) -> None:
    model = dtau.robots.quadruped()
    with pytest.raises(error, match=message):
        dtau.equilibrium(model, dtau.neutral(model), **options)


def test_a_frame_of_the_world_is_refused() -> None:
    builder = dtau.ModelBuilder("arm on a table")
    table = builder.add(dtau.Fixed(), name="table")
    builder.add(
        dtau.Revolute((0, 1, 0)), name="arm", parent=table, inertia=dtau.Inertia(1, (0.1, 0, 0))
    )
    with pytest.raises(ValueError, match="contact_frames: 'table' is fixed to the world"):
        dtau.equilibrium(builder.build(), [0.0], contact_frames="table")
