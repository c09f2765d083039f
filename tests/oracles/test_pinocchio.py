"""Every function against Pinocchio on robots of example-robot-data, fixed and free."""

from __future__ import annotations

import importlib.metadata
import re
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import EPS, TOLERANCE, State, assert_close, random_state
from trees import Array

import dtau

pin = pytest.importorskip("pinocchio")


def _files() -> dict[str, Path]:
    """The robot files of example-robot-data, whether or not it comes with a Python module."""
    try:
        listed = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed", allow_module_level=True)
    found = (Path(str(file.locate())) for file in listed if file.suffix == ".urdf")
    return {"/".join([path.parts[-3], path.name]): path for path in found}


FILES = _files()

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


@dataclass(frozen=True)
class Pair:
    """One robot in both libraries, and how Pinocchio's coordinates follow from the package's."""

    model: dtau.Model
    peer: Any
    iv: Array  # peer v = v[iv]
    joints: list[Any]  # the package's records, in the peer's order

    def q(self, q: Array) -> Array:
        """A continuous joint is (cos, sin) there."""
        parts = []
        for joint, record in zip(list(self.peer.joints)[1:], self.joints, strict=True):
            x = q[record.q]
            if joint.nq == 2 and joint.nv == 1:
                x = np.array([np.cos(x[0]), np.sin(x[0])])
            parts.append(x)
        return np.concatenate(parts)

    def wrenches(self, f_ext: Array) -> Any:
        out = pin.StdVec_Force()
        out.append(pin.Force.Zero())
        for record in self.joints:
            out.append(pin.Force(f_ext[record.body]))
        return out

    def square(self, matrix: Array) -> Array:
        """A matrix of the package with rows and columns in the peer's order."""
        return matrix[np.ix_(self.iv, self.iv)]


@cache
def pair(name: str, root: str) -> Pair:
    path = FILES[name]
    if root == "free":
        peer = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    else:
        peer = pin.buildModelFromUrdf(str(path))
    peer.armature[:] = 0.0
    peer.damping[:] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        model = undamped(path, root)
    names = list(peer.names)[1:]
    assert sorted(names) == sorted(joint.name for joint in model.joints)
    joints = [model.joint(joint) for joint in names]
    iv = np.concatenate([np.r_[joint.v] for joint in joints])
    assert peer.nv == model.nv
    return Pair(model, peer, iv, joints)


def undamped(path: Path, root: str) -> dtau.Model:
    """The robot without the damping that its file may give; Pinocchio's functions have none."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return dtau.load(re.sub(r"""\bdamping\s*=\s*("[^"]*"|'[^']*')""", "", text), root=root)


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
def test_inverse_dynamics_derivatives(name: str, root: str, seed: int) -> None:
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


@cases(needs_inertia=True)
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics(name: str, root: str, seed: int) -> None:
    p = pair(name, root)
    s, data, m = state_of(p, seed), p.peer.createData(), p.model
    q, v, tau = s["q"], s["v"], s["tau"]
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
            bodies.translation[record.body], place, TOLERANCE["pinocchio"], record.name, floor=1e-2
        )

    links = {f.name: i for i, f in enumerate(p.peer.frames) if f.type == pin.FrameType.BODY}
    links.pop("universe", None)
    assert set(links) <= set(p.model.frames)
    names = list(links)
    placed = dtau.frame_placements(p.model, q, names)
    axes = {"body": pin.LOCAL, "world": pin.WORLD, "mixed": pin.LOCAL_WORLD_ALIGNED}
    jacobians = {a: dtau.frame_jacobians(p.model, q, names, axes=a) for a in axes}
    for k, (frame, i) in enumerate(links.items()):
        close(placed.rotation[k], data.oMf[i].rotation, f"rotation of {frame}")
        place = data.oMf[i].translation
        assert_close(
            placed.translation[k], place, TOLERANCE["pinocchio"], f"place of {frame}", floor=1e-2
        )
        for which, theirs in axes.items():
            want = pin.getFrameJacobian(p.peer, data, i, theirs)
            got = jacobians[which][k][:, p.iv]
            assert_close(got, want, TOLERANCE["pinocchio"], f"J of {frame}, {which}", floor=1e-2)


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
