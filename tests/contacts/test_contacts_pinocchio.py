"""Contacts of HyQ and Talos beside Pinocchio's constraint dynamics and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import random_state
from compare import assert_close
from pinocchio_pair import FILES, Pair, pair, pin
from trees import Array

import dtau

BOUND = 1e-9
ROBOTS = {
    "HyQ": ("hyq_no_sensors.urdf", ["lf_foot", "rf_foot", "lh_foot", "rh_foot"], 3),
    "Talos": ("talos_reduced.urdf", ["left_sole_link", "right_sole_link"], 6),
}
on_robots = pytest.mark.parametrize("name", ROBOTS)


class Peer:
    """The contacts of a robot in Pinocchio, along the frames' own axes."""

    def __init__(self, both: Pair, frames: list[str], rows: int) -> None:
        self.both = both
        kind = pin.ContactType.CONTACT_3D if rows == 3 else pin.ContactType.CONTACT_6D
        self.models = pin.StdVec_RigidConstraintModel()
        for name in frames:
            frame = both.peer.frames[both.peer.getFrameId(name)]
            self.models.append(
                pin.RigidConstraintModel(
                    kind, both.peer, frame.parentJoint, frame.placement, pin.ReferenceFrame.LOCAL
                )
            )

    def __call__(self, q: Array, v: Array, tau: Array) -> dict[str, Array]:
        """Results in the package's order of velocities."""
        peer, iv = self.both.peer, self.both.iv
        data = peer.createData()
        constraints = pin.StdVec_RigidConstraintData()
        for model in self.models:
            constraints.append(model.createData())
        pin.initConstraintDynamics(peer, data, self.models, constraints)
        settings = pin.ProximalSettings(1e-14, 0.0, 1)
        a = pin.constraintDynamics(
            peer, data, self.both.q(q), v[iv], tau[iv], self.models, constraints, settings
        )
        pin.computeConstraintDynamicsDerivatives(peer, data, self.models, constraints, settings)
        back = np.argsort(iv)
        out: dict[str, Any] = {"a": a[back], "forces": np.array(data.lambda_c)}
        for by in ("q", "v", "tau"):
            out[f"da_d{by}"] = np.array(getattr(data, f"ddq_d{by}"))[np.ix_(back, back)]
            out[f"dforces_d{by}"] = np.array(getattr(data, f"dlambda_d{by}"))[:, back]
        return out


@on_robots
def test_values_and_derivatives(name: str) -> None:
    file, frames, rows = ROBOTS[name]
    both = pair(next(key for key in FILES if key.endswith(file)), "free")
    model = both.model
    make: Any = dtau.PointContact if rows == 3 else dtau.FrameContact
    contacts = dtau.Contacts(model, [make(frame) for frame in frames])
    peer = Peer(both, frames, rows)
    for seed in range(3):
        s = random_state(model, seed)
        q, v, tau = s["q"], s["v"], s["tau"]
        if rows == 6:  # there spatial accelerations are held, which differ where frames move
            J = dtau.frame_jacobians(model, q, frames).reshape(-1, model.nv)
            v = v - np.linalg.pinv(J) @ (J @ v)
        want = peer(q, v, tau)
        got = dtau.constrained_dynamics(model, q, v, tau, contacts)
        d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts)
        for what in ("a", "forces"):
            assert_close(getattr(got, what), want[what], BOUND, what)
        for what in d._fields:
            assert_close(getattr(d, what), want[what], BOUND, what)
