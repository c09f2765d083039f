"""Time derivatives with contacts and closed loops: against series of many digits, and laws."""

from __future__ import annotations

from math import factorial
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from cases import random_q, random_state, robot
from contact_oracle import random_contacts
from replayed_series import forward, inverse
from trees import Array, random_quaternion, random_tree, rotation_of

import dtau

QUADRUPED = dtau.robots.quadruped()
FEET = dtau.robots.QUADRUPED_FEET
Q, V, _ = dtau.random_state(QUADRUPED, np.random.default_rng(0))
ORDERS = 5  # 0 to 4


def apart(found: Array, expected: Array) -> float:
    """The largest difference of a row, relative to the row's size."""
    size = abs(expected).max(1, initial=1.0, keepdims=True)
    return float((abs(found - expected) / size).max(initial=0.0))


def check_forward(
    contacts: dtau.Contacts,
    q: Array,
    v: Array,
    tau: Array,
    bound: float = 1e-11,
    of_forces: float = 1e-11,
    f_ext: Array | None = None,
    **options: Any,
) -> dtau.results.ConstrainedDynamics:
    model = contacts.model
    found = dtau.constrained_dynamics_time_derivatives(model, q, v, tau, contacts, f_ext, **options)
    alone = dtau.constrained_dynamics(
        model, q, v, tau[0], contacts, None if f_ext is None else f_ext[0], **options
    )
    assert all(np.array_equal(x[0], y) for x, y in zip(found, alone, strict=True))
    constants = {x: options.pop(x) for x in ("active", "positions") if x in options}
    stacks = {"tau": tau, **({} if f_ext is None else {"f_ext": f_ext})}
    with mp.workdps(40):
        expected = forward(
            "constrained_dynamics",
            model,
            {"q": q, "v": v},
            stacks,
            constants,
            {"contacts": contacts, **options},
        )
    a, forces, residual = np.split(expected, [model.nv, model.nv + contacts.nrows], axis=1)
    assert apart(found.a, a) < bound
    assert apart(found.forces, forces) < of_forces
    size = abs(a).max(1, initial=1.0, keepdims=True)  # of what cancels in a residual
    assert (abs(found.residual - residual) < 10.0 * bound * size).all()
    return found


@pytest.mark.parametrize("seed", range(60))
def test_generated_trees_with_contacts_and_loops(seed: int) -> None:
    model = random_tree(seed).model()
    state = random_state(model, seed)
    contacts = random_contacts(model, [state], seed, 3)
    rng = np.random.default_rng(seed)
    check_forward(
        contacts,
        state["q"],
        state["v"],
        5.0 * rng.standard_normal((ORDERS, model.nv)),
        f_ext=rng.standard_normal((ORDERS, model.nbodies, 6)),
        f_ext_axes=("body", "mixed", "world")[seed % 3],
        active=(rng.random(len(contacts)) < 0.7).astype(float),
    )


@pytest.mark.parametrize("axes", ["body", "mixed"])
@pytest.mark.parametrize("acceleration", ["classical", "spatial"])
def test_a_foot_is_held_at_a_placement_away_from_it(axes: Any, acceleration: Any) -> None:
    turned = dtau.Pose(rotation_of(random_quaternion(np.random.default_rng(8))), (0.1, 0.2, 0.05))
    at = dtau.Pose(*dtau.frame_placements(QUADRUPED, Q, FEET[0])) @ turned
    held = dtau.FrameContact(FEET[0], axes, 20.0, 5.0, at, acceleration=acceleration)
    tau = np.random.default_rng(1).standard_normal((ORDERS, QUADRUPED.nv))
    check_forward(dtau.Contacts(QUADRUPED, [held]), Q, V, tau)


@pytest.mark.parametrize("axes", ["body", "mixed"])
@pytest.mark.parametrize("acceleration", ["classical", "spatial"])
def test_a_foot_is_held_where_it_is(axes: Any, acceleration: Any) -> None:
    """Order k is the rate of order k - 1 along the motion; the angle of the error begins at 0."""
    held = dtau.FrameContact(FEET[0], axes, 50.0, 7.0, acceleration=acceleration)
    contacts = dtau.Contacts(QUADRUPED, [held], at=Q)
    tau = np.random.default_rng(9).standard_normal((5, QUADRUPED.nv))
    h, order, q, v = 1e-4, 3, Q, V
    found = dtau.constrained_dynamics_time_derivatives(QUADRUPED, Q, V, tau, contacts)
    near = []
    for sign in (-1.0, 1.0):
        q, v = Q, V
        for k in range(4):  # steps of rk4 with the torques of their middles
            t = sign * (k + 0.5) * h / 4.0
            q, v = dtau.step(
                QUADRUPED, q, v, polynomial(tau, t)[0], sign * h / 4.0, "rk4", contacts=contacts
            )
        near.append(
            dtau.constrained_dynamics_time_derivatives(
                QUADRUPED, q, v, polynomial(tau, sign * h), contacts, order=order
            )
        )
    for name in ("a", "forces"):
        below, above = (getattr(x, name)[:order] for x in near)
        rates = getattr(found, name)[1 : order + 1]
        assert apart(rates, (above - below) / (2.0 * h)) < 1e-5


def polynomial(derivatives: Array, t: float) -> Array:
    """Values and all rates after a time."""
    count = len(derivatives)
    rows = [
        sum(t**j / factorial(j) * derivatives[k + j] for j in range(count - k))
        for k in range(count)
    ]
    return np.array(rows)


def test_a_call_says_where_contacts_are_held() -> None:
    held = [
        dtau.PointContact(x, y, 30.0, 3.0, np.zeros(3))
        for x, y in zip(FEET, ("mixed", "body"), strict=False)
    ]
    rng = np.random.default_rng(2)
    tau, positions = rng.standard_normal((ORDERS, QUADRUPED.nv)), rng.standard_normal((2, 3))
    check_forward(dtau.Contacts(QUADRUPED, held), Q, V, tau, positions=positions)


def test_joints_that_mimic_others() -> None:
    model = robot("joints that mimic others")
    rng = np.random.default_rng(3)
    q, v = random_q(model, rng), rng.standard_normal(model.nv)
    contacts = dtau.Contacts(model, [dtau.PointContact("prismatic2", "mixed")])
    check_forward(contacts, q, v, rng.standard_normal((ORDERS, model.nv)))


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
    contacts = dtau.Contacts(QUADRUPED, some)
    tau = np.random.default_rng(4).standard_normal((ORDERS, QUADRUPED.nv))
    found = check_forward(contacts, Q, V, tau, of_forces=of_forces, regularization=1e-6)
    assert (abs(found.residual[1]).max() > 0.1) == (held == "more than can hold")
    with pytest.raises(ValueError, match="depend on the rows of"):
        dtau.constrained_dynamics_time_derivatives(QUADRUPED, Q, V, tau, contacts)


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


# ---------------------------------------------------------------- inverse dynamics


def check_inverse(contacts: dtau.Contacts, q: Array, seed: int, axes: Any, **options: Any) -> None:
    model, rng = contacts.model, np.random.default_rng(seed)
    motion = rng.standard_normal((ORDERS + 1, model.nv))
    f_ext = rng.standard_normal((ORDERS, model.nbodies, 6))
    found = dtau.constrained_inverse_dynamics_time_derivatives(
        model, q, motion, contacts, f_ext, f_ext_axes=axes, **options
    )
    alone = dtau.constrained_inverse_dynamics(
        model, q, motion[0], motion[1], contacts, f_ext[0], f_ext_axes=axes, **options
    )
    assert all(np.array_equal(x[0], y) for x, y in zip(found, alone, strict=True))
    constants = {"active": options.pop("active")} if "active" in options else {}
    with mp.workdps(40):
        expected = inverse(
            "constrained_inverse_dynamics",
            model,
            q,
            motion,
            {"f_ext": f_ext},
            constants,
            {"contacts": contacts, "f_ext_axes": axes, **options},
        )
    assert apart(found.tau, expected[:, : model.nv]) < 1e-12
    assert apart(found.forces, expected[:, model.nv :]) < 1e-12


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
    on = np.array(active, float)
    contacts = dtau.Contacts(QUADRUPED, some)
    check_inverse(contacts, Q, feet, axes, active=on, regularization=regularization)


def test_torques_of_joints_that_mimic_others() -> None:
    model = robot("joints that mimic others")
    held = [dtau.FrameContact("revolute7", "mixed"), dtau.PointContact("prismatic2")]
    q = random_q(model, np.random.default_rng(3))
    check_inverse(dtau.Contacts(model, held), q, 4, "world", regularization=1e-6)


def test_inverse_dynamics_undoes_forward_dynamics() -> None:
    """With as many velocities without an input as rows, forces are unique, and so are torques."""
    contacts = dtau.Contacts(QUADRUPED, [dtau.PointContact(foot) for foot in FEET])
    driven = np.ones(QUADRUPED.nv, bool)
    driven[:6] = driven[7::2] = False
    assert (~driven).sum() == contacts.nrows
    tau = driven * np.random.default_rng(6).standard_normal((ORDERS, QUADRUPED.nv))
    moved = dtau.constrained_dynamics_time_derivatives(QUADRUPED, Q, V, tau, contacts)
    back = dtau.constrained_inverse_dynamics_time_derivatives(
        QUADRUPED, Q, np.vstack([V, moved.a]), contacts, inputs=driven
    )
    assert apart(back.forces, moved.forces) < 1e-10
    size = abs(moved.forces).max(1, keepdims=True)  # what cancels in the torques
    assert (abs(back.tau - tau) < 1e-10 * size).all()
