"""`dtau.crocoddyl` against crocoddyl's own action models, in its integrators and solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import assert_close

import dtau

crocoddyl = pytest.importorskip("crocoddyl")
import pinocchio as pin  # noqa: E402

import dtau.crocoddyl as dc  # noqa: E402
from dtau.crocoddyl import dynamics as dynamics_module  # noqa: E402

Array = np.ndarray[Any, np.dtype[np.float64]]
FEET = dtau.robots.QUADRUPED_FEET
URDF = Path(dtau.robots.__file__).with_name("quadruped.urdf")
AXES = {
    "local": pin.ReferenceFrame.LOCAL,
    "aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    "world": pin.ReferenceFrame.WORLD,
}
LEGS = 12
DT = 0.01
TOLERANCE = 1e-9

# Branches in another order than Pinocchio's, and a continuous joint: cosine and sine there.
LINK = '<link name="{}"><inertial><origin xyz="0.1 0.02 -0.3"/><mass value="1.5"/><inertia \
ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial></link>'
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="0 0.1 -0.5" \
rpy="0.1 0.2 0.3"/><axis xyz="{}"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
BRANCHES = "\n".join(
    [
        '<robot name="branches"><link name="world"/>',
        *(LINK.format(name) for name in ("trunk", "z", "a", "tip")),
        JOINT.format("lift", "prismatic", "world", "trunk", "0 0 1"),
        JOINT.format("second", "continuous", "trunk", "z", "0 1 0"),
        JOINT.format("first", "revolute", "trunk", "a", "1 0 0"),
        JOINT.format("third", "revolute", "z", "tip", "1 0 0"),
        LINK.format("toe"),
        JOINT.format("toe joint", "fixed", "tip", "toe", "0 0 1"),
        "</robot>",
    ]
)


@cache
def quadruped() -> tuple[dtau.Model, Any]:
    model = dtau.robots.quadruped()
    return model, crocoddyl.StateMultibody(
        pin.buildModelFromUrdf(str(URDF), pin.JointModelFreeFlyer())
    )


@cache
def branches() -> tuple[dtau.Model, Any]:
    """The same robot, with its joints in another order there."""
    read, theirs = pin.buildModelFromXML(BRANCHES), pin.Model()
    for name in ("lift", "second", "third", "first"):
        i = read.getJointId(name)
        parent = theirs.getJointId(read.names[read.parents[i]])
        own = theirs.addJoint(parent, read.joints[i], read.jointPlacements[i], name)
        theirs.appendBodyToJoint(own, read.inertias[i], pin.SE3.Identity())
        if name == "third":
            toe = read.frames[read.getFrameId("toe")].placement
            theirs.addBodyFrame("toe", own, toe, 0)
    return dtau.load(BRANCHES), crocoddyl.StateMultibody(theirs)


def random_states(state: Any, count: int) -> Iterator[Array]:
    rng = np.random.default_rng(1)
    for _ in range(count):
        x = state.integrate(state.zero(), rng.normal(size=state.ndx))
        yield np.asarray(x)


def held(state: Any, axes: str, gains: tuple[float, float] = (0.0, 0.0), feet: Any = FEET) -> Any:
    contacts = crocoddyl.ContactModelMultiple(state, LEGS)
    for i, foot in enumerate(feet):
        contacts.addContact(
            f"hold {foot}",
            crocoddyl.ContactModel3D(
                state,
                state.pinocchio.getFrameId(foot),
                np.array([0.1, 0.2, -0.3 + 0.1 * i]),
                AXES[axes],
                LEGS,
                np.array(gains),
            ),
        )
    return contacts


def cost(state: Any, nu: int, *residuals: Any) -> Any:
    """Costs of states and controls, and of other residuals."""
    costs = crocoddyl.CostModelSum(state, nu)
    target = state.integrate(state.zero(), 0.1 * np.ones(state.ndx))
    tracking = dc if isinstance(state, dc.State) else crocoddyl
    own = [tracking.ResidualModelState(state, target, nu)]
    if nu:
        own.append(crocoddyl.ResidualModelControl(state, 0.1 * np.ones(nu)))
    for i, residual in enumerate([*own, *residuals]):
        costs.addCost(f"{i}", crocoddyl.CostModelResidual(state, residual), 1.0 + i)
    return costs


def residuals(state: Any, actuation: Any) -> dict[str, Any]:
    """One residual of each class that needs no collision model."""
    foot = state.pinocchio.getFrameId(FEET[1])
    nu, up, place = LEGS, np.eye(3), pin.SE3.Random()
    cone = crocoddyl.FrictionCone(up, 0.7, 4, False)
    return {
        "center of mass": crocoddyl.ResidualModelCoMPosition(state, np.ones(3), nu),
        "momentum": crocoddyl.ResidualModelCentroidalMomentum(state, np.ones(6), nu),
        "placement": crocoddyl.ResidualModelFramePlacement(state, foot, place, nu),
        "translation": crocoddyl.ResidualModelFrameTranslation(state, foot, np.ones(3), nu),
        "rotation": crocoddyl.ResidualModelFrameRotation(state, foot, up, nu),
        "velocity": crocoddyl.ResidualModelFrameVelocity(
            state, foot, pin.Motion.Random(), pin.ReferenceFrame.LOCAL, nu
        ),
        "force": crocoddyl.ResidualModelContactForce(state, foot, pin.Force.Random(), 3, nu),
        "friction": crocoddyl.ResidualModelContactFrictionCone(state, foot, cone, nu),
        "effort": crocoddyl.ResidualModelJointEffort(state, actuation, np.ones(nu), nu),
        "acceleration": crocoddyl.ResidualModelJointAcceleration(state, np.ones(state.nv), nu),
        "gravity": crocoddyl.ResidualModelContactControlGrav(state, nu),
    }


def assert_alike(ours: Any, theirs: Any, x: Array, u: Array | None) -> tuple[Any, Any]:
    """Values and derivatives of two action models are the same; returns their data."""
    datas = [knot.createData() for knot in (ours, theirs)]
    arguments = (x,) if u is None else (x, u)
    for knot, data in zip((ours, theirs), datas, strict=True):
        knot.calc(data, *arguments)
        knot.calcDiff(data, *arguments)
    mine, other = datas
    for name in ("xnext", "cost", "Fx", "Fu", "Lx", "Lu", "Lxx", "Lxu", "Luu"):
        if u is None and name in ("xnext", "Fx", "Fu"):
            continue
        found, expected = np.asarray(getattr(mine, name)), np.asarray(getattr(other, name))
        assert found.shape == expected.shape
        if found.size:
            assert np.abs(found - expected).max() <= TOLERANCE * (1.0 + np.abs(expected).max()), (
                name
            )
    return mine, other


def integrators() -> dict[str, Callable[[Any], Any]]:
    kinds = {"rk2": "two", "rk3": "three", "rk4": "four"}
    found: dict[str, Callable[[Any], Any]] = {
        name: lambda dynamics, kind=kind: crocoddyl.IntegratedActionModelRK(
            dynamics, getattr(crocoddyl.RKType, kind), DT
        )
        for name, kind in kinds.items()
    }
    return {"euler": lambda dynamics: crocoddyl.IntegratedActionModelEuler(dynamics, DT)} | found


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
        if integrator != "euler":
            continue
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


# Problems


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


def start() -> Array:
    x = np.array(quadruped()[1].zero())
    x[7:19] = np.tile([-0.1, 0.7, -1.4], 4)
    return x


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
    assert kinds == {
        dc.ActionModelImpulseFwdDynamics,
        dc.DifferentialActionModelContactFwdDynamics,
    }
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
    flat = crocoddyl.ContactModelMultiple(state, LEGS)
    frame = state.pinocchio.getFrameId(FEET[0])
    flat.addContact(
        "sole",
        crocoddyl.ContactModel6D(
            state, frame, pin.SE3.Identity(), AXES["local"], LEGS, np.zeros(2)
        ),
    )
    sole = crocoddyl.DifferentialActionModelContactFwdDynamics(state, actuation, flat, costs)
    make = integrators()[integrator]
    given = [make(free), make(sole)]
    problem = dc.shooting_problem(model, crocoddyl.ShootingProblem(start(), given, make(free)))
    ours, kept = problem.runningModels
    assert type(ours.differential) is dc.DifferentialActionModelFreeFwdDynamics
    assert type(kept.differential) is crocoddyl.DifferentialActionModelContactFwdDynamics
    assert_alike(ours, given[0], start(), np.ones(ours.nu))


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


# Errors


def test_models_must_be_of_one_robot() -> None:
    model, state = quadruped()
    with pytest.raises(ValueError, match="armature, damping, gravity"):
        dc.Robot(model.replace(gravity=(0.0, 0.0, -1.0)), state)
    with pytest.raises(ValueError, match="joint"):
        dc.Robot(dtau.robots.chain(3), state)
    with pytest.raises(TypeError, match=r"state: expected .*StateMultibody"):
        dc.Robot(model, dc.State(model))


def test_contacts_of_other_kinds_are_refused() -> None:
    model, state = quadruped()
    robot, actuation = dc.Robot(model, state), crocoddyl.ActuationModelFloatingBase(state)
    flat = crocoddyl.ContactModelMultiple(state, LEGS)
    frame = state.pinocchio.getFrameId(FEET[0])
    sole = crocoddyl.ContactModel6D(
        state, frame, pin.SE3.Identity(), AXES["local"], LEGS, np.zeros(2)
    )
    flat.addContact("sole", sole)
    costs = cost(state, LEGS)
    with pytest.raises(ValueError, match="expected ContactModel3D, got ContactModel6D"):
        dc.DifferentialActionModelContactFwdDynamics(robot, actuation, flat, costs)
    with pytest.raises(TypeError, match=r"contacts: expected .* got list"):
        dc.DifferentialActionModelContactFwdDynamics(robot, actuation, [], costs)
    with pytest.raises(ValueError, match="inputs: expected shape"):
        dc.Actuation(state, np.eye(3))
    with pytest.raises(TypeError, match=r"problem: expected .*ShootingProblem"):
        dc.shooting_problem(model, None)
