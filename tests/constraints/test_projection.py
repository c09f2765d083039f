"""Configurations in which contacts hold: where steps lead, how fast, and what is said if not."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import FEW_ROBOTS, random_state, robot
from compare import TOLERANCE, assert_close
from contact_oracle import all_rows, pieces, random_contacts, sides
from trees import Array, random_quaternion, rotation_of

import dtau

ENOUGH = 1e-10
on_robots = pytest.mark.parametrize(
    "name", [*FEW_ROBOTS, "quadruped", "gantry, branches", "joints that mimic others"]
)
FEET = dtau.robots.QUADRUPED_FEET


def pose(model: dtau.Model, q: Array, frame: str | None, at: dtau.Pose) -> dtau.Pose:
    still = np.zeros(model.nv)
    return pieces(model, frame, at, q, still, still).pose


def closed_at(contacts: dtau.Contacts, q: Array, rng: np.random.Generator) -> dtau.Contacts:
    """The same, held where they are in a configuration but for what may turn."""
    model, made = contacts.model, []
    for contact in contacts:
        frame_a, frame_b, _ = sides(contact)
        a = pose(model, q, frame_a, dtau.Pose())
        if isinstance(contact, dtau.PointContact):
            made.append(replace(contact, kp=1.0, kd=0.0, position=a.translation))
            continue
        held = pose(model, q, frame_b, dtau.Pose()).inverse() @ a
        if contact.rows == 3:
            held = held @ dtau.Pose(rotation_of(random_quaternion(rng)))
        if contact.rows == 5:
            axis = np.eye(3)["xyz".index(contact.hinge)]  # type: ignore[union-attr]
            held = held @ dtau.Pose.exp([0, 0, 0, *(rng.uniform(-2, 2) * axis)])
        made.append(replace(contact, kp=1.0, kd=0.0, placement=held))
    return dtau.Contacts(model, made)


def e_of(contacts: dtau.Contacts, q: Array) -> tuple[Array, Array]:
    """J and e, by dense matrices: with kp = 1 what is left of the rows at rest."""
    model = contacts.model
    still = np.zeros(model.nv)
    split = [
        replace(x, acceleration="classical") if isinstance(x, dtau.FrameContact) else x
        for x in contacts
    ]
    J, e = all_rows(dtau.Contacts(model, split), q, still, still)
    for contact in contacts:  # a direction that turns with its frame
        if isinstance(contact, dtau.PointContact) and contact.direction is not None:
            if contact.axes == "mixed":
                continue
            at = pieces(model, contact.frame, dtau.Pose(), q, still, still)
            apart = at.pose.translation - np.array(contact.position)
            turns = np.cross(at.pose.rotation @ np.array(contact.direction), apart)
            J[contacts.rows(contact.name)] += turns @ at.J[3:]
    for contact in contacts:  # z_b x z_a has the sine of the angle, which e has
        if contact.rows == 5:
            axis = "xyz".index(contact.hinge)  # type: ignore[union-attr]
            frame_a, frame_b, at = sides(contact)
            z_a = pose(model, q, frame_a, dtau.Pose()).rotation[:, axis]
            z_b = pose(model, q, frame_b, at).rotation[:, axis]
            sine = np.linalg.norm(np.cross(z_b, z_a))
            turns = slice(contacts.rows(contact.name).start + 3, contacts.rows(contact.name).stop)
            e[turns] *= np.arctan2(sine, z_a @ z_b) / sine
    return J, e


def generated(name: str, apart: float, seeds: int) -> Iterator[tuple[dtau.Contacts, Array, Array]]:
    """Contacts of a robot, a configuration in which they hold, and one near it."""
    model = robot(name)
    for seed in range(seeds):
        s, rng = random_state(model, seed), np.random.default_rng(seed)
        contacts = closed_at(random_contacts(model, [s], seed), s["q"], rng)
        q = dtau.integrate(model, s["q"], rng.uniform(-apart, apart, model.nv))
        singular = np.linalg.svd(e_of(contacts, q)[0], compute_uv=False)
        if contacts.nrows and singular.min() > 0.03 * singular.max():
            yield contacts, s["q"], q


@on_robots
def test_a_step_is_the_shortest_that_closes_to_first_order(name: str) -> None:
    for contacts, _, q in generated(name, 0.05, 8):
        J, e = e_of(contacts, q)
        want = dtau.integrate(contacts.model, q, -np.linalg.pinv(J, rcond=1e-10) @ e)
        got = dtau.project(contacts.model, q, contacts, max_iterations=1)
        assert_close(got.q, want, 10 * TOLERANCE["independent"], f"{contacts.contacts}")


@on_robots
def test_errors_are_squared(name: str) -> None:
    for contacts, _, q in generated(name, 0.01, 8):
        errors = [
            float(dtau.project(contacts.model, q, contacts, tolerance=0.0, max_iterations=k).error)
            for k in range(1, 5)
        ]
        for before, after in itertools.pairwise(errors):
            assert after <= 30.0 * before**2 + 1e-13, f"{errors} of {contacts.contacts}"
        assert errors[-1] < 1e-13


@on_robots
def test_what_holds_afterwards(name: str) -> None:
    """The error is the largest distance or angle, and every entry of e is below it."""
    for contacts, closed, q in generated(name, 0.1, 6):
        model = contacts.model
        got = dtau.project(model, q, contacts)
        assert got.error < ENOUGH
        assert abs(e_of(contacts, got.q)[1]).max(initial=0.0) < ENOUGH
        there = dtau.project(model, closed, contacts)
        assert there.error < 1e-13
        assert np.array_equal(there.q, closed)


@pytest.mark.parametrize(("make", "apart"), [("four_bar", 0.3), ("delta", 0.1)])
def test_mechanisms(make: Any, apart: float) -> None:
    model, contacts, home = getattr(dtau.robots, make)()
    rng = np.random.default_rng(0)
    q = dtau.integrate(model, home, rng.uniform(-apart, apart, (64, model.nv)))
    got = dtau.project(model, q, contacts)
    assert got.error.max() < ENOUGH
    for loop in contacts:
        ends = dtau.frame_placements(model, got.q, [loop.frame_a, loop.frame_b]).translation
        assert (np.linalg.norm(ends[:, 0] - ends[:, 1], axis=-1) <= got.error).all()
    if make == "delta":  # the platform did not stay turned
        turned = dtau.frame_placements(model, got.q, "platform").rotation
        assert np.abs(turned - np.eye(3)).max() < 1e-9


def test_feet_go_back_to_where_they_stood() -> None:
    model = robot("quadruped")
    stand = dtau.neutral(model)
    contacts = dtau.Contacts(
        model,
        [*(dtau.PointContact(foot) for foot in FEET[:3]), dtau.FrameContact(FEET[3])],
        at=stand,
    )
    rng = np.random.default_rng(1)
    q = dtau.integrate(model, stand, rng.uniform(-0.2, 0.2, (32, model.nv)))
    got = dtau.project(model, q, contacts)
    want = dtau.frame_placements(model, stand, FEET)
    feet = dtau.frame_placements(model, got.q, FEET)
    assert got.error.max() < ENOUGH
    assert np.abs(feet.translation - want.translation).max() < ENOUGH
    assert np.abs(feet.rotation[:, 3] - want.rotation[3]).max() < ENOUGH


def test_alone_and_in_a_batch_with_masks() -> None:
    """The same bits; what is not active does not matter; NaN spoils its own state alone."""
    model, contacts, home = dtau.robots.delta()
    rng = np.random.default_rng(2)
    q = dtau.integrate(model, home, rng.uniform(-0.1, 0.1, (6, model.nv)))
    active = rng.integers(0, 2, (6, len(contacts))).astype(bool)
    got = dtau.project(model, q, contacts, active=active)
    assert got.error.max() < ENOUGH
    for k in range(6):
        alone = dtau.project(model, q[k], contacts, active=active[k])
        assert np.array_equal(alone.q, got.q[k])
        assert np.array_equal(alone.error, got.error[k])
        kept = dtau.Contacts(model, [c for c, on in zip(contacts, active[k], strict=True) if on])
        assert_close(dtau.project(model, q[k], kept).q, got.q[k], TOLERANCE["long sums"])
    spoiled, mask = q.copy(), active.astype(float)
    spoiled[1, 3], spoiled[2, -1], mask[4, 0] = np.nan, np.inf, np.nan
    part = dtau.project(model, spoiled, contacts, active=mask)
    lost = np.array([False, True, True, False, True, False])
    assert np.isnan(part.q[lost]).all()
    assert np.isnan(part.error[lost]).all()
    assert np.array_equal(part.q[~lost], got.q[~lost])


def test_contacts_without_a_place_hold_anywhere() -> None:
    model = robot("quadruped")
    s = random_state(model, 3)
    contacts = dtau.Contacts(model, [dtau.PointContact(FEET[0]), dtau.FrameContact(FEET[1])])
    got = dtau.project(model, s["q"], contacts)
    assert np.array_equal(got.q, s["q"])
    assert got.error == 0.0


def test_what_cannot_be_closed() -> None:
    """A leg is stretched as far as it can be; the error says what is missing."""
    model = robot("quadruped").lock({"root_joint": [0, 0, 0, 0, 0, 0, 1]})
    hip = dtau.frame_placements(model, dtau.neutral(model), "LF_THIGH").translation
    far = hip + np.array([0.3, 0.0, -2.0])
    near = dtau.frame_placements(model, dtau.neutral(model), "LF_FOOT").translation
    q = np.tile(dtau.neutral(model), (2, 1))
    leg = [
        dtau.PointContact("LF_FOOT", position=far, name="far"),
        dtau.PointContact("LF_FOOT", position=near + 0.05, name="near"),
    ]
    got = dtau.project(model, q, dtau.Contacts(model, leg), active=[[1, 0], [0, 1]])
    assert got.error[1] < ENOUGH
    foot = dtau.frame_placements(model, got.q[0], "LF_FOOT").translation
    assert_close(np.linalg.norm(foot - far), got.error[0], TOLERANCE["rounding"])
    rng = np.random.default_rng(4)
    anywhere = dtau.frame_placements(
        model, rng.uniform(-np.pi, np.pi, (20000, model.nq)), "LF_FOOT"
    ).translation
    assert got.error[0] < np.linalg.norm(anywhere - far, axis=-1).min() + 1e-6
    alone = dtau.project(model, q[0], dtau.Contacts(model, leg[:1]))
    assert_close(alone.error, got.error[0], TOLERANCE["rounding"])


def test_rows_that_depend_on_each_other() -> None:
    """A planar four-bar of four hinges: of five rows three are the others' already."""
    builder = dtau.ModelBuilder("hinges")
    bar = dtau.Inertia(1.0, (0.1, 0, 0), 0.01 * np.eye(3))
    axis = dtau.Revolute((0, 0, 1))
    builder.add(axis, name="crank", inertia=bar)
    for name, parent, x in (("coupler", "crank", 0.1), ("rocker", None, 0.3)):
        at = dtau.Pose(translation=(x, 0, 0))
        builder.add(axis, name=name, parent=parent, placement=at, inertia=bar)
    builder.add(
        dtau.Fixed(), name="end", parent="coupler", placement=dtau.Pose(translation=(0.3, 0, 0))
    )
    model = builder.build()
    top = dtau.Pose(translation=(0.25, 0, 0))
    contacts = dtau.Contacts(model, [dtau.Loop("end", "rocker", 5, "z", placement=top)])
    got = dtau.project(model, [1.0, 0.0, 1.5], contacts)
    assert got.error < ENOUGH
    ends = dtau.frame_placements(model, got.q, ["end", "rocker"])
    pin = ends.translation[1] + 0.25 * ends.rotation[1][:, 0]
    assert np.abs(ends.translation[0] - pin).max() < ENOUGH


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("half_turn", "exact"), [(np.pi, True), (np.pi, False), (np.pi - 1e-9, False), (3.0, False)]
)
def test_turns_by_half(half_turn: float, exact: bool) -> None:
    """Frames that stand the wrong way round, hinges whose axes are opposite."""
    builder = dtau.ModelBuilder("ball")
    builder.add(dtau.Spherical(), name="ball", inertia=dtau.Inertia(1.0, tensor=np.eye(3)))
    builder.add(dtau.Fixed(), name="ground")
    model = builder.build()
    ways: list[Any] = [
        dtau.FrameContact("ball", placement=dtau.Pose()),
        dtau.Loop("ball", "ground"),
        dtau.Loop("ball", "ground", 5, "z"),
    ]
    q = dtau.integrate(model, dtau.neutral(model), [half_turn, 0, 0])
    if exact:  # the axes of the hinge have no cross product
        q = np.rint(q)
    for contact in ways:
        contacts = dtau.Contacts(model, [contact])
        assert dtau.project(model, q, contacts, max_iterations=1).error < 1e-12
        start = dtau.project(model, q, contacts, tolerance=10.0).error
        assert_close(start, half_turn, 1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"q": np.zeros(3)}, ValueError, "q has shape (3,), expected (..., 4)"),
        ({"q": "home"}, TypeError, "q: expected real numbers, got 'home'"),
        ({"contacts": []}, TypeError, "contacts: expected Contacts, got list"),
        ({"active": [1, 1]}, ValueError, "active has shape (2,), expected (..., 1)"),
        ({"tolerance": -1.0}, ValueError, "tolerance: expected a number of at least 0, got -1.0"),
        ({"max_iterations": 0}, ValueError, "max_iterations: expected an integer of at least 1"),
        ({"model": None}, TypeError, "model: expected Model, got NoneType"),
    ],
)
def test_bad_arguments(arguments: Any, error: type[Exception], said: str) -> None:
    model, contacts, q = dtau.robots.four_bar()
    with pytest.raises(error, match=re.escape(said)):
        dtau.project(**({"model": model, "q": q, "contacts": contacts} | arguments))


def test_other_models_and_quaternions() -> None:
    model, contacts, home = dtau.robots.delta()
    other = dtau.robots.four_bar()
    with pytest.raises(ValueError, match="contacts: expected those of this model, got another mod"):
        dtau.project(model, home, other.contacts)
    q = np.tile(home, (2, 2, 1))
    q[1, 0, -4:] *= 2.0
    with pytest.raises(ValueError, match=re.escape("at batch index (1, 0) has norm 2.0, expected")):
        dtau.project(model, q, contacts)
