"""Values and first derivatives against numbers of an independent program (tests/oracles)."""

from __future__ import annotations

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from state_oracle import STATES, oracle
from trees import Array

import dtau

MODELS = ("chain5", "branch10", "mixed1dof9", "spherical5", "freebody1", "quadruped13", "bos10")


def close(got: Array, want: Array, what: str) -> None:
    assert_close(got, want, TOLERANCE["oracle"], what)


on_models = pytest.mark.parametrize("name", MODELS)
in_states = pytest.mark.parametrize("state", STATES)


@on_models
@in_states
def test_values(name: str, state: str) -> None:
    o = oracle(name)
    q, v, a = o.q(state), o.vector(state, "qd"), o.vector(state, "qdd")
    close(dtau.inverse_dynamics(o.model, q, v, a), o.vector(state, "tau"), "tau")
    close(dtau.bias_torque(o.model, q, v), o.vector(state, "h"), "h")
    close(dtau.gravity_torque(o.model, q), o.vector(state, "g"), "g")
    close(dtau.mass_matrix(o.model, q), o.matrix(state, "M"), "M")
    close(dtau.mass_matrix_inverse(o.model, q), o.matrix(state, "Minv"), "Minv")
    tau = o.vector(state, "tauF")
    close(dtau.forward_dynamics(o.model, q, v, tau), o.vector(state, "FD"), "FD")


@on_models
@in_states
def test_coriolis_matrix(name: str, state: str) -> None:
    """It is not unique, but what it does to the velocity is, and its symmetric part."""
    o = oracle(name)
    q, v = o.q(state), o.vector(state, "qd")
    got = dtau.coriolis_matrix(o.model, q, v)
    close(got @ v + o.vector(state, "g"), o.vector(state, "h"), "C qd + g")
    want = o.matrix(state, "C")
    # A lone body's is zero: the halves of C cancel, and their size is what counts.
    floor = float(np.abs(want).max())
    assert_close(got + got.T, want + want.T, TOLERANCE["oracle"], "dM/dt", floor=floor)


@on_models
@in_states
def test_inverse_dynamics_derivatives(name: str, state: str) -> None:
    o = oracle(name)
    q, v, a = o.q(state), o.vector(state, "qd"), o.vector(state, "qdd")
    got = dtau.inverse_dynamics_derivatives(o.model, q, v, a)
    close(got.dtau_dq, o.matrix(state, "dID_dq"), "dtau_dq")
    close(got.dtau_dv, o.matrix(state, "dID_dqd"), "dtau_dv")
    close(got.dtau_da, o.matrix(state, "M"), "dtau_da")


@on_models
@in_states
def test_forward_dynamics_derivatives(name: str, state: str) -> None:
    o = oracle(name)
    q, v, tau = o.q(state), o.vector(state, "qd"), o.vector(state, "tauF")
    got = dtau.forward_dynamics_derivatives(o.model, q, v, tau)
    close(got.da_dq, o.matrix(state, "dFD_dq"), "da_dq")
    close(got.da_dv, o.matrix(state, "dFD_dqd"), "da_dv")
    close(got.da_dtau, o.matrix(state, "Minv"), "da_dtau")


def second_close(got: Array, want: Array, what: str, floor: float) -> None:
    assert_close(got, want, TOLERANCE["oracle"], what, floor=floor)


@on_models
def test_second_derivatives(name: str) -> None:
    """Tensors of inverse and forward dynamics, and their contractions."""
    o = oracle(name)
    q, v, a = o.q("s0"), o.vector("s0", "qd"), o.vector("s0", "qdd")
    tau, lam = o.vector("s0", "tauF"), o.vector("s0", "lambda")

    got = dtau.inverse_dynamics_second_derivatives(o.model, q, v, a)
    floor = float(np.abs(got.d2tau_dqdq).max())
    second_close(got.d2tau_dqdq, o.tensor("d2ID_dqdq"), "d2tau_dqdq", floor)
    second_close(got.d2tau_dqdv, o.tensor("d2ID_dqdqd"), "d2tau_dqdv", floor)
    second_close(got.d2tau_dvdv, o.tensor("d2ID_dqddqd"), "d2tau_dvdv", floor)
    second_close(got.d2tau_dadq, o.tensor("dM_dq"), "d2tau_dadq", floor)

    forward = dtau.forward_dynamics_second_derivatives(o.model, q, v, tau)
    floor = float(np.abs(forward.d2a_dqdq).max())
    second_close(forward.d2a_dqdq, o.tensor("d2FD_dqdq"), "d2a_dqdq", floor)
    second_close(forward.d2a_dqdv, o.tensor("d2FD_dqdqd"), "d2a_dqdv", floor)
    second_close(forward.d2a_dvdv, o.tensor("d2FD_dqddqd"), "d2a_dvdv", floor)
    second_close(forward.d2a_dtaudq, o.tensor("d2FD_dtaudq"), "d2a_dtaudq", floor)

    inverse = dtau.inverse_dynamics_hessian(o.model, q, v, a, lam)
    floor = float(np.abs(inverse.dqdq).max())
    second_close(inverse.dqdq, o.matrix("s0", "modID_dqdq"), "modID dqdq", floor)
    second_close(inverse.dqdv.T, o.matrix("s0", "modID_dqddq"), "modID dvdq", floor)
    second_close(inverse.dvdv, o.matrix("s0", "modID_dqddqd"), "modID dvdv", floor)

    hessian = dtau.forward_dynamics_hessian(o.model, q, v, tau, lam)
    floor = float(np.abs(hessian.dqdq).max())
    second_close(hessian.dqdq, o.matrix("s0", "modFD_dqdq"), "modFD dqdq", floor)
    second_close(hessian.dqdv.T, o.matrix("s0", "modFD_dqddq"), "modFD dvdq", floor)
    second_close(hessian.dvdv, o.matrix("s0", "modFD_dqddqd"), "modFD dvdv", floor)
    second_close(hessian.dtaudq, o.matrix("s0", "modFD_dtaudq"), "modFD dtaudq", floor)
