"""Derivatives of constrained dynamics, by complex step of the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import ROBOTS, State, random_state, robot
from compare import assert_close
from complex_step import by_q, by_vector
from contact_oracle import random_contacts
from core import complex_core
from hypothesis import given, settings
from trees import SEEDS, Tree, trees

import dtau

BOUND = 1e-10


def values(contacts: dtau.Contacts, s: State, active: Any = None, **options: Any) -> Any:
    """Accelerations and forces as one array, of q, v and tau."""

    def value(q: Any, v: Any, tau: Any) -> Any:
        a, forces, _ = complex_core(
            "constrained_dynamics",
            contacts.model,
            q,
            v,
            tau,
            s["f_ext"],
            active,
            contacts=contacts,
            **options,
        )
        return np.concatenate([a, forces], axis=-1)

    return value


def check(model: dtau.Model, seed: int, f_ext_axes: str = "body") -> None:
    s = random_state(model, seed)
    contacts = random_contacts(model, [s], seed)
    rng = np.random.default_rng(seed)
    active = rng.integers(0, 4, len(contacts)) > 0
    q, v, tau = s["q"], s["v"], s["tau"]
    value = values(contacts, s, active, f_ext_axes=f_ext_axes)
    want = (
        by_q(model, q, lambda y: value(y, v, tau)),
        by_vector(v, lambda y: value(q, y, tau)),
        by_vector(tau, lambda y: value(q, v, y)),
    )
    d = dtau.constrained_dynamics_derivatives(
        model,
        q,
        v,
        tau,
        contacts,
        s["f_ext"],
        f_ext_axes=f_ext_axes,  # type: ignore[arg-type]
        active=active,
    )
    for k, by in enumerate(("q", "v", "tau")):
        both = np.concatenate([d[k], d[3 + k]])
        n = model.nv
        what = f"by {by} of {contacts.contacts}"
        assert_close(both[:n], want[k][:n], BOUND, f"a {what}", floor=1.0)
        assert_close(both[n:], want[k][n:], BOUND, f"forces {what}", floor=1.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_complex_step(name: str) -> None:
    for seed in range(4):
        check(robot(name), seed)


@pytest.mark.parametrize("axes", ["mixed", "world"])
def test_complex_step_of_wrenches_along_the_world(axes: str) -> None:
    for name in ("free root, branches", "forest"):
        check(robot(name), 3, axes)


@given(trees(), SEEDS)
@settings(max_examples=40)
def test_derivatives_with_contacts_match_complex_step_on_trees(tree: Tree, seed: int) -> None:
    check(tree.model(), seed)


def dependent(model: dtau.Model) -> dtau.Contacts:
    """Rows that are there twice, along both kinds of axes, and loops between the same points."""
    return dtau.Contacts(
        model,
        [
            dtau.FrameContact("LF_FOOT", kd=2.0),
            dtau.PointContact("LF_FOOT", name="again", kd=2.0),
            dtau.FrameContact("LF_FOOT", name="and again", axes="mixed", kd=2.0),
            dtau.Loop("RF_FOOT", "LH_FOOT", 3, kd=1.0),
            dtau.Loop("LH_FOOT", "RF_FOOT", 3, axes="mixed", kd=1.0),
        ],
    )


def test_complex_step_of_dependent_rows() -> None:
    """With a regularization, of the shortest forces."""
    model = robot("quadruped")
    s = random_state(model, 5)
    q, v, tau = s["q"], s["v"], s["tau"]
    contacts = dependent(model)
    options: dict[str, Any] = {"regularization": 1e-3}
    value = values(contacts, s, **options)
    d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts, s["f_ext"], **options)
    want = (
        by_q(model, q, lambda y: value(y, v, tau)),
        by_vector(v, lambda y: value(q, y, tau)),
        by_vector(tau, lambda y: value(q, v, y)),
    )
    for k in range(3):
        assert_close(np.concatenate([d[k], d[3 + k]]), want[k], 1e-9)
    x = dtau.constrained_dynamics_jvp(
        model, q, v, tau, contacts, s["dq"], s["dv"], s["dtau"], s["f_ext"], **options
    )
    both = sum(w @ s[name] for w, name in zip(want, ("dq", "dv", "dtau"), strict=True))
    assert_close(np.concatenate(x), both, 1e-9)
    weights = np.random.default_rng(0).uniform(-1.0, 1.0, model.nv + contacts.nrows)
    y = dtau.constrained_dynamics_vjp(
        model, q, v, tau, contacts, weights[: model.nv], weights[model.nv :], **options
    )
    d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts, **options)
    for k in range(3):
        assert_close(y[k], weights @ np.concatenate([d[k], d[3 + k]]), 1e-9)


def test_complex_step_of_dependent_impulses() -> None:
    model = robot("quadruped")
    s = random_state(model, 6)
    q, v = s["q"], s["v"]
    contacts = dependent(model)
    options: dict[str, Any] = {"regularization": 1e-3}

    def value(q: Any, v: Any) -> Any:
        result = complex_core("impulse_dynamics", model, q, v, 0.3, contacts=contacts, **options)
        return np.concatenate(result, axis=-1)

    d = dtau.impulse_dynamics_derivatives(model, q, v, contacts, 0.3, **options)
    want = by_q(model, q, lambda y: value(y, v)), by_vector(v, lambda y: value(q, y))
    for k in range(2):
        assert_close(np.concatenate([d[k], d[2 + k]]), want[k], 1e-9)
    x = dtau.impulse_dynamics_jvp(model, q, v, contacts, s["dq"], s["dv"], 0.3, **options)
    assert_close(np.concatenate(x), want[0] @ s["dq"] + want[1] @ s["dv"], 1e-9)
    weights = np.random.default_rng(0).uniform(-1.0, 1.0, len(want[0]))
    parts = weights[: model.nv], weights[model.nv :]
    y = dtau.impulse_dynamics_vjp(model, q, v, contacts, *parts, 0.3, **options)
    for k in range(2):
        assert_close(y[k], weights @ want[k], 1e-9)
