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


def values(contacts: dtau.Contacts, s: State, **options: Any) -> Any:
    """Accelerations and forces as one array, of q, v and tau."""

    def value(q: Any, v: Any, tau: Any) -> Any:
        a, forces, _ = complex_core(
            "constrained_dynamics",
            contacts.model,
            q,
            v,
            tau,
            s.get("active"),
            s["f_ext"],
            contacts=contacts,
            **options,
        )
        return np.concatenate([a, forces], axis=-1)

    return value


def check(model: dtau.Model, seed: int, f_ext_axes: str = "body") -> None:
    s = random_state(model, seed)
    contacts = random_contacts(model, [s], seed)
    rng = np.random.default_rng(seed)
    s["active"] = rng.integers(0, 4, len(contacts)) > 0.0
    q, v, tau = s["q"], s["v"], s["tau"]
    value = values(contacts, s, f_ext_axes=f_ext_axes)
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
        active=s["active"],
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
def test_complex_step_on_trees(tree: Tree, seed: int) -> None:
    check(tree.model(), seed)


def test_complex_step_of_dependent_rows() -> None:
    """A damping: rows that are there twice, along both kinds of axes, and a loop that is closed."""
    model = robot("quadruped")
    s = random_state(model, 5)
    q, v, tau = s["q"], s["v"], s["tau"]
    contacts = dtau.Contacts(
        model,
        [
            dtau.FrameContact("LF_FOOT", kd=2.0),
            dtau.PointContact("LF_FOOT", name="again", kd=2.0),
            dtau.FrameContact("LF_FOOT", name="and again", axes="mixed", kd=2.0),
            dtau.Loop("RF_FOOT", "LH_FOOT", 3, kd=1.0),
            dtau.Loop("LH_FOOT", "RF_FOOT", 3, axes="mixed", kd=1.0),
        ],
    )
    options: dict[str, Any] = {"damping": 1e-3}
    value = values(contacts, s, **options)
    d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts, s["f_ext"], **options)
    want = (
        by_q(model, q, lambda y: value(y, v, tau)),
        by_vector(v, lambda y: value(q, y, tau)),
        by_vector(tau, lambda y: value(q, v, y)),
    )
    for k in range(3):
        assert_close(np.concatenate([d[k], d[3 + k]]), want[k], 1e-8)
