"""Problems of `dtau.crocoddyl` against crocoddyl's own, in its solvers; and errors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import assert_same_bits
from trees import Array

import dtau

crocoddyl = pytest.importorskip("crocoddyl")
import pinocchio as pin  # noqa: E402
from through_crocoddyl import (  # noqa: E402
    AXES,
    DT,
    FEET,
    LEGS,
    assert_alike,
    cost,
    held,
    held_elsewhere,
    integrators,
    quadruped,
    random_states,
    start,
)

import dtau.crocoddyl as dc  # noqa: E402
from dtau.crocoddyl import dynamics as dynamics_module  # noqa: E402


def jump(own: Callable[[int], bool] = lambda k: False) -> Any:
    """A small hop of the quadruped by crocoddyl's classes; `own` chooses knots of dtau's."""
    model, state = quadruped()
    shared, actuation = dc.Robot(model, state), crocoddyl.ActuationModelFloatingBase(state)
    cone = crocoddyl.FrictionCone(np.eye(3), 0.7, 4, False)
    knots: list[Any] = []
    for k in range(19):
        if k == 12:
            impulses = crocoddyl.ImpulseModelMultiple(state)
            for foot in FEET:
                frame = state.pinocchio.getFrameId(foot)
                impulses.addImpulse(foot, crocoddyl.ImpulseModel3D(state, frame, AXES["aligned"]))
            impact = (impulses, cost(state, 0))
            knots.append(
                dc.ActionModelImpulseFwdDynamics(shared, *impact)
                if own(k)
                else crocoddyl.ActionModelImpulseFwdDynamics(state, *impact)
            )
            continue
        feet = FEET if k < 6 or k > 12 else ()
        cones = [
            crocoddyl.ResidualModelContactFrictionCone(
                state, state.pinocchio.getFrameId(foot), cone, LEGS
            )
            for foot in feet[:1]
        ]
        arguments = (
            actuation,
            held(state, "aligned", (0.0, 50.0), feet),
            cost(state, LEGS, *cones),
            0.0,
            True,
        )
        dynamics = (
            dc.DifferentialActionModelContactFwdDynamics(shared, *arguments)
            if own(k)
            else crocoddyl.DifferentialActionModelContactFwdDynamics(state, *arguments)
        )
        dt = 0.0 if k == 18 else DT
        knots.append(crocoddyl.IntegratedActionModelEuler(dynamics, dt))
    problem = crocoddyl.ShootingProblem(start(), knots[:-1], knots[-1])
    problem.nthreads = 1
    return problem


class Iterates(crocoddyl.CallbackAbstract):  # type: ignore[misc]
    """Keeps all trajectories of a solver."""

    def __init__(self) -> None:
        crocoddyl.CallbackAbstract.__init__(self)
        self.found: list[Array] = []

    def __call__(self, solver: Any) -> None:
        self.found.append(np.concatenate([*solver.xs, *solver.us]))


def iterates(problem: Any, solver: Any) -> list[Array]:
    """All trajectories, from the robot at rest."""
    solver, log = solver(problem), Iterates()
    solver.setCallbacks([log])
    xs = [start()] * (problem.T + 1)
    solver.solve(xs, problem.quasiStatic(xs[:-1]), 8, False)
    return log.found


@pytest.mark.parametrize("solver", ["SolverFDDP", "SolverDDP", "SolverBoxFDDP"])
@pytest.mark.parametrize("mixed", [True, False])
def test_solvers_find_the_same_iterates(mixed: bool, solver: str) -> None:
    kind = getattr(crocoddyl, solver)
    expected = iterates(jump(), kind)
    found = iterates(jump(lambda k: k % 3 == 0 or not mixed), kind)
    assert len(found) == len(expected) > 3
    for ours, theirs in zip(found, expected, strict=True):
        assert np.abs(ours - theirs).max() < 1e-6 * (1.0 + np.abs(theirs).max())


@pytest.mark.parametrize("solver", ["SolverFDDP", "SolverBoxFDDP"])
def test_shooting_problem_replaces_all_dynamics(solver: str) -> None:
    theirs = jump()
    for knot in theirs.runningModels:
        knot.u_lb, knot.u_ub = np.full(knot.nu, -25.0), np.full(knot.nu, 25.0)
    ours = dc.shooting_problem(quadruped()[0], theirs)
    kinds = {type(knot) for knot in ours.runningModels if not hasattr(knot, "differential")}
    kinds |= {type(x.differential) for x in ours.runningModels if hasattr(x, "differential")}
    assert kinds == {dc.ActionModelImpulseFwdDynamics, dc.DifferentialActionModelContactFwdDynamics}
    assert ours.nthreads == 1
    found, expected = (iterates(p, getattr(crocoddyl, solver)) for p in (ours, theirs))
    assert len(found) == len(expected)
    for mine, other in zip(found, expected, strict=True):
        assert np.abs(mine - other).max() < 1e-6 * (1.0 + np.abs(other).max())


@pytest.mark.parametrize("integrator", integrators())
def test_shooting_problem_keeps_integrators_and_models_that_dtau_does_not_have(
    integrator: str,
) -> None:
    model, state = quadruped()
    actuation, costs = crocoddyl.ActuationModelFloatingBase(state), cost(state, LEGS)
    free = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
    flat, sliding = planar(state), held_elsewhere(state, 6, "local", (9.0, 3.0), LEGS, FEET[:1])
    rail, sole = (
        crocoddyl.DifferentialActionModelContactFwdDynamics(state, actuation, contacts, costs)
        for contacts in (flat, sliding)
    )
    make = integrators()[integrator]
    given = [make(free), make(rail), make(sole)]
    problem = dc.shooting_problem(model, crocoddyl.ShootingProblem(start(), given, make(free)))
    ours, kept, other = problem.runningModels
    assert type(ours.differential) is dc.DifferentialActionModelFreeFwdDynamics
    assert type(kept.differential) is crocoddyl.DifferentialActionModelContactFwdDynamics
    assert type(other.differential) is dc.DifferentialActionModelContactFwdDynamics
    assert_alike(ours, given[0], start(), np.ones(ours.nu))
    assert_alike(other, given[2], start(), np.ones(ours.nu))


def planar(state: Any) -> Any:
    """A foot held in a plane, two rows, which dtau does not have."""
    contacts = crocoddyl.ContactModelMultiple(state, LEGS)
    frame = state.pinocchio.getFrameId(FEET[0])
    rows = crocoddyl.ContactModel2D(state, frame, np.zeros(2), LEGS, np.zeros(2))
    contacts.addContact("rail", rows)
    return contacts


def test_one_batch_linearizes_all_knots(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = jump(lambda k: True)
    xs = [start()] * (problem.T + 1)
    us = problem.quasiStatic(xs[:-1])
    sizes: list[int] = []
    derivatives = dtau.constrained_dynamics_derivatives

    def counted(model: Any, q: Array, *arguments: Any, **options: Any) -> Any:
        sizes.append(len(q))
        return derivatives(model, q, *arguments, **options)

    monkeypatch.setattr(dynamics_module.dtau, "constrained_dynamics_derivatives", counted)
    problem.calc(xs, us)
    problem.calcDiff(xs, us)
    assert sizes == [11]
    problem.calcDiff(xs, us)  # nothing has changed
    assert sizes == [11]
    knot, data = problem.runningModels[0], problem.runningDatas[0]
    knot.calc(data, xs[0], us[0] + 1.0)
    problem.calcDiff([*xs], [us[0] + 1.0, *us[1:]])
    assert sizes == [11, 1]


def test_one_batch_linearizes_all_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    model, state = quadruped()
    robot, actuation = dc.Robot(model, state), crocoddyl.ActuationModelFloatingBase(state)
    falls = [
        dc.DifferentialActionModelFreeFwdDynamics(robot, actuation, cost(state, LEGS))
        for _ in range(5)
    ]
    knots = [integrators()["rk4"](fall) for fall in falls]
    problem = crocoddyl.ShootingProblem(start(), knots, knots[0])
    sizes: list[int] = []
    derivatives = dtau.forward_dynamics_derivatives

    def counted(model: Any, q: Array, *arguments: Any) -> Any:
        sizes.append(len(q))
        return derivatives(model, q, *arguments)

    monkeypatch.setattr(dynamics_module.dtau, "forward_dynamics_derivatives", counted)
    xs, us = [start()] * 6, [np.ones(LEGS)] * 5
    problem.calc(xs, us)
    problem.calcDiff(xs, us)
    assert sizes == [20]


def test_knots_of_problems_that_are_gone_are_forgotten() -> None:
    model, state = quadruped()
    robot = dc.Robot(model, state)
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    ours = dc.DifferentialActionModelFreeFwdDynamics(robot, actuation, cost(state, LEGS))
    x, u = start(), np.zeros(LEGS)
    for _ in range(3):
        data = ours.createData()
        ours.calc(data, x, u)
        ours.calcDiff(data, x, u)
    assert len(ours._batch._knots) == 1


def test_threads_may_share_a_robot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A knot that another thread moves while a batch is linearized keeps its own derivatives."""
    model, state = quadruped()
    robot, actuation = dc.Robot(model, state), crocoddyl.ActuationModelFloatingBase(state)
    ours = dc.DifferentialActionModelFreeFwdDynamics(robot, actuation, cost(state, LEGS))
    first, second = ours.createData(), ours.createData()
    x, u = start(), np.zeros(LEGS)
    moved = x + np.r_[np.zeros(7), np.full(x.size - 7, 0.1)]
    other = threading.Thread(target=ours.calc, args=(second, moved, u))
    plain = dtau.forward_dynamics_derivatives

    def interrupted(*arguments: Any) -> Any:
        other.start()
        other.join(timeout=0.2)  # it waits for this batch
        return plain(*arguments)

    for data in (first, second):
        ours.calc(data, x, u)
    monkeypatch.setattr(dtau, "forward_dynamics_derivatives", interrupted)
    ours.calcDiff(first, x, u)
    other.join()
    monkeypatch.undo()
    ours.calcDiff(second, moved, u)
    alone = ours.createData()
    ours.calc(alone, moved, u)
    ours.calcDiff(alone, moved, u)
    assert_same_bits(second.Fx, alone.Fx)


def test_derivatives_belong_to_the_point_that_is_given() -> None:
    """Also where `calc` was of another one."""
    knot = jump(lambda k: True).runningModels[0].differential
    data = knot.createData()
    x, other = random_states(quadruped()[1], 2)
    u = np.ones(LEGS)
    for before in ((other, u), (x, 2.0 * u)):
        knot.calc(data, *before)
        knot.calcDiff(data, x, u)
        found = np.array(data.Fx)
        knot.calc(data, x, u)
        knot.calcDiff(data, x, u)
        assert np.array_equal(data.Fx, found)


@pytest.mark.parametrize("n", [1, 3])
def test_motors_actuate_with_their_feedback(n: int) -> None:
    """The torque, its derivatives and what they are in a knot, of n servos."""
    model, rng = dtau.robots.chain(n), np.random.default_rng(4)
    gears = {joint.name: 2.0 + k for k, joint in enumerate(model.joints)}
    motors = dtau.Motors(model, gears, gain=[3.0, 2.0, 1.0][:n], bias=(0.1, -5.0, -0.7))
    robot = dc.Robot(model)
    actuation = dc.Actuation(robot.state, motors)
    costs = crocoddyl.CostModelSum(robot.state, actuation.nu)
    dynamics = dc.DifferentialActionModelFreeFwdDynamics(robot, actuation, costs)
    knot, u = dynamics.createData(), rng.standard_normal(n)
    x, h = robot.state.rand(), 1e-5

    def acceleration(x: Array, u: Array) -> Array:
        return dtau.forward_dynamics(model, x[:n], x[n:], motors.torque(u, x[:n], x[n:]))

    dynamics.calc(knot, x, u)
    dynamics.calcDiff(knot, x, u)
    assert np.allclose(knot.xout, acceleration(x, u), rtol=1e-12)
    by_x = [acceleration(x + h * z, u) - acceleration(x - h * z, u) for z in np.eye(2 * n)]
    by_u = [acceleration(x, u + h * z) - acceleration(x, u - h * z) for z in np.eye(n)]
    for found, differences in ((knot.Fx, by_x), (knot.Fu, by_u)):
        expected = np.stack(differences, axis=-1) / (2.0 * h)
        assert np.allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    rest = np.concatenate([x[:n], np.zeros(n)])
    still = dynamics.quasiStatic(knot, rest)
    assert np.allclose(acceleration(rest, still), 0.0, atol=1e-9)
    data = actuation.createData()
    tau = motors.torque(u, x[:n], x[n:])
    actuation.commands(data, x, tau)
    assert np.allclose(data.u, u, rtol=1e-10)


# Errors


def test_motors_with_a_bias_need_a_state_of_dtau() -> None:
    model, state = quadruped()
    servos = dtau.Motors(model, {"LF_HFE": 2.0}, bias=(0.0, -1.0, 0.0))
    own = dc.State(dtau.robots.chain(model.nv))
    for other in (state, own):
        with pytest.raises(ValueError, match=r"motors with a bias.*State\(motors.model\)"):
            dc.Actuation(other, servos)
    plain = dtau.Motors(model, {"LF_HFE": 2.0})
    assert np.array_equal(dc.Actuation(state, plain).inputs, plain.dtau_du)


def test_models_must_be_of_one_robot() -> None:
    model, state = quadruped()
    named = "expected the dynamics of state.pinocchio, got torques that differ by .*, by "
    ignored = ", which Pinocchio's dynamics ignore: "
    legs = "'LF_HAA', 'LF_HFE', 'LF_KFE'"
    inertia = model.link("LF_SHANK").inertia
    changed = model.replace(inertias={"LF_SHANK": dtau.Inertia(0.5, inertia.com, inertia.tensor)})
    springs = model.replace(stiffness={"LF_HFE": 30.0})
    rough = model.replace(friction={"RF_HFE": 2.0}, friction_speed={"RF_HFE": 0.1})
    base = model.replace(damping={"root_joint": 3.0, "LF_HAA": 1.0})
    for other, said in (
        (
            model.replace(gravity=(0.0, 0.0, -1.0)),
            r"gravity \[0.0, 0.0, -1.0\]: model.replace\(gravity=\(0.0, 0.0, -9.81\)\) sets the",
        ),
        (
            model.replace(damping=1.0),
            f"damping of joints {legs}, .*{ignored}model.replace\\(damping=0.0\\) leaves it out$",
        ),
        (
            base,
            r"damping of joints 'root_joint', 'LF_HAA', .*: model.replace\(damping=0.0\) and "
            r"model.replace\(damping=\{'root_joint': 0.0\}\) leaves it out$",
        ),
        (springs, f"stiffness of joints 'LF_HFE'{ignored}model.replace\\(stiffness=0.0\\) leaves"),
        (rough, f"friction of joints 'RF_HFE'{ignored}model.replace\\(friction=0.0\\) leaves it"),
        (
            model.replace(armature={"LF_KFE": 0.1}),
            r"armature of joints 'LF_KFE': model.replace\(armature=...\) sets it$",
        ),
        (changed, "inertias of bodies 'LF_SHANK'$"),
    ):
        with pytest.raises(ValueError, match=named + said):
            dc.Robot(other, state)
    mended = base.replace(damping=0.0).replace(damping={"root_joint": 0.0})
    assert dc.Robot(mended, state).nv == model.nv
    with pytest.raises(ValueError, match="joint"):
        dc.Robot(dtau.robots.chain(3), state)
    with pytest.raises(TypeError, match=r"state: expected .*StateMultibody"):
        dc.Robot(model, dc.State(model))


def test_what_from_pinocchio_keeps_is_named() -> None:
    """Pinocchio's model has a damping, which its dynamics ignore."""
    model, state = quadruped()
    damped = pin.Model(state.pinocchio)
    damped.damping[6:] = 0.1
    kept = dtau.from_pinocchio(damped)
    with pytest.raises(ValueError, match=r"by damping of joints .* model.replace\(damping=0.0\)"):
        dc.Robot(kept, crocoddyl.StateMultibody(damped))
    assert dc.Robot(kept.replace(damping=0.0), crocoddyl.StateMultibody(damped)).nv == model.nv


def test_reduced_models() -> None:
    model, state = quadruped()
    theirs, q = state.pinocchio, pin.neutral(state.pinocchio)
    locked = {"LF_KFE": -1.2, "RF_KFE": -1.0}
    for name, angle in locked.items():
        q[theirs.joints[theirs.getJointId(name)].idx_q] = angle
    reduced = pin.buildReducedModel(theirs, [theirs.getJointId(name) for name in locked], q)
    state = crocoddyl.StateMultibody(reduced)
    with pytest.raises(
        ValueError,
        match=r"no joint named 'LF_KFE'; .*; it lacks joints of the model: 'LF_KFE', 'RF_KFE' "
        r"\(Model.lock fixes them, for a reduced model\)$",
    ):
        dc.Robot(model, state)
    assert dc.Robot(model.lock(locked), state).nv == model.nv - 2


def test_contacts_of_other_kinds_are_refused() -> None:
    model, state = quadruped()
    robot, actuation = dc.Robot(model, state), crocoddyl.ActuationModelFloatingBase(state)
    costs = cost(state, LEGS)
    with pytest.raises(ValueError, match=r"expected .* ContactModel6D, got ContactModel2D"):
        dc.DifferentialActionModelContactFwdDynamics(robot, actuation, planar(state), costs)
    with pytest.raises(TypeError, match=r"contacts: expected .* got list"):
        dc.DifferentialActionModelContactFwdDynamics(robot, actuation, [], costs)
    with pytest.raises(ValueError, match="inputs: expected shape"):
        dc.Actuation(state, np.eye(3))
    held, free = (
        dc.DifferentialActionModelContactFwdDynamics,
        dc.DifferentialActionModelFreeFwdDynamics,
    )
    hit, feet = dc.ActionModelImpulseFwdDynamics, crocoddyl.ContactModelMultiple(state, LEGS)
    for refused, named in (
        (
            lambda: held(state, actuation, feet, costs),
            r"robot: expected dtau\.crocoddyl\.Robot\(mod",
        ),
        (lambda: free(model, actuation, costs), "robot: expected .*, got dtau.Model"),
        (lambda: hit(state, feet, costs), "robot: expected .*StateMultibody"),
        (
            lambda: held(robot, actuation, costs, feet),
            "costs: expected CostModelSum, got .*Contact",
        ),
        (lambda: hit(robot, costs, feet), "costs: expected CostModelSum"),
        (lambda: held(robot, feet, actuation, costs), "actuation: expected ActuationModelAbstract"),
        (lambda: dc.Actuation(robot, np.eye(model.nv)), "state: expected StateAbstract, got Robot"),
    ):
        with pytest.raises(TypeError, match=named):
            refused()
    with pytest.raises(TypeError, match=r"problem: expected .*ShootingProblem"):
        dc.shooting_problem(model, None)
