"""Time derivatives of inverse dynamics against numbers of an independent program (tests/oracles).

There, twists and wrenches of the base are spatial: in world axes, about the world's origin.
"""

from __future__ import annotations

import numpy as np
import pytest
import taylor
from compare import TOLERANCE, assert_close
from time_oracle import LINEAR_FIRST, NAMES, oracle

import dtau


@pytest.mark.parametrize("name", NAMES)
def test_inverse_dynamics(name: str) -> None:
    o = oracle(name)
    got = dtau.inverse_dynamics_time_derivatives(o.model, o.q, o.v, o.f_ext)
    base = o.model.joint("body0").v
    assert base == slice(0, 6)
    wrench = taylor.coefficients(got[:, LINEAR_FIRST])
    spatial = taylor.derivatives(taylor.product(taylor.transposed(o.base_adjoint), wrench))
    for k in range(len(o.tau)):
        size = float(max(np.abs(o.tau[k]).max(), np.abs(o.wrench[k]).max()))
        assert_close(
            got[k, 6:], o.tau[k], TOLERANCE["time oracle"], f"torque of order {k}", floor=size
        )
        assert_close(
            spatial[k], o.wrench[k], TOLERANCE["time oracle"], f"wrench of order {k}", floor=size
        )
