"""Second derivatives of time steps beside RBDReference's: see README.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import assert_close

import dtau

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit"])
def test_step_hessian(integrator: Any) -> None:
    model = dtau.load(FOLDER / "step_arm.urdf")
    numbers = np.load(FOLDER / "step_arm.npz")
    state = [numbers[name] for name in ("q", "v", "tau", "dt")]
    lam = np.eye(2 * model.nv)
    got = dtau.step_hessian(
        model, *state, lam[:, : model.nv], lam[:, model.nv :], integrator, inputs=np.eye(model.nv)
    )
    want = numbers[integrator]
    assert_close(got, want, 1e-12, integrator, floor=float(np.abs(want).max()))
