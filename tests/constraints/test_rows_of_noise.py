"""Rows that no joint moves, but for rounding errors, are refused by name; small ones are not."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from cases import random_state
from compare import assert_close
from contact_oracle import all_rows, constrained_dynamics, random_contact
from trees import Array, random_quaternion, random_tree, rotation_of

import dtau


def planar_arm(
    rng: np.random.Generator, tips: tuple[str, ...] = ("tip",), length: float = 0.4
) -> dtau.Model:
    """Four links that turn about the world's z, whose frames stand anyhow, as from CAD."""
    arm, turned, last = dtau.ModelBuilder("arm"), np.eye(3), None
    along = np.array([length, 0.0, 0.0])
    for k in range(4):
        R = rotation_of(random_quaternion(rng))
        at = dtau.Pose(turned.T @ R, turned.T @ along * (k > 0))
        body = dtau.Inertia(1.0, 0.5 * along, 0.1 * length**2 * np.eye(3))
        last = arm.add(
            dtau.Revolute(R.T @ [0, 0, 1]), name=f"l{k}", parent=last, placement=at, inertia=body
        )
        turned = R
    for name in tips:
        arm.add(
            dtau.Fixed(), name=name, parent=last, placement=dtau.Pose(turned.T, turned.T @ along)
        )
    return arm.build()


def by_hand(model: dtau.Model, q: Array, v: Array, tau: Array, J: Array, gamma: Array) -> Array:
    """The acceleration under independent rows."""
    M, n = dtau.mass_matrix(model, q), len(J)
    matrix = np.block([[M, -J.T], [J, np.zeros((n, n))]])
    right = np.concatenate([tau - dtau.bias_torque(model, q, v), -gamma])
    return np.asarray(np.linalg.solve(matrix, right)[: model.nv])


def test_rows_that_are_rounding_errors_are_refused() -> None:
    """All of 200 states are refused, and damped they have the result of the two other rows."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        model = planar_arm(rng)
        q, v, tau = dtau.random_state(model, rng)
        contacts = dtau.Contacts(model, [dtau.PointContact("tip", axes="mixed")])
        said = (
            r"contacts: nothing but rounding errors moves row 2 \(z, linear\) of contact 'tip' in "
            "this state"
        )
        with pytest.raises(ValueError, match=said):
            dtau.constrained_dynamics(model, q, v, tau, contacts)
        J = dtau.frame_jacobians(model, q, "tip", "mixed")[:2]
        rest = np.zeros(model.nv)
        gamma = dtau.frame_accelerations(model, q, v, rest, "tip", "mixed", kind="classical")[:2]
        a = by_hand(model, q, v, tau, J, gamma)
        got = dtau.constrained_dynamics(model, q, v, tau, contacts, regularization=1e-6)
        # Arms that are nearly straight have condition numbers to match.
        size = np.linalg.svd(J)[1]
        assert_close(got.a, a, 1e-9 * max(1.0, (size[0] / size[-1]) ** 2), "a")


@pytest.mark.parametrize("seed", range(3))
def test_all_functions_refuse_a_row_of_noise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = planar_arm(rng)
    q, v, tau = dtau.random_state(model, rng)
    contacts = dtau.Contacts(model, [dtau.FrameContact("tip", axes="mixed")])
    said = r"row 2 \(z, linear\) of contact 'tip'"
    calls: list[Any] = [
        lambda: dtau.constrained_dynamics(model, q, v, tau, contacts),
        lambda: dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts),
        lambda: dtau.constrained_dynamics_jvp(model, q, v, tau, contacts, v, v, v),
        lambda: dtau.constrained_dynamics_vjp(model, q, v, tau, contacts, v, np.ones(6)),
        lambda: dtau.linearize(model, q, v, tau, contacts=contacts),
        lambda: dtau.linearize_discrete(model, q, v, tau, 0.01, "rk4", contacts=contacts),
        lambda: dtau.step(model, q, v, tau, 0.01, contacts=contacts),
        lambda: dtau.step_vjp(model, q, v, tau, 0.01, v, v, contacts=contacts),
        lambda: dtau.impulse_dynamics(model, q, v, contacts),
        lambda: dtau.impulse_dynamics_derivatives(model, q, v, contacts),
        lambda: dtau.impulse_dynamics_jvp(model, q, v, contacts, v, v),
        lambda: dtau.impulse_dynamics_vjp(model, q, v, contacts, v, np.ones(6)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=said):
            call()
    batch = dtau.constrained_dynamics(model, q, v[None].repeat(9, 0), tau, contacts)
    assert np.isnan(batch.a).all()
    off = dtau.constrained_dynamics(model, q, v, tau, contacts, active=[0])
    np.testing.assert_array_equal(off.forces, 0.0)
    assert np.isfinite(off.a).all()


def test_loops_of_parallel_hinges() -> None:
    """Of five rows two move: three of 30 loops are refused before, all of them now."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        R = [rotation_of(random_quaternion(rng)) for _ in range(3)]
        two = dtau.ModelBuilder("two arms on parallel hinges")
        for side in (-1.0, 1.0):
            last, turned, at = None, np.eye(3), np.array([0.3 * side, 0.0, 0.1])
            for k in range(2):
                body = dtau.Inertia(1.0, (0.1, 0.2, 0.0), 0.02 * np.eye(3))
                placement = dtau.Pose(turned.T @ R[k], turned.T @ at)
                name, axis = f"{side}{k}", R[k].T @ [0, 0, 1]
                last = two.add(
                    dtau.Revolute(axis), name=name, parent=last, placement=placement, inertia=body
                )
                turned, at = R[k], np.array([0.1 * side, 0.3, 0.0])
            pin = turned.T @ rotation_of(np.array([0.0, 0.0, 0.0, 1.0]))
            two.add(
                dtau.Fixed(),
                name=f"pin{side}",
                parent=last,
                placement=dtau.Pose(pin, turned.T @ at),
            )
        model = two.build()
        loop = dtau.Loop("pin-1.0", "pin1.0", 5, "z", name="pin")
        contacts = dtau.Contacts(model, [loop])
        q, v, tau = dtau.random_state(model, rng)
        said = r"nothing but rounding errors moves row 2 \(z, linear\) of contact 'pin'"
        with pytest.raises(ValueError, match=said):
            dtau.constrained_dynamics(model, q, v, tau, contacts)
        rest = np.zeros(model.nv)
        J, gamma = all_rows(contacts, q, v, rest)
        a = by_hand(model, q, v, tau, J[:2], gamma[:2])
        got = dtau.constrained_dynamics(model, q, v, tau, contacts, regularization=1e-6)
        size = np.linalg.svd(J[:2])[1]
        assert_close(got.a, a, 1e-9 * max(1.0, (size[0] / size[-1]) ** 2), "a")


def test_rows_of_turns_alone() -> None:
    """Where origins have all rows, the angular ones of parallel hinges are still nothing."""
    gantry = dtau.ModelBuilder("gantry with two wrists")
    rng = np.random.default_rng(3)
    body = dtau.Inertia(1.0, (0.1, 0.0, 0.0), 0.02 * np.eye(3))
    R = rotation_of(random_quaternion(rng))
    for name in ("left", "right"):
        last = None
        for axis in np.eye(3):
            last = gantry.add(
                dtau.Prismatic(axis), name=f"{name}{axis.argmax()}", parent=last, inertia=body
            )
        gantry.add(
            dtau.Revolute(R.T @ [0, 0, 1]),
            name=name,
            parent=last,
            placement=dtau.Pose(R),
            inertia=body,
        )
    model = gantry.build()
    contacts = dtau.Contacts(model, [dtau.Loop("left", "right", 6, axes="mixed", name="weld")])
    q, v, tau = dtau.random_state(model, rng)
    said = r"nothing but rounding errors moves row 3 \(x, angular\) of contact 'weld'"
    with pytest.raises(ValueError, match=said):
        dtau.constrained_dynamics(model, q, v, tau, contacts)


def test_a_joint_held_on_its_own_axis() -> None:
    """No force there turns it: neither one that holds a point, nor one that replaces a motor."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        axis = random_quaternion(rng)[:3]
        one = dtau.ModelBuilder("one passive joint, and one that is driven")
        body = dtau.Inertia(1.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))
        turned = dtau.Pose(rotation_of(random_quaternion(rng)), rng.uniform(-1.0, 1.0, 3))
        one.add(dtau.Revolute(axis), name="passive", parent=None, placement=turned, inertia=body)
        one.add(
            dtau.Fixed(),
            name="on axis",
            parent="passive",
            placement=dtau.Pose(translation=0.7 * axis / np.linalg.norm(axis)),
        )
        one.add(dtau.Revolute((1, 0, 0)), name="driven", parent=None, inertia=body)
        model = one.build()
        contacts = dtau.Contacts(model, [dtau.PointContact("on axis", name="point")])
        q, v, a = dtau.random_state(model, rng)
        said = r"the forces of 'point' do not act on all .* in this state \(joint 'passive'\)"
        with pytest.raises(ValueError, match=said):
            dtau.constrained_inverse_dynamics(
                model, q, v, a, contacts, inputs=np.array([False, True])
            )
        with pytest.raises(ValueError, match="of contact 'point'"):
            dtau.constrained_dynamics(model, q, v, a, contacts)


def test_what_nothing_drives_on_trees() -> None:
    """ValueError where singular values say that no forces reach it, and nowhere else."""
    refused = 0
    for seed in range(600):
        model = random_tree(seed, 6).model()
        if model.nv == 0:
            continue
        s, rng = random_state(model, seed), np.random.default_rng(seed)
        count = rng.integers(1, 3)
        contacts = dtau.Contacts(
            model,
            [random_contact(model, rng, f"c{k}") for k in range(count)],  # type: ignore[misc]
        )
        inputs = rng.random(model.nv) < 0.5
        J, _ = all_rows(contacts, s["q"], s["v"], np.zeros(model.nv))
        size = np.linalg.svd(J[:, ~inputs])[1]
        rank = int(np.sum(size > 1e-9 * max(1.0, size.max(initial=0.0))))
        state = model, s["q"], s["v"], s["a"], contacts
        if rank < np.sum(~inputs):
            refused += 1
            with pytest.raises(ValueError, match=r"the forces of 'c0'.* \(joint '"):
                dtau.constrained_inverse_dynamics(*state, inputs=inputs)
        else:
            dtau.constrained_inverse_dynamics(*state, inputs=inputs)
    assert refused > 100


SCALES = list(itertools.product((1e-3, 1.0, 1e3), (1e-6, 1.0, 1e6)))


def scaled(model: dtau.Model, length: float, mass: float) -> dtau.Model:
    """The same robot of another size."""
    robot = dtau.ModelBuilder("scaled")
    for link in model.links:
        x, at = link.inertia, link.placement
        robot.add(
            link.joint,
            name=link.name,
            parent=link.parent,
            placement=dtau.Pose(at.rotation, length * np.asarray(at.translation)),
            inertia=dtau.Inertia(
                mass * x.mass, length * np.asarray(x.com), mass * length**2 * np.asarray(x.tensor)
            ),
        )
    return robot.build()


@pytest.mark.parametrize(("length", "mass"), SCALES)
def test_robots_of_any_size_are_accepted(length: float, mass: float) -> None:
    """Nothing is refused that holds, and results equal results of dense matrices."""
    model = scaled(dtau.robots.quadruped(), length, mass)
    rng = np.random.default_rng(0)
    feet = dtau.robots.QUADRUPED_FEET
    contacts = dtau.Contacts(
        model,
        [
            dtau.PointContact(feet[0], axes="mixed"),
            dtau.FrameContact(feet[1]),
            dtau.Loop(feet[2], feet[3], 5, "y"),
        ],
    )
    q, v, tau = dtau.random_state(model, rng, shape=(10,))
    q[:, :3] *= length
    v[:, :3] *= length
    tau *= mass * length**2
    tau[:, :3] /= length
    got = dtau.constrained_dynamics(model, q, v, tau, contacts)
    assert np.isfinite(got.a).all()
    for k in range(10):
        one = dtau.constrained_dynamics(model, q[k], v[k], tau[k], contacts)
        dtau.constrained_dynamics_derivatives(model, q[k], v[k], tau[k], contacts)
        left = all_rows(contacts, q[k], v[k], one.a)[1]
        scale = np.abs(all_rows(contacts, q[k], v[k], np.zeros(model.nv))[1]).max()
        assert np.abs(left).max() < 1e-8 * max(scale, 1.0)
    hold = dtau.constrained_inverse_dynamics(model, q, v, np.zeros_like(v), contacts)
    assert np.isfinite(hold.tau).all()


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_two_rows_of_an_arm_of_any_size(length: float) -> None:
    """A lever of a millionth of the arm is small, and no rounding error."""
    rng = np.random.default_rng(0)
    arm = dtau.ModelBuilder("arm")
    body = dtau.Inertia(1.0, (0.0, 0.0, 0.1 * length), 0.1 * length**2 * np.eye(3))
    up = dtau.Pose(translation=(0.0, 0.0, length))
    arm.add(dtau.Revolute((0, 0, 1)), name="yaw", parent=None, inertia=body)
    arm.add(dtau.Revolute((0, 1, 0)), name="pitch", parent="yaw", placement=up, inertia=body)
    arm.add(dtau.Prismatic((0, 0, 1)), name="reach", parent="pitch", inertia=body)
    tip = dtau.Pose(translation=(0.0, 1e-6 * length, length))
    arm.add(dtau.Fixed(), name="tip", parent="reach", placement=tip)
    model = arm.build()
    contacts = dtau.Contacts(model, [dtau.PointContact("tip")])
    q = np.array([0.3, 1e-6, 0.0])
    v, tau = rng.uniform(-1.0, 1.0, (2, 3))
    got = dtau.constrained_dynamics(model, q, v, tau, contacts)
    want, forces = constrained_dynamics(contacts, q, v, tau)
    assert np.isfinite(got.forces).all()
    assert np.isfinite(forces).all()
    left = all_rows(contacts, q, v, got.a)[1]
    assert np.abs(left).max() < 1e-6 * max(1.0, length, float(np.abs(want).max()))


@pytest.mark.parametrize("mass", [1.0, 100.0, 1e4])
def test_five_rows_of_rank_four(mass: float) -> None:
    """A small pivot before the last one makes that one's rounding errors large."""
    rng = np.random.default_rng(0)
    chain = dtau.ModelBuilder("two hinges on a floating base")
    base = dtau.Inertia(mass, (0.1, -0.2, 0.1), 0.4 * mass * np.eye(3))
    last = chain.add(dtau.Free(), name="base", parent=None, inertia=base)
    for k in range(2):
        at = dtau.Pose(rotation_of(random_quaternion(rng)), rng.uniform(-0.5, 0.5, 3))
        body = dtau.Inertia(1.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))
        last = chain.add(
            dtau.Revolute((0, 0, 1)), name=f"hinge {k}", parent=last, placement=at, inertia=body
        )
    model = chain.build()
    contacts = dtau.Contacts(model, [dtau.Loop("base", "hinge 1", 5, "z", name="loop")])
    q, v, tau = dtau.random_state(model, rng, shape=(20_000,))
    got = dtau.constrained_dynamics(model, q, v, tau, contacts)
    assert np.isnan(got.forces).all()


def test_a_heavy_base_is_no_rounding_error() -> None:
    """Rows are compared by their lengths alone: what they move may weigh 1e24 times as much."""
    two = dtau.ModelBuilder("a fly on a planet")
    planet = dtau.Inertia(1e18, (0, 0, 0), 1e18 * np.eye(3))
    fly = dtau.Inertia(1e-6, (0.01, 0, 0), 1e-9 * np.eye(3))
    two.add(dtau.Free(), name="planet", parent=None, inertia=planet)
    two.add(dtau.Revolute((0, 0, 1)), name="fly", parent="planet", inertia=fly)
    two.add(
        dtau.Fixed(), name="leg", parent="fly", placement=dtau.Pose(translation=(0.1, 0.0, 0.0))
    )
    model = two.build()
    contacts = dtau.Contacts(model, [dtau.PointContact("leg")])
    q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    assert np.isfinite(dtau.constrained_dynamics(model, q, v, tau, contacts).a).all()
