"""Hessians of time steps, compared with JAX's composition of the same step in the same charts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from adapter_cases import robot  # noqa: E402
from cases import random_state  # noqa: E402
from compare import assert_close  # noqa: E402

import dtau  # noqa: E402
import dtau.jax  # noqa: E402

jax.config.update("jax_enable_x64", True)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("name", "integrator"),
    [("small", "rk4"), ("quadruped", "semi_implicit"), ("free, spherical, planar", "euler")],
)
def test_hessian_of_the_composition(name: str, integrator: Any) -> None:
    model = robot(name)
    s = random_state(model, 3)
    q, v, tau, n = s["q"], s["v"], s["tau"], model.nv
    middle = dtau.step(model, q, v, tau, 0.02, integrator)

    def weighted(z: Any) -> Any:
        moved = dtau.jax.integrate(model, q, z[:n])
        after = dtau.jax.step(model, moved, v + z[n : 2 * n], tau + z[2 * n :], 0.02, integrator)
        xi = dtau.jax.difference(model, middle.q, after.q)
        return s["lam_q"] @ xi + s["lam_v"] @ after.v

    want = np.asarray(jax.jacfwd(jax.grad(weighted))(np.zeros(3 * n)))
    got = dtau.step_hessian(
        model, q, v, tau, 0.02, s["lam_q"], s["lam_v"], integrator, inputs=np.ones(n, bool)
    )
    assert_close(got, want, 1e-10, integrator, floor=float(np.abs(want).max()))
