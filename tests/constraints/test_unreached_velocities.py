"""Inverse dynamics where contact forces do not reach all velocities without an input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import assert_close, assert_same_bits

import dtau


@pytest.mark.parametrize("active", [(1, 1, 1, 1), (1, 0, 0, 1), (1, 0, 0, 0), (0, 0, 0, 0)])
@pytest.mark.parametrize("value", [1e-4, 1e-6, 1e-9])
def test_torques_that_forces_do_not_reach_are_least(active: tuple[int, ...], value: float) -> None:
    """With a regularization inverse dynamics takes the pseudo-inverse, for any stance."""
    model, feet = dtau.robots.quadruped(), dtau.robots.QUADRUPED_FEET
    contacts = dtau.Contacts(model, [dtau.PointContact(foot, axes="mixed") for foot in feet])
    q, v, a = dtau.random_state(model, np.random.default_rng(1), shape=(9,))
    options: dict[str, Any] = {"active": active, "regularization": value}
    found = dtau.constrained_inverse_dynamics(model, q, v, a, contacts, **options)
    J = dtau.frame_jacobians(model, q, feet, axes="mixed")[:, :, :3] * np.reshape(active, (4, 1, 1))
    J = J.reshape(9, 12, model.nv)
    torque = dtau.inverse_dynamics(model, q, v, a)
    loose = np.swapaxes(J, -1, -2)[:, :6]
    forces = (np.linalg.pinv(loose, rcond=1e-9) @ torque[:, :6, np.newaxis])[..., 0]
    tau = torque - (np.swapaxes(J, -1, -2) @ forces[..., np.newaxis])[..., 0]
    assert_close(found.forces, forces, 1e-9, "forces", floor=1.0)
    assert_close(found.tau, tau, 1e-9, "tau")
    alone = dtau.constrained_inverse_dynamics(model, q[4], v[4], a[4], contacts, **options)
    assert_same_bits(alone.tau, found.tau[4])
    assert_same_bits(alone.forces, found.forces[4])


def test_a_trot_rests_where_equilibrium_says() -> None:
    model, feet = dtau.robots.quadruped(), dtau.robots.QUADRUPED_FEET
    contacts = dtau.Contacts(model, [dtau.PointContact(foot, axes="mixed") for foot in feet])
    q, still = dtau.neutral(model), np.zeros(model.nv)
    held: dict[str, Any] = {"contacts": contacts, "active": [1, 0, 0, 1]}
    found = dtau.constrained_inverse_dynamics(model, q, still, still, regularization=1e-6, **held)
    hold = dtau.equilibrium(model, q, inputs=np.eye(model.nv)[:, 6:] * 1e6, **held)
    assert_close(found.tau[:6], hold.residual[:6], 1e-8, "torques that are left", floor=1.0)
    with pytest.raises(
        ValueError, match=r"do not act on all .* \(joint 'root_joint'\); .* or give regularization="
    ):
        dtau.constrained_inverse_dynamics(model, q, still, still, **held)
