"""Products with the derivatives of constrained dynamics, against the matrices."""

from __future__ import annotations

import numpy as np
import pytest
from cases import ROBOTS, random_state, robot
from compare import assert_close
from contact_oracle import random_contacts
from core import complex_core
from hypothesis import given, settings
from trees import SEEDS, Tree, trees

import dtau

BOUND = 1e-10


def check(model: dtau.Model, seed: int, f_ext_axes: str = "body") -> None:
    s = random_state(model, seed)
    contacts = random_contacts(model, [s], seed)
    rng = np.random.default_rng(seed)
    active = rng.integers(0, 4, len(contacts)) > 0.0
    options = {"f_ext_axes": f_ext_axes, "active": active}
    state = (s["q"], s["v"], s["tau"])
    directions = s["dq"], s["dv"], s["dtau"]
    d = dtau.constrained_dynamics_derivatives(model, *state, contacts, s["f_ext"], **options)
    jvp = dtau.constrained_dynamics_jvp(model, *state, contacts, *directions, s["f_ext"], **options)
    da = sum(x @ y for x, y in zip(d[:3], directions, strict=True))
    dforces = sum(x @ y for x, y in zip(d[3:6], directions, strict=True))
    assert_close(jvp.da, da, BOUND, "jvp", floor=1.0)
    assert_close(jvp.dforces, dforces, BOUND, "jvp", floor=1.0)

    lam, lam_forces = s["lam"], rng.uniform(-1.0, 1.0, contacts.nrows)
    vjp = dtau.constrained_dynamics_vjp(
        model, *state, contacts, lam, lam_forces, s["f_ext"], **options
    )
    for k in range(3):
        want = lam @ d[k] + lam_forces @ d[3 + k]
        assert_close(vjp[k], want, BOUND, vjp._fields[k], floor=1.0)
    # By the external wrenches: the two are transposed to each other.
    rest = np.zeros(model.nv)
    with_wrenches = dtau.constrained_dynamics_jvp(
        model, *state, contacts, rest, rest, rest, s["f_ext"], s["df_ext"], **options
    )
    want = lam @ with_wrenches.da + lam_forces @ with_wrenches.dforces
    got = np.sum(vjp.by_f_ext * s["df_ext"])
    assert_close(np.array([got]), np.array([want]), BOUND, "by f_ext", floor=1.0)
    step = 1e-30
    a, forces, _ = complex_core(
        "constrained_dynamics",
        model,
        *state,
        s["f_ext"] + 1j * step * s["df_ext"],
        active,
        contacts=contacts,
        f_ext_axes=f_ext_axes,
    )
    assert_close(with_wrenches.da, a.imag / step, BOUND, "by f_ext", floor=1.0)
    assert_close(with_wrenches.dforces, forces.imag / step, BOUND, "by f_ext", floor=1.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_products(name: str) -> None:
    for seed in range(4):
        check(robot(name), seed)


@pytest.mark.parametrize("axes", ["mixed", "world"])
def test_products_with_wrenches_along_the_world(axes: str) -> None:
    for name in ("free root, branches", "forest"):
        check(robot(name), 3, axes)


@given(trees(), SEEDS)
@settings(max_examples=30)
def test_products_on_trees(tree: Tree, seed: int) -> None:
    check(tree.model(), seed)
