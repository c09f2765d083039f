"""Knots of `dtau.crocoddyl` that use data of costs in turn, beside crocoddyl's with their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import assert_close

crocoddyl = pytest.importorskip("crocoddyl")
import pinocchio as pin  # noqa: E402
from through_crocoddyl import (  # noqa: E402
    DT,
    FEET,
    LEGS,
    TOLERANCE,
    cost,
    held,
    quadruped,
    random_states,
    residuals,
)

import dtau.crocoddyl as dc  # noqa: E402

KNOTS = 4
SHARED = ("center of mass", "placement", "translation", "rotation", "force", "friction")
OWN = ("effort", "acceleration", "gravity")
RESULTS = ("xnext", "cost", "Fx", "Fu", "Lx", "Lu", "Lxx", "Lxu", "Luu")


class Row:
    """Knots of the same classes and other numbers, with our dynamics and with crocoddyl's."""

    def __init__(self, *names: str) -> None:
        model, self.state = quadruped()
        robot, rng = dc.Robot(model, self.state), np.random.default_rng(0)
        actuation = crocoddyl.ActuationModelFloatingBase(self.state)
        self.costs, self.contacts, pairs = [], [], []
        for _ in range(KNOTS):
            known = residuals(self.state, actuation)
            costs = cost(self.state, LEGS, *(known[name] for name in names))
            aim = self.state.integrate(self.state.zero(), rng.normal(size=self.state.ndx))
            tracking = crocoddyl.ResidualModelState(self.state, aim, LEGS)
            weights = crocoddyl.ActivationModelWeightedQuad(rng.random(self.state.ndx))
            weighted = crocoddyl.CostModelResidual(self.state, weights, tracking)
            costs.addCost("weighted", weighted, 3.0)
            for foot in FEET[:3]:
                frame = self.state.pinocchio.getFrameId(foot)
                cone = crocoddyl.FrictionCone(np.eye(3), rng.uniform(0.1, 5.0), 4, False)
                there = crocoddyl.ResidualModelContactFrictionCone(self.state, frame, cone, LEGS)
                limits = crocoddyl.ActivationModelQuadraticBarrier(
                    crocoddyl.ActivationBounds(cone.lb, cone.ub)
                )
                limited = crocoddyl.CostModelResidual(self.state, limits, there)
                costs.addCost(f"cone {foot}", limited, 0.1)
            contacts = held(self.state, "aligned", (0.0, 5.0), FEET[:3])
            arguments = (actuation, contacts, costs, 0.0, True)
            self.costs.append(costs)
            self.contacts.append(contacts)
            pairs.append(
                (
                    dc.DifferentialActionModelContactFwdDynamics(robot, *arguments),
                    crocoddyl.DifferentialActionModelContactFwdDynamics(self.state, *arguments),
                )
            )
        self.problems = []
        for made in zip(*pairs, strict=True):
            knots = [crocoddyl.IntegratedActionModelEuler(dynamics, DT) for dynamics in made]
            problem = crocoddyl.ShootingProblem(self.state.zero(), knots, knots[1])
            problem.nthreads = 1
            self.problems.append(problem)
        self.rng = rng

    def parts(self) -> list[Any]:
        """The data that our knots use, in turn or alone."""
        ours = self.problems[0]
        return [data.differential.parts for data in [*ours.runningDatas, ours.terminalData]]

    def compare(self) -> None:
        """Evaluate all knots, then differentiate all, as a solver does."""
        xs = [x for x in random_states(self.state, KNOTS + 1)]
        xs = [np.where(np.arange(len(x)) < self.state.nq, x, 0.3 * x) for x in xs]
        us = [10.0 * self.rng.normal(size=LEGS) for _ in range(KNOTS)]
        for problem in self.problems:
            problem.calc(xs, us)
            problem.calcDiff(xs, us)
        ours, theirs = self.problems
        for mine, other in zip(ours.runningDatas, theirs.runningDatas, strict=True):
            for name in RESULTS:
                assert_close(np.array(getattr(mine, name)), np.array(getattr(other, name)), 1e-8)
        for name in ("cost", "Lx", "Lxx"):
            found, expected = (np.array(getattr(p.terminalData, name)) for p in (ours, theirs))
            assert_close(found, expected, 1e-8)

    def compare_readings(self, k: int) -> None:
        """What a reader finds in the data of a knot, which has values of its own."""
        mine = self.problems[0].runningDatas[k].differential
        other = self.problems[1].runningDatas[k].differential
        costs = mine.costs.costs.todict()
        for name, theirs in other.costs.costs.todict().items():
            for entry in ("cost", "Lx", "Lxx"):
                found, expected = getattr(costs[name], entry), getattr(theirs, entry)
                assert_close(np.array(found), np.array(expected), 1e-8)
        forces = mine.contacts.contacts.todict()
        for name, theirs in other.multibody.contacts.contacts.todict().items():
            assert_close(forces[name].f.vector, theirs.f.vector, TOLERANCE)
            assert_close(forces[name].fext.vector, theirs.fext.vector, TOLERANCE)
            assert_close(np.array(forces[name].df_dx), np.array(theirs.df_dx), TOLERANCE)


@pytest.mark.parametrize("names", [(), *((name,) for name in SHARED), ("velocity", *SHARED)])
def test_knots_in_turn_agree(names: tuple[str, ...]) -> None:
    row = Row(*names)
    assert len(set(map(id, row.parts()))) == 1
    for _ in range(2):
        row.compare()


@pytest.mark.parametrize("name", OWN)
def test_knots_whose_costs_read_more_have_data_of_their_own(name: str) -> None:
    row = Row(name)
    assert len(set(map(id, row.parts()))) == KNOTS + 1
    row.compare()


def test_a_knot_that_someone_reads_keeps_its_values() -> None:
    row = Row("force", "center of mass")
    row.compare()
    row.compare_readings(2)
    assert len(set(map(id, row.parts()))) == 2
    row.compare()
    row.compare_readings(2)
    row.compare_readings(0)


def test_values_can_be_read_before_derivatives() -> None:
    row = Row("force")
    ours, x = row.problems[0], row.state.zero()
    assert ours.runningDatas[0].differential.costs.cost == 0.0  # never evaluated
    ours.calc([x] * (KNOTS + 1), [np.ones(LEGS)] * KNOTS)
    for data in [*ours.runningDatas, ours.terminalData]:
        assert data.differential.costs.cost == data.differential.cost > 0.0


def test_status_weights_and_references_of_one_knot_leave_the_others() -> None:
    row = Row("force", "friction", "translation")
    row.compare()
    row.contacts[1].changeContactStatus(f"hold {FEET[0]}", False)
    row.costs[2].changeCostStatus("2", False)
    row.costs[3].costs["4"].cost.residual.reference = np.array([3.0, 2.0, 1.0])
    row.costs[0].costs["weighted"].weight = 7.0
    row.compare()
    for foot in FEET[:3]:
        row.contacts[1].changeContactStatus(f"hold {foot}", False)
    row.compare()
    row.compare_readings(1)
    for foot in FEET[:3]:
        row.contacts[1].changeContactStatus(f"hold {foot}", True)
    row.compare()


def test_weights_of_an_activation_change_for_their_knot() -> None:
    row = Row()
    row.compare()
    row.costs[1].costs["weighted"].cost.activation.weights = np.arange(row.state.ndx) + 1.0
    # the two problems share the activation, which tells the first data of the change alone
    found = [np.array(data.Lxx) for data in row.problems[0].runningDatas]
    xs, us = [row.state.zero()] * (KNOTS + 1), [np.zeros(LEGS)] * KNOTS
    row.problems[0].calc(xs, us)
    row.problems[0].calcDiff(xs, us)
    expected = [
        crocoddyl.IntegratedActionModelEuler(knot.differential, DT)
        for knot in row.problems[1].runningModels
    ]
    for k, knot in enumerate(expected):
        data = knot.createData()
        knot.calc(data, xs[k], us[k])
        knot.calcDiff(data, xs[k], us[k])
        now = np.array(row.problems[0].runningDatas[k].Lxx)
        assert_close(now, np.array(data.Lxx), TOLERANCE)
        assert (np.abs(now - found[k]).max() > 0.01) or k != 1


def test_a_force_of_zero_is_outside_as_with_crocoddyl() -> None:
    state = quadruped()[1]
    floating = pin.Model(state.pinocchio)
    floating.gravity = pin.Motion.Zero()
    state = crocoddyl.StateMultibody(floating)
    model = quadruped()[0].replace(gravity=(0.0, 0.0, 0.0))
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    cone = crocoddyl.FrictionCone(np.eye(3), 0.7, 4, False)
    frame = floating.getFrameId(FEET[0])
    limits = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(cone.lb, cone.ub))
    there = crocoddyl.ResidualModelContactFrictionCone(state, frame, cone, LEGS)
    costs = cost(state, LEGS)
    costs.addCost("cone", crocoddyl.CostModelResidual(state, limits, there), 1.0)
    arguments = (actuation, held(state, "aligned"), costs, 0.0, True)
    ours = dc.DifferentialActionModelContactFwdDynamics(dc.Robot(model, state), *arguments)
    theirs = crocoddyl.DifferentialActionModelContactFwdDynamics(state, *arguments)
    for knot in (ours, theirs):
        data = knot.createData()
        knot.calc(data, state.zero(), np.zeros(LEGS))
        knot.calcDiff(data, state.zero(), np.zeros(LEGS))
        if knot is ours:
            found = np.array(data.Lxx)
    assert np.abs(found - np.array(data.Lxx)).max() < 1e-8 * np.abs(found).max()


def test_cones_count_where_their_force_is_outside() -> None:
    row = Row()
    row.compare()
    assert all(item.active for costs in row.costs for item in costs.costs.todict().values())
    costs = [data.differential.costs.costs.todict() for data in row.problems[0].runningDatas]
    values = [x[name].cost for x in costs for name in x if name.startswith("cone")]
    assert 0.0 in values
    assert max(values) > 0.1
