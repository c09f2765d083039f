"""Costs, contacts and impulses that change after an action model was made, beside crocoddyl's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from compare import assert_close

import dtau

crocoddyl = pytest.importorskip("crocoddyl")
from through_crocoddyl import (  # noqa: E402
    AXES,
    FEET,
    LEGS,
    TOLERANCE,
    assert_alike,
    cost,
    held,
    integrators,
    quadruped,
    random_states,
    residuals,
)

import dtau.crocoddyl as dc  # noqa: E402

RESIDUALS = sorted(residuals(quadruped()[1], crocoddyl.ActuationModelFloatingBase(quadruped()[1])))
FIRST, SECOND, THIRD = (f"hold {foot}" for foot in FEET[:3])


class Pair(NamedTuple):
    """Our action model and crocoddyl's, of the same costs and contacts or impulses."""

    ours: Any
    theirs: Any
    costs: Any
    contacts: Any
    u: Any

    def residual(self, name: str) -> Any:
        """A cost that joins."""
        state = quadruped()[1]
        known = residuals(state, crocoddyl.ActuationModelFloatingBase(state))
        return crocoddyl.CostModelResidual(state, known[name])

    def contact(self) -> Any:
        """A contact of the fourth foot, which joins."""
        return held(quadruped()[1], "aligned", (10.0, 5.0)).contacts[f"hold {FEET[3]}"].contact


def standing(*names: str) -> Pair:
    model, state = quadruped()
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    known, contacts = residuals(state, actuation), held(state, "aligned", (10.0, 5.0), FEET[:3])
    costs = cost(state, LEGS, *(known[name] for name in names))
    arguments = (actuation, contacts, costs, 0.0, True)
    make = integrators()["euler"]
    ours = dc.DifferentialActionModelContactFwdDynamics(dc.Robot(model, state), *arguments)
    theirs = crocoddyl.DifferentialActionModelContactFwdDynamics(state, *arguments)
    return Pair(make(ours), make(theirs), costs, contacts, np.ones(LEGS))


def falling() -> Pair:
    model, state = quadruped()
    actuation, costs = crocoddyl.ActuationModelFloatingBase(state), cost(state, LEGS)
    make = integrators()["rk4"]
    ours = dc.DifferentialActionModelFreeFwdDynamics(dc.Robot(model, state), actuation, costs)
    theirs = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
    return Pair(make(ours), make(theirs), costs, None, np.ones(LEGS))


def landing() -> Pair:
    model, state = quadruped()
    impulses = crocoddyl.ImpulseModelMultiple(state)
    for foot in FEET[:3]:
        impulses.addImpulse(f"hold {foot}", impulse(foot))
    costs = cost(state, 0)
    ours = dc.ActionModelImpulseFwdDynamics(dc.Robot(model, state), impulses, costs, 0.0, 0.0, True)
    theirs = crocoddyl.ActionModelImpulseFwdDynamics(state, impulses, costs, 0.0, 0.0, True)
    return Pair(ours, theirs, costs, impulses, np.zeros(0))


def impulse(foot: str) -> Any:
    state = quadruped()[1]
    return crocoddyl.ImpulseModel3D(state, state.pinocchio.getFrameId(foot), AXES["aligned"])


def landing_cost() -> Any:
    state = quadruped()[1]
    residual = crocoddyl.ResidualModelFrameTranslation(
        state, state.pinocchio.getFrameId(FEET[0]), np.ones(3), 0
    )
    return crocoddyl.CostModelResidual(state, residual)


@pytest.mark.parametrize("name", RESIDUALS)
def test_costs_that_join_before_the_data_is_made(name: str) -> None:
    """They read data of Pinocchio that no other cost reads."""
    pair = standing()
    pair.ours.createData()
    pair.costs.addCost("late", pair.residual(name), 2.0)
    for x in random_states(quadruped()[1], 2):
        assert_alike(pair.ours, pair.theirs, x, pair.u)


def test_costs_that_join_a_fall_or_an_impact_before_the_data_is_made() -> None:
    (x,) = random_states(quadruped()[1], 1)
    pair = falling()
    pair.costs.addCost("late", pair.residual("velocity"), 2.0)
    assert_alike(pair.ours, pair.theirs, x, pair.u)
    pair = landing()
    pair.costs.addCost("late", landing_cost(), 2.0)
    assert_alike(pair.ours, pair.theirs, x, pair.u)


def weigh(pair: Pair) -> None:
    pair.costs.costs["2"].weight = 7.0


def deactivate(pair: Pair) -> None:
    pair.costs.changeCostStatus("2", False)


def refer(pair: Pair) -> None:
    pair.costs.costs["0"].cost.residual.reference = pair.ours.state.zero()
    pair.costs.costs["2"].cost.residual.reference = 0.3 * np.ones(3)


def lift(pair: Pair) -> None:
    pair.contacts.changeContactStatus(SECOND, False)


def step(pair: Pair) -> None:
    """As many feet stand as before."""
    pair.contacts.changeContactStatus(SECOND, True)
    pair.contacts.changeContactStatus(FIRST, False)


def move(pair: Pair) -> None:
    pair.contacts.contacts[THIRD].contact.reference = np.array([0.4, -0.2, 0.1])


@pytest.mark.parametrize("changes", [(weigh, deactivate), (refer,), (lift, step), (move, lift)])
def test_weights_status_and_references_may_change(changes: tuple[Callable[[Pair], None]]) -> None:
    """Data stays; crocoddyl and dtau evaluate the same after each change."""
    pair = standing("translation")
    (x,) = random_states(quadruped()[1], 1)
    datas = assert_alike(pair.ours, pair.theirs, x, pair.u)
    for change in changes:
        before = datas[1].cost, np.array(datas[1].xnext)
        change(pair)
        assert_alike(pair.ours, pair.theirs, x, pair.u, datas)
        assert before[0] != datas[1].cost or not np.array_equal(before[1], datas[1].xnext)


def test_inactive_costs_may_become_active() -> None:
    pair = standing()
    pair.costs.addCost("later", pair.residual("velocity"), 2.0, False)
    (x,) = random_states(quadruped()[1], 1)
    datas = assert_alike(pair.ours, pair.theirs, x, pair.u)
    before = datas[0].cost
    pair.costs.changeCostStatus("later", True)
    assert_alike(pair.ours, pair.theirs, x, pair.u, datas)
    assert datas[0].cost > before


def test_impulses_may_change_their_status() -> None:
    pair = landing()
    (x,) = random_states(quadruped()[1], 1)
    datas = assert_alike(pair.ours, pair.theirs, x, pair.u)
    for status in ((True, False, True), (False, True, True), (True, True, True)):
        for name, active in zip((FIRST, SECOND, THIRD), status, strict=True):
            pair.contacts.changeImpulseStatus(name, active)
        assert_alike(pair.ours, pair.theirs, x, pair.u, datas)


def test_derivatives_follow_a_change_between_values_and_derivatives() -> None:
    pair = standing()
    (x,) = random_states(quadruped()[1], 1)
    ours, theirs = pair.ours.differential, pair.theirs.differential
    data, expected = ours.createData(), theirs.createData()
    ours.calc(data, x, pair.u)
    lift(pair)
    ours.update_contacts()
    ours.calcDiff(data, x, pair.u)
    theirs.calc(expected, x, pair.u)
    theirs.calcDiff(expected, x, pair.u)
    assert_close(data.Fx, np.array(expected.Fx), TOLERANCE)


def test_new_data_is_for_the_present_frames_and_axes_of_contacts() -> None:
    pair = standing("force")
    (x,) = random_states(quadruped()[1], 1)
    assert_alike(pair.ours, pair.theirs, x, pair.u)
    contact = pair.contacts.contacts[FIRST].contact
    contact.id = quadruped()[1].pinocchio.getFrameId(FEET[3])
    contact.type = AXES["local"]
    assert_alike(pair.ours, pair.theirs, x, pair.u)


JOIN_OR_LEAVE: dict[str, tuple[Callable[[], Pair], Callable[[Pair], None], str]] = {
    "cost joins": (
        standing,
        lambda pair: pair.costs.addCost("late", pair.residual("velocity"), 1.0),
        "costs: .*'late' joined; call createData again",
    ),
    "cost leaves": (standing, lambda pair: pair.costs.removeCost("1"), "costs: .*'1' left"),
    "cost joins a fall": (
        falling,
        lambda pair: pair.costs.addCost("late", pair.residual("velocity"), 1.0),
        "costs: .*'late' joined",
    ),
    "contact joins": (
        standing,
        lambda pair: pair.contacts.addContact("late", pair.contact()),
        "contacts: .*'late' joined",
    ),
    "contact leaves": (
        standing,
        lambda pair: pair.contacts.removeContact(SECOND),
        f"contacts: .*'{SECOND}' left",
    ),
    "cost joins an impact": (
        landing,
        lambda pair: pair.costs.addCost("late", landing_cost(), 1.0),
        "costs: .*'late' joined",
    ),
    "impulse joins": (
        landing,
        lambda pair: pair.contacts.addImpulse("late", impulse(FEET[3])),
        "impulses: .*'late' joined",
    ),
    "impulse leaves": (
        landing,
        lambda pair: pair.contacts.removeImpulse(SECOND),
        f"impulses: .*'{SECOND}' left",
    ),
}


@pytest.mark.parametrize("case", JOIN_OR_LEAVE)
def test_members_that_join_or_leave_need_new_data(case: str) -> None:
    """crocoddyl raises an error of its own; new data is right in both."""
    make, change, message = JOIN_OR_LEAVE[case]
    pair = make()
    x, other = random_states(quadruped()[1], 2)
    ours, theirs = assert_alike(pair.ours, pair.theirs, x, pair.u)
    change(pair)
    for at in (x, other):
        with pytest.raises(ValueError, match=message):
            pair.ours.calc(ours, at, pair.u)
    with pytest.raises(ValueError, match=message):
        pair.ours.calcDiff(ours, other, pair.u)
    with pytest.raises(crocoddyl.Exception, match="it doesn't match the number of"):
        pair.theirs.calc(theirs, x, pair.u)
    for at in (x, other):
        assert_alike(pair.ours, pair.theirs, at, pair.u)


def test_dynamics_that_no_model_has_are_forgotten() -> None:
    """As many references as a controller sets, one batch of knots."""
    pair = standing()
    (x,), robot = random_states(quadruped()[1], 1), pair.ours.differential.robot
    data = pair.ours.createData()
    for height in range(20):
        pair.contacts.contacts[THIRD].contact.reference = np.array([0.0, 0.0, 0.1 * height])
        pair.ours.calc(data, x, pair.u)
    assert len(robot._batches) == 1
    assert isinstance(robot.model, dtau.Model)
