"""Action models of `dtau.crocoddyl` against crocoddyl's own, in its integrators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import assert_close
from trees import Array

import dtau

crocoddyl = pytest.importorskip("crocoddyl")
import pinocchio as pin  # noqa: E402
from through_crocoddyl import (  # noqa: E402
    AXES,
    DT,
    FEET,
    LEGS,
    TOLERANCE,
    URDF,
    assert_alike,
    branches,
    cost,
    held,
    held_elsewhere,
    integrators,
    quadruped,
    random_states,
    residuals,
    start,
)

import dtau.crocoddyl as dc  # noqa: E402

# States


def test_state_has_the_manifold_of_crocoddyls() -> None:
    model, theirs = quadruped()
    ours = dc.State(model)
    assert (ours.nx, ours.ndx, ours.nq, ours.nv) == (theirs.nx, theirs.ndx, theirs.nq, theirs.nv)
    assert np.array_equal(ours.zero(), theirs.zero())
    x, other = random_states(theirs, 2)
    dx = theirs.diff(x, other)
    assert_close(ours.diff(x, other), dx, 1e-12)
    assert_close(ours.integrate(x, dx), theirs.integrate(x, dx), 1e-12)
    for part in (
        crocoddyl.Jcomponent.both,
        crocoddyl.Jcomponent.first,
        crocoddyl.Jcomponent.second,
    ):
        for name, arguments in (("Jdiff", (x, other, part)), ("Jintegrate", (x, dx, part))):
            found, expected = (getattr(state, name)(*arguments) for state in (ours, theirs))
            assert_close(np.array(found).reshape(-1, 36), np.array(expected).reshape(-1, 36), 1e-12)
    carried = np.random.default_rng(0).normal(size=(theirs.ndx, 3))
    for part in (crocoddyl.Jcomponent.first, crocoddyl.Jcomponent.second):
        expected = np.asfortranarray(carried)
        theirs.JintegrateTransport(x, dx, expected, part)
        assert_close(ours.JintegrateTransport(x, dx, carried, part), expected, 1e-12)


@pytest.mark.parametrize("integrator", integrators())
def test_problems_need_no_model_of_pinocchio(integrator: str) -> None:
    model, state = quadruped()
    legs = np.eye(model.nv)[:, 6:]
    ours = dc.Robot(model)
    points = [dtau.PointContact(foot, axes="mixed", kd=10.0) for foot in sorted(FEET)]
    standing = dc.DifferentialActionModelContactFwdDynamics(
        ours, dc.Actuation(ours.state, legs), dtau.Contacts(model, points), cost(ours.state, LEGS)
    )
    theirs = crocoddyl.DifferentialActionModelContactFwdDynamics(
        state,
        crocoddyl.ActuationModelFloatingBase(state),
        held(state, "aligned", (0.0, 10.0)),
        cost(state, LEGS),
    )
    make = integrators()[integrator]
    for x in random_states(state, 2):
        assert_alike(make(standing), make(theirs), x, np.ones(LEGS))


# Action models


@pytest.mark.parametrize("integrator", integrators())
@pytest.mark.parametrize("robot", [quadruped, branches])
def test_free_dynamics_agree(robot: Callable[[], Any], integrator: str) -> None:
    model, state = robot()
    free = state.pinocchio.joints[1].shortname() == "JointModelFreeFlyer"
    kind = crocoddyl.ActuationModelFloatingBase if free else crocoddyl.ActuationModelFull
    actuation = kind(state)
    costs = cost(state, actuation.nu)
    make, shared = integrators()[integrator], dc.Robot(model, state)
    ours = make(dc.DifferentialActionModelFreeFwdDynamics(shared, actuation, costs))
    theirs = make(crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs))
    for x in random_states(state, 3):
        assert_alike(ours, theirs, x, np.linspace(-1.0, 1.0, actuation.nu))
        assert_alike(ours, theirs, x, None)


def test_stages_give_the_gradient_of_a_running_cost() -> None:
    """As crocoddyl's RK4 has it, for joints whose displacements add."""
    model = dtau.load(URDF)
    state = crocoddyl.StateMultibody(pin.buildModelFromUrdf(str(URDF)))
    actuation, h = crocoddyl.ActuationModelFull(state), DT
    theirs = crocoddyl.DifferentialActionModelFreeFwdDynamics(
        state, actuation, cost(state, actuation.nu)
    )
    knot = crocoddyl.IntegratedActionModelRK(theirs, crocoddyl.RKType.four, h)
    nq, u = model.nq, np.linspace(-1.0, 1.0, actuation.nu)
    for x in random_states(state, 3):
        data = knot.createData()
        knot.calc(data, x, u)
        knot.calcDiff(data, x, u)
        lin = dtau.linearize_stages(model, x[:nq], x[nq:], u, h)
        value, by_x, by_u = 0.0, np.zeros(state.ndx), np.zeros(actuation.nu)
        for i, weight in enumerate(h * np.array([1.0, 2.0, 2.0, 1.0]) / 6.0):
            own, stage = theirs.createData(), np.concatenate([lin.q_stages[i], lin.v_stages[i]])
            theirs.calc(own, stage, u)
            theirs.calcDiff(own, stage, u)
            value += weight * own.cost
            by_x += weight * own.Lx @ lin.A_stages[i]
            by_u += weight * (own.Lx @ lin.B_stages[i] + own.Lu)
        assert_close(np.array(value), np.array(data.cost), TOLERANCE)
        assert_close(by_x, data.Lx, TOLERANCE)
        assert_close(by_u, data.Lu, TOLERANCE)
        assert_close(np.concatenate([lin.q, lin.v]), data.xnext, TOLERANCE)
        assert_close(lin.A, data.Fx, TOLERANCE)
        assert_close(lin.B, data.Fu, TOLERANCE)


def test_branches_are_in_another_order() -> None:
    model, state = branches()
    convention = dtau.conventions.pinocchio(model, state.pinocchio)
    order = convention.from_dtau(dtau.neutral(model), np.arange(float(model.nv))).v
    assert state.nq > state.nv
    assert list(order) != sorted(order)


@pytest.mark.parametrize("integrator", integrators())
@pytest.mark.parametrize("gains", [(0.0, 0.0), (0.0, 50.0), (100.0, 20.0)])
@pytest.mark.parametrize("axes", AXES)
def test_contact_dynamics_and_forces_agree(
    axes: str, gains: tuple[float, float], integrator: str
) -> None:
    model, state = quadruped()
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    contacts, costs = held(state, axes, gains), cost(state, LEGS)
    arguments = (actuation, contacts, costs, 0.0, True)
    ours = dc.DifferentialActionModelContactFwdDynamics(dc.Robot(model, state), *arguments)
    theirs = crocoddyl.DifferentialActionModelContactFwdDynamics(state, *arguments)
    make = integrators()[integrator]
    for x in random_states(state, 2):
        mine, other = assert_alike(make(ours), make(theirs), x, np.ones(LEGS))
        if integrator == "euler":
            assert_same_forces(mine, other)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
@pytest.mark.parametrize("gains", [(0.0, 0.0), (0.0, 50.0), (100.0, 20.0)])
@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("kind", [1, 6])
def test_contacts_of_one_and_six_rows_agree_away_from_rest(
    kind: int, axes: str, gains: tuple[float, float], integrator: str
) -> None:
    model, state = quadruped()
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    contacts = held_elsewhere(state, kind, axes, gains, LEGS, FEET[: {1: 4, 6: 2}[kind]])
    arguments = (actuation, contacts, cost(state, LEGS), 0.0, True)
    ours = dc.DifferentialActionModelContactFwdDynamics(dc.Robot(model, state), *arguments)
    theirs = crocoddyl.DifferentialActionModelContactFwdDynamics(state, *arguments)
    make = integrators()[integrator]
    for x in random_states(state, 2):
        mine, other = assert_alike(make(ours), make(theirs), x, np.ones(LEGS))
        if integrator == "euler":
            assert_same_forces(mine, other)


def assert_same_forces(mine: Any, other: Any) -> None:
    found = mine.differential.contacts.contacts.todict()
    expected = other.differential.multibody.contacts.contacts.todict()
    for name, force in expected.items():
        assert_close(found[name].f.vector, force.f.vector, TOLERANCE)
        assert_close(found[name].fext.vector, force.fext.vector, TOLERANCE)
        assert_close(np.array(found[name].df_dx), np.array(force.df_dx), TOLERANCE)
        assert_close(np.array(found[name].df_du), np.array(force.df_du), TOLERANCE)


def test_branches_with_contacts_agree() -> None:
    model, state = branches()
    actuation = crocoddyl.ActuationModelFull(state)
    contacts = crocoddyl.ContactModelMultiple(state, state.nv)
    toe = crocoddyl.ContactModel3D(
        state, state.pinocchio.getFrameId("toe"), np.ones(3), AXES["local"], state.nv, np.ones(2)
    )
    contacts.addContact("toe", toe)
    arguments = (actuation, contacts, cost(state, state.nv), 0.0, True)
    ours = dc.DifferentialActionModelContactFwdDynamics(dc.Robot(model, state), *arguments)
    theirs = crocoddyl.DifferentialActionModelContactFwdDynamics(state, *arguments)
    for x in random_states(state, 2):
        euler = integrators()["euler"]
        assert_alike(euler(ours), euler(theirs), x, np.ones(state.nv))


RESIDUALS = sorted(residuals(quadruped()[1], crocoddyl.ActuationModelFloatingBase(quadruped()[1])))

SOME = ["center of mass", "force", "placement", "velocity"]


@pytest.mark.parametrize("names", [*([name] for name in RESIDUALS), SOME, RESIDUALS], ids="-".join)
def test_costs_of_crocoddyl_read_what_they_need(names: list[str]) -> None:
    model, state = quadruped()
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    known = residuals(state, actuation)
    costs = cost(state, LEGS, *(known[name] for name in names))
    arguments = (actuation, held(state, "aligned"), costs, 0.0, True)
    ours = dc.DifferentialActionModelContactFwdDynamics(dc.Robot(model, state), *arguments)
    theirs = crocoddyl.DifferentialActionModelContactFwdDynamics(state, *arguments)
    make = integrators()["euler"]
    for x in random_states(state, 2):
        assert_alike(make(ours), make(theirs), x, np.ones(LEGS))
    if "momentum" not in names:
        assert_alike(make(ours), make(theirs), x, None)


def test_costs_of_momentum_have_derivatives_at_the_end() -> None:
    """The model of crocoddyl never computes what they read there."""
    model, state = quadruped()
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    costs = cost(state, LEGS, residuals(state, actuation)["momentum"])
    arguments = (actuation, held(state, "aligned"), costs)
    ours = dc.DifferentialActionModelContactFwdDynamics(dc.Robot(model, state), *arguments)
    data, (x,), h = ours.createData(), random_states(state, 1), 1e-5

    def value(dx: Array) -> float:
        ours.calc(data, state.integrate(x, dx))
        return float(data.cost)

    rises = [(value(h * e) - value(-h * e)) / (2.0 * h) for e in np.eye(state.ndx)]
    ours.calc(data, x)
    ours.calcDiff(data, x)
    assert_close(data.Lx, np.array(rises), 1e-6)


@pytest.mark.parametrize("kind", [3, 6])
@pytest.mark.parametrize("axes", ["local", "aligned"])
@pytest.mark.parametrize("restitution", [0.0, 0.4])
def test_impulses_agree(kind: int, axes: str, restitution: float) -> None:
    model, state = quadruped()
    impulses = crocoddyl.ImpulseModelMultiple(state)
    make = {3: crocoddyl.ImpulseModel3D, 6: crocoddyl.ImpulseModel6D}[kind]
    for foot in FEET[: {3: 3, 6: 1}[kind]]:
        impulse = make(state, state.pinocchio.getFrameId(foot), AXES[axes])
        impulses.addImpulse(f"{foot} lands", impulse)
    costs = cost(state, 0, crocoddyl.ResidualModelImpulseCoM(state))
    arguments = (impulses, costs, restitution, 0.0, True)
    ours = dc.ActionModelImpulseFwdDynamics(dc.Robot(model, state), *arguments)
    theirs = crocoddyl.ActionModelImpulseFwdDynamics(state, *arguments)
    for x in random_states(state, 2):
        if restitution:  # crocoddyl's derivative leaves the restitution out
            data, other = ours.createData(), theirs.createData()
            ours.calc(data, x, np.zeros(0))
            theirs.calc(other, x, np.zeros(0))
            assert_close(data.xnext, other.xnext, TOLERANCE)
            continue
        mine, other = assert_alike(ours, theirs, x, np.zeros(0))
        expected = other.multibody.impulses.impulses.todict()
        for name, found in mine.impulses.impulses.todict().items():
            assert_close(found.f.vector, expected[name].f.vector, TOLERANCE)


def test_contacts_can_change_their_status_and_references() -> None:
    model, state = quadruped()
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    contacts = held(state, "aligned", (10.0, 5.0))
    arguments = (actuation, contacts, cost(state, LEGS), 0.0, True)
    ours = dc.DifferentialActionModelContactFwdDynamics(dc.Robot(model, state), *arguments)
    theirs = crocoddyl.DifferentialActionModelContactFwdDynamics(state, *arguments)
    contacts.changeContactStatus(f"hold {FEET[2]}", False)
    contacts.contacts.todict()[f"hold {FEET[0]}"].contact.reference = np.ones(3)
    ours.update_contacts()
    make = integrators()["euler"]
    for x in random_states(state, 2):
        assert_alike(make(ours), make(theirs), x, np.ones(LEGS))


def test_changed_contacts_leave_other_models_alone() -> None:
    model, state = quadruped()
    robot, actuation = dc.Robot(model, state), crocoddyl.ActuationModelFloatingBase(state)
    all_feet = [held(state, "aligned") for _ in range(2)]
    first, second = (
        dc.DifferentialActionModelContactFwdDynamics(robot, actuation, x, cost(state, LEGS))
        for x in all_feet
    )
    all_feet[0].changeContactStatus(f"hold {FEET[2]}", False)
    first.update_contacts()
    theirs = crocoddyl.DifferentialActionModelContactFwdDynamics(
        state, actuation, all_feet[1], cost(state, LEGS)
    )
    make = integrators()["euler"]
    assert_alike(make(second), make(theirs), start(), np.ones(LEGS))


def test_contacts_of_dependent_rows_hold_with_damping() -> None:
    model, state = quadruped()
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    twice = held(state, "aligned")
    frame = state.pinocchio.getFrameId(FEET[0])
    again = crocoddyl.ContactModel3D(state, frame, np.zeros(3), AXES["aligned"], LEGS, np.zeros(2))
    twice.addContact("again", again)
    accelerations = []
    for contacts, damping in ((held(state, "aligned"), 0.0), (twice, 1e-12)):
        arguments = (actuation, contacts, cost(state, LEGS), damping)
        ours = dc.DifferentialActionModelContactFwdDynamics(dc.Robot(model, state), *arguments)
        data = ours.createData()
        ours.calc(data, start(), np.ones(LEGS))
        accelerations.append(np.array(data.xout))
    assert_close(*accelerations, TOLERANCE)
