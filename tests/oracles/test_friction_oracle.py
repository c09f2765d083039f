"""Smoothed Coulomb friction beside RBDReference's: see README.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from compare import assert_close

import dtau

FOLDER = Path(__file__).parent


def test_friction_of_rbdreference() -> None:
    numbers = np.load(FOLDER / "friction_arm.npz")
    names = ["j0", "j1", "j2", "j3"]
    speeds = dict(zip(names, numbers["speed"].tolist(), strict=True))
    model = dtau.load(FOLDER / "friction_arm.urdf", friction_speed=speeds)
    assert model.friction.tolist() == [1.2, 0.8, 0.5, 0.0]
    q, v, a, applied = (numbers[name] for name in ("q", "v", "a", "applied"))
    results = {
        "tau": dtau.inverse_dynamics(model, q, v, a),
        "forward": dtau.forward_dynamics(model, q, v, applied),
    }
    for derivatives in (
        dtau.inverse_dynamics_derivatives(model, q, v, a),
        dtau.inverse_dynamics_second_derivatives(model, q, v, a),
        dtau.forward_dynamics_derivatives(model, q, v, applied),
        dtau.forward_dynamics_second_derivatives(model, q, v, applied),
    ):
        results |= {name: x for name, x in derivatives._asdict().items() if name in numbers}
    assert len(results) == len(numbers.files) - 5  # all but the state and the speeds
    for name, got in results.items():
        want = numbers[name]
        assert_close(got, want, 1e-12, name, floor=float(np.abs(want).max()))
