"""Second derivatives of constrained dynamics, by complex step of the first ones' products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import ROBOTS, random_state, robot
from compare import assert_close
from complex_step import by_q, by_vector
from contact_oracle import random_contacts
from core import complex_core
from hypothesis import given, settings
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau import _core

BOUND = 1e-11


def gradients(
    name: str, model: dtau.Model, state: tuple[Array, ...], *arrays: Any, **options: Any
) -> list[list[Array]]:
    """Derivatives of the gradient by q, v (and tau), each by each: [first][second]."""
    results = []
    for second, x in enumerate(state):

        def value(y: Any, second: int = second) -> Any:
            at = [*state[:second], y, *state[second + 1 :]]
            return np.stack(complex_core(name, model, *at, *arrays, **options)[: len(state)], -2)

        step = by_q(model, x, value) if second == 0 else by_vector(x, value)
        results.append(list(step))
    return [[results[second][first] for second in range(len(state))] for first in range(len(state))]


def filled(count: int, n: int) -> list[Array]:
    return [np.full((n, n), np.nan) for _ in range(count)]


def compare(
    contacts: dtau.Contacts,
    state: tuple[Array, Array, Array],
    weights: tuple[Array, Array],
    f_ext: Array | None,
    bound: float = BOUND,
    **options: Any,
) -> None:
    model = contacts.model
    active = options.pop("active", None)
    want = gradients(
        "constrained_dynamics_vjp",
        model,
        state,
        *weights,
        f_ext,
        active,
        contacts=contacts,
        **options,
    )
    held = {"active": active, **options}
    got = _core.constrained_dynamics_hessian(
        model, *state, *weights, contacts, f_ext, **held, out=filled(4, model.nv)
    )
    what = f"of {contacts.contacts}"
    assert_close(got.dqdq, want[0][0], bound, f"qq {what}", floor=1.0)
    assert_close(got.dqdv, want[0][1], bound, f"qv {what}", floor=1.0)
    assert_close(got.dvdv, want[1][1], bound, f"vv {what}", floor=1.0)
    assert_close(got.dtaudq, want[2][0], bound, f"tau q {what}", floor=1.0)
    even = _core.constrained_dynamics_hessian(
        model, *state, *weights, contacts, f_ext, symmetric=True, **held
    )
    assert_close(even.dqdq, (got.dqdq + got.dqdq.T) / 2.0, bound, "symmetric", floor=1.0)


def check(model: dtau.Model, seed: int, f_ext_axes: str = "body") -> None:
    s = random_state(model, seed)
    contacts = random_contacts(model, [s], seed)
    rng = np.random.default_rng(seed)
    active = rng.integers(0, 4, len(contacts)) > 0
    weights = s["lam"], rng.uniform(-1.0, 1.0, contacts.nrows)
    state = s["q"], s["v"], s["tau"]
    compare(contacts, state, weights, s["f_ext"], active=active, f_ext_axes=f_ext_axes)


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
