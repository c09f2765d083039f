"""Compare `dtau.mujoco.transition_derivatives` with differences of MuJoCo's step: `check`."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from benchmarks.peers.mujoco_pairs import sixth_order
from trees import Array

import dtau


def differences(mj_model: Any, data: Any, step: float = 2e-5) -> tuple[Array, Array]:
    """Centered differences of sixth order, from three of second order."""
    import mujoco

    if mj_model.opt.integrator != int(mujoco.mjtIntegrator.mjINT_RK4):
        return sixth_order(mj_model, data, step)
    # mjd_transitionFD does not support it.
    n, nu = 2 * mj_model.nv + mj_model.na, mj_model.nu
    out = [np.zeros((n, n)), np.zeros((n, nu))]
    for scale, weight in ((1.0, 1.5), (2.0, -0.6), (3.0, 0.1)):
        for total, part in zip(out, _centered(mj_model, data, scale * step), strict=True):
            total += weight * part
    return out[0], out[1]


def _centered(mj_model: Any, data: Any, step: float) -> tuple[Array, Array]:
    """Centered differences of `mujoco.mj_step` by state and control."""
    import mujoco

    nv, na = mj_model.nv, mj_model.na
    after = copy.copy(data)

    def ahead(change: Array) -> tuple[Array, Array]:
        for name in ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "qacc_warmstart"):
            getattr(after, name)[:] = getattr(data, name)
        dq, dv, dact, du = np.split(change, np.cumsum([nv, nv, na]))
        mujoco.mj_integratePos(mj_model, after.qpos, dq, 1.0)
        after.qvel[:] += dv
        after.act[:] += dact
        after.ctrl[:] += du
        mujoco.mj_step(mj_model, after)
        return after.qpos.copy(), np.concatenate([after.qvel, after.act])

    columns = []
    for change in step * np.eye(2 * nv + na + mj_model.nu):
        (q, rest), (q_back, rest_back) = ahead(change), ahead(-change)
        dq = np.empty(nv)
        mujoco.mj_differentiatePos(mj_model, dq, 2.0 * step, q_back, q)
        columns.append(np.concatenate([dq, (rest - rest_back) / (2.0 * step)]))
    both = np.array(columns).T
    return both[:, : len(both)], both[:, len(both) :]


def errors(mj_model: Any, data: Any, step: float = 2e-5, **options: Any) -> tuple[float, float]:
    """Errors of A and B, relative to the largest element that is not of a position."""
    got = dtau.mujoco.transition_derivatives(mj_model, data, **options)
    out = []
    for ours, numeric in zip(got, differences(mj_model, data, step), strict=True):
        assert ours.shape == numeric.shape
        scale = np.abs(numeric[mj_model.nv :]).max(initial=0.0) + 1e-3
        out.append(float(np.abs(ours - numeric).max(initial=0.0) / scale))
    return out[0], out[1]


def check(
    mj_model: Any, data: Any, close: float = 1e-7, step: float = 2e-5, **options: Any
) -> None:
    assert max(errors(mj_model, data, step, **options)) < close
