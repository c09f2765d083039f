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
from dtau.registry import arrays_of

BOUND = 1e-11
AXES = ("body", "mixed", "world")
DT = 0.03
each_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)


def chart_hessian(
    model: dtau.Model,
    state: tuple[Array, Array, Array],
    lam: tuple[Array, Array],
    f_ext: Array,
    active: Array | None,
    **options: Any,
) -> Array:
    """Of lam . z+ by (xi, dv, dtau, dt, f_ext), in the charts of both states.

    By complex step of gradients. In the charts a gradient along xi is the one in tangent space
    times the Jacobian of the exponential, 1 - ad / 2 to first order, and the one by xi+ times the
    inverse of that.
    """
    q, v, tau = state
    n = model.nv
    size = 3 * n + 1 + f_ext.size
    mask = () if active is None else (active,)
    q_next, _ = complex_core("step", model, q, v, tau, DT, f_ext, *mask, **options)
    at = np.tile(np.r_[np.zeros(n), v, tau, DT, f_ext.ravel()] + 0j, (size, 1))
    unit = 1j * STEP * np.eye(size)
    xi, at_v, at_tau, at_dt, at_f = np.split(at + unit, [n, 2 * n, 3 * n, 3 * n + 1], axis=1)
    at_q = moved(model, q, xi.imag / STEP)
    arrays = (at_q, at_v, at_tau, at_dt[:, 0])
    held = (at_f.reshape(size, *f_ext.shape), *mask)
    q_after, _ = complex_core("step", model, *arrays, *held, **options)
    lam_q = np.empty((size, n), complex)
    for k, rate in enumerate(q_after.imag / STEP):
        minus_ad = kinematic_block(model, tangent(model, q_next.real, rate))
        lam_q[k] = lam[0] - 0.5j * STEP * lam[0] @ minus_ad
    lam_v = np.tile(lam[1] + 0j, (size, 1))
    by_q, by_v, by_tau, by_f, by_dt = arrays_of(
        complex_core("step_vjp", model, *arrays, lam_q, lam_v, *held, by="dt", **options)
    )
    parts = by_q, by_v, by_tau, by_dt[:, None], by_f.reshape(size, -1)
    H = np.concatenate(parts, axis=-1).imag / STEP
    for k in range(n):
        H[k, :n] += 0.5 * by_q[k].real @ kinematic_block(model, np.eye(n)[k])
    return H


def check(model: dtau.Model, seed: int, integrator: str, bound: float = BOUND, **held: Any) -> None:
    s = random_state(model, seed)
    state, lam = (s["q"], s["v"], s["tau"]), (s["lam_q"], s["lam_v"])
    active = held.pop("active", None)
    want = chart_hessian(model, state, lam, s["f_ext"], active, integrator=integrator, **held)
    n = model.nv
    given = (model, *state, DT, *lam, integrator, s["f_ext"])
    full = np.ones(n, bool)
    if active is not None:
        held["active"] = active
    out = np.full(want.shape, np.nan)
    got = dtau.step_hessian(*given, full, **held, by=("dt", "f_ext"), out=out)
    assert_close(got, want, bound, f"H {held}", floor=float(np.abs(want).max(initial=1.0)))
    np.testing.assert_array_equal(got, got.T)
    states = 3 * n
    for names, rows in (
        (None, np.arange(states)),
        ("dt", np.arange(states + 1)),
        ("f_ext", np.r_[:states, states + 1 : len(want)]),
    ):
        part = dtau.step_hessian(*given, full, **held, by=names)
        np.testing.assert_array_equal(part, got[np.ix_(rows, rows)], f"by {names}")
    want = want[:states, :states]
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
    for seed, axes in enumerate(AXES):
        check(robot(name), seed, integrator, f_ext_axes=axes)


@each_integrator
@pytest.mark.parametrize("name", TREES)
def test_complex_step_with_contacts(name: str, integrator: str) -> None:
    model = robot(name)
    for seed, axes in enumerate(AXES):
        contacts = random_contacts(model, [random_state(model, seed)], seed, most=2)
        check(model, seed, integrator, contacts=contacts, f_ext_axes=axes)


@given(trees(), SEEDS, st.sampled_from(INTEGRATORS))
@settings(max_examples=40)
def test_complex_step_on_trees(tree: Tree, seed: int, integrator: str) -> None:
    check(tree.model(), seed, integrator)
