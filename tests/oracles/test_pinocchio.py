"""Every function against Pinocchio on robots of example-robot-data, fixed and free."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import State, random_state
from compare import EPS, SMALL, TOLERANCE, assert_close
from pinocchio_pair import Pair, pair
from trees import Array

import dtau
from dtau.support.options import Axes

pin = pytest.importorskip("pinocchio")
AXES: dict[Axes, Any] = {"body": pin.LOCAL, "world": pin.WORLD, "mixed": pin.LOCAL_WORLD_ALIGNED}


ROBOTS = (
    "double_pendulum_description/double_pendulum_continuous.urdf",  # continuous joints
    "ur_description/ur5_robot.urdf",
    "kinova_description/kinova.urdf",  # continuous joints
    "panda_description/panda.urdf",  # prismatic joints along any axis, a mimic joint
    "xarm_description/xarm7.urdf",
    "hyq_description/hyq_no_sensors.urdf",
    "anymal_b_simple_description/anymal.urdf",
    "anymal_c_simple_description/anymal.urdf",  # revolute joints about any axis
    "baxter_description/baxter.urdf",
    "pr2_description/pr2.urdf",  # continuous, prismatic, mimic
    "g1_description/g1_29dof_rev_1_0.urdf",
    "icub_description/icub.urdf",
    "human_description/human.urdf",  # bodies without inertia between joints
    "talos_data/talos_full_v2.urdf",
    "romeo_description/romeo.urdf",  # 24 fingers without inertia
    "tiago_pro_description/tiago_pro.urdf",  # continuous wheels, two arms
    "centauro_description/centauro.urdf",
)
SEEDS = (1, 2)


def cases(needs_inertia: bool) -> Any:
    """All robots, fixed and free; those with massless joints only where nothing is solved."""
    rows = []
    for name in ROBOTS:
        if needs_inertia and name.startswith("romeo"):
            continue
        rows += [
            pytest.param(name, root, id=f"{name.split('/')[1][:-5]}-{root}")
            for root in ("fixed", "free")
        ]
    return pytest.mark.parametrize(("name", "root"), rows)


def state_of(p: Pair, seed: int) -> State:
    return random_state(p.model, seed)


def close(got: Array, want: Array, what: str, tolerance: float = TOLERANCE["pinocchio"]) -> None:
    # Blocks that vanish (by the position of a free base) hold rounding errors in both.
    assert_close(got, want, tolerance, what)


@cases(needs_inertia=False)
@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics(name: str, root: str, seed: int) -> None:
    p = pair(name, root)
    s, data, m = state_of(p, seed), p.peer.createData(), p.model
    q, v, a, f_ext = s["q"], s["v"], s["a"], s["f_ext"]
    pq, pv, pa, pf = p.q(q), v[p.iv], a[p.iv], p.wrenches(f_ext)
    close(dtau.inverse_dynamics(m, q, v, a)[p.iv], pin.rnea(p.peer, data, pq, pv, pa), "tau")
    got = dtau.inverse_dynamics(m, q, v, a, f_ext)[p.iv]
    close(got, pin.rnea(p.peer, data, pq, pv, pa, pf), "tau with f_ext")
    close(
        dtau.bias_torque(m, q, v)[p.iv], pin.nonLinearEffects(p.peer, data, pq, pv), "bias_torque"
    )
    gravity = pin.computeGeneralizedGravity(p.peer, data, pq)
    close(dtau.gravity_torque(m, q)[p.iv], gravity, "gravity_torque")
    static = -pin.computeStaticTorque(p.peer, data, pq, pf)
    still = -dtau.bias_torque(m, q, 0.0 * v, f_ext)[p.iv]
    close(still, static, "bias_torque at rest with f_ext")


@cases(needs_inertia=False)
@pytest.mark.parametrize("seed", SEEDS)
def test_matrices(name: str, root: str, seed: int) -> None:
    p = pair(name, root)
    s, data = state_of(p, seed), p.peer.createData()
    q, v = s["q"], s["v"]
    upper = np.triu(pin.crba(p.peer, data, p.q(q)))
    close(p.square(dtau.mass_matrix(p.model, q)), upper + np.triu(upper, 1).T, "mass_matrix")
    coriolis = np.array(pin.computeCoriolisMatrix(p.peer, data, p.q(q), v[p.iv]))
    close(p.square(dtau.coriolis_matrix(p.model, q, v)), coriolis, "coriolis_matrix")


@cases(needs_inertia=False)
@pytest.mark.parametrize("seed", SEEDS)
def test_regressor(name: str, root: str, seed: int) -> None:
    """The same columns in the same order, and the same parameters of the bodies."""
    p = pair(name, root)
    s, data = state_of(p, seed), p.peer.createData()
    q, v, a = s["q"], s["v"], s["a"]
    want = np.array(pin.computeJointTorqueRegressor(p.peer, data, p.q(q), v[p.iv], a[p.iv]))
    bodies = [record.body for record in p.joints]
    got = dtau.inverse_dynamics_regressor(p.model, q, v, a).reshape(p.model.nv, -1, 10)
    close(got[p.iv][:, bodies].reshape(want.shape), want, "regressor")
    parameters = np.array([i.toDynamicParameters() for i in list(p.peer.inertias)[1:]])
    close(p.model.parameters[bodies], parameters, "parameters")


@cases(needs_inertia=False)
def test_regressors_of_energies(name: str, root: str) -> None:
    p = pair(name, root)
    s, data = state_of(p, 1), p.peer.createData()
    q, v = s["q"], s["v"]
    bodies = [record.body for record in p.joints]

    def in_order(got: Array) -> Array:
        return got.reshape(*got.shape[:-1], -1, 10)[..., bodies, :].reshape(got.shape)

    want = np.array(pin.computeKineticEnergyRegressor(p.peer, data, p.q(q), v[p.iv]))
    close(in_order(dtau.kinetic_energy_regressor(p.model, q, v)), want, "kinetic energy")
    want = np.array(pin.computePotentialEnergyRegressor(p.peer, data, p.q(q)))
    close(in_order(dtau.potential_energy_regressor(p.model, q)), want, "potential energy")
    # the momentum of all bodies, from Pinocchio's momenta of single bodies
    pin.forwardKinematics(p.peer, data, p.q(q), v[p.iv])
    want = np.sum(
        [data.oMi[i].act(p.peer.inertias[i] * data.v[i]).vector for i in range(1, p.peer.njoints)],
        axis=0,
    )
    got = dtau.momentum_regressor(p.model, q, v) @ p.model.parameters.ravel()
    close(got, want, "momentum")


@cases(needs_inertia=False)
def test_subtree_centers_of_mass(name: str, root: str) -> None:
    p = pair(name, root)
    s, data = state_of(p, 1), p.peer.createData()
    pin.centerOfMass(p.peer, data, p.q(s["q"]), True)
    mass, center = dtau.subtree_centers_of_mass(p.model, s["q"])
    for i, record in enumerate(p.joints, start=1):
        close(mass[record.body], np.array(data.mass[i]), f"mass of {record.name}")
        if data.mass[i] > 0:
            want = data.oMi[i].act(data.com[i])
            close(center[record.body], want, f"center of {record.name}")


@cases(needs_inertia=False)
@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics_derivatives_match_pinocchio(name: str, root: str, seed: int) -> None:
    p = pair(name, root)
    s, data = state_of(p, seed), p.peer.createData()
    q, v, a = s["q"], s["v"], s["a"]
    for f_ext in (None, s["f_ext"]):
        extra = () if f_ext is None else (p.wrenches(f_ext),)
        pin.computeRNEADerivatives(p.peer, data, p.q(q), v[p.iv], a[p.iv], *extra)
        upper = np.triu(data.M)
        got = dtau.inverse_dynamics_derivatives(p.model, q, v, a, f_ext)
        close(p.square(got.dtau_dq), data.dtau_dq, "dtau_dq")
        close(p.square(got.dtau_dv), data.dtau_dv, "dtau_dv")
        close(p.square(got.dtau_da), upper + np.triu(upper, 1).T, "dtau_da")


@cases(needs_inertia=False)
def test_wrenches_along_world_axes(name: str, root: str) -> None:
    """By Pinocchio's Jacobians: of the torque by wrenches, and what they add to its derivative."""
    p = pair(name, root)
    s, data = state_of(p, 3), p.peer.createData()
    q, v, a, f = s["q"], s["v"], s["a"], s["f_ext"]
    pin.computeJointJacobians(p.peer, data, p.q(q))
    of = {
        axes: np.array(
            [pin.getJointJacobian(p.peer, data, i, frame) for i in range(1, p.peer.njoints)]
        )
        for axes, frame in AXES.items()
    }
    bodies = [record.body for record in p.joints]
    for axes in AXES:
        got = dtau.inverse_dynamics_wrench_derivatives(p.model, q, f_ext_axes=axes)
        close(got[p.iv][:, bodies], -np.moveaxis(of[axes], -1, 0), f"by {axes} wrenches")

    R = np.array([data.oMi[i].rotation for i in range(1, p.peer.njoints)])
    force, moment = (
        np.einsum("bji,bj->bi", R, f[bodies][:, part]) for part in (np.s_[:3], np.s_[3:])
    )
    turned = np.zeros_like(f)
    turned[bodies] = np.concatenate([force, moment], axis=-1)
    pin.computeRNEADerivatives(p.peer, data, p.q(q), v[p.iv], a[p.iv], p.wrenches(turned))
    want = np.array(data.dtau_dq)
    for J, F, M in zip(of["body"], force, moment, strict=True):
        want += J[:3].T @ np.cross(J[3:], F, axisa=0).T + J[3:].T @ np.cross(J[3:], M, axisa=0).T
    got = dtau.inverse_dynamics_derivatives(p.model, q, v, a, f, f_ext_axes="mixed")
    close(p.square(got.dtau_dq), want, "dtau_dq")


@cases(needs_inertia=True)
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics(name: str, root: str, seed: int) -> None:
    p = pair(name, root)
    s, data, m = state_of(p, seed), p.peer.createData(), p.model
    q, v, tau = s["q"], s["v"], s["tau"]
    # Both solve: some 50 roundings, times the condition.
    tolerance = TOLERANCE["pinocchio"] + 1e-14 * np.linalg.cond(dtau.mass_matrix(m, q))
    pq, pv, pt = p.q(q), v[p.iv], tau[p.iv]

    upper = np.triu(pin.computeMinverse(p.peer, data, pq))
    inverse = p.square(dtau.mass_matrix_inverse(m, q))
    close(inverse, upper + np.triu(upper, 1).T, "mass_matrix_inverse", tolerance)
    for f_ext in (None, s["f_ext"]):
        extra = () if f_ext is None else (p.wrenches(f_ext),)
        a = dtau.forward_dynamics(m, q, v, tau, f_ext)
        close(a[p.iv], pin.aba(p.peer, data, pq, pv, pt, *extra), "forward_dynamics", tolerance)
        pin.computeABADerivatives(p.peer, data, pq, pv, pt, *extra)
        got = dtau.forward_dynamics_derivatives(m, q, v, tau, f_ext)
        close(p.square(got.da_dq), data.ddq_dq, "da_dq", tolerance)
        close(p.square(got.da_dv), data.ddq_dv, "da_dv", tolerance)
        upper = np.triu(data.Minv)
        close(p.square(got.da_dtau), upper + np.triu(upper, 1).T, "da_dtau", tolerance)


@cases(needs_inertia=False)
def test_kinematics(name: str, root: str) -> None:
    p = pair(name, root)
    q = state_of(p, 3)["q"]
    data = p.peer.createData()
    pin.computeJointJacobians(p.peer, data, p.q(q))
    pin.updateFramePlacements(p.peer, data)
    bodies = dtau.forward_kinematics(p.model, q)
    for i, record in enumerate(p.joints):
        close(bodies.rotation[record.body], data.oMi[i + 1].rotation, record.name)
        place = data.oMi[i + 1].translation
        assert_close(
            bodies.translation[record.body], place, TOLERANCE["pinocchio"], record.name, floor=SMALL
        )

    links = {f.name: i for i, f in enumerate(p.peer.frames) if f.type == pin.FrameType.BODY}
    links.pop("universe", None)
    assert set(links) <= set(p.model.frames)
    names = list(links)
    placed = dtau.frame_placements(p.model, q, names)
    jacobians = {a: dtau.frame_jacobians(p.model, q, names, axes=a) for a in AXES}
    for k, (frame, i) in enumerate(links.items()):
        close(placed.rotation[k], data.oMf[i].rotation, f"rotation of {frame}")
        place = data.oMf[i].translation
        assert_close(
            placed.translation[k], place, TOLERANCE["pinocchio"], f"place of {frame}", floor=SMALL
        )
        for which, theirs in AXES.items():
            want = pin.getFrameJacobian(p.peer, data, i, theirs)
            got = jacobians[which][k][:, p.iv]
            assert_close(got, want, TOLERANCE["pinocchio"], f"J of {frame}, {which}", floor=SMALL)


@cases(needs_inertia=False)
@pytest.mark.parametrize("seed", SEEDS)
def test_kinematic_hessians(name: str, root: str, seed: int) -> None:
    """Of the bodies of some joints, [row, k, j] for column k along q_j in both.

    Pinocchio 4.1's tensors reach Python with their numbers in Fortran's order.
    """
    p = pair(name, root)
    s, data = state_of(p, seed), p.peer.createData()
    pin.computeJointKinematicHessians(p.peer, data, p.q(s["q"]))
    for i in range(1, p.peer.njoints, max(1, p.peer.njoints // 5)):
        body = p.model.bodies[p.joints[i - 1].body]
        for which, theirs in AXES.items():
            tensor = pin.getJointKinematicHessian(p.peer, data, i, theirs)
            want = tensor.reshape(-1).reshape(tensor.shape, order="F")
            got = dtau.frame_jacobians_derivatives(p.model, s["q"], body, which)
            got = got[:, p.iv][:, :, p.iv]
            what = f"dJ of {body}, {which}"
            assert_close(got, want, TOLERANCE["pinocchio"], what, floor=SMALL)


@cases(needs_inertia=False)
@pytest.mark.parametrize("seed", SEEDS)
def test_errors_of_frames(name: str, root: str, seed: int) -> None:
    p = pair(name, root)
    s, peer, data = state_of(p, seed), p.peer, p.peer.createData()
    theirs, rng = p.q(s["q"]), np.random.default_rng(seed)
    pin.framesForwardKinematics(peer, data, theirs)
    for i, frame in enumerate(peer.frames):
        if frame.type != pin.FrameType.BODY or frame.name == "universe":
            continue
        x = pin.Motion(rng.uniform(-1.0, 1.0, 6))
        target = data.oMf[i] * pin.exp6(x)
        apart = target.actInv(data.oMf[i])
        J = pin.Jlog6(apart) @ pin.computeFrameJacobian(peer, data, theirs, i, pin.LOCAL)
        got = dtau.frame_errors(p.model, s["q"], frame.name, pin.SE3ToXYZQUAT(target))
        error = pin.log6(apart).vector
        assert_close(got.error, error, TOLERANCE["pinocchio"], f"error of {frame.name}")
        assert_close(got.J[:, p.iv], J, TOLERANCE["pinocchio"], f"J of {frame.name}", floor=SMALL)


@cases(needs_inertia=False)
@pytest.mark.parametrize("seed", SEEDS)
def test_frames_in_motion(name: str, root: str, seed: int) -> None:
    p = pair(name, root)
    s, peer, data = state_of(p, seed), p.peer, p.peer.createData()
    q, v, a = s["q"], s["v"], s["a"]
    pin.computeForwardKinematicsDerivatives(peer, data, p.q(q), v[p.iv], a[p.iv])
    pin.updateFramePlacements(peer, data)
    links = {f.name: i for i, f in enumerate(peer.frames) if f.type == pin.FrameType.BODY}
    links.pop("universe", None)
    m, names = p.model, list(links)

    def near(got: Array, want: Array, what: str) -> None:
        assert_close(got, want, TOLERANCE["pinocchio"], what, floor=SMALL)

    for axes, theirs in AXES.items():
        twists = dtau.frame_velocities(m, q, v, names, axes)
        spatial = dtau.frame_accelerations(m, q, v, a, names, axes)
        classical = dtau.frame_accelerations(m, q, v, a, names, axes, kind="classical")
        dtwist = dtau.frame_velocities_derivatives(m, q, v, names, axes)
        dspatial = dtau.frame_accelerations_derivatives(m, q, v, a, names, axes)
        if axes == "mixed":  # theirs look from a point that does not follow the frame's origin
            linear = dtwist.dtwist_dv[:, :3].copy()
            for by_q, of in ((dtwist.dtwist_dq, twists), (dspatial.dacceleration_dq, spatial)):
                by_q[:, :3] += np.cross(linear, of[:, 3:, np.newaxis], axis=1)
        for k, (frame, i) in enumerate(links.items()):
            what = f"{frame}, {axes}"
            near(twists[k], pin.getFrameVelocity(peer, data, i, theirs).vector, what)
            near(spatial[k], pin.getFrameAcceleration(peer, data, i, theirs).vector, what)
            want = pin.getFrameClassicalAcceleration(peer, data, i, theirs).vector
            near(classical[k], want, f"classical, {what}")
            wanted = pin.getFrameVelocityDerivatives(peer, data, i, theirs)
            for got, want in zip(dtwist, wanted, strict=True):
                near(got[k][:, p.iv], want, f"twist of {what}")
            wanted = pin.getFrameAccelerationDerivatives(peer, data, i, theirs)[1:]
            for got, want in zip(dspatial, wanted, strict=True):
                near(got[k][:, p.iv], want, f"acceleration of {what}")


@cases(needs_inertia=False)
@pytest.mark.parametrize("seed", SEEDS)
def test_momentum(name: str, root: str, seed: int) -> None:
    p = pair(name, root)
    s, data, m = state_of(p, seed), p.peer.createData(), p.model
    q, v, a = s["q"], s["v"], s["a"]
    pq, pv, pa = p.q(q), v[p.iv], a[p.iv]
    tolerance = TOLERANCE["independent"]
    matrix = pin.ccrba(p.peer, data, pq, pv)
    close(dtau.centroidal_momentum_matrix(m, q)[:, p.iv], matrix, "matrix", tolerance)
    close(dtau.centroidal_momentum(m, q, v), data.hg.vector, "centroidal_momentum", tolerance)
    got = dtau.centroidal_momentum_time_derivatives(m, q, [v, a])
    pin.computeCentroidalMomentumTimeVariation(p.peer, data, pq, pv, pa)
    close(got[0], data.hg.vector, "centroidal momentum", tolerance)
    close(got[1], data.dhg.vector, "rate of centroidal momentum", tolerance)
    about_origin = pin.Force(
        data.hg.linear, data.hg.angular + np.cross(data.com[0], data.hg.linear)
    )
    close(dtau.momentum(m, q, v), about_origin.vector, "momentum", tolerance)


@cases(needs_inertia=False)
@pytest.mark.parametrize("seed", SEEDS)
def test_centre_of_mass_and_energy(name: str, root: str, seed: int) -> None:
    p = pair(name, root)
    s, data, m, peer = state_of(p, seed), p.peer.createData(), p.model, p.peer
    q, v, a = s["q"], s["v"], s["a"]
    pq, pv, pa = p.q(q), v[p.iv], a[p.iv]
    pin.centerOfMass(peer, data, pq, pv, pa)
    close(dtau.center_of_mass_velocity(m, q, v), data.vcom[0], "velocity")
    close(dtau.center_of_mass_acceleration(m, q, v, a), data.acom[0], "acceleration")
    jacobian = pin.jacobianCenterOfMass(peer, data, pq)
    close(dtau.center_of_mass_jacobian(m, q)[:, p.iv], jacobian, "Jacobian")
    close(dtau.kinetic_energy(m, q, v), np.array(pin.computeKineticEnergy(peer, data, pq, pv)), "T")
    potential = np.array(pin.computePotentialEnergy(peer, data, pq))
    size = float(np.linalg.norm(m.mass * m.gravity))  # of a meter
    assert_close(dtau.potential_energy(m, q), potential, TOLERANCE["pinocchio"], "V", floor=size)


@cases(needs_inertia=False)
@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_derivatives(name: str, root: str, seed: int) -> None:
    """About the center of mass as it moves with q: Pinocchio's are, too."""
    p = pair(name, root)
    s, m = state_of(p, seed), p.model
    q, v, a = s["q"], s["v"], s["a"]
    dh_dq, *rate = pin.computeCentroidalDynamicsDerivatives(
        p.peer, p.peer.createData(), p.q(q), v[p.iv], a[p.iv]
    )
    close(dtau.centroidal_momentum_derivatives(m, q, v).dh_dq[:, p.iv], dh_dq, "dh_dq")
    got = dtau.centroidal_momentum_rate_derivatives(m, q, v, a)
    for field, x, y in zip(got._fields, got, rate, strict=True):
        close(x[:, p.iv], y, field)


@cases(needs_inertia=False)
def test_manifold(name: str, root: str) -> None:
    p = pair(name, root)
    s = state_of(p, 4)
    q, dq = s["q"], s["dq"]
    got = dtau.integrate(p.model, q, dq)
    close(p.q(got), pin.integrate(p.peer, p.q(q), dq[p.iv]), "integrate")
    # A continuous joint's difference is the shorter way there, and the plain one here.
    want = pin.difference(p.peer, p.q(s["q0"]), p.q(s["q1"]))
    ours = dtau.difference(p.model, s["q0"], s["q1"])[p.iv]
    for joint in list(p.peer.joints)[1:]:
        if joint.nq == 2 and joint.nv == 1:
            i = joint.idx_v
            turns = round((ours[i] - want[i]) / (2.0 * np.pi))
            want[i] += 2.0 * np.pi * turns
    close(ours, want, "difference")
    moved = dtau.integrate_jacobians(p.model, q, dq)
    for x, y in zip(moved, pin.dIntegrate(p.peer, p.q(q), dq[p.iv]), strict=True):
        close(p.square(x), y, "integrate_jacobians")
    apart = dtau.difference_jacobians(p.model, s["q0"], s["q1"])
    theirs = pin.dDifference(p.peer, p.q(s["q0"]), p.q(s["q1"]))
    for x, y in zip(apart, theirs, strict=True):
        close(p.square(x), y, "difference_jacobians")


@cases(needs_inertia=False)
def test_model(name: str, root: str) -> None:
    """What the files say, read by two readers."""
    p = pair(name, root)
    m, peer = p.model, p.peer
    assert [joint.name for joint in m.joints] == list(peer.names)[1:]  # same order of children
    close(m.gravity, peer.gravity.linear, "gravity")
    moving = sum(inertia.mass for inertia in list(peer.inertias)[1:])
    assert_close(np.float64(m.mass), np.float64(moving), 10 * EPS, "mass")
    for joint, record in zip(list(peer.joints)[1:], p.joints, strict=True):
        at = slice(joint.idx_v, joint.idx_v + joint.nv)
        if joint.nv == 1:
            for ours, theirs in (
                (m.velocity_limits, peer.upperVelocityLimit),
                (m.effort_limits, peer.upperEffortLimit),
            ):
                if np.isfinite(theirs[at]).all() and theirs[at].all():
                    assert_close(ours[record.v], theirs[at], 0.0, record.name)
        if joint.nq == 1:
            at = slice(joint.idx_q, joint.idx_q + 1)
            assert_close(m.lower_limits[record.q], peer.lowerPositionLimit[at], 0.0, record.name)
            assert_close(m.upper_limits[record.q], peer.upperPositionLimit[at], 0.0, record.name)
