"""A time step with its derivatives by complex step, and what they are compared with."""

from __future__ import annotations

from typing import Any

import complex_step
import numpy as np
import pytest
from cases import State, actuated, random_state
from compare import TOLERANCE, assert_close, assert_same_results, cancelled, solved
from core import complex_core
from function import INTEGRATORS
from trees import Array

import dtau

each_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)


class Case:
    """A step and its derivatives by complex step: by z = (xi, dv), tau and f_ext.

    What is held may be contacts, and which of them are active.
    """

    def __init__(
        self,
        model: dtau.Model,
        seed: int,
        integrator: str,
        wrenches: bool,
        dt: float = 0.03,
        **held: Any,
    ) -> None:
        s: State = random_state(model, seed)
        self.model, self.integrator, self.state, self.dt = model, integrator, s, dt
        self.point = (s["q"], s["v"], s["tau"], dt)
        self.f_ext = s["f_ext"] if wrenches else None
        self.held = held
        self.after = dtau.step(model, *self.point, integrator, self.f_ext, **held)
        n, q, v, tau = model.nv, s["q"], s["v"], s["tau"]
        spread = {
            "q": np.tile(q.astype(complex), (3 * n, 1)),
            "v": np.tile(v.astype(complex), (3 * n, 1)),
            "tau": np.tile(tau.astype(complex), (3 * n, 1)),
        }
        spread["q"][:n] = complex_step.moved(model, q, np.eye(n))
        step = 1j * complex_step.STEP * np.eye(n)
        spread["v"][n : 2 * n] += step
        spread["tau"][2 * n :] += step
        want = self._columns(spread["q"], spread["v"], spread["tau"], self.f_ext)
        self.A, self.B = want[:, : 2 * n], want[:, 2 * n :]
        tolerance = solved(TOLERANCE["step"], dtau.mass_matrix(model, q))
        self.tolerance = max(tolerance, 1e-10) if held else tolerance

    def _columns(self, q: Any, v: Any, tau: Any, f_ext: Any) -> Array:
        """The variation of the state after the step, as columns."""
        options = {"integrator": self.integrator, **self.held}
        arrays = (q, v, tau, self.dt, f_ext, options.pop("active", None))
        arrays = arrays if "contacts" in options else arrays[:5]
        q_after, v_after = complex_core("step", self.model, *arrays, **options)
        rates = q_after.imag / complex_step.STEP
        xi = [complex_step.tangent(self.model, self.after.q, rate) for rate in rates]
        return np.vstack([np.array(xi).T, v_after.imag.T / complex_step.STEP])

    def by_f_ext(self) -> Array:
        size = self.f_ext.size
        f_ext = np.tile(self.f_ext.astype(complex), (size, 1, 1))
        f_ext.reshape(size, size)[...] += 1j * complex_step.STEP * np.eye(size)
        return self._columns(*self.point[:3], f_ext)


def check_matrices(case: Case) -> None:
    model = case.model
    lin = dtau.linearize_discrete(model, *case.point, case.integrator, case.f_ext, **case.held)
    floor = cancelled(case.A)
    assert_close(lin.A, case.A, case.tolerance, "A")
    want = case.B[:, actuated(model)]
    # B may vanish for some inputs, and is smaller than A by dt or its square.
    assert_close(lin.B, want, case.tolerance, "B", floor=max(cancelled(case.B), 1e-3 * floor))
    assert_same_results((lin.q, lin.v), case.after, "state after the step")


def check_gradient(case: Case) -> None:
    model, s = case.model, case.state
    lam = np.r_[s["lam_q"], s["lam_v"]]
    weights = s["lam_q"], s["lam_v"]
    got = dtau.step_vjp(
        model, *case.point, *weights, case.integrator, f_ext=case.f_ext, **case.held
    )
    by_z, n = case.A.T @ lam, model.nv
    floor = float(np.abs(case.A.T).max())
    assert_close(got.by_q, by_z[:n], case.tolerance, "by_q", floor=floor)
    assert_close(got.by_v, by_z[n:], case.tolerance, "by_v", floor=floor)
    least = 1e-3 * floor if case.held else 0.0  # contacts may leave nothing to move
    floor = max(least, float((np.abs(case.B.T) @ np.abs(lam)).max()))
    assert_close(got.by_tau, case.B.T @ lam, case.tolerance, "by_tau", floor=floor)
    if case.f_ext is not None:
        matrix = case.by_f_ext()
        floor = max(least, float((np.abs(matrix.T) @ np.abs(lam)).max()))
        want = (matrix.T @ lam).reshape(case.f_ext.shape)
        assert_close(got.by_f_ext, want, case.tolerance, "by_f_ext", floor=floor)


CHECKS = {"matrices": check_matrices, "gradient": check_gradient}
each_check = pytest.mark.parametrize("check", CHECKS)
