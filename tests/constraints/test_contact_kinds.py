"""Contacts along one direction, and contacts that hold spatial accelerations, far from rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from cases import random_state, robot
from compare import assert_close
from contact_oracle import all_rows, constrained_dynamics, random_pose
from derivative_laws import Point, check, check_second
from trees import Array

import dtau

AXES = ("body", "mixed")
ANGLES = (0.0, 1e-9, 0.3, 0.99, 1.01, 2.5, 3.1)  # of the placement; series end at 1
LAST = {  # frames that many joints move
    "quadruped": "RH_FOOT",
    "every joint in a chain": None,
    "free root, branches": None,
}
on_robots = pytest.mark.parametrize("name", LAST)
each_axes = pytest.mark.parametrize("axes", AXES)


def spatial(name: str, axes: Any, angles: tuple[float, ...] = ANGLES) -> Iterator[dtau.Contacts]:
    """A frame held at other placements."""
    model, rng = robot(name), np.random.default_rng(1)
    frame = LAST[name] or model.frames[-1]
    at = dtau.Pose(*dtau.frame_placements(model, random_state(model, 3)["q"], frame))
    for angle in angles:
        axis = rng.normal(size=3)
        turn = angle * axis / np.linalg.norm(axis)
        held = at @ dtau.Pose.exp([*rng.normal(size=3), *turn])
        yield dtau.Contacts(
            model, [dtau.FrameContact(frame, axes, 30.0, 7.0, held, acceleration="spatial")]
        )


def along(name: str, axes: Any) -> Iterator[dtau.Contacts]:
    """Two points of the robot, each held along a direction."""
    model, rng = robot(name), np.random.default_rng(2)
    for kp, kd in ((0.0, 0.0), (0.0, 7.0), (30.0, 7.0)):
        points = [
            dtau.PointContact(frame, axes, kp, kd, *rng.normal(size=(1, 3)), "", rng.normal(size=3))
            for frame in (model.frames[len(model.frames) // 2], LAST[name] or model.frames[-1])
        ]
        yield dtau.Contacts(model, points)


def both(name: str, axes: Any) -> Iterator[dtau.Contacts]:
    yield from spatial(name, axes)
    yield from along(name, axes)


@each_axes
@on_robots
def test_values(name: str, axes: str) -> None:
    """Against dense matrices."""
    for contacts in both(name, axes):
        model = contacts.model
        s = random_state(model, 3)
        state = s["q"], s["v"], s["tau"]
        got = dtau.constrained_dynamics(model, *state, contacts, s["f_ext"])
        a, forces = constrained_dynamics(contacts, *state, s["f_ext"])
        assert_close(got.a, a, 1e-10, "a", floor=1.0)
        assert_close(got.forces, forces, 1e-10, "forces", floor=1.0)


@each_axes
@on_robots
def test_derivatives(name: str, axes: str) -> None:
    for contacts in both(name, axes):
        s = random_state(contacts.model, 3)
        del s["active"]
        check(Point.with_contacts("constrained_dynamics", contacts, s), 1e-11)
        check_second(Point.with_contacts("constrained_dynamics", contacts, s))


@each_axes
def test_both_accelerations_agree_at_rest_in_place(axes: Any) -> None:
    model = robot("quadruped")
    s = random_state(model, 4)
    q, still = s["q"], np.zeros(model.nv)
    forces = [
        dtau.constrained_dynamics(
            model,
            q,
            still,
            s["tau"],
            dtau.Contacts(
                model, [dtau.FrameContact("LF_FOOT", axes, 9.0, 5.0, acceleration=kind)], at=q
            ),
        ).forces
        for kind in ("classical", "spatial")
    ]
    assert_close(forces[0], forces[1], 1e-11)


def settled(contacts: dtau.Contacts) -> tuple[Array, Array]:
    """The state after a second in which gains pull contacts into place."""
    model = contacts.model
    q, v = dtau.neutral(model), np.zeros(model.nv)
    for _ in range(1000):
        q, v = dtau.step(model, q, v, -0.5 * v, 0.005, "semi_implicit", contacts=contacts)
    return q, v


def test_gains_pull_contacts_into_place() -> None:
    model = robot("quadruped").replace(gravity=(0.0, 0.0, 0.0))
    placement = random_pose(np.random.default_rng(0))
    gains: Any = {"kp": 25.0, "kd": 10.0}
    frame = dtau.FrameContact("LF_FOOT", placement=placement, acceleration="spatial", **gains)
    q, _ = settled(dtau.Contacts(model, [frame]))
    found = dtau.Pose(*dtau.frame_placements(model, q, "LF_FOOT"))
    assert np.abs((placement.inverse() @ found).log()).max() < 1e-4
    up = np.array([0.6, 0.0, 0.8])
    point = dtau.PointContact(
        "LF_FOOT", "mixed", position=placement.translation, direction=up, **gains
    )
    q, _ = settled(dtau.Contacts(model, [point]))
    apart = dtau.frame_placements(model, q, "LF_FOOT").translation - placement.translation
    assert abs(up @ apart) < 1e-4


def test_a_foot_slides_on_smooth_ground() -> None:
    """The force pushes along the normal alone, and the foot does not leave the plane."""
    model = robot("quadruped")
    s = random_state(model, 1)
    normal = np.array([0.1, -0.2, 1.0])
    contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT", "mixed", direction=normal)])
    now = dtau.constrained_dynamics(model, s["q"], s["v"], s["tau"], contacts)
    foot = dtau.frame_accelerations(
        model, s["q"], s["v"], now.a, "LF_FOOT", "mixed", kind="classical"
    )
    unit = normal / np.linalg.norm(normal)
    assert abs(unit @ foot[:3]) < 1e-10 * np.abs(foot).max()
    J = dtau.frame_jacobians(model, s["q"], "LF_FOOT", "mixed")
    bias = dtau.inverse_dynamics(model, s["q"], s["v"], now.a)
    assert_close(bias, s["tau"] + J[:3].T @ unit * now.forces, 1e-10)


def test_positions_of_each_state() -> None:
    """In place of the contacts' positions."""
    model = robot("quadruped")
    s = random_state(model, 2, (5,))
    state = s["q"], s["v"], s["tau"]
    for axes in AXES:
        held: Any = [
            dtau.PointContact("LF_FOOT", axes, 9.0, 3.0, (0, 0, 0), "", (1.0, 2.0, 3.0)),
            dtau.FrameContact("RH_FOOT", axes, 9.0, 3.0, dtau.Pose(), "", "spatial"),
        ]
        places = np.random.default_rng(0).normal(size=(5, 2, 3))
        got = dtau.constrained_dynamics(model, *state, dtau.Contacts(model, held), positions=places)
        for k in range(5):
            own = [
                dtau.PointContact("LF_FOOT", axes, 9.0, 3.0, places[k, 0], "", (1.0, 2.0, 3.0)),
                dtau.FrameContact(
                    "RH_FOOT", axes, 9.0, 3.0, dtau.Pose(translation=places[k, 1]), "", "spatial"
                ),
            ]
            want = dtau.constrained_dynamics(
                model, *(x[k] for x in state), dtau.Contacts(model, own)
            )
            assert_close(got.a[k], want.a, 1e-11, floor=1.0)
            assert_close(got.forces[k], want.forces, 1e-11, floor=1.0)


def test_equilibrium_on_smooth_ground() -> None:
    model = robot("quadruped")
    q = dtau.neutral(model)
    feet = [dtau.PointContact(x, "mixed", direction=(0, 0, 2)) for x in dtau.robots.QUADRUPED_FEET]
    contacts = dtau.Contacts(model, feet)
    hold = dtau.equilibrium(model, q, contacts=contacts)
    assert hold.exists
    assert_close(hold.forces.sum(), 9.81 * model.mass, 1e-10)


def test_torques_of_a_motion() -> None:
    """Two points hold, and another one along a direction."""
    model = robot("quadruped")
    s = random_state(model, 7)
    q, v, a = s["q"], s["v"], s["a"]
    for axes in AXES:
        held: Any = [dtau.PointContact(x, axes) for x in ("LF_FOOT", "RH_FOOT")]
        held.append(dtau.PointContact("RF_FOOT", axes, direction=(1.0, 2.0, 3.0)))
        contacts = dtau.Contacts(model, held)
        found = dtau.constrained_inverse_dynamics(model, q, v, a, contacts)
        J, _ = all_rows(contacts, q, v, a)
        bias = dtau.inverse_dynamics(model, q, v, a)
        assert_close(found.tau + J.T @ found.forces, bias, 1e-10)
        assert np.abs(found.tau[:6]).max() < 1e-9


# Arguments


def test_directions_have_unit_length() -> None:
    contact = dtau.PointContact("foot", direction=[0, 3e200, 4e200])
    assert_close(contact.direction, [0.0, 0.6, 0.8], 1e-15)
    assert contact.rows == 1
    assert contact == dtau.PointContact("foot", direction=contact.direction)


def test_rows_of_one_direction_are_named() -> None:
    model = robot("quadruped")
    s = random_state(model, 1)
    twice = [dtau.PointContact("LF_FOOT", name=name, direction=(0, 0, 1)) for name in "ab"]
    with pytest.raises(ValueError, match=r"row 0 \(along its direction\) of contact 'b'"):
        dtau.constrained_dynamics(model, s["q"], s["v"], s["tau"], dtau.Contacts(model, twice))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: dtau.PointContact("foot", direction=(0, 0, 0)), "expected a nonzero vector"),
        (lambda: dtau.PointContact("foot", direction=(0, 1)), r"direction: expected shape \(3,\)"),
        (lambda: dtau.PointContact("foot", direction=(0, 0, np.nan)), "expected finite numbers"),
        (
            lambda: dtau.FrameContact("foot", acceleration="body"),  # type: ignore[arg-type]
            "acceleration: expected 'spatial' or 'classical', got 'body'",
        ),
    ],
)
def test_bad_arguments(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()
