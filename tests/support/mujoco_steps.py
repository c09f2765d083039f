"""Compare `dtau.mujoco.transition_derivatives` with differences of MuJoCo's step: `check`."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.peers.mujoco_pairs import sixth_order

import dtau


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
