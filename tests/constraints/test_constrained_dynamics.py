"""Accelerations and forces of robots whose contacts hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import ROBOTS, State, lone, random_state, robot, rows
from compare import TOLERANCE, assert_close, assert_same_results, solved
from contact_oracle import all_rows, constrained_dynamics, holds, random_contacts, random_pose
from hypothesis import given, settings
from trees import SEEDS, Array, Tree, skew, trees

import dtau


def masks(contacts: dtau.Contacts, seed: int, count: int) -> Array:
    active = np.random.default_rng(seed).integers(0, 2, (count, len(contacts))).astype(bool)
    active[0] = True
    return active


def check(model: dtau.Model, seed: int) -> None:
    """Against dense matrices, three states with masks of their own."""
    states = random_state(model, seed, (3,))
    each = [rows(states, k) for k in range(3)]
    contacts = random_contacts(model, each, seed)
    active = masks(contacts, seed, 3)
    got = dtau.constrained_dynamics(
        model, states["q"], states["v"], states["tau"], contacts, states["f_ext"], active=active
    )
    for k, s in enumerate(each):
        # Rows may be as dependent as condition numbers of 1e4.
        M = dtau.mass_matrix(model, s["q"])
        tolerance = 1e2 * solved(TOLERANCE["independent"], M)
        a, forces = constrained_dynamics(contacts, s["q"], s["v"], s["tau"], s["f_ext"], active[k])
        assert_close(got.a[k], a, tolerance, f"a of {contacts.contacts}")
        assert_close(got.forces[k], forces, tolerance, f"forces of {contacts.contacts}", floor=1.0)
        assert not got.forces[k][~holds(contacts, active[k])].any()
        left = all_rows(contacts, s["q"], s["v"], got.a[k])[1] * holds(contacts, active[k])
        scale = max(1.0, float(abs(a).max()))
        assert abs(left).max(initial=0.0) < 1e-9 * scale
        assert abs(got.residual[k]).max(initial=0.0) < 1e-9 * scale


@pytest.mark.parametrize("name", ROBOTS)
def test_against_dense_matrices(name: str) -> None:
    for seed in range(3):
        check(robot(name), seed)


@given(trees(), SEEDS)
@settings(max_examples=40)
def test_against_dense_matrices_on_trees(tree: Tree, seed: int) -> None:
    check(tree.model(), seed)


def results(
    contacts: dtau.Contacts, s: State, active: Array, regularization: float
) -> dict[str, Any]:
    """All functions of contacts at one state or several."""
    options: dict[str, Any] = {"active": active, "regularization": regularization}
    model, state = contacts.model, (s["q"], s["v"], s["tau"])
    lam_forces = np.ones((*s["q"].shape[:-1], contacts.nrows))
    return {
        "value": dtau.constrained_dynamics(model, *state, contacts, s["f_ext"], **options),
        "derivatives": dtau.constrained_dynamics_derivatives(
            model, *state, contacts, s["f_ext"], **options
        ),
        "jvp": dtau.constrained_dynamics_jvp(
            *(model, *state, contacts, s["dq"], s["dv"], s["dtau"], s["f_ext"], s["df_ext"]),
            **options,
        ),
        "vjp": dtau.constrained_dynamics_vjp(
            model, *state, contacts, s["lam"], lam_forces, s["f_ext"], **options
        ),
    }


@pytest.mark.parametrize("distance", [1e3, 1e9])
def test_far_from_the_origin(distance: float) -> None:
    """What reads no position has the same bits wherever the base stands."""
    model = robot("quadruped")
    s = random_state(model, 7)
    contacts = dtau.Contacts(
        model,
        [
            dtau.PointContact("LF_FOOT", axes="mixed", kd=3.0),
            dtau.FrameContact("RF_FOOT"),
            dtau.Loop("LH_FOOT", "RH_FOOT", 3, kp=10.0, kd=2.0),
        ],
    )
    far = {**s, "q": s["q"].copy()}
    far["q"][:3] += distance
    active = np.ones(3)
    for function, want in results(contacts, s, active, 0.0).items():
        assert_same_results(results(contacts, far, active, 0.0)[function], want, function)


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1.0, 3.1, np.pi - 1e-6, np.pi - 1e-11, np.pi])
@pytest.mark.parametrize("k", range(4))
def test_gains_at_turns_of_any_angle(angle: float, k: int) -> None:
    """A body that is held by all six rows, turned by up to half a turn."""
    model = lone(dtau.Free(), inertia=dtau.Inertia(1.0, (0.1, 0.2, 0.3), np.eye(3)))
    home, axis = dtau.neutral(model), np.array([*np.eye(3), [2 / 3, -1 / 3, 2 / 3]])[k]
    contacts = dtau.Contacts(model, [dtau.FrameContact("joint", kp=1.0)], at=home)
    q = dtau.integrate(model, home, np.array([0, 0, 0, *(angle * axis)]))
    state = q, np.zeros(6), np.zeros(6)
    turn = -dtau.constrained_dynamics(model, *state, contacts).a[3:]
    way = np.sign(turn @ axis) if angle == np.pi else 1.0  # half a turn may be either
    assert abs(turn - way * angle * axis).max() < 1e-14
    # the inverse of the right Jacobian of the exponential
    s = skew(turn)
    more = (1 - angle / 2 / np.tan(angle / 2)) / angle**2 if angle > 1e-3 else 1 / 12
    d = dtau.constrained_dynamics_derivatives(model, *state, contacts).da_dq[3:, 3:]
    assert_close(-d, np.eye(3) + s / 2 + more * s @ s, 1e-12)


@pytest.mark.parametrize("hinge", ["x", "y", "z"])
def test_gains_of_a_hinge(hinge: Any) -> None:
    """A loop whose axes are apart, along each axis: random contacts seldom have it with kp."""
    model = robot("quadruped")
    s = random_state(model, 5)
    state = s["q"], s["v"], s["tau"]
    placed = random_pose(np.random.default_rng(5))
    loop = dtau.Loop("LF_FOOT", "RH_FOOT", 5, hinge, kp=20.0, placement=placed)
    contacts = dtau.Contacts(model, [loop])
    got = dtau.constrained_dynamics(model, *state, contacts)
    a, forces = constrained_dynamics(contacts, *state)
    assert_close(got.a, a, 1e-10)
    assert_close(got.forces, forces, 1e-10)


# ---------------------------------------------------------------- rows that depend on each other


def flat_feet(model: dtau.Model, **more: Any) -> dtau.Contacts:
    """One frame held twice."""
    return dtau.Contacts(
        model,
        [
            dtau.FrameContact("LF_FOOT", name="one", **more),
            dtau.FrameContact("LF_FOOT", name="again", **more),
            dtau.PointContact("RF_FOOT", **more),
        ],
    )


def test_dependent_rows_are_named() -> None:
    model = robot("quadruped")
    s = random_state(model, 8)
    contacts = flat_feet(model)
    state = s["q"], s["v"], s["tau"]
    for call in (dtau.constrained_dynamics, dtau.constrained_dynamics_derivatives):
        with pytest.raises(ValueError, match="rows of 'again' depend on the rows of 'one' in"):
            call(model, *state, contacts)
        call(model, *state, contacts, active=[1, 0, 1])
    twice = [dtau.PointContact(foot) for foot in ("LF_FOOT", "RF_FOOT", "LH_FOOT")]
    many = dtau.Contacts(model, [*twice, dtau.FrameContact("RF_FOOT", name="flat")])
    rows_of = "rows of 'flat' depend on the rows of 'LF_FOOT', 'RF_FOOT', 'LH_FOOT'"
    with pytest.raises(ValueError, match=rows_of):
        dtau.constrained_dynamics(model, *state, many)
    others = (
        "rows of 'flat' depend on the rows of 'LF_FOOT', 'RF_FOOT' in this state, the first is "
        "row 0 "
    )
    with pytest.raises(ValueError, match=others):
        dtau.constrained_dynamics(model, *state, many, active=[1, 1, 0, 1])
    result = dtau.constrained_dynamics(model, s["q"], s["v"] * np.nan, s["tau"], contacts)
    assert np.isnan(result.a).all()


def test_results_of_a_state_that_fails() -> None:
    """A call of one state raises and leaves NaN in out; a batch of one state has NaN."""
    model = robot("quadruped")
    s = random_state(model, 8)
    contacts = flat_feet(model)
    state = s["q"], s["v"], s["tau"]
    out = tuple(np.zeros(n) for n in (model.nv, contacts.nrows, contacts.nrows))
    with pytest.raises(ValueError, match="the first is row 0 \\(x, linear\\) of contact 'again'"):
        dtau.constrained_dynamics(model, *state, contacts, out=out)
    assert np.isnan(out[0]).all()
    assert np.isnan(dtau.constrained_dynamics(model, s["q"][None], *state[1:], contacts).a).all()
    huge = np.full(model.nv, 1e308)  # accelerations overflow, which is no failure of the rows
    contacts = dtau.Contacts(model, contacts.contacts[:1])
    assert not np.isfinite(dtau.constrained_dynamics(model, s["q"], huge, huge, contacts).a).all()


def test_shortest_forces() -> None:
    """With a regularization: accelerations as without the rows that are there twice."""
    model = robot("quadruped")
    s = random_state(model, 10)
    state = s["q"], s["v"], s["tau"]
    contacts = flat_feet(model, kd=2.0)
    got = dtau.constrained_dynamics(model, *state, contacts, regularization=1e-4)
    a, forces = constrained_dynamics(contacts, *state)
    assert_close(got.a, a, 1e-10)
    assert_close(got.forces, forces, 1e-9)
    assert abs(got.residual).max() < 1e-9
    once = dtau.constrained_dynamics(model, *state, contacts, active=[1, 0, 1])
    assert_close(got.a, once.a, 1e-10)
    d = dtau.constrained_dynamics_derivatives(model, *state, contacts, regularization=1e-4)
    d_once = dtau.constrained_dynamics_derivatives(model, *state, contacts, active=[1, 0, 1])
    for x, y in zip(d[:3], d_once[:3], strict=True):
        assert_close(x, y, 1e-8)
