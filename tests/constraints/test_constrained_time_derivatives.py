"""Time derivatives with contacts and closed loops: each order is the rate of the one before."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
import pytest
from cases import random_q, random_state, robot
from contact_oracle import random_contacts
from rate_laws import PLAIN, Motion
from trees import Array, random_quaternion, random_tree, rotation_of

import dtau

QUADRUPED = dtau.robots.quadruped()
FEET = dtau.robots.QUADRUPED_FEET
Q, V, _ = dtau.random_state(QUADRUPED, np.random.default_rng(0))
ORDER = 4
BOTH = pytest.mark.parametrize("axes", ["body", "mixed"])
EACH = pytest.mark.parametrize("acceleration", ["classical", "spatial"])
FORWARD = "constrained_dynamics_time_derivatives"


def apart(found: Array, expected: Array) -> float:
    """The largest difference of a row, relative to the row's size."""
    size = abs(expected).max(1, initial=1.0, keepdims=True)
    return float((abs(found - expected) / size).max(initial=0.0))


def check(
    name: str,
    contacts: dtau.Contacts,
    seed: int,
    at: dict[str, Array],
    bound: float = 1e-11,
    of_forces: float = 1e-11,
    **options: Any,
) -> dict[str, Array]:
    """Order 0 has the bits of the plain function; rates are by complex step in time."""
    motion = Motion(name, contacts.model, seed, ORDER, at=at, contacts=contacts, **options)
    found, rates = motion.results(), motion.rates()
    for y, x in motion.plain(PLAIN[name]).items():
        assert np.array_equal(found[y][0], x), y
    for (y, x), rate in zip(found.items(), rates, strict=True):
        if y == "residual":
            size = abs(found["a"]).max(1, initial=1.0, keepdims=True)  # of what cancels in it
            assert (abs(x[1:] - rate) < 10.0 * bound * size[1:]).all()
        else:
            assert apart(x[1:], rate) < (of_forces if y == "forces" else bound), y
    return found


@pytest.mark.parametrize("seed", range(60))
def test_generated_trees_with_contacts_and_loops(seed: int) -> None:
    model = random_tree(seed).model()
    state, rng = random_state(model, seed), np.random.default_rng(seed)
    contacts = random_contacts(model, [state], seed, 3)
    at = {
        "q": state["q"],
        "v": state["v"],
        "tau_derivatives": 5.0 * rng.standard_normal((ORDER + 1, model.nv)),
        "active": (rng.random(len(contacts)) < 0.7).astype(float),
    }
    check(FORWARD, contacts, seed, at, f_ext_axes=("body", "mixed", "world")[seed % 3])


@BOTH
@EACH
def test_a_foot_is_held_at_a_placement_away_from_it(axes: Any, acceleration: Any) -> None:
    turned = dtau.Pose(rotation_of(random_quaternion(np.random.default_rng(8))), (0.1, 0.2, 0.05))
    at = dtau.Pose(*dtau.frame_placements(QUADRUPED, Q, FEET[0])) @ turned
    held = dtau.FrameContact(FEET[0], axes, 20.0, 5.0, at, acceleration=acceleration)
    check(FORWARD, dtau.Contacts(QUADRUPED, [held]), 1, {"q": Q, "v": V})


@BOTH
@EACH
def test_a_foot_is_held_where_it_is(axes: Any, acceleration: Any) -> None:
    """The angle of the error begins at 0."""
    held = dtau.FrameContact(FEET[0], axes, 50.0, 7.0, acceleration=acceleration)
    check(FORWARD, dtau.Contacts(QUADRUPED, [held], at=Q), 9, {"q": Q, "v": V})


def test_a_call_says_where_contacts_are_held() -> None:
    held = [
        dtau.PointContact(x, y, 30.0, 3.0, np.zeros(3))
        for x, y in zip(FEET, ("mixed", "body"), strict=False)
    ]
    positions = np.random.default_rng(2).standard_normal((2, 3))
    at = {"q": Q, "v": V, "positions": positions}
    check(FORWARD, dtau.Contacts(QUADRUPED, held), 2, at)


@pytest.mark.parametrize("name", [FORWARD, "constrained_inverse_dynamics_time_derivatives"])
def test_joints_that_mimic_others(name: str) -> None:
    model = robot("joints that mimic others")
    held: list[Any] = [dtau.PointContact("prismatic2", "mixed")]
    held += [dtau.FrameContact("revolute7", "mixed")] * (name != FORWARD)
    at = {"q": random_q(model, np.random.default_rng(3))}
    bound = 1e-11 if name == FORWARD else 1e-12
    options: dict[str, Any] = {} if name == FORWARD else {"regularization": 1e-6}
    contacts = dtau.Contacts(model, held)
    check(name, contacts, 4, at, bound, bound, f_ext_axes="world", **options)


# Forces that move nothing have an error of eps tr(G)/R (constraints/forces.hpp).
@pytest.mark.parametrize(
    ("held", "of_forces"),
    [("twice", 1e-11), ("along other axes", 1e-8), ("more than can hold", 1e-7)],
)
def test_rows_that_depend_on_each_other(held: str, of_forces: float) -> None:
    """The shortest forces, and the residual of rows that contradict each other."""
    if held == "more than can hold":
        some: list[Any] = [dtau.FrameContact(foot) for foot in FEET]
    else:
        axes: Any = "body" if held == "twice" else "mixed"
        some = [dtau.PointContact(FEET[0], name="a"), dtau.PointContact(FEET[0], axes, name="b")]
    contacts, at = dtau.Contacts(QUADRUPED, some), {"q": Q, "v": V}
    found = check(FORWARD, contacts, 4, at, of_forces=of_forces, regularization=1e-6)
    assert (abs(found["residual"][1]).max() > 0.1) == (held == "more than can hold")
    tau = np.zeros((1, QUADRUPED.nv))
    with pytest.raises(ValueError, match="depend on the rows of"):
        dtau.constrained_dynamics_time_derivatives(QUADRUPED, Q, V, tau, contacts)


@pytest.mark.parametrize("axes", ["body", "mixed", "world"])
@pytest.mark.parametrize(
    ("feet", "active", "regularization"),
    [(4, (1, 1, 1, 1), 0.0), (4, (1, 1, 0, 1), 0.0), (2, (1, 1), 1e-6), (2, (1, 0), 1e-6)],
)
def test_torques_and_forces_of_a_motion(
    feet: int, active: Any, regularization: float, axes: Any
) -> None:
    some = [
        dtau.PointContact(x, y) for x, y in zip(FEET[:feet], ["body", "mixed"] * 2, strict=False)
    ]
    contacts, at = dtau.Contacts(QUADRUPED, some), {"q": Q, "active": np.array(active, float)}
    name, bounds = "constrained_inverse_dynamics_time_derivatives", (1e-12, 1e-12)
    check(name, contacts, feet, at, *bounds, f_ext_axes=axes, regularization=regularization)


def test_the_series_is_the_motion_of_steps() -> None:
    """rk4 steps of a millisecond follow the Taylor polynomial of ten."""
    contacts = dtau.Contacts(QUADRUPED, [dtau.PointContact(foot) for foot in FEET[:2]])
    rate = np.random.default_rng(5).standard_normal((2, QUADRUPED.nv))
    tau = np.stack([rate[0], rate[1], *np.zeros((2, QUADRUPED.nv))])
    found = dtau.constrained_dynamics_time_derivatives(QUADRUPED, Q, V, tau, contacts)
    q, v, dt, count = Q, V, 2.5e-4, 20
    for k in range(count):  # constant torques in a step: the torques of its middle
        now = rate[0] + (k + 0.5) * dt * rate[1]
        q, v = dtau.step(QUADRUPED, q, v, now, dt, "rk4", contacts=contacts)
    t = dt * count
    series = V + sum(a * t ** (k + 1) / factorial(k + 1) for k, a in enumerate(found.a))
    assert abs(series - v).max() < 1e-6 * abs(V - v).max()


def test_inverse_dynamics_undoes_forward_dynamics() -> None:
    """With as many velocities without an input as rows, forces are unique, and so are torques."""
    contacts = dtau.Contacts(QUADRUPED, [dtau.PointContact(foot) for foot in FEET])
    driven = np.ones(QUADRUPED.nv, bool)
    driven[:6] = driven[7::2] = False
    assert (~driven).sum() == contacts.nrows
    tau = driven * np.random.default_rng(6).standard_normal((ORDER + 1, QUADRUPED.nv))
    moved = dtau.constrained_dynamics_time_derivatives(QUADRUPED, Q, V, tau, contacts)
    back = dtau.constrained_inverse_dynamics_time_derivatives(
        QUADRUPED, Q, np.vstack([V, moved.a]), contacts, inputs=driven
    )
    assert apart(back.forces, moved.forces) < 1e-10
    size = abs(moved.forces).max(1, keepdims=True)  # what cancels in the torques
    assert (abs(back.tau - tau) < 1e-10 * size).all()
