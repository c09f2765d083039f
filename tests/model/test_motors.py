"""Motors: their map, servos, limits, rotors, and MuJoCo's actuators."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import assert_close

import dtau

PAIR = {"left": {"body2": 50.0, "body3": 50.0}, "right": {"body2": 50.0, "body3": -50.0}}
GEARS: dict[str, Any] = {"body1": 100.0, **PAIR}


def arm() -> dtau.Model:
    return dtau.robots.chain(4)


def test_torques_are_those_of_the_map_of_speeds() -> None:
    """tau . v = f . w: gears do no work."""
    motors, rng = dtau.Motors(arm(), GEARS), np.random.default_rng(0)
    f, v = rng.standard_normal((5, 1, 3)), rng.standard_normal((2, 4))
    work = np.einsum("...i,...i", motors.torque(f), v)
    assert_close(work, np.einsum("...i,...i", f, motors.speeds(v)), 1e-12, "work", floor=100.0)
    assert motors.G.tolist() == [[100, 0, 0], [0, 50, 50], [0, 50, -50], [0, 0, 0]]
    assert motors.speeds([1, 2, 3, 4]).tolist() == [100, 250, -50]


def test_servos_have_exact_derivatives() -> None:
    model, rng = arm(), np.random.default_rng(1)
    bias = np.array([[0.1, -20.0, -1.0], [0.2, -30.0, -2.0], [0.3, -40.0, -3.0]])
    motors = dtau.Motors(model, GEARS, gain=[20.0, 30.0, 40.0], bias=bias)
    q, v, u = rng.standard_normal((6, 4)), rng.standard_normal((6, 4)), rng.standard_normal((6, 3))
    tau = motors.torque(u, q, v)
    force = motors.gain * u + bias[:, 0] + bias[:, 1] * (q @ motors.G) + bias[:, 2] * (v @ motors.G)
    assert_close(tau, force @ motors.G.T, 1e-12, "torque")
    moved = rng.standard_normal(3), rng.standard_normal(4), rng.standard_normal(4)
    slopes = motors.dtau_du, motors.dtau_dq, motors.dtau_dv
    for k in range(3):
        u_q_v = [x + moved[k] if i == k else x for i, x in enumerate((u, q, v))]
        want = np.broadcast_to(slopes[k] @ moved[k], tau.shape)
        assert_close(motors.torque(*u_q_v) - tau, want, 1e-9, "derivative")


def test_functions_take_motors_for_inputs() -> None:
    model = arm()
    motors = dtau.Motors(model, GEARS, gain=[2.0, 3.0, 4.0])
    q, v, tau = dtau.random_state(model, np.random.default_rng(2), shape=(3,))
    for make in (
        lambda inputs: dtau.linearize(model, q, v, tau, inputs=inputs).B,
        lambda inputs: dtau.linearize_discrete(model, q, v, tau, 0.01, inputs=inputs).B,
    ):
        assert np.array_equal(make(motors), make(motors.G * [2.0, 3.0, 4.0]))


def test_motors_of_other_joints_are_refused(tmp_path: Path) -> None:
    """Motors of a model with the same number of velocities would drive the wrong joints."""
    model, other = dtau.robots.quadruped(), dtau.robots.chain(18)
    motors = dtau.Motors(other, {other.joints[3].name: 2.0})
    state = dtau.random_state(model, np.random.default_rng(0))
    for given in (
        (dtau.linearize,),
        (dtau.linearize_discrete, 0.01),
        (dtau.linearize_stages, 0.01),
    ):
        call, *step = given
        with pytest.raises(
            ValueError, match="inputs: expected motors of 'quadruped', got motors of"
        ):
            call(model, *state, *step, inputs=motors)
    with pytest.raises(ValueError, match="which has other joints"):
        dtau.step_hessian(model, *state, 0.01, *state[1:], inputs=motors)
    with pytest.raises(ValueError, match="which has other joints"):
        dtau.equilibrium(model, state[0], inputs=motors)
    with pytest.raises(ValueError, match="which has other joints"):
        dtau.generate(model, {"f": ("linearize", {"inputs": motors})}, tmp_path / "robot.c")
    heavier = other.replace(armature=np.ones(18))  # the same joints
    states = dtau.random_state(heavier, np.random.default_rng(0))
    assert dtau.linearize(heavier, *states, inputs=motors).B.shape == (36, 1)


def test_joints_that_mimic_others_move_with_them() -> None:
    builder = dtau.ModelBuilder("gripper")
    finger = dtau.Inertia(0.1, tensor=0.001 * np.eye(3))
    builder.add(dtau.Prismatic((0, 1, 0)), name="left", inertia=finger)
    mimic = dtau.Mimic("left", -2.0, 0.1)
    builder.add(dtau.Prismatic((0, 1, 0)), name="right", inertia=finger, mimic=mimic)
    motors = dtau.Motors(builder.build(), {"m": {"left": 3.0, "right": 5.0}}, bias=(0, -2.0, 0))
    assert motors.G.tolist() == [[-7.0]]
    angle = 3.0 * 0.4 + 5.0 * (0.1 - 2.0 * 0.4)
    assert_close(motors.torque([0.5], [0.4]), [-7.0 * (0.5 - 2.0 * angle)], 1e-12, "torque")


def test_limits() -> None:
    motors = dtau.Motors(
        arm(), GEARS, force_limits=(-3, 2), stall_force=[4.0, np.inf, np.inf], no_load_speed=200.0
    )
    least, largest = motors.force_range([1.0, 0.0, 0.0, 0.0])  # the first motor turns at 100
    assert least.tolist() == [-3.0, -3.0, -3.0]
    assert largest.tolist() == [2.0, 2.0, 2.0]
    least, largest = motors.force_range([[1.5, 0, 0, 0], [-1.5, 0, 0, 0]])
    assert largest[:, 0].tolist() == [1.0, 2.0]
    assert least[:, 0].tolist() == [-3.0, -1.0]


def test_rotors_become_armature() -> None:
    model = arm().replace(armature=0.1)
    motors = dtau.Motors(model, {"body1": 100.0, "body4": 10.0}, rotor_inertia=[1e-5, 1e-3])
    assert_close(motors.model_with_rotors().armature, [0.2, 0.1, 0.1, 0.2], 1e-14, "armature")
    with pytest.raises(ValueError, match="rotor_inertia of 'left': expected 0 of a motor that"):
        dtau.Motors(model, GEARS, rotor_inertia=[0.0, 1e-5, 0.0]).model_with_rotors()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"gears": {"knee": 3.0}}, ValueError, "no joint named 'knee'"),
        ({"gears": {"body1": 3.0}}, ValueError, "got 'body1', a free joint"),
        ({"gears": ["body2"]}, TypeError, "gears: expected a mapping by names of motors"),
        ({"gears": {"body2": "3"}}, TypeError, r"gears\['body2'\]: expected real numbers"),
        ({"gain": [1.0, 2.0]}, ValueError, r"gain: expected shape \(\) or \(1,\), got \(2,\)"),
        ({"bias": 1.0}, ValueError, r"bias: expected shape \(3,\) or \(1, 3\), got \(\)"),
        ({"rotor_inertia": -1.0}, ValueError, "rotor_inertia: expected numbers of at least 0"),
        ({"force_limits": (1, -1)}, ValueError, "expected the least number before the largest"),
        ({"no_load_speed": 0.0}, ValueError, "no_load_speed: expected positive numbers"),
    ],
)
def test_mistakes_are_named(change: Any, error: type[Exception], message: str) -> None:
    arguments = {"gears": {"body2": 3.0}, **change}
    with pytest.raises(error, match=message):
        dtau.Motors(dtau.robots.chain(3, root="free"), **arguments)


def test_clipped_motors_are_the_clipped_law() -> None:
    """Values beside a clip by hand, near each kind of limit, and what stays as it is."""
    model, rng = arm(), np.random.default_rng(6)
    motors = dtau.Motors(
        model,
        GEARS,
        gain=[20.0, 30.0, 40.0],
        bias=(0.1, -0.2, -0.1),
        input_limits=(-0.5, 0.6),
        force_limits=[(-15.0, 12.0), (-8.0, 9.0), (-np.inf, np.inf)],
        stall_force=[np.inf, 10.0, 20.0],
        no_load_speed=[1.0, 300.0, 300.0],
    )
    q, v = rng.uniform(-1, 1, (200, 4)), rng.uniform(-1, 1, (200, 4))
    u = rng.uniform(-1, 1, (200, 3))
    near = motors.clipped(u, q, v)
    force = motors.gain * np.clip(u, -0.5, 0.6) + 0.1 - 0.2 * motors.angles(q)
    force = np.clip(force - 0.1 * motors.speeds(v), *motors.force_range(v))
    assert_close(near.torque(u, q, v), force @ motors.G.T, 1e-12, "torque", floor=100.0)
    beyond, slope = near.bias[..., 1] == 0.0, near.bias[..., 2] != 0.0
    at_input = (near.gain == 0.0) & ~beyond
    for kind in (near.gain != 0.0, at_input, beyond & slope, beyond & ~slope):
        assert kind.sum() > 20
    moved = 1e-7 * rng.standard_normal((3, 200, 4))
    again = motors.clipped(u + moved[0, :, :3], q + moved[1], v + moved[2])
    change = again.torque(u + moved[0, :, :3], q + moved[1], v + moved[2]) - near.torque(u, q, v)
    by = near.dtau_du, near.dtau_dq, near.dtau_dv
    parts = (moved[0, :, :3], moved[1], moved[2])
    expected = sum((d @ x[..., np.newaxis])[..., 0] for d, x in zip(by, parts, strict=True))
    assert_close(change, np.asarray(expected), 1e-4, "slope", floor=float(np.abs(change).max()))
    at = dtau.Motors(model, {"body1": 1.0}, force_limits=(0.0, 1.0))
    assert at.clipped([0.0]).gain.tolist() == at.clipped([1.0]).gain.tolist() == [1.0]
    assert at.clipped([-1e-9]).gain.tolist() == at.clipped([1.1]).gain.tolist() == [0.0]
    with pytest.raises(ValueError, match="v: expected an array, as the largest forces depend on"):
        motors.clipped(u, q)
    with pytest.raises(ValueError, match="q: expected an array, as forces depend on angles"):
        motors.clipped(u, v=v)
    with pytest.raises(ValueError, match=r"u: expected shape \(..., 3\)"):
        motors.clipped(q, q, v)
    back = pickle.loads(pickle.dumps(near))
    assert np.array_equal(back.gain, near.gain)
    assert not back.bias.flags.writeable
    assert not near.gain.flags.writeable


def test_angles_are_needed_where_forces_depend_on_them() -> None:
    motors = dtau.Motors(arm(), GEARS, bias=(0.0, -1.0, 0.0))
    with pytest.raises(ValueError, match="q: expected an array, as forces depend on angles"):
        motors.torque([1, 2, 3])
    with pytest.raises(ValueError, match=r"u: expected shape \(..., 3\), got \(4,\)"):
        motors.torque([1, 2, 3, 4])


MJCF = """<mujoco><worldbody><body><joint name="a" axis="0 1 0" ref="10"/><geom size=".1"/>
<body pos="0 0 1"><joint name="b" type="slide"/><geom size=".1"/>
<body pos="0 0 1"><joint axis="1 0 0"/><geom size=".1" pos="0 0 .1"/></body></body></body>
</worldbody>
<tendon><fixed name="both"><joint joint="a" coef="2"/><joint joint="b" coef="-3"/></fixed></tendon>
<actuator><motor name="m" joint="a" gear="7" ctrlrange="-1 2"/>
<position name="p" joint="b" kp="20" kv="3" gear="-2"/><velocity tendon="both" kv="4" gear="5"/>
<general name="g" tendon="both" gainprm="2" biastype="affine" biasprm="1 -2 -3"
 forcerange="-50 60"/></actuator></mujoco>"""


def test_mujocos_actuators() -> None:
    mujoco = pytest.importorskip("mujoco")
    model, mj_model = dtau.load(MJCF), mujoco.MjModel.from_xml_string(MJCF)
    motors, data = dtau.load_motors(MJCF, model), mujoco.MjData(mj_model)
    assert motors.names == ("m", "p", "actuator_2", "g")
    assert motors.input_limits[0].tolist() == [-1.0, 2.0]
    assert motors.force_limits[3].tolist() == [-50.0, 60.0]
    assert motors.input_limits[1].tolist() == motors.force_limits[0].tolist() == [-np.inf, np.inf]
    rng = np.random.default_rng(3)
    for _ in range(5):
        data.qpos[:], data.qvel[:] = 0.1 * rng.standard_normal((2, 3))
        data.ctrl[:] = rng.uniform(-0.9, 0.9, 4)
        mujoco.mj_forward(mj_model, data)
        assert_close(motors.angles(data.qpos), data.actuator_length, 1e-12, "length", floor=1.0)
        got = motors.torque(data.ctrl, data.qpos, data.qvel)
        assert_close(got, data.qfrc_actuator, 1e-12, "torque", floor=100.0)


PID = """<extension><plugin plugin="mujoco.pid"><instance name="pid"><config key="kp" value="40"/>
</instance></plugin></extension><worldbody>"""
OTHERS = {
    "muscle": '<muscle name="x" joint="a"/>',
    "activation": '<intvelocity name="x" joint="a" actrange="0 1"/>',
    "plugin": '<plugin name="x" joint="a" plugin="mujoco.pid" instance="pid" actdim="0"/>',
    "delay": '<motor name="x" joint="a" nsample="2" delay="0.01"/>',
}


@pytest.mark.parametrize("kind", OTHERS)
def test_actuators_that_are_not_affine_are_named(kind: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    text = MJCF.replace("<actuator>", f"<actuator>{OTHERS[kind]}")
    if kind == "plugin":
        text = text.replace("<worldbody>", PID)
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip("an older MuJoCo")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)  # plugins
        model = dtau.load(text)
    with pytest.raises(dtau.ModelError, match=r"affine in length and velocity, got .*'?x'?"):
        dtau.load_motors(text, model)


def test_plugins_have_no_bound_of_the_effort() -> None:
    """A plugin's force is no multiple of the control: its `ctrlrange` bounds nothing."""
    pytest.importorskip("mujoco")
    text = """<mujoco><extension><plugin plugin="mujoco.pid"><instance name="pid"><config key="kp"
    value="40"/></instance></plugin></extension><worldbody><body><joint name="j"/><geom size=".1"/>
    </body></worldbody><actuator><plugin joint="j" plugin="mujoco.pid" instance="pid" actdim="0"
    ctrlrange="-1 1" {}/></actuator></mujoco>"""
    with pytest.warns(dtau.ModelWarning, match="plugins 'pid'"):
        assert dtau.load(text.format("")).effort_limits.tolist() == [np.inf]
    with pytest.warns(dtau.ModelWarning, match="plugins 'pid'"):
        bounded = dtau.load(text.format('forcerange="-3 2"'))
    assert bounded.effort_limits.tolist() == [3.0]


OFF = {
    "groups": ('<option actuatorgroupdisable="2"/>', [True, False, True, False]),
    "all": ('<option><flag actuation="disable"/></option>', [False] * 4),
}


@pytest.mark.parametrize("which", OFF)
def test_actuators_that_are_switched_off_give_no_force(which: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    option, acting = OFF[which]
    text = MJCF.replace("<worldbody>", f"{option}<worldbody>")
    text = text.replace('name="p"', 'name="p" group="2"').replace('name="g"', 'name="g" group="2"')
    model, mj_model = dtau.load(text), mujoco.MjModel.from_xml_string(text)
    motors, data = dtau.load_motors(text, model), mujoco.MjData(mj_model)
    assert (motors.gain != 0.0).tolist() == acting
    rng = np.random.default_rng(4)
    data.qpos[:], data.qvel[:] = 0.1 * rng.standard_normal((2, 3))
    data.ctrl[:] = rng.uniform(-0.9, 0.9, 4)
    mujoco.mj_forward(mj_model, data)
    got = motors.torque(data.ctrl, data.qpos, data.qvel)
    assert_close(got, data.qfrc_actuator, 1e-12, "torque", floor=100.0)
    assert np.isfinite(model.effort_limits[model.joint("a").v]).all() == acting[0]


def test_gravity_compensation_by_actuators_is_named() -> None:
    """`qfrc_actuator` minus the compensation of these joints is the motors' torque."""
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco>{}<worldbody><body><joint name="a" axis="0 1 0" actuatorgravcomp="true"/>
    <geom size=".1"/><body pos=".3 0 0" gravcomp="{}"><joint name="b" axis="0 1 0"/><geom size=".1"
    pos=".2 0 0"/><body pos=".3 0 0"><joint name="c" axis="0 1 0" actuatorgravcomp="true"/>
    <geom size=".1"/></body></body></body></worldbody>
    <actuator><motor joint="a"/><motor joint="c"/></actuator></mujoco>"""
    given = text.format("", "0.7")
    with pytest.warns(dtau.ModelWarning, match="gravity compensation of bodies"):
        model = dtau.load(given)
    with pytest.warns(dtau.ModelWarning) as caught:
        motors = dtau.load_motors(given, model)
    (warning,) = caught
    assert str(warning.message) == (
        "motors have no gravity compensation; in MuJoCo the actuators give it (actuatorgravcomp) "
        "at joints 'a'"
    )
    assert warning.filename == __file__
    mj_model = mujoco.MjModel.from_xml_string(given)
    data = mujoco.MjData(mj_model)
    data.ctrl[:] = 2.0, 3.0
    mujoco.mj_forward(mj_model, data)
    held = data.qfrc_gravcomp * [1.0, 0.0, 1.0]
    assert abs(held[0]) > 1.0
    assert held[2] == 0.0
    got = motors.torque(data.ctrl)
    assert_close(got, data.qfrc_actuator - held, 1e-12, "torque", floor=10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for option, compensation in (
            ("", "0"),
            ('<option gravity="0 0 0"/>', "0.7"),
            ('<option><flag gravity="disable"/></option>', "0.7"),
        ):
            dtau.load_motors(text.format(option, compensation), model)
