"""Second derivatives of time steps in exponential charts, by complex step of their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import TREES, actuated, random_state, robot
from compare import assert_close
from complex_step import STEP, moved, tangent
from contact_oracle import random_contacts
from core import complex_core
from function import INTEGRATORS
from hypothesis import given, settings
from hypothesis import strategies as st
from textbook import kinematic_block
from trees import SEEDS, Array, Tree, trees

import dtau

BOUND = 1e-11
DT = 0.03
each_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)


def chart_hessian(
    model: dtau.Model,
    state: tuple[Array, Array, Array],
    lam: tuple[Array, Array],
    f_ext: Array | None,
    active: Array | None,
    **options: Any,
) -> Array:
    """Of lam . z+ by (xi, dv, dtau): complex step of gradients, in the charts of both states.

    In them a gradient along xi is the one in tangent space times the Jacobian of the exponential,
    1 - ad / 2 to first order, and the one by xi+ times the inverse of that.
    """
    q, v, tau = state
    n = model.nv
    held = (f_ext,) if active is None else (f_ext, active)
    q_next, _ = complex_core("step", model, q, v, tau, DT, *held, **options)
    xi = np.zeros((3 * n, n))
    xi[:n] = np.eye(n)
    unit = 1j * STEP * np.eye(n)
    at_q = moved(model, q, xi)
    at_v, at_tau = np.tile(v + 0j, (3 * n, 1)), np.tile(tau + 0j, (3 * n, 1))
    at_v[n : 2 * n] += unit
    at_tau[2 * n :] += unit
    arrays = (at_q, at_v, at_tau, DT)
    q_after, _ = complex_core("step", model, *arrays, *held, **options)
    lam_q = np.empty((3 * n, n), complex)
    for k, rate in enumerate(q_after.imag / STEP):
        minus_ad = kinematic_block(model, tangent(model, q_next.real, rate))
        lam_q[k] = lam[0] - 0.5j * STEP * lam[0] @ minus_ad
    lam_v = np.tile(lam[1] + 0j, (3 * n, 1))
    by_q, by_v, by_tau, *_ = complex_core(
        "step_vjp", model, *arrays, lam_q, lam_v, *held, **options
    )
    H = np.concatenate([by_q, by_v, by_tau], axis=-1).imag / STEP
    for k in range(n):
        H[k, :n] += 0.5 * by_q[k].real @ kinematic_block(model, xi[k])
    return H


def check(model: dtau.Model, seed: int, integrator: str, bound: float = BOUND, **held: Any) -> None:
    s = random_state(model, seed)
    state, lam = (s["q"], s["v"], s["tau"]), (s["lam_q"], s["lam_v"])
    active = held.pop("active", None)
    want = chart_hessian(model, state, lam, s["f_ext"], active, integrator=integrator, **held)
    n = model.nv
    given = (model, *state, DT, *lam, integrator, s["f_ext"])
    full = np.ones(n, bool)
    size = (3 * n, 3 * n)
    if active is not None:
        held["active"] = active
    got = dtau.step_hessian(*given, full, **held, out=np.full(size, np.nan))
    assert_close(got, want, bound, f"H {held}", floor=float(np.abs(want).max(initial=1.0)))
    np.testing.assert_array_equal(got, got.T)
    rng = np.random.default_rng(seed)
    maps = {"all": np.eye(n)[:, actuated(model)], "map": rng.standard_normal((n, 3))}
    for inputs, by in ((None, maps["all"]), (maps["map"], maps["map"])):
        T = np.zeros((3 * n, 2 * n + by.shape[1]))
        T[: 2 * n, : 2 * n], T[2 * n :, 2 * n :] = np.eye(2 * n), by
        H = dtau.step_hessian(*given, inputs, **held)
        assert_close(H, T.T @ want @ T, bound, "inputs", floor=float(abs(want).max(initial=1.0)))


@each_integrator
@pytest.mark.parametrize("name", TREES)
def test_complex_step(name: str, integrator: str) -> None:
    for seed in range(2):
        check(robot(name), seed, integrator)


@each_integrator
@pytest.mark.parametrize("name", TREES)
def test_complex_step_with_contacts(name: str, integrator: str) -> None:
    model = robot(name)
    for seed in range(2):
        contacts = random_contacts(model, [random_state(model, seed)], seed, most=2)
        check(model, seed, integrator, contacts=contacts)


@given(trees(), SEEDS, st.sampled_from(INTEGRATORS))
@settings(max_examples=40)
def test_complex_step_on_trees(tree: Tree, seed: int, integrator: str) -> None:
    check(tree.model(), seed, integrator)
