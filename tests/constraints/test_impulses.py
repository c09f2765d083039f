"""Impacts of contacts, and torques of motions in contact."""

from __future__ import annotations

import numpy as np
import pytest
from cases import ROBOTS, random_state, robot
from compare import assert_close
from contact_oracle import all_rows, holds, random_contacts
from hypothesis import given, settings
from trees import SEEDS, Tree, trees

import dtau

BOUND = 1e-10


def check(model: dtau.Model, seed: int) -> None:
    """Against dense matrices."""
    s = random_state(model, seed)
    q, v = s["q"], s["v"]
    contacts = random_contacts(model, [s], seed)
    rng = np.random.default_rng(seed)
    active = rng.integers(0, 4, len(contacts)) > 0
    e = float(rng.uniform(-0.5, 1.5))  # any number is valid
    on = holds(contacts, active)
    J = all_rows(contacts, q, v, np.zeros(model.nv))[0][on]
    M = dtau.mass_matrix(model, q)
    G = J @ np.linalg.solve(M, J.T)
    impulses = np.zeros(contacts.nrows)
    impulses[on] = np.linalg.solve(G, -(1.0 + e) * J @ v)
    got = dtau.impulse_dynamics(model, q, v, contacts, e, active=active)
    assert_close(got.impulses, impulses, BOUND, "impulses", floor=1.0)
    want = v + np.linalg.solve(M, J.T @ impulses[on])
    assert_close(got.v, want, BOUND, "v", floor=1.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_impulses(name: str) -> None:
    for seed in range(4):
        check(robot(name), seed)


@given(trees(), SEEDS)
@settings(max_examples=30)
def test_impulses_on_trees(tree: Tree, seed: int) -> None:
    check(tree.model(), seed)


def test_torques_of_a_motion() -> None:
    """They and the forces give the acceleration back, and no shorter forces do."""
    model = robot("quadruped")
    s = random_state(model, 5, (9,))
    names = ["LF_FOOT", "RF_FOOT", "LH_FOOT"]
    contacts = dtau.Contacts(
        model, [dtau.PointContact(names[0]), dtau.FrameContact(names[1], axes="mixed")]
    )
    result = dtau.constrained_inverse_dynamics(
        model, s["q"], s["v"], s["a"], contacts, s["f_ext"], f_ext_axes="mixed"
    )
    for k in range(9):
        q, v, a, f_ext = (s[name][k] for name in ("q", "v", "a", "f_ext"))
        J, _ = all_rows(contacts, q, v, a)
        whole = dtau.inverse_dynamics(model, q, v, a, f_ext, f_ext_axes="mixed")
        assert_close(result.tau[k] + J.T @ result.forces[k], whole, BOUND)
        assert abs(result.tau[k, :6]).max() < 1e-9
        forces = np.linalg.lstsq(J[:, :6].T, whole[:6], rcond=None)[0]
        assert_close(result.forces[k], forces, BOUND)


def test_torques_of_some_joints() -> None:
    model = robot("joints that mimic others")
    s = random_state(model, 6)
    moving = [name for name in model.frames if model.frame(name).body >= 0]
    contacts = dtau.Contacts(model, [dtau.FrameContact(moving[0]), dtau.FrameContact(moving[4])])
    inputs = np.ones(model.nv, bool)
    inputs[:7] = False
    result = dtau.constrained_inverse_dynamics(
        model, s["q"], s["v"], s["a"], contacts, inputs=inputs
    )
    J, _ = all_rows(contacts, s["q"], s["v"], s["a"])
    whole = dtau.inverse_dynamics(model, s["q"], s["v"], s["a"])
    assert_close(result.tau + J.T @ result.forces, whole, BOUND)
    assert abs(result.tau[:7]).max() < 1e-9


def test_forces_that_hold_no_base() -> None:
    model = robot("quadruped")
    s = random_state(model, 7)
    contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    with pytest.raises(ValueError, match="'LF_FOOT'"):
        dtau.constrained_inverse_dynamics(model, s["q"], s["v"], s["a"], contacts)
    none = dtau.Contacts(model, [])
    said = "no contact is active, so no force acts on the velocities without an input"
    with pytest.raises(ValueError, match=said):
        dtau.constrained_inverse_dynamics(model, s["q"], s["v"], s["a"], none)
