"""Configurations that inputs and contacts hold still, or cannot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from cases import ROBOTS, random_q, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits
from contact_oracle import all_rows, random_contacts
from trees import Array

import dtau
from dtau.model.control_inputs import input_map

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
AT_REST = 1e-8  # an acceleration: residuals over the inertia of the lightest links
Q = dtau.neutral(dtau.robots.quadruped())
TREES_ON_THE_GROUND = ("every joint in a chain", "children listed late", "long chain")


def points(model: dtau.Model, frames: Iterable[str] = FEET) -> dtau.Contacts:
    return dtau.Contacts(model, [dtau.PointContact(frame, "mixed") for frame in frames])


def soles(model: dtau.Model, frames: Iterable[str] = FEET, axes: Any = "mixed") -> dtau.Contacts:
    return dtau.Contacts(model, [dtau.FrameContact(frame, axes) for frame in frames])


def acceleration(model: dtau.Model, q: Array, hold: dtau.results.Equilibrium) -> Array:
    """Of the robot at rest that is held so: zero in an equilibrium."""
    return dtau.forward_dynamics(model, q, np.zeros(model.nv), hold.tau, hold.f_ext)


def lstsq(model: dtau.Model, q: Array, drive: Array, contacts: dtau.Contacts) -> Array:
    """u and forces of one state by another method."""
    jacobian = all_rows(contacts, q, np.zeros(model.nv), np.zeros(model.nv))[0]
    matrix = np.hstack([drive, jacobian.T])
    return np.linalg.lstsq(matrix, dtau.gravity_torque(model, q), 1e-12)[0]


@pytest.mark.parametrize(
    ("make", "frames"), [(points, FEET), (soles, FEET), (points, FEET[:3]), (soles, ("LF_SHANK",))]
)
def test_equilibrium_holds_a_quadruped(make: Any, frames: tuple[str, ...]) -> None:
    model = dtau.robots.quadruped()
    contacts = make(model, frames)
    q = random_q(model, np.random.default_rng(1), (2, 3))
    hold = dtau.equilibrium(model, q, contacts=contacts)
    assert hold.exists.shape == (2, 3)
    assert hold.exists.all()
    assert hold.residual.shape == hold.tau.shape == (2, 3, model.nv)
    assert np.abs(hold.residual).max() < TOLERANCE["identity"] * 9.81 * model.mass
    assert_close(acceleration(model, q, hold), np.zeros((2, 3, 18)), AT_REST, floor=1.0)
    for at in np.ndindex(2, 3):
        want = lstsq(model, q[at], np.eye(18)[:, 6:], contacts)
        assert_close(hold.u[at], want[:12], TOLERANCE["identity"], "u")
        assert_close(hold.forces[at], want[12:], TOLERANCE["identity"], "forces")
        assert_close(
            hold.tau[at], np.concatenate([np.zeros(6), hold.u[at]]), TOLERANCE["rounding"], "tau"
        )


@pytest.mark.parametrize("name", TREES_ON_THE_GROUND)
def test_a_fixed_robot_is_held_by_its_gravity_torque(name: str) -> None:
    model = robot(name)
    q = random_q(model, np.random.default_rng(3), (4,))
    hold = dtau.equilibrium(model, q)
    assert hold.exists.all()
    assert_close(hold.u, dtau.gravity_torque(model, q), TOLERANCE["long sums"], "u")
    assert_close(hold.tau, hold.u, TOLERANCE["long sums"], "tau")
    assert hold.forces.shape == (4, 0)


def test_joints_that_mimic_others_are_held() -> None:
    model = robot("joints that mimic others")
    contacts = soles(model, (model.bodies[0], model.bodies[3]))
    q = random_q(model, np.random.default_rng(4), (5,))
    hold = dtau.equilibrium(model, q, contacts=contacts)
    assert hold.exists.all()
    assert_close(acceleration(model, q, hold), np.zeros((5, model.nv)), AT_REST, floor=1.0)


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
    assert not dtau.equilibrium(model, q, contacts=points(model, ["LF_FOOT"])).exists
    assert dtau.equilibrium(model, q, contacts=soles(model, ["LF_FOOT"])).exists


@pytest.mark.parametrize("name", ROBOTS)
def test_contacts_and_loops_of_all_kinds(name: str) -> None:
    """Forces that mean what constrained dynamics' forces mean: they give the same acceleration."""
    model = robot(name)
    states = random_state(model, 12, (3,))
    each = [{key: x[k] for key, x in states.items()} for k in range(3)]
    contacts = random_contacts(model, each, 12)
    hold = dtau.equilibrium(model, states["q"], contacts=contacts)
    drive = input_map(model, None)
    for k, s in enumerate(each):
        want = lstsq(model, s["q"], drive, contacts)
        size = float(np.abs(want).max(initial=1.0))
        assert_close(np.r_[hold.u[k], hold.forces[k]], want, 1e-9, f"{contacts}", floor=size)
        jacobian = all_rows(contacts, s["q"], 0.0 * s["v"], 0.0 * s["v"])[0]
        held = hold.tau[k] + jacobian.T @ hold.forces[k]
        torque = dtau.gravity_torque(model, s["q"]) - hold.residual[k]
        assert_close(held, torque, 1e-9, "J^T forces", floor=size)
        rest = 0.0 * s["v"]
        by_f_ext = dtau.inverse_dynamics(model, s["q"], rest, rest, hold.f_ext[k])
        assert_close(by_f_ext, hold.tau[k] + hold.residual[k], 1e-9, "f_ext", floor=size)


def test_what_holds_also_rests_in_contact() -> None:
    """Torques alone are enough where contacts give what forces it takes."""
    model = dtau.robots.quadruped()
    q = random_q(model, np.random.default_rng(13))
    contacts = soles(model, FEET[:2], "body")
    hold = dtau.equilibrium(model, q, contacts=contacts)
    got = dtau.constrained_dynamics(model, q, np.zeros(18), hold.tau, contacts, regularization=1e-6)
    assert np.abs(got.a).max() < AT_REST


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


def test_springs_are_held_without_gravity() -> None:
    """The torques balance but for rounding errors, which no weight says are small."""
    given = {"gravity": (0, 0, 0), "stiffness": (3.0, 7.0), "rest_position": (0.3, -0.1)}
    model = pendulum().replace(**given)
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2))
    hold = dtau.equilibrium(model, q, inputs=np.array([[1.0, 0.3], [0.2, 1.0]]))
    assert hold.exists.all()
    assert np.abs(hold.residual).max() > 0.0
    assert_close(hold.tau, dtau.gravity_torque(model, q), TOLERANCE["short sums"], "tau")
    assert not dtau.equilibrium(model, q, inputs=np.array([True, False])).exists.any()


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


def test_a_map_a_configuration() -> None:
    model = dtau.robots.aerial_manipulator()
    q = random_q(model, np.random.default_rng(8), (5,))
    scales = np.array([1.0, 2.0, np.nan])[:, np.newaxis, np.newaxis, np.newaxis]
    hold = dtau.equilibrium(model, q, inputs=scales * rotors())
    assert hold.u.shape == (3, 5, 12)
    assert hold.exists.tolist() == [[True] * 5, [True] * 5, [False] * 5]
    for i in (0, 1):
        one = dtau.equilibrium(model, q, inputs=scales[i, 0] * rotors())
        for x, y in zip(hold[:4], one[:4], strict=True):
            assert_same_bits(x[i], y)
    assert np.isnan(hold.u[2]).all()
    assert np.isnan(hold.tau[2]).all()


def test_inactive_contacts_have_no_forces() -> None:
    """As if there were only the active contacts, whatever the states beside."""
    model = dtau.robots.quadruped()
    q = random_q(model, np.random.default_rng(12), (4,))
    feet = [dtau.FrameContact("LF_FOOT"), *(dtau.PointContact(f"{x}_FOOT") for x in ("RF", "LH"))]
    contacts = dtau.Contacts(model, [*feet, dtau.Loop("RH_FOOT", "RF_SHANK", 5, "x")])
    active = np.array([[1, 0, 1, 0], [0.5, 1, 0.49, 1], [0, 0, 0, 0], [1, np.nan, 1, 1]])
    hold = dtau.equilibrium(model, q, contacts=contacts, active=active)
    for k, on in enumerate(active[:3] >= 0.5):
        some = dtau.Contacts(model, [c for c, holds in zip(contacts, on, strict=True) if holds])
        want = dtau.equilibrium(model, q[k], contacts=some)
        rows = np.repeat(on, [6, 3, 3, 5])
        assert not hold.forces[k, ~rows].any()
        assert_close(hold.forces[k, rows], want.forces, 1e-9, "forces", floor=100.0)
        for name in ("u", "tau", "f_ext", "residual"):
            assert_close(getattr(hold, name)[k], getattr(want, name), 1e-9, name, floor=100.0)
        assert hold.exists[k] == want.exists
        alone = dtau.equilibrium(model, q[k], contacts=contacts, active=active[k])
        assert_same_bits(alone.forces, hold.forces[k])
    assert np.isnan(hold.u[3]).all()
    assert not hold.exists[3]
    spread = dtau.equilibrium(model, q[0], contacts=contacts, active=active[:2])
    assert spread.forces.shape == (2, 17)


def test_moving_the_scene_changes_no_bit() -> None:
    model = dtau.robots.quadruped()
    q = random_q(model, np.random.default_rng(11))
    far = q.copy()
    far[:3] += 1000.0
    feet = [dtau.FrameContact("LF_FOOT"), dtau.FrameContact("RF_FOOT", "mixed")]
    contacts = dtau.Contacts(model, [*feet, dtau.Loop("LH_FOOT", "RH_FOOT", 5, "x")])
    for one, other in zip(
        dtau.equilibrium(model, q, contacts=contacts)[:4],
        dtau.equilibrium(model, far, contacts=contacts)[:4],
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
        ({"inputs": np.ones(18)}, ValueError, r"inputs: .*, 18, nu\), got float64 of shape \(18,"),
        ({"inputs": np.ones((3, 18))}, ValueError, r"inputs: .*, 18, nu\).*\(3, 18\)"),
        (
            {"inputs": np.ones((2, 18, 3)), "q": np.tile(Q, (3, 1))},
            ValueError,
            r"do not broadcast against each other: q \(3,\), inputs \(2,\), active \(\)",
        ),
        ({"inputs": 1j * np.ones((18, 2))}, TypeError, "inputs: expected real numbers"),
        ({"active": [1, 1]}, ValueError, "active: goes with contacts=, which is not given"),
        (
            {"contacts": points(dtau.robots.quadruped()), "active": [1, 1]},
            ValueError,
            r"active has shape \(2,\), expected \(..., 4\)",
        ),
        (
            {"contacts": points(dtau.robots.quadruped()), "active": "x"},
            TypeError,
            "active: expected real numbers, got 'x'",
        ),
        (
            {"contacts": points(dtau.robots.quadruped()), "active": np.ones((2, 4)), "q": [Q] * 3},
            ValueError,
            r"do not broadcast against each other: q \(3,\), inputs \(\), active \(2,\)",
        ),
        ({"contacts": "point"}, TypeError, "contacts: expected Contacts, got str"),
        (
            {"contacts": points(robot("forest"), ["free1"])},
            ValueError,
            "contacts: expected those of this model, got another model's",
        ),
    ],
)
def test_errors(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        dtau.equilibrium(dtau.robots.quadruped(), **{"q": Q, **options})
