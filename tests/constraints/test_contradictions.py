"""Rows that contradict each other, regularized: forces G^+ b, and steps with them."""

from __future__ import annotations

from typing import Any

import pytest
from cases import ROBOTS, State, random_state, robot
from compare import assert_close, assert_same_results
from contact_oracle import all_rows, constrained_dynamics, contradicting, flat_feet, holds
from derivative_laws import Point
from derivative_laws import check as check_derivatives
from hypothesis import given, settings
from step_cases import CHECKS, Case, each_check, each_integrator
from trees import SEEDS, Array, Tree, trees

import dtau

BOUND = 1e-7


def check(model: dtau.Model, seed: int) -> float:
    """Values against a pseudo-inverse; tests/derivatives/test_laws.py has the derivatives."""
    s = random_state(model, seed)
    contacts, active, regularization = contradicting(model, s, seed)
    state, f_ext = (s["q"], s["v"], s["tau"]), s["f_ext"]
    held: dict[str, Any] = {"active": active, "regularization": regularization}
    return compare(model, s, contacts, state, f_ext, held)


def compare(
    model: dtau.Model,
    s: State,
    contacts: dtau.Contacts,
    state: tuple[Array, Array, Array],
    f_ext: Array | None,
    held: dict[str, Any],
) -> float:
    got = dtau.constrained_dynamics(model, *state, contacts, f_ext, **held)
    a, forces = constrained_dynamics(contacts, *state, f_ext, held.get("active"))
    assert_close(got.a, a, BOUND, "a", floor=1.0)
    assert_close(got.forces, forces, BOUND, "forces", floor=1.0)
    left = all_rows(contacts, s["q"], s["v"], got.a)[1] * holds(contacts, held.get("active"))
    assert_close(got.residual, left, BOUND, "residual", floor=1.0)

    d = dtau.constrained_dynamics_derivatives(model, *state, contacts, f_ext, **held)
    assert_close(d.residual, left, BOUND, "residual", floor=1.0)
    lin, n = dtau.linearize(model, *state, f_ext, contacts=contacts, **held), model.nv
    assert_same_results(
        (lin.A[n:, :n], lin.A[n:, n:], lin.residual), (d.da_dq, d.da_dv, d.residual)
    )
    return float(abs(got.residual).max(initial=0.0))


@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name: str) -> None:
    for seed in range(4):
        check(robot(name), seed)


@given(trees(), SEEDS)
@settings(max_examples=40)
def test_trees(tree: Tree, seed: int) -> None:
    check(tree.model(), seed)


def test_that_rows_do_contradict_each_other() -> None:
    names = ("every joint in a chain", "free root, branches", "gantry, branches", "random tree")
    assert sum(check(robot(name), seed) > 1.0 for name in names for seed in range(3)) > 5


@pytest.mark.parametrize("active", [None, [1, 0, 1, 1]])
@pytest.mark.parametrize("axes", ["body", "mixed"])
def test_four_flat_feet(axes: str, active: list[int] | None) -> None:
    model = robot("quadruped")
    s = random_state(model, 2)
    state = s["q"], s["v"], s["tau"]
    held: dict[str, Any] = {"active": active, "regularization": 1e-3}
    assert compare(model, s, flat_feet(model, axes), state, s["f_ext"], held) > 0.1


@each_check
@each_integrator
def test_regularized_derivatives_of_steps_match_complex_step(integrator: str, check: str) -> None:
    """Against complex step; the residual belongs to the state before the step."""
    model = robot("quadruped")
    for contacts in (flat_feet(model), flat_feet(model, "mixed"), loops(model)):
        case = Case(model, 2, integrator, True, contacts=contacts, regularization=1e-5)
        case.tolerance = BOUND
        CHECKS[check](case)
        q, v, tau, dt = case.point
        lin = dtau.linearize_discrete(model, q, v, tau, dt, integrator, case.f_ext, **case.held)
        value = dtau.constrained_dynamics(model, q, v, tau, f_ext=case.f_ext, **case.held)
        assert_same_results([lin.residual], [value.residual])
        assert abs(lin.residual).max() > 0.1


@each_check
@each_integrator
@given(tree=trees(max_bodies=5), seed=SEEDS)
@settings(max_examples=10)
def test_steps_of_trees(integrator: str, check: str, tree: Tree, seed: int) -> None:
    model = tree.model()
    contacts, active, regularization = contradicting(model, random_state(model, seed), seed)
    held: dict[str, Any] = {
        "contacts": contacts,
        "active": active,
        "regularization": regularization,
    }
    case = Case(model, seed, integrator, True, dt=1e-3, **held)
    case.tolerance = BOUND
    CHECKS[check](case)


def loops(model: dtau.Model) -> dtau.Contacts:
    """The same two shanks, joined in several ways that do not agree, and to the world."""
    at = [dtau.Pose(translation=(0.3 * k, 0.0, 0.2)) for k in range(3)]
    return dtau.Contacts(
        model,
        [
            dtau.Loop("LF_FOOT", "RH_FOOT", 6, kp=20.0, kd=2.0, placement=at[0]),
            dtau.Loop("LF_FOOT", "RH_FOOT", 5, "y", kp=30.0, placement=at[1], name="hinge"),
            dtau.Loop("RH_FOOT", "LF_FOOT", 3, axes="mixed", kp=9.0, placement=at[2]),
            dtau.FrameContact("LF_FOOT", "mixed", kp=5.0, placement=at[1]),
            dtau.PointContact("LF_FOOT", kp=5.0, position=(0.0, 0.3, 0.4), name="point"),
        ],
    )


def test_loops() -> None:
    model = robot("quadruped")
    s = random_state(model, 3)
    state = s["q"], s["v"], s["tau"]
    assert compare(model, s, loops(model), state, s["f_ext"], {"regularization": 1e-5}) > 0.1
    del s["active"]
    point = Point.with_contacts("constrained_dynamics", loops(model), s, regularization=1e-5)
    check_derivatives(point, BOUND)


def test_forces_are_shortest_with_a_small_damping() -> None:
    """Rounding errors that are divided by the regularization leave nothing in them."""
    model = robot("quadruped")
    contacts = flat_feet(model)
    s = random_state(model, 2)
    state = s["q"], s["v"], s["tau"]
    a, forces = constrained_dynamics(contacts, *state)
    for regularization in (1e-6, 1e-5, 1e-4, 1e-3):
        got = dtau.constrained_dynamics(model, *state, contacts, regularization=regularization)
        assert_close(got.a, a, 1e-9, f"a, regularization {regularization}")
        assert_close(got.forces, forces, 1e-8, f"forces, regularization {regularization}")


def test_residuals_follow_linearizations_into_other_conventions() -> None:
    model = robot("quadruped")
    s = random_state(model, 2)
    state = s["q"], s["v"], s["tau"]
    held: dict[str, Any] = {"contacts": flat_feet(model), "regularization": 1e-3}
    mixed = dtau.conventions.mixed_twist(model)
    lin = dtau.linearize(model, *state, **held)
    there = mixed.convert(lin, at={"q": s["q"], "v": s["v"], "inputs": None})
    assert_same_results([there.residual], [lin.residual])
    step = dtau.linearize_discrete(model, *state, 0.01, **held)
    after = mixed.convert(step, at={"q": s["q"], "v": s["v"], "inputs": None})
    assert_same_results([after.residual], [step.residual])
