"""`dtau.jax` where digits are easily lost: small displacements, far bases; `laws` has the rest."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from adapter_cases import robot  # noqa: E402
from cases import FAR, random_state  # noqa: E402
from jax_cases import near  # noqa: E402

import dtau  # noqa: E402
import dtau.jax  # noqa: E402
from dtau.autodiff.common_translation import common_translation  # noqa: E402

FIRST = 1e-12


@functools.cache
def manifold_jacobians() -> Any:
    """First and second derivatives of moving on, and of the way between two configurations."""
    model = robot("free, spherical, planar")
    zero = jnp.zeros(model.nv)

    def all_of(q: Any, dq: Any, target: Any) -> Any:
        def moved(x: Any, d: Any) -> Any:
            after = dtau.jax.integrate(model, dtau.jax.integrate(model, q, x), dq + d)
            return dtau.jax.difference(model, target, after)

        def apart(x: Any, y: Any) -> Any:
            start, end = (dtau.jax.integrate(model, p, z) for p, z in ((q, x), (target, y)))
            return dtau.jax.difference(model, start, end)

        first = [jax.jacfwd(f, argnums=(0, 1))(zero, zero) for f in (moved, apart)]
        second = [jax.jacfwd(jax.jacrev(f), argnums=1)(zero, zero) for f in (moved, apart)]
        return first, second

    return jax.jit(all_of)


@pytest.mark.jit
@pytest.mark.parametrize("size", [1e-9, 1e-3, 0.9, 2.5])
def test_the_manifold_at_small_and_large_displacements(size: float) -> None:
    """Second derivatives too are right where closed forms would divide zero by zero."""
    model = robot("free, spherical, planar")
    s = random_state(model, 19)
    dq = size * s["dq"] / np.abs(s["dq"]).max()
    target = dtau.integrate(model, s["q"], dq)
    (moved, apart), second = manifold_jacobians()(s["q"], dq, target)
    near(moved, tuple(dtau.integrate_jacobians(model, s["q"], dq)), FIRST)
    near(apart, tuple(dtau.difference_jacobians(model, s["q"], target)), 1e-11)
    h = 1e-5  # central differences along one direction of the second variable
    along = np.cos(np.arange(model.nv))
    sides = [dtau.integrate(model, target, h * sign * along) for sign in (1, -1)]
    by_q0 = [dtau.difference_jacobians(model, s["q"], q1).by_q0 for q1 in sides]
    near(second[1] @ along, (by_q0[0] - by_q0[1]) / (2 * h), 1e-7)
    sides = [dtau.integrate_jacobians(model, s["q"], dq + h * sign * along) for sign in (1, -1)]
    after = [dtau.integrate(model, s["q"], dq + h * sign * along) for sign in (1, -1)]
    back = [dtau.difference_jacobians(model, target, q1).by_q1 for q1 in after]
    by_q = [b @ x.by_q for b, x in zip(back, sides, strict=True)]
    near(second[0] @ along, (by_q[0] - by_q[1]) / (2 * h), 1e-7)


@pytest.mark.parametrize("name", FAR)
def test_no_digit_is_lost_far_from_the_origin(name: str) -> None:
    """Of the momentum about the center of mass, which does not feel where the robots stand."""
    model = robot(name)
    moved, _ = common_translation(model)
    s = random_state(model, 41)
    q = s["q"].copy()
    q[moved] += 2.0**23  # what is lost there, is lost before anybody computes: compare beside it
    beside = q.copy()
    beside[moved] -= 2.0**23

    @jax.jit
    def by_q_and_v(q: Any, v: Any) -> Any:
        return jax.jacfwd(dtau.jax.centroidal_momentum, argnums=(1, 2))(model, q, v)

    near(by_q_and_v(q, s["v"]), by_q_and_v(beside, s["v"]), 1e-14)
    expected = dtau.centroidal_momentum_derivatives(model, beside, s["v"])
    to_tangent = dtau.tangent_map(model, beside).to_tangent
    near(by_q_and_v(q, s["v"]), (expected[0] @ to_tangent, expected[1]), FIRST)
