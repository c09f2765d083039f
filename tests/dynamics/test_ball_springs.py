"""Springs of spherical joints: rotation vectors from rest, near zero and near half a turn.

The trees of the tests have such springs, so that the tests of all functions and of their
derivatives cover them. Here are the rotations that random states miss, MuJoCo's forces, and models.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import taylor
from cases import lone, random_state
from compare import TOLERANCE, assert_close, assert_same_bits
from core import complex_core
from derivative_laws import Point, check, check_second
from joint_forces import floating, torques_after_rerooting
from trees import Array, random_quaternion, rotation_of, skew

import dtau

IDENTITY, STIFFNESS = TOLERANCE["identity"], 3.0
REST = np.array([0.4, -0.3, 0.6])
ANGLES = [0.0, 1e-12, 1e-6, 0.01, 0.9, 1.1, 2.0, 3.1, np.pi - 1e-6]
at_angles = pytest.mark.parametrize("angle", ANGLES)


def ball(stiffness: float = STIFFNESS, rest: Any = REST) -> dtau.Model:
    """A ball that nothing but its spring moves much."""
    tiny = dtau.Inertia(1e-6, tensor=1e-6 * np.diag([1.0, 2.0, 2.5]))
    spring = {"stiffness": stiffness, "rest_position": rest}
    return lone(dtau.Spherical(), gravity=(0, 0, 0), inertia=tiny, **spring)


def turned(angle: float, axis: Array) -> Array:
    """The quaternion at this rotation from rest."""
    model = ball()
    rest = dtau.integrate(model, dtau.neutral(model), REST)
    q: Array = dtau.integrate(model, rest, angle * axis)
    return q


def axes(count: int = 3) -> Array:
    x = np.random.default_rng(1).standard_normal((count, 3))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@at_angles
def test_torques_are_along_the_rotation_vector(angle: float) -> None:
    model = ball()
    for axis in axes():
        q = turned(angle, axis)
        want = STIFFNESS * angle * axis
        for x in (q, -q):  # the same rotation
            got = dtau.gravity_torque(model, x)
            assert_close(got, want, 2e-15, "tau", floor=STIFFNESS)
            energy = 0.5 * STIFFNESS * angle**2
            got = dtau.potential_energy(model, x)
            assert_close(got, np.array(energy), IDENTITY, "energy", floor=1.0)
        batch = np.array([q, -q, q, q, -q])
        assert_same_bits(
            dtau.gravity_torque(model, batch),
            np.array([dtau.gravity_torque(model, x) for x in batch]),
        )
    assert dtau.gravity_torque(model, np.zeros((0, 4))).shape == (0, 3)


def test_half_a_turn_has_a_torque_of_one_side() -> None:
    model = ball()
    for axis in axes():
        q = turned(np.pi, axis)
        assert_close(np.abs(dtau.gravity_torque(model, q)), np.abs(STIFFNESS * np.pi * axis), 1e-14)
        d = dtau.inverse_dynamics_derivatives(model, q, np.zeros(3), np.zeros(3))
        assert np.isfinite(d.dtau_dq).all()


@at_angles
def test_derivatives(angle: float) -> None:
    """First and second ones, and all products with them, by their law."""
    model, zero = ball(), np.zeros(3)
    rng = np.random.default_rng(4)
    for axis in axes():
        state = {"q": turned(angle, axis), "v": zero, "a": zero, "lam": rng.standard_normal(3)}
        state |= {"dq": state["lam"], "dv": zero, "da": zero}
        point = Point("inverse_dynamics", model, state)
        check(point, 1e-12)
        check_second(point, 1e-11)
    if angle == 0.0:
        by = point.call("derivatives")["dtau_dq"]
        assert_close(by, STIFFNESS * np.eye(3), 1e-15, "at rest")


@at_angles
def test_rates(angle: float) -> None:
    """Up to order 6: by steps, and by the quaternion where its series is well-conditioned."""
    model, rng = ball(), np.random.default_rng(6)
    light = model.replace(stiffness=0.0)
    for axis in axes():
        q, v = turned(angle, axis), rng.uniform(-1.0, 1.0, (8, 3))
        got = dtau.inverse_dynamics_time_derivatives(model, q, v)
        got = got - dtau.inverse_dynamics_time_derivatives(light, q, v)
        later = complex_core("integrate", model, q, 1e-30j * v[0])
        moved = complex_core(
            "inverse_dynamics_time_derivatives", model, later, v[:-1] + 1e-30j * v[1:]
        )
        moved = moved - complex_core(
            "inverse_dynamics_time_derivatives", light, later, v[:-1] + 1e-30j * v[1:]
        )
        for k in range(1, 6):
            floor = float(np.abs(got[: k + 1]).max())
            assert_close(got[k], moved[k - 1].imag / 1e-30, 1e-11, f"order {k}", floor=floor)
        if angle > 0.5:
            series = taylor.rotation_vector(angle * axis, taylor.coefficients(v[:6]))
            want = STIFFNESS * taylor.derivatives(series)
            for k in range(7):
                floor = float(np.abs(want[: k + 1]).max())
                assert_close(got[k], want[k], 1e-10, f"order {k} of the series", floor=floor)


def test_mujocos_springs() -> None:
    mujoco = pytest.importorskip("mujoco")
    inertia = '<inertial pos=".1 .2 .3" mass="1" diaginertia=".1 .1 .1"/>'
    text = f"""<mujoco><worldbody><body><joint type="ball" stiffness="2"/>{inertia}
        <body pos="0 0 1" quat="1 1 0 0"><joint type="ball" stiffness="0.5" damping=".1"/>{inertia}
        <body pos="1 0 0"><joint type="hinge" axis="1 2 3" stiffness="4" springref="20"/>{inertia}
        </body></body></body></worldbody></mujoco>"""
    peer = mujoco.MjModel.from_xml_string(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = dtau.load(text)
    assert drawn.stiffness.tolist() == [2.0] * 3 + [0.5] * 3 + [4.0]
    assert not drawn.rest_position[:6].any()
    rng, data = np.random.default_rng(5), mujoco.MjData(peer)
    for _ in range(20):
        peer.qpos_spring[:4], peer.qpos_spring[4:8] = random_quaternion(rng), random_quaternion(rng)
        model = dtau.from_mujoco(peer)
        convention = dtau.conventions.mujoco(model, peer)
        q = random_state(model, int(rng.integers(1000)))["q"]
        data.qpos[:] = convention.from_dtau(q).q
        mujoco.mj_forward(peer, data)
        plain = model.replace(stiffness=0.0)
        got = dtau.gravity_torque(model, q) - dtau.gravity_torque(plain, q)
        assert_close(got, -data.qfrc_spring, 1e-12, "qfrc_spring", floor=30.0)


def test_springs_of_free_joints_are_named() -> None:
    pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body><joint name="root" type="free" stiffness="2"/>
        <geom size="1"/></body></worldbody></mujoco>"""
    with pytest.warns(dtau.ModelWarning, match="springs of joints 'root'"):
        assert not dtau.load(text).stiffness.any()


def test_models_keep_springs(tmp_path: Any) -> None:
    model = ball()
    assert model.stiffness.tolist() == [STIFFNESS] * 3
    assert model.rest_position.tolist() == REST.tolist()
    model.save(tmp_path / "ball.dtau")
    assert dtau.load(tmp_path / "ball.dtau") == model
    other = model.replace(stiffness={"joint": 5.0}, rest_position={"joint": (0.0, 0.0, 0.1)})
    assert other.link("joint").stiffness == (5.0, 5.0, 5.0)
    assert other.link("joint").rest_position == (0.0, 0.0, 0.1)


def test_rerooted_balls_pull_the_other_way() -> None:
    model = floating(dtau.Spherical(), stiffness=3.0, rest_position=REST).build()
    tau, got = torques_after_rerooting(model)
    q = random_state(model, 1)["q"]
    assert_close(got, -rotation_of(q[7:]) @ tau, 1e-11, "tau", floor=10.0)


def test_rotations_from_rest_do_not_depend_on_axes() -> None:
    """Turned by A, rest and rotation give the torque turned by A."""
    rng = np.random.default_rng(9)
    A = rotation_of(random_quaternion(rng))
    for angle in (0.3, 2.5):
        x = rng.standard_normal(3)
        q = turned(angle, x / np.linalg.norm(x))
        one = dtau.gravity_torque(ball(), q)
        other = dtau.gravity_torque(ball(rest=A @ REST), np.r_[A @ q[:3], q[3]])
        assert_close(other, A @ one, 1e-13, "turned")
        assert skew(one) @ one == pytest.approx(0.0)


def test_other_stiffnesses_are_refused() -> None:
    with pytest.raises(ValueError, match="stiffness: expected one number, as the spring of a Sph"):
        dtau.Link("a", None, dtau.Spherical(), "b", stiffness=(1.0, 2.0, 1.0))
    with pytest.raises(ValueError, match="rest_position: expected a number or 3 of them, got 2"):
        dtau.Link("a", None, dtau.Spherical(), "b", rest_position=(1.0, 2.0))
