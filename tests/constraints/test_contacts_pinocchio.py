"""Contacts of HyQ, Talos and G1 beside Pinocchio's constraint dynamics and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import random_state
from compare import assert_close
from contact_oracle import all_rows
from pinocchio_pair import FILES, Pair, pair, pin
from trees import Array

import dtau

BOUND = 1e-9
ROBOTS = {
    "HyQ": ("hyq_no_sensors.urdf", ["lf_foot", "rf_foot", "lh_foot", "rh_foot"], 3),
    "Talos": ("talos_reduced.urdf", ["left_sole_link", "right_sole_link"], 6),
    "G1": ("g1_29dof_rev_1_0.urdf", ["left_ankle_roll_link", "right_ankle_roll_link"], 6),
}
on_robots = pytest.mark.parametrize("name", ROBOTS)


class Peer:
    """Contacts in Pinocchio, along the frames' own axes."""

    def __init__(self, both: Pair, contacts: dtau.Contacts) -> None:
        self.both = both
        self.models = pin.StdVec_RigidConstraintModel()
        for contact in contacts:
            model = self._constraint(contact)
            gains = model.m_baumgarte_parameters
            gains.Kp, gains.Kd = contact.kp, contact.kd
            model.setBaumgarteCorrectorParameters(gains)
            self.models.append(model)

    def _constraint(self, contact: Any) -> Any:
        kind = pin.ContactType.CONTACT_3D if contact.rows == 3 else pin.ContactType.CONTACT_6D
        if isinstance(contact, dtau.Loop):
            a, b = self._frame(contact.frame_a), self._frame(contact.frame_b)
            at = pin.SE3(contact.placement.rotation, contact.placement.translation)
            other = (b.parentJoint, b.placement * at)
        elif isinstance(contact, dtau.PointContact):
            a = self._frame(contact.frame)
            other = (0, pin.SE3(np.eye(3), np.array(contact.position)))
        else:
            a, held = self._frame(contact.frame), contact.placement
            other = (0, pin.SE3(held.rotation, held.translation))
        local = pin.ReferenceFrame.LOCAL
        return pin.RigidConstraintModel(
            kind, self.both.peer, a.parentJoint, a.placement, *other, local
        )

    def _frame(self, name: str) -> Any:
        return self.both.peer.frames[self.both.peer.getFrameId(name)]

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


def compare(
    both: Pair, contacts: dtau.Contacts, q: Array, v: Array, tau: Array, skipped: tuple[str, ...]
) -> None:
    """Values and derivatives, but for the skipped ones."""
    want = Peer(both, contacts)(q, v, tau)
    got = dtau.constrained_dynamics(both.model, q, v, tau, contacts)
    d = dtau.constrained_dynamics_derivatives(both.model, q, v, tau, contacts)
    for result in (got, d):
        for what in set(result._fields) - {"residual", *skipped}:
            assert_close(getattr(result, what), want[what], BOUND, what)


def robot_of(name: str) -> tuple[Pair, list[str], int]:
    file, frames, rows = ROBOTS[name]
    return pair(next(key for key in FILES if key.endswith(file)), "free"), frames, rows


@on_robots
@pytest.mark.parametrize(("kp", "kd"), [(0.0, 0.0), (0.0, 9.0), (40.0, 9.0)])
def test_derivatives_with_contacts_match_pinocchio(name: str, kp: float, kd: float) -> None:
    both, frames, rows = robot_of(name)
    model = both.model
    make: Any = dtau.PointContact if rows == 3 else dtau.FrameContact
    held = [make(frame, kp=kp, kd=kd) for frame in frames]
    for seed in range(3):
        s = random_state(model, seed)
        q, v = s["q"], s["v"]
        at = random_state(model, seed + 10)["q"]
        if rows == 6:  # there it holds spatial accelerations and logarithms of whole poses, which
            at = q  # are others where frames move or are elsewhere
            v = at_rest(dtau.frame_jacobians(model, q, frames).reshape(-1, model.nv), v)
        contacts = dtau.Contacts(model, held, at=at)
        compare(both, contacts, q, v, s["tau"], ())


@pytest.mark.parametrize("name", [name for name, (*_, rows) in ROBOTS.items() if rows == 6])
@pytest.mark.parametrize(("kp", "kd"), [(0.0, 0.0), (0.0, 9.0), (40.0, 9.0)])
def test_spatial_contacts_match_pinocchio_away_from_rest(name: str, kp: float, kd: float) -> None:
    """Six rows of moving frames that are elsewhere: spatial accelerations and log6."""
    both, frames, _ = robot_of(name)
    model = both.model
    held = [dtau.FrameContact(x, kp=kp, kd=kd, acceleration="spatial") for x in frames]
    for seed in range(3):
        s = random_state(model, seed)
        contacts = dtau.Contacts(model, held, at=random_state(model, seed + 10)["q"])
        compare(both, contacts, s["q"], s["v"], s["tau"], ())


# Of a weld there, rows beside the closed state are others, and with them derivatives.
WELD = ("da_dq", "da_dv", "dforces_dq", "dforces_dv")


@pytest.mark.parametrize(("rows", "skipped"), [(3, ()), (6, WELD)])
def test_loops(rows: int, skipped: tuple[str, ...]) -> None:
    """Talos on one foot, hand in hand."""
    both, frames, _ = robot_of("Talos")
    model = both.model
    hands = "arm_left_7_link", "arm_right_7_link"
    for seed in range(3):
        s = random_state(model, seed)
        q = s["q"]
        a, b = (dtau.Pose(*dtau.frame_placements(model, q, hand)) for hand in hands)
        loop = dtau.Loop(*hands, rows, placement=b.inverse() @ a)
        contacts = dtau.Contacts(model, [loop, dtau.FrameContact(frames[0])], at=q)
        J, _ = all_rows(contacts, q, np.zeros(model.nv), np.zeros(model.nv))
        compare(both, contacts, q, at_rest(J, s["v"]), s["tau"], skipped)


def at_rest(J: Array, v: Array) -> Array:
    """The velocity without what contacts do not let be."""
    return v - np.linalg.pinv(J) @ (J @ v)


def test_feet_that_are_put_back() -> None:
    """Feet of HyQ are where they stood, by Pinocchio's kinematics."""
    both, feet, _ = robot_of("HyQ")
    model, peer = both.model, both.peer
    rng = np.random.default_rng(0)
    stand = dtau.neutral(model)
    for joint in model.joints:
        if joint.name.endswith("hfe_joint") or joint.name.endswith("kfe_joint"):
            stand[joint.q] = {"h": 0.6, "k": -1.2}[joint.name.split("_")[1][0]]
    q = dtau.integrate(model, stand, rng.uniform(-0.2, 0.2, (16, model.nv)))
    contacts = dtau.Contacts(model, [dtau.PointContact(foot) for foot in feet], at=stand)
    got = dtau.project(model, q, contacts)
    assert got.error.max() < 1e-10
    data = peer.createData()

    def places(q: Array) -> Array:
        pin.framesForwardKinematics(peer, data, both.q(q))
        return np.array([data.oMf[peer.getFrameId(foot)].translation for foot in feet])

    for each in got.q:
        assert_close(places(each), places(stand), BOUND)
