"""Compare `dtau.mujoco.transition_derivatives` with differences of MuJoCo's step: `check`.

It also compares products of `dtau.mujoco.StepFunction`, which form no matrix, with the matrices,
and the matrices of a batch with those of a lone state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.peers.mujoco_pairs import sixth_order

import dtau


def random_data(mj_model: Any, seed: int, size: float = 1.0, low: float = -0.9) -> Any:
    """Draw a state within `size` of the model's own, forces on it, and controls up to 0.9."""
    import mujoco

    rng, data = np.random.default_rng(seed), mujoco.MjData(mj_model)
    q = data.qpos.copy()
    mujoco.mj_integratePos(mj_model, q, size * rng.normal(size=mj_model.nv), 1.0)
    data.qpos[:], data.qvel[:] = q, rng.normal(size=mj_model.nv)
    data.qfrc_applied[:] = rng.normal(size=mj_model.nv)
    data.ctrl[:] = rng.uniform(low, 0.9, mj_model.nu)
    return data


def errors(mj_model: Any, data: Any, step: float = 2e-5, **options: Any) -> tuple[float, float]:
    """Errors of A and B, relative to the largest element that is not of a position."""
    got = dtau.mujoco.transition_derivatives(mj_model, data, **options)
    out = []
    for ours, numeric in zip(got, sixth_order(mj_model, data, step), strict=True):
        assert ours.shape == numeric.shape
        scale = np.abs(numeric[mj_model.nv :]).max(initial=0.0) + 1e-3
        out.append(float(np.abs(ours - numeric).max(initial=0.0) / scale))
    return out[0], out[1]


def check(
    mj_model: Any, data: Any, close: float = 1e-7, step: float = 2e-5, **options: Any
) -> None:
    assert max(errors(mj_model, data, step, **options)) < close
    check_batch(mj_model, data, **options)


def check_batch(mj_model: Any, data: Any, **options: Any) -> None:
    """Compare products at the state, alone and with a slower one; and matrices after that one."""
    import mujoco

    step = dtau.mujoco.StepFunction(mj_model, data, **options)
    states = np.empty((2, step.nstate))
    for state in states:
        mujoco.mj_getState(mj_model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states[1, 1 + mj_model.nq :] *= 0.9
    ctrl = np.stack([data.ctrl, 0.9 * data.ctrl])
    after = step(states, ctrl)
    weights = np.random.default_rng(0).normal(size=(2, *states.shape))
    for n in (1, 2):
        x, u, lam, reached = states[:n], ctrl[:n], weights[:, :n], after[:n]
        product = step.vjp(x, u, lam[0], after=reached)
        both = step.vjp(x, u, lam, after=reached)  # several weights share the matrices
        for got, (expected, _) in zip(product, both, strict=True):
            largest = np.abs(expected).max(initial=1.0)
            np.testing.assert_allclose(got, expected, rtol=0.0, atol=1e-12 * largest)
    batch = states[::-1], ctrl[::-1]
    found = dtau.mujoco.transition_derivatives_batch(mj_model, data, *batch, threads=1, **options)
    alone = dtau.mujoco.transition_derivatives(mj_model, data, **options)
    for got, expected in zip(found, alone, strict=True):
        largest = np.abs(expected).max(initial=1.0)
        np.testing.assert_allclose(got[1], expected, rtol=0.0, atol=1e-9 * largest)
