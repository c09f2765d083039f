"""Stages of an RK4 step and their derivatives, against their definition and complex step."""

from __future__ import annotations

from typing import Any

import complex_step
import numpy as np
import pytest
from cases import actuated, on_robots, random_state, robot
from compare import assert_close, assert_same_results, cancelled
from contact_oracle import random_contacts
from core import complex_core
from hypothesis import given
from step_cases import Case
from trees import SEEDS, Array, Tree, trees

import dtau

AHEAD, WEIGHTS = (0.0, 0.5, 0.5, 1.0), np.array([1.0, 2.0, 2.0, 1.0]) / 6.0


def matrices_of_stages(case: Case) -> tuple[Array, Array]:
    """A (4, 2 nv, 2 nv) and B (4, 2 nv, nv), by complex step of the states of the stages."""
    model, n, s = case.model, case.model.nv, case.state
    spread = [np.tile(s[name].astype(complex), (3 * n, 1)) for name in ("q", "v", "tau")]
    spread[0][:n] = complex_step.moved(model, s["q"], np.eye(n))
    for k in (1, 2):
        spread[k][k * n : (k + 1) * n] += 1j * complex_step.STEP * np.eye(n)
    inputs = np.eye(n)
    held = dict(case.held)
    arrays = [*spread, case.dt, case.f_ext, inputs]
    if held:
        arrays.append(held.pop("active", None))
    out = complex_core("linearize_stages", model, *arrays, **held)
    rates = [x.imag / complex_step.STEP for x in out[6:]]
    at = stages(case).q_stages
    xi = [[complex_step.tangent(model, at[i], rate) for rate in rates[0][:, i]] for i in range(4)]
    both = np.concatenate([np.array(xi), np.moveaxis(rates[1], 1, 0)], axis=-1)
    columns = np.swapaxes(both, -1, -2)
    return columns[..., : 2 * n], columns[..., 2 * n :]


def stages(case: Case, inputs: Any = None) -> Any:
    return dtau.linearize_stages(case.model, *case.point, case.f_ext, inputs, **case.held)


def check(case: Case) -> None:
    model = case.model
    A, B = matrices_of_stages(case)
    got = stages(case)
    floor = cancelled(A)
    assert_close(got.A_stages, A, case.tolerance, "A", floor=floor)
    driven = actuated(model)
    least = max(cancelled(B), 1e-3 * floor)  # as in step_cases.check_matrices
    assert_close(got.B_stages, B[..., driven], case.tolerance, "B", floor=least)
    step = dtau.linearize_discrete(model, *case.point, "rk4", case.f_ext, **case.held)
    assert_same_results(got[:4], step[:4])


@pytest.mark.parametrize("wrenches", [False, True], ids=["alone", "f_ext"])
@on_robots
def test_robots(name: str, wrenches: bool) -> None:
    check(Case(robot(name), 1, "rk4", wrenches))


@given(tree=trees(max_bodies=5), seed=SEEDS)
def test_derivatives_of_stages_match_complex_step_on_trees(tree: Tree, seed: int) -> None:
    check(Case(tree.model(), seed, "rk4", False))


@on_robots
def test_contacts(name: str) -> None:
    model = robot(name)
    for seed in range(2):
        contacts = random_contacts(model, [random_state(model, seed)], seed)
        active = np.random.default_rng(seed).integers(0, 4, len(contacts)) > 0
        check(Case(model, seed, "rk4", True, 0.003, contacts=contacts, active=active))


@on_robots
def test_states_of_stages(name: str) -> None:
    """The step is made of their accelerations; joints whose displacements add show all of them."""
    model = robot(name)
    s = random_state(model, 2)
    q, v, tau, h = s["q"], s["v"], s["tau"], 0.03
    got = dtau.linearize_stages(model, q, v, tau, h)
    a = dtau.forward_dynamics(model, got.q_stages, got.v_stages, tau)
    assert_close(got.v, v + h * WEIGHTS @ a, 1e-11, "v after", floor=1.0)
    assert_same_results((got.q_stages[0], got.v_stages[0]), (q, v))
    for i, ahead in enumerate(AHEAD[1:], 1):
        speed = v + ahead * h * a[i - 1]
        assert_close(got.v_stages[i], speed, 1e-11, f"v at stage {i}", floor=1.0)
        theta = dtau.difference(model, q, got.q_stages[i])
        for joint in model.joints:
            adds = not isinstance(joint.type, dtau.Free | dtau.Spherical | dtau.Planar)
            if joint.mimic is None and (adds or i == 1):
                rate = got.v_stages[i - 1][joint.v]
                assert_close(theta[joint.v], ahead * h * rate, 1e-11, f"q at {i}", floor=1.0)
