"""Linearizations and steps of robots whose contacts hold, and the gradients of steps."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest
from cases import ROBOTS, State, actuated, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_results
from contact_oracle import random_contacts
from core import alone_core
from function import INTEGRATORS
from hypothesis import given, settings
from hypothesis import strategies as st
from step_cases import CHECKS, Case, each_check, each_integrator
from textbook import kinematic_block
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau.registry import arrays_of

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


def case_of(model: dtau.Model, seed: int, integrator: str, wrenches: bool, **more: Any) -> Case:
    """A step with random contacts, some of which may not be active."""
    contacts = random_contacts(model, [random_state(model, seed)], seed)
    active = np.random.default_rng(seed).integers(0, 4, len(contacts)) > 0
    return Case(model, seed, integrator, wrenches, contacts=contacts, active=active, **more)


@each_check
@pytest.mark.parametrize("wrenches", [False, True], ids=["alone", "f_ext"])
@each_integrator
@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name: str, integrator: str, wrenches: bool, check: str) -> None:
    for seed in (1, 2):
        CHECKS[check](case_of(robot(name), seed, integrator, wrenches))


@each_check
@each_integrator
@given(tree=trees(max_bodies=5), seed=SEEDS, wrenches=st.booleans())
@settings(max_examples=15)
def test_trees(integrator: str, check: str, tree: Tree, seed: int, wrenches: bool) -> None:
    CHECKS[check](case_of(tree.model(), seed, integrator, wrenches))


@each_check
@pytest.mark.parametrize("axes", ["mixed", "world"])
def test_wrenches_along_the_world(axes: str, check: str) -> None:
    for name in ("free root, branches", "forest"):
        CHECKS[check](case_of(robot(name), 3, "rk4", True, f_ext_axes=axes))


@each_check
@each_integrator
def test_dependent_rows(integrator: str, check: str) -> None:
    """With a regularization."""
    model = robot("quadruped")
    contacts = dtau.Contacts(
        model,
        [
            dtau.FrameContact("LF_FOOT", kd=2.0),
            dtau.PointContact("LF_FOOT", name="again", kd=2.0),
            dtau.Loop("RF_FOOT", "LH_FOOT", 3, kd=1.0),
            dtau.Loop("LH_FOOT", "RF_FOOT", 3, axes="mixed", kd=1.0),
        ],
    )
    case = Case(model, 5, integrator, True, contacts=contacts, regularization=1e-3)
    case.tolerance = 1e-9
    CHECKS[check](case)


@pytest.mark.parametrize("name", ROBOTS)
def test_continuous_time(name: str) -> None:
    """What `constrained_dynamics_derivatives` gives, to the bit, and the kinematics above it."""
    model = robot(name)
    n = model.nv
    for seed in range(3):
        s = random_state(model, seed)
        contacts = random_contacts(model, [s], seed)
        active = np.random.default_rng(seed).integers(0, 4, len(contacts)) > 0
        state = s["q"], s["v"], s["tau"]
        held: dict[str, Any] = {"contacts": contacts, "active": active}
        lin = dtau.linearize(model, *state, s["f_ext"], f_ext_axes="mixed", **held)
        d = dtau.constrained_dynamics_derivatives(
            model, *state, f_ext=s["f_ext"], f_ext_axes="mixed", **held
        )
        want = (d.da_dq, d.da_dv, d.da_dtau[:, actuated(model)])
        assert_same_results((lin.A[n:, :n], lin.A[n:, n:], lin.B[n:]), want)
        assert_close(lin.A[:n, :n], kinematic_block(model, s["v"]), 1e-14, "-ad", floor=1.0)
        np.testing.assert_array_equal(lin.A[:n, n:], np.eye(n))
        np.testing.assert_array_equal(lin.B[:n], 0.0)
        a = dtau.constrained_dynamics(model, *state, f_ext=s["f_ext"], f_ext_axes="mixed", **held).a
        assert_close(lin.a, a, 1e-10, "a", floor=1.0)


def test_the_state_after_a_step_is_that_of_constrained_dynamics() -> None:
    model = robot("quadruped")
    s = random_state(model, 7)
    contacts = dtau.Contacts(model, [dtau.PointContact(foot, kd=3.0) for foot in FEET])
    point = s["q"], s["v"], s["tau"]
    a = dtau.constrained_dynamics(model, *point, contacts).a
    after = dtau.step(model, *point, 0.01, contacts=contacts)
    assert_close(after.v, s["v"] + 0.01 * a, TOLERANCE["rounding"], "v")
    one = alone_core("step", model, *point, 0.01, None, None, integrator="euler", contacts=contacts)
    assert_same_results(one, after)


@each_integrator
def test_no_contact_that_holds(integrator: str) -> None:
    """As without contacts, but for rounding: none is active, or there are none."""
    model = robot("free root, branches")
    s = random_state(model, 8)
    some = random_contacts(model, [s], 8)
    assert len(some)
    none = dtau.Contacts(model, [])
    want = dtau.linearize_discrete(model, s["q"], s["v"], s["tau"], 0.02, integrator)
    for contacts, active in ((some, np.zeros(len(some))), (none, np.zeros(0)), (none, None)):
        got = dtau.linearize_discrete(
            *(model, s["q"], s["v"], s["tau"], 0.02, integrator), contacts=contacts, active=active
        )
        for x, y in zip(got[:4], want, strict=True):
            assert_close(x, y, 1e-11, floor=float(np.abs(y).max()))


# ---------------------------------------------------------------- what contacts do over time


def standing(gains: dict[str, float]) -> tuple[dtau.Model, Array, dtau.Contacts]:
    model, q = robot("quadruped"), cases.standing()
    contacts = dtau.Contacts(model, [dtau.PointContact(foot, **gains) for foot in FEET], at=q)
    return model, q, contacts


def slip(contacts: dtau.Contacts, start: Array, steps: int) -> float:
    """How far feet slip while the robot sinks to its knees."""
    model, q = contacts.model, start
    v = np.zeros(model.nv)
    for _ in range(steps):
        q, v = dtau.step(model, q, v, np.zeros(model.nv), 0.2 / steps, "rk4", contacts=contacts)
    places = [dtau.frame_placements(model, x, FEET).translation for x in (start, q)]
    assert q[2] < start[2] - 0.05
    return float(np.abs(places[1] - places[0]).max())


def test_feet_stay_to_the_order_of_the_method() -> None:
    _, q, contacts = standing({})
    order = np.log2(slip(contacts, q, 10) / slip(contacts, q, 20))
    assert 3.7 < order < 4.7, order


def test_gains_bring_feet_back() -> None:
    """By the linear system of a step: displaced feet return, as a damped spring does."""
    model, q, contacts = standing({"kp": 400.0, "kd": 40.0})
    tau = dtau.equilibrium(model, q, contacts=contacts).tau
    lin = dtau.linearize_discrete(model, q, np.zeros(model.nv), tau, 0.01, contacts=contacts)
    J = dtau.frame_jacobians(model, q, FEET, "body")[:, :3].reshape(12, -1)
    both = np.kron(np.eye(2), J)  # displacements and velocities of the feet
    spring = np.kron([[1.0, 0.01], [-4.0, 0.6]], np.eye(12))
    assert_close(both @ lin.A, spring @ both, 1e-9, "feet")
    assert_close(both @ lin.B, np.zeros((24, 12)), 1e-9, "feet by torques", floor=1.0)


# ---------------------------------------------------------------- errors


def calls(model: dtau.Model, s: State, **held: Any) -> dict[str, Any]:
    point = model, s["q"], s["v"], s["tau"]
    lam = s["lam_q"], s["lam_v"]
    return {
        "linearize": lambda: dtau.linearize(*point, **held),
        **{
            f"{name} {integrator}": lambda name=name, integrator=integrator: getattr(dtau, name)(
                *(*point, 0.01, *(lam if name == "step_vjp" else ())), integrator, **held
            )
            for name in ("step", "linearize_discrete", "step_vjp")
            for integrator in INTEGRATORS
        },
    }


def test_dependent_rows_are_named() -> None:
    model = robot("quadruped")
    contacts = dtau.Contacts(
        model, [dtau.FrameContact("LF_FOOT", name="one"), dtau.PointContact("LF_FOOT", name="two")]
    )
    state = random_state(model, 9)
    for call in calls(model, state, contacts=contacts).values():
        said = "rows of 'two' depend on the rows of 'one' in this"
        with pytest.raises(ValueError, match=said):
            call()


def test_rows_that_depend_at_a_later_stage() -> None:
    """An arm whose tip is held is straight in the middle of the step."""
    builder = dtau.ModelBuilder("arm")
    parent = None
    for name, axis in (("yaw", (0, 0, 1)), ("shoulder", (0, 1, 0)), ("elbow", (0, 1, 0))):
        arm = dtau.Pose(translation=(0.0 if name == "yaw" else 0.5, 0, 0))
        inertia = dtau.Inertia(1.0, (0.25, 0, 0), 0.02 * np.eye(3))
        parent = builder.add(
            dtau.Revolute(axis), name=name, parent=parent, placement=arm, inertia=inertia
        )
    tip = dtau.Pose(translation=(0.5, 0, 0))
    builder.add(dtau.Fixed(), name="tip", parent=parent, placement=tip)
    model = builder.build()
    contacts = dtau.Contacts(model, [dtau.PointContact("tip")])
    point = (model, np.array([0, 0.3, -0.005]), np.array([0, 0, 1.0]), np.zeros(3), 0.01)
    lam = np.ones(3), np.ones(3)
    said = (
        r"^contacts: nothing but rounding errors moves row 0 \(x, linear\) of contact 'tip' at a "
        "later stage of this step, .* take a shorter dt, leave some contacts out"
    )
    for call, more in ((dtau.step, ()), (dtau.linearize_discrete, ()), (dtau.step_vjp, lam)):
        with pytest.raises(ValueError, match=said):
            call(*point, *more, "rk4", contacts=contacts)
        alone = call(*point, *more, "euler", contacts=contacts)
        assert all(np.isfinite(x).all() for x in arrays_of(alone))
        q, *rest = point[1:]
        batch = call(model, q[None], *rest, *more, "rk4", contacts=contacts)
        assert np.isnan(arrays_of(batch)[3 if call is dtau.linearize_discrete else -1]).all()
    fast = dtau.step(*point[:2], 1e200 * point[2], *point[3:], "rk4", contacts=contacts)
    assert np.isnan(fast.v).any()  # too large, not dependent


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ({"active": [1, 1]}, "active: goes with contacts=, which is not given"),
        ({"regularization": np.ones(2)}, "regularization: goes with contacts=, which is not given"),
        ({"regularization": 0.1}, "regularization: goes with contacts=, which is not given"),
    ],
)
def test_what_goes_with_contacts(held: dict[str, Any], message: str) -> None:
    model = robot("quadruped")
    for call in calls(model, random_state(model, 10), **held).values():
        with pytest.raises(ValueError, match=f"^{message}$"):
            call()
