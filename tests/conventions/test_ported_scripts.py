"""Four Pinocchio scripts and their ports: every number that they compute on their way is compared.

A script is what a user moves: inverse kinematics of an arm, the terms of a whole-body controller's
QP, gradients through a simulation by adjoints, and identification of inertial parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import random_state
from compare import assert_close
from pinocchio_pair import Pair, pair
from trees import Array

import dtau

pin = pytest.importorskip("pinocchio")

ARM, HAND = "panda_description/panda.urdf", "panda_hand"
HUMANOID = "g1_description/g1_29dof_rev_1_0.urdf"
QUADRUPED = "anymal_b_simple_description/anymal.urdf"
FEET = ["left_ankle_roll_link", "right_ankle_roll_link"]
SAME = 1e-12  # of the largest element
DT, STEPS, DAMPING = 0.1, 100, 1e-6


def converted(p: Pair) -> tuple[dtau.Model, Any, Any, Any]:
    return p.model, p.peer, p.peer.createData(), dtau.conventions.pinocchio(p.model, p.peer)


class TestInverseKinematics:
    """Closed-loop inverse kinematics: q (+) dt v with v = -J^T (J J^T + damping)^-1 e."""

    def pinocchio(self, peer: Any, q: Array, target: Any) -> dict[str, Array]:
        data, frame = peer.createData(), peer.getFrameId(HAND)
        found: dict[str, list[Array]] = {"q": [], "error": [], "J": []}
        for _ in range(STEPS):
            pin.framesForwardKinematics(peer, data, q)
            away = data.oMf[frame].actInv(target)
            error = pin.log6(away).vector
            J = pin.computeFrameJacobian(peer, data, q, frame, pin.ReferenceFrame.LOCAL)
            J = -pin.Jlog6(away.inverse()) @ J
            v = -J.T @ np.linalg.solve(J @ J.T + DAMPING * np.eye(6), error)
            for name, x in (("q", q), ("error", error), ("J", J)):
                found[name].append(np.array(x))
            q = pin.integrate(peer, q, DT * v)
        return {name: np.array(x) for name, x in found.items()}

    def ported(self, model: dtau.Model, q: Array, target: dtau.Pose) -> dict[str, Array]:
        free = dtau.Free()  # differences of poses are differences of its coordinates
        builder = dtau.ModelBuilder("pose")
        builder.add(free, name="pose", inertia=dtau.Inertia(1.0, (0, 0, 0), np.eye(3)))
        pose = builder.build()
        goal = free.coordinates(target)
        found: dict[str, list[Array]] = {"q": [], "error": [], "J": []}
        for _ in range(STEPS):
            at = free.coordinates(dtau.Pose(*dtau.frame_placements(model, q, HAND)))
            error = dtau.difference(pose, at, goal)
            J = dtau.frame_jacobians(model, q, HAND)
            J = dtau.difference_jacobians(pose, at, goal).by_q0 @ J
            v = -J.T @ np.linalg.solve(J @ J.T + DAMPING * np.eye(6), error)
            for name, x in (("q", q), ("error", error), ("J", J)):
                found[name].append(x)
            q = dtau.integrate(model, q, DT * v)
        return {name: np.array(x) for name, x in found.items()}

    @pytest.mark.parametrize("seed", range(3))
    def test_every_iteration(self, seed: int) -> None:
        model, peer, _, convention = converted(pair(ARM, "fixed"))
        start = 0.5 * (model.lower_limits + model.upper_limits)
        way = 0.5 * np.random.default_rng(seed).normal(size=model.nv)
        goal = dtau.frame_placements(model, dtau.integrate(model, start, way), HAND)
        target = pin.SE3(goal.rotation, goal.translation)
        want = self.pinocchio(peer, convention.from_dtau(start).q, target)
        got = self.ported(model, start, dtau.Pose(*goal))
        assert np.linalg.norm(want["error"][-1]) < 1e-3
        there = convention.from_dtau(got["q"]).q
        assert_close(there, want["q"], SAME, "q")
        assert_close(got["error"], want["error"], SAME, "error")
        J = convention.convert(got["J"], of="J", at={"q": got["q"]})
        # Pinocchio's Jlog6 subtracts 1 / angle^2: it loses digits at small angles.
        large = np.linalg.norm(want["error"][:, 3:], axis=-1) > 0.02
        assert 10 < large.sum() < STEPS
        assert_close(J[large], want["J"][large], SAME, "J")
        assert_close(J[~large], want["J"][~large], 1e-8, "J at small angles")


class TestQuadraticProgram:
    """Terms of M a + h = S^T tau + J^T f,  J a + dJ/dt v = 0, and tasks of the center of mass."""

    def pinocchio(self, peer: Any, q: Array, v: Array) -> dict[str, Array]:
        data, zero = peer.createData(), np.zeros(peer.nv)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        pin.computeAllTerms(peer, data, q, v)
        upper = np.triu(data.M)
        frames = [peer.getFrameId(name) for name in FEET]
        found = {
            "M": upper + np.triu(upper, 1).T,
            "h": np.array(data.nle),
            "J": np.array([pin.getFrameJacobian(peer, data, foot, world) for foot in frames]),
            "Jcom": np.array(data.Jcom),
            "com": np.array(data.com[0]),
        }
        pin.forwardKinematics(peer, data, q, v, zero)
        pin.updateFramePlacements(peer, data)
        found["drift"] = np.array(
            [pin.getFrameClassicalAcceleration(peer, data, foot, world).vector for foot in frames]
        )
        found["placements"] = np.array([data.oMf[foot].homogeneous for foot in frames])
        pin.centerOfMass(peer, data, q, v, zero)
        found["com drift"] = np.array(data.acom[0])
        found["Ag"] = np.array(pin.computeCentroidalMap(peer, data, q))
        pin.computeCentroidalMomentumTimeVariation(peer, data, q, v, zero)
        found["momentum drift"] = data.dhg.vector
        return found

    def ported(self, model: dtau.Model, q: Array, v: Array, convention: Any) -> dict[str, Array]:
        zero = np.zeros(model.nv)
        M = dtau.mass_matrix(model, q)
        J = dtau.frame_jacobians(model, q, FEET, "mixed")
        poses = dtau.frame_placements(model, q, FEET)
        placements = np.zeros((len(FEET), 4, 4))
        placements[:, :3, :3], placements[:, :3, 3] = poses
        placements[:, 3, 3] = 1.0
        return {
            "M": convention.convert(
                convention.convert(M, of="J", at={"q": q}).T, of="J", at={"q": q}
            ),
            "h": convention.convert(dtau.bias_torque(model, q, v), of="tau", at={"q": q}),
            "J": convention.convert(J, of="J", at={"q": q}),
            "drift": dtau.frame_accelerations(model, q, v, zero, FEET, "mixed", kind="classical"),
            "placements": placements,
            "Jcom": convention.convert(dtau.center_of_mass_jacobian(model, q), of="J", at={"q": q}),
            "com": dtau.center_of_mass(model, q),
            "com drift": dtau.center_of_mass_acceleration(model, q, v, zero),
            "Ag": convention.convert(
                dtau.centroidal_momentum_matrix(model, q), of="J", at={"q": q}
            ),
            "momentum drift": dtau.centroidal_momentum_rate(model, q, v, zero),
        }

    @pytest.mark.parametrize("seed", range(3))
    def test_every_term(self, seed: int) -> None:
        model, peer, _, convention = converted(pair(HUMANOID, "free"))
        s = random_state(model, seed)
        q, v = convention.from_dtau(s["q"], s["v"])[:2]
        want = self.pinocchio(peer, q, v)
        got = self.ported(model, s["q"], s["v"], convention)
        assert got.keys() == want.keys()
        for name, x in got.items():
            assert_close(x, want[name], SAME, name)

    def test_the_solution(self) -> None:
        """Accelerations and forces of the equality-constrained QP of least accelerations."""
        model, peer, _, convention = converted(pair(HUMANOID, "free"))
        s = random_state(model, 7)
        q, v = convention.from_dtau(s["q"], s["v"])[:2]
        found = []
        for terms in (
            self.pinocchio(peer, q, v),
            self.ported(model, s["q"], s["v"], convention),
        ):
            J, drift = terms["J"].reshape(-1, model.nv), terms["drift"].ravel()
            kkt = np.block([[terms["M"], J.T], [J, np.zeros((len(J), len(J)))]])
            found.append(np.linalg.solve(kkt, -np.concatenate([terms["h"], drift])))
        contacts = dtau.Contacts(model, [dtau.FrameContact(foot, axes="mixed") for foot in FEET])
        a, forces, *_ = dtau.constrained_dynamics(
            model, s["q"], s["v"], np.zeros(model.nv), contacts
        )
        there = convention.from_dtau(s["q"], s["v"], a).a
        found.append(np.concatenate([there, -forces]))
        for x in found[1:]:
            assert_close(x, found[0], 1e-10, "solution")  # the condition of the system


class TestAdjoints:
    """The gradient of a final cost by all torques of a simulation, backwards in time."""

    dt, steps = 0.01, 20

    def pinocchio(
        self, peer: Any, q: Array, v: Array, taus: Array, goal: Array
    ) -> dict[str, Array]:
        data, n = peer.createData(), peer.nv
        states = [(q, v)]
        for tau in taus:
            v = v + self.dt * pin.aba(peer, data, q, v, tau)
            q = pin.integrate(peer, q, self.dt * v)
            states.append((q, v))
        by_q = pin.dDifference(peer, goal, q, pin.ArgumentPosition.ARG1).T
        lam_q, lam_v = by_q @ pin.difference(peer, goal, q), v.copy()
        gradient = np.empty((len(taus), n))
        for k in reversed(range(len(taus))):
            (q, v), (_, v_next) = states[k], states[k + 1]
            by_q, by_dq = pin.dIntegrate(peer, q, self.dt * v_next)
            lam_v = lam_v + self.dt * by_dq.T @ lam_q
            pin.computeABADerivatives(peer, data, q, v, taus[k])
            inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
            gradient[k] = self.dt * inverse @ lam_v
            lam_q = by_q.T @ lam_q + self.dt * np.array(data.ddq_dq).T @ lam_v
            lam_v = lam_v + self.dt * np.array(data.ddq_dv).T @ lam_v
        return {
            "q": np.array([q for q, _ in states]),
            "v": np.array([v for _, v in states]),
            "gradient": gradient,
            "by q0": lam_q,
            "by v0": lam_v,
        }

    def ported(
        self, model: dtau.Model, q: Array, v: Array, taus: Array, goal: Array
    ) -> dict[str, Array]:
        states = [(q, v)]
        for tau in taus:
            states.append(dtau.step(model, *states[-1], tau, self.dt, "semi_implicit")[:2])
        q, v = states[-1]
        by_q = dtau.difference_jacobians(model, goal, q).by_q1.T
        lam_q, lam_v = by_q @ dtau.difference(model, goal, q), v
        gradient = np.empty_like(taus)
        for k in reversed(range(len(taus))):
            back = dtau.step_vjp(model, *states[k], taus[k], self.dt, lam_q, lam_v, "semi_implicit")
            lam_q, lam_v, gradient[k] = back[:3]
        return {
            "q": np.array([q for q, _ in states]),
            "v": np.array([v for _, v in states]),
            "gradient": gradient,
            "by q0": lam_q,
            "by v0": lam_v,
        }

    @pytest.mark.parametrize(("name", "root"), [(ARM, "fixed"), (QUADRUPED, "free")])
    def test_every_state_and_gradient(self, name: str, root: str) -> None:
        model, peer, _, convention = converted(pair(name, root))
        s = random_state(model, 4)
        rng = np.random.default_rng(4)
        q0, v0 = s["q"], 0.1 * s["v"]
        taus = dtau.bias_torque(model, q0, v0) + 0.1 * rng.normal(size=(self.steps, model.nv))
        goal = dtau.integrate(model, q0, 0.3 * rng.normal(size=model.nv))
        q, v = convention.from_dtau(q0, v0)[:2]
        there = convention.from_dtau(goal).q
        want = self.pinocchio(peer, q, v, convention.convert(taus, of="tau", at={"q": q0}), there)
        got = self.ported(model, q0, v0, taus, goal)
        moved = convention.from_dtau(got["q"], got["v"])
        assert_close(moved.q, want["q"], SAME, "q")
        assert_close(moved.v, want["v"], SAME, "v")
        for name, at in (("gradient", got["q"][:-1]), ("by q0", q0), ("by v0", q0)):
            assert_close(
                convention.convert(got[name], of="tau", at={"q": at}), want[name], SAME, name
            )


class TestIdentification:
    """Least squares for inertial parameters, from regressors along a motion."""

    samples = 50

    def pinocchio(self, peer: Any, motion: tuple[Array, ...]) -> dict[str, Array]:
        data = peer.createData()
        rows, torques = [], []
        for q, v, a in zip(*motion, strict=True):
            rows.append(np.array(pin.computeJointTorqueRegressor(peer, data, q, v, a)))
            torques.append(np.array(pin.rnea(peer, data, q, v, a)))
        parameters = [inertia.toDynamicParameters() for inertia in list(peer.inertias)[1:]]
        return self.identified(np.array(rows), np.array(torques), np.concatenate(parameters))

    def ported(self, model: dtau.Model, motion: tuple[Array, ...]) -> dict[str, Array]:
        regressors = dtau.inverse_dynamics_regressor(model, *motion)
        torques = dtau.inverse_dynamics(model, *motion)
        return self.identified(regressors, torques, model.parameters.ravel())

    def identified(self, rows: Array, torques: Array, true: Array) -> dict[str, Array]:
        stack = rows.reshape(-1, rows.shape[-1])
        values, directions = np.linalg.svd(stack)[1:]
        base = directions[: int((values > 1e-8 * values[0]).sum())]  # identifiable combinations
        estimate = np.linalg.lstsq(stack, torques.ravel(), rcond=1e-8)[0]
        projector = base.T @ base
        return {
            "regressor": rows,
            "torque": torques,
            "parameters": true,
            "singular values": values,
            "projector": projector,
            "estimate": estimate,
            "prediction": stack @ estimate,
        }

    @pytest.mark.parametrize("root", ["fixed", "free"])
    def test_every_number(self, root: str) -> None:
        model, peer, _, convention = converted(pair(ARM, root))
        s = random_state(model, 5, (self.samples,))
        there = convention.from_dtau(s["q"], s["v"], s["a"])
        assert np.array_equal(there.q, s["q"])  # the same joints in the same order
        want = self.pinocchio(peer, there)
        got = self.ported(model, (s["q"], s["v"], s["a"]))
        for name, x in got.items():
            assert_close(x, want[name], SAME, name)
        assert_close(got["prediction"], got["torque"].ravel(), 1e-10, "fit")
