"""Derivatives of steps by their length and by wrenches: masks, contact forces, errors.

`step_cases.check_further` compares them with complex step, for the cases of all tests of steps.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from compare import assert_close
from step_cases import each_integrator

import dtau

BOTH = ("dt", "f_ext")
NAMES = ("dq_ddt", "dv_ddt", "dq_df_ext", "dv_df_ext")
STATES = 19


def standing() -> tuple[dtau.Model, dtau.Contacts, dict[str, Any]]:
    """A quadruped on feet that hold in some of its states."""
    model = dtau.robots.quadruped()
    feet = [dtau.PointContact(f"{leg}_FOOT", kd=12) for leg in ("LF", "RF", "LH", "RH")]
    rng = np.random.default_rng(7)
    q, v, tau = dtau.random_state(model, rng, shape=(STATES,))
    given = {
        **{"q": q, "v": v, "tau": tau, "dt": rng.uniform(0.01, 0.03, STATES)},
        "f_ext": rng.standard_normal((STATES, model.nbodies, 6)),
    }
    active = (rng.random((STATES, 4)) < 0.6).astype(float)
    active[0], active[1] = 0.0, 1.0
    return model, dtau.Contacts(model, feet), {**given, "active": active}


@each_integrator
def test_contact_forces_by_wrenches(integrator: str) -> None:
    """Forces are affine in the wrenches, so a difference is exact but for rounding."""
    model, contacts, given = standing()
    got = dtau.linearize_discrete(
        model, **given, integrator=integrator, contacts=contacts, forces=True, by=BOTH
    )
    direction = np.random.default_rng(1).standard_normal((model.nbodies, 6))
    dynamics = {name: given[name] for name in ("q", "v", "tau", "active")}
    forces = [
        dtau.constrained_dynamics(
            model, **dynamics, f_ext=given["f_ext"] + t * direction, contacts=contacts
        ).forces
        for t in (-1.0, 1.0)
    ]
    np.testing.assert_array_equal(got.dforces_df_ext[0], 0.0)  # no foot holds
    product = np.einsum("srbk,bk->sr", got.dforces_df_ext, direction)
    assert_close(product, 0.5 * (forces[1] - forces[0]), 1e-9, "forces by wrenches")


def test_without_by_there_is_nothing_else() -> None:
    model, contacts, given = standing()
    lin = dtau.linearize_discrete(model, **given, contacts=contacts)
    assert not any(hasattr(lin, name) for name in NAMES)
    assert set(vars(lin)) == {"residual"}
    more = dtau.linearize_discrete(model, **given, contacts=contacts, by=["f_ext"])
    assert more._fields == lin._fields
    assert set(vars(more)) == {"residual", "dq_df_ext", "dv_df_ext"}
    again = pickle.loads(pickle.dumps(more))
    assert type(again) is type(more)
    np.testing.assert_array_equal(again.dv_df_ext, more.dv_df_ext)
    none = dtau.linearize_discrete(model, **given, contacts=contacts, by=())
    assert set(vars(none)) == {"residual"}


def test_wrenches_may_be_zero() -> None:
    model, contacts, given = standing()
    given["f_ext"] = np.zeros_like(given["f_ext"])
    zero = dtau.linearize_discrete(model, **given, contacts=contacts, by="f_ext")
    del given["f_ext"]
    none = dtau.linearize_discrete(model, **given, contacts=contacts, by="f_ext")
    np.testing.assert_array_equal(zero.dv_df_ext, none.dv_df_ext)
    del given["active"]
    product = dtau.step_vjp(model, **given, lam_q=1.0 + 0 * given["v"], lam_v=given["v"], by="dt")
    assert set(vars(product)) == {"by_dt"}
    assert product.by_dt.shape == (STATES,)


def test_motor_feedback_keeps_them() -> None:
    model = dtau.robots.quadruped()
    q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    motors = dtau.Motors(model, {"LF_HFE": 2.0, "RF_HFE": 3.0}, gain=3.0, bias=(0.1, -5.0, -0.7))
    law = dtau.linearize_discrete(model, q, v, tau, 0.01, inputs=motors, by="dt")
    free = dtau.linearize_discrete(model, q, v, tau, 0.01, by="dt")
    np.testing.assert_array_equal(law.dv_ddt, free.dv_ddt)


@each_integrator
def test_motor_feedback_in_hessians(integrator: str) -> None:
    """A Hessian by the torques, and by what follows them, with the law put in: P' H P."""
    model = dtau.robots.quadruped()
    q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    motors = dtau.Motors(model, {"LF_HFE": 2.0, "RF_HFE": 3.0}, gain=3.0, bias=(0.1, -5.0, -0.7))
    given = (model, q, v, tau, 0.01, v, 1.0 + v, integrator)
    H = dtau.step_hessian(*given, inputs=np.ones(model.nv, bool), by=BOTH)
    n, nu = model.nv, np.asarray(motors).shape[-1]
    P = np.zeros((len(H), len(H) - n + nu))
    P[: 2 * n, : 2 * n], P[3 * n :, 2 * n + nu :] = np.eye(2 * n), np.eye(1 + 6 * model.nbodies)
    P[2 * n : 3 * n, : 2 * n] = np.concatenate((motors.dtau_dq, motors.dtau_dv), axis=-1)
    P[2 * n : 3 * n, 2 * n : 2 * n + nu] = motors
    closed = dtau.step_hessian(*given, inputs=motors, by=BOTH)
    assert_close(closed, P.T @ H @ P, 1e-12, "closed loop")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"by": "h"}, ValueError, "by: expected 'dt' or 'f_ext', or a sequence of them, got 'h'"),
        ({"by": ("dt", "tau")}, ValueError, "by: expected 'dt' or 'f_ext', or a sequence"),
        ({"by": 1}, TypeError, "by: expected 'dt' or 'f_ext', or a sequence of them, got 1"),
        ({"by": ["dt", None]}, TypeError, "by: expected 'dt' or 'f_ext', or a sequence"),
        ({"by": "dt", "out": []}, ValueError, "out: expected None with by=, got arrays"),
    ],
)
def test_errors(options: dict[str, Any], error: type[Exception], message: str) -> None:
    model, contacts, given = standing()
    with pytest.raises(error) as caught:
        dtau.linearize_discrete(model, **given, contacts=contacts, **options)
    assert message in str(caught.value)


def test_a_gradient_by_wrenches_needs_wrenches() -> None:
    model, _, given = standing()
    del given["f_ext"], given["active"]
    with pytest.raises(ValueError, match="by: expected f_ext= with 'f_ext', got none"):
        dtau.step_vjp(model, **given, lam_q=given["v"], lam_v=given["v"], by="f_ext")
