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
from dtau.registry import arrays_of

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

    def _columns(self, q: Any, v: Any, tau: Any, f_ext: Any, dt: Any = None) -> Array:
        """The variation of the state after the step, as columns."""
        options = {"integrator": self.integrator, **self.held}
        dt = self.dt if dt is None else dt
        arrays = (q, v, tau, dt, f_ext, options.pop("active", None))
        arrays = arrays if "contacts" in options else arrays[:5]
        q_after, v_after = complex_core("step", self.model, *arrays, **options)
        rates = q_after.imag / complex_step.STEP
        xi = [complex_step.tangent(self.model, self.after.q, rate) for rate in rates]
        return np.vstack([np.array(xi).T, v_after.imag.T / complex_step.STEP])

    def by_f_ext(self) -> Array:
        given = np.zeros((self.model.nbodies, 6)) if self.f_ext is None else self.f_ext
        f_ext = np.tile(given.astype(complex), (given.size, 1, 1))
        f_ext.reshape(given.size, -1)[...] += 1j * complex_step.STEP * np.eye(given.size)
        return self._columns(*self.point[:3], f_ext)

    def by_dt(self) -> Array:
        return self._columns(
            *self.point[:3], self.f_ext, np.array([self.dt + 1j * complex_step.STEP])
        )


def check_matrices(case: Case) -> None:
    model = case.model
    lin = dtau.linearize_discrete(model, *case.point, case.integrator, case.f_ext, **case.held)
    floor = cancelled(case.A)
    assert_close(lin.A, case.A, case.tolerance, "A")
    want = case.B[:, actuated(model)]
    # B may vanish for some inputs, and is smaller than A by dt or its square.
    assert_close(lin.B, want, case.tolerance, "B", floor=max(cancelled(case.B), 1e-3 * floor))
    assert_same_results((lin.q, lin.v), case.after, "state after the step")


def check_further(case: Case) -> None:
    """By the length of the step, and by the wrenches."""
    model, n = case.model, case.model.nv
    both = ("dt", "f_ext")
    arguments = (model, *case.point, case.integrator, case.f_ext)
    got = dtau.linearize_discrete(*arguments, by=both, **case.held)
    without = arrays_of(dtau.linearize_discrete(*arguments, **case.held))
    assert_same_results(arrays_of(got)[: len(without)], without, "without by")
    by_dt, by_f_ext = case.by_dt()[:, 0], case.by_f_ext()
    floor = max(float(np.abs(case.A).max()), float(np.abs(by_dt).max()))
    assert_close(np.r_[got.dq_ddt, got.dv_ddt], by_dt, case.tolerance, "by dt", floor=floor)
    rows = np.concatenate((got.dq_df_ext, got.dv_df_ext)).reshape(2 * n, -1)
    least = 1e-3 * cancelled(case.A)
    floor = max(cancelled(case.B), cancelled(by_f_ext), least)
    assert_close(rows, by_f_ext, case.tolerance, "by f_ext", floor=floor)
    lam_q, lam_v = case.state["lam_q"], case.state["lam_v"]
    weighed = (model, *case.point, lam_q, lam_v, case.integrator, case.f_ext)
    product = dtau.step_vjp(*weighed, by="dt", **case.held)
    without = dtau.step_vjp(*weighed, **case.held)
    assert_same_results(product[:3], without[:3], "without by")
    if case.f_ext is not None:
        np.testing.assert_array_equal(product.by_f_ext, without.by_f_ext)
    lam = np.r_[lam_q, lam_v]
    floor = max(float(np.abs(case.A).max()), float(np.abs(lam) @ np.abs(by_dt)))
    assert_close(product.by_dt, lam @ by_dt, case.tolerance, "by_dt", floor=floor)


def check_variation(case: Case) -> None:
    """Along all variables at once, with the columns by complex step."""
    model = case.model
    rng = np.random.default_rng(11)
    dq, dv, dtorque = rng.standard_normal((3, model.nv))
    df_ext, ddt = rng.standard_normal((model.nbodies, 6)), 0.7
    got = dtau.step_jvp(
        *(model, *case.point, dq, dv, dtorque, case.integrator, case.f_ext, df_ext),
        ddt=ddt,
        **case.held,
    )
    columns = np.hstack((case.A, case.B, case.by_dt(), case.by_f_ext()))
    along = np.r_[dq, dv, dtorque, ddt, df_ext.ravel()]
    floor = float((np.abs(columns) @ np.abs(along)).max())
    assert_close(np.r_[got.dq, got.dv], columns @ along, case.tolerance, "jvp", floor=floor)
    still = np.zeros(model.nv)
    none = dtau.step_jvp(model, *case.point, still, still, still, case.integrator, **case.held)
    np.testing.assert_array_equal(np.r_[none.dq, none.dv], 0.0)


def check_gradient(case: Case) -> None:
    model, s = case.model, case.state
    lam = np.r_[s["lam_q"], s["lam_v"]]
    weights = s["lam_q"], s["lam_v"]
    got = dtau.step_vjp(
        model, *case.point, *weights, case.integrator, f_ext=case.f_ext, **case.held
    )
    by_z, n = case.A.T @ lam, model.nv
    assert_close(got.by_q, by_z[:n], case.tolerance, "by_q", floor=1.0)
    assert_close(got.by_v, by_z[n:], case.tolerance, "by_v", floor=1.0)
    # Contacts may leave nothing to move.
    least = 1e-3 * float(np.abs(case.A).max()) if case.held else 0.0
    floor = max(least, float((np.abs(case.B.T) @ np.abs(lam)).max()))
    assert_close(got.by_tau, case.B.T @ lam, case.tolerance, "by_tau", floor=floor)
    if case.f_ext is not None:
        matrix = case.by_f_ext()
        floor = max(least, float((np.abs(matrix.T) @ np.abs(lam)).max()))
        want = (matrix.T @ lam).reshape(case.f_ext.shape)
        assert_close(got.by_f_ext, want, case.tolerance, "by_f_ext", floor=floor)


CHECKS = {
    "matrices": check_matrices,
    "gradient": check_gradient,
    "further": check_further,
    "jvp": check_variation,
}
each_check = pytest.mark.parametrize("check", CHECKS)
