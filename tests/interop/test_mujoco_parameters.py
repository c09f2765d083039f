"""Derivatives of MuJoCo's step by parameters, against differences of the step."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from trees import Array

mujoco = pytest.importorskip("mujoco")

import dtau.mujoco  # noqa: E402
from dtau.mujoco import parameter_derivatives  # noqa: E402

INTEGRATORS = ("Euler", "implicitfast", "RK4")
CONES = ("pyramidal", "elliptic")
NAMES = (
    *("body_inertial", "dof_damping", "dof_armature", "jnt_stiffness", "dof_frictionloss"),
    *("actuator_gainprm", "actuator_biasprm", "geom_friction"),
)
# A base on four kinds of feet, with springs, friction loss, compensated weight and actuators.
MODEL = """<mujoco>
<option timestep="0.004" tolerance="0" iterations="80" integrator="{}" cone="{}" impratio="1.7"/>
<compiler autolimits="true"/><default><geom contype="0" conaffinity="1"/></default><worldbody>
<geom type="plane" size="5 5 1" contype="1" friction="0.6 0.02 0.003"/>
<body pos="0 0 0.3"><freejoint/><geom type="box" size="0.15 0.1 0.05" mass="2" pos="0.02 0.01 0"/>
<body pos="0.2 0 0" gravcomp="0.6"><joint type="ball" damping="0.3" armature="0.02"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0.2 0 -0.25" mass="0.6" condim="4"
 friction="0.8 0.01 0.001"/>
<body pos="0.2 0 -0.2"><joint name="knee" axis="0 1 0" range="-90 5" damping="0.2" stiffness="2"
 springref="20" armature="0.02"/>
<geom type="sphere" size="0.09" pos="0.1 0 0" mass="0.3" condim="6"/></body></body>
<body pos="-0.2 0 0" gravcomp="1.2"><joint name="hip" axis="0 1 0" damping="0.2"
 frictionloss="0.05" armature="0.01" actuatorgravcomp="true" actuatorfrcrange="-3 3"/>
<geom type="capsule" size="0.05" fromto="0 0 0 -0.2 0 -0.25" mass="0.5" priority="1"
 friction="0.3 0.01 0.001"/>
<body pos="0 0.1 0"><joint name="arm" type="slide" axis="1 0 0.5" frictionloss="9" damping="0.1"
 stiffness="5"/><geom type="box" size="0.05 0.02 0.03" mass="0.2"/></body></body></body></worldbody>
<tendon><fixed name="pull"><joint joint="knee" coef="0.5"/><joint joint="hip" coef="-1"/></fixed>
</tendon>
<actuator><position joint="knee" kp="5" kv="0.3"/>
<general joint="hip" dyntype="filter" dynprm="0.05" gainprm="0.4" ctrlrange="-1 1"/>
<general tendon="pull" gaintype="affine" gainprm="1 0.4 -0.3" biastype="affine"
 biasprm="0.1 -1 -0.2" gear="0.7"/>
<velocity joint="arm" kv="0.5" forcerange="-0.01 0.01"/></actuator></mujoco>"""


def model_and_states(integrator: str, cone: str) -> tuple[Any, Any, Array, Array]:
    mj_model = mujoco.MjModel.from_xml_string(MODEL.format(integrator, cone))
    data, rng = mujoco.MjData(mj_model), np.random.default_rng(2)
    data.qvel[:] = 0.5 * rng.normal(size=mj_model.nv)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states, ctrl = np.empty((5, mujoco.mj_stateSize(mj_model, kind))), []
    for state in states:
        data.ctrl[:] = rng.uniform(-0.8, 0.8, mj_model.nu)
        for _ in range(25):
            mujoco.mj_step(mj_model, data)
        mujoco.mj_getState(mj_model, data, state, kind)
        ctrl.append(data.ctrl.copy())
    assert data.ncon
    mujoco.mj_resetData(mj_model, data)
    return mj_model, data, states, np.array(ctrl)


def changed(mj_model: Any, name: str, change: Array) -> Any:
    """Return a model with other parameters."""
    m = copy.copy(mj_model)
    if name != "body_inertial":
        array = getattr(m, name)
        array.reshape(len(array), -1)[:, : change[0].size] += change.reshape(len(array), -1)
        return m
    m.body_sameframe[:], m.geom_sameframe[:], m.body_simple[:] = 0, 0, 0
    parameters = dtau.mujoco.inertial_parameters(mj_model) + change
    for body in range(1, m.nbody):
        mass, first = parameters[body, 0], parameters[body, 1:4]
        tensor = np.empty((3, 3))
        row, column = [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]
        tensor[row, column] = tensor[column, row] = parameters[body, 4:]
        center = first / mass
        tensor -= mass * (center @ center * np.eye(3) - np.outer(center, center))
        inertia, axes = np.linalg.eigh(tensor)
        axes[:, 0] *= np.linalg.det(axes)
        m.body_mass[body], m.body_ipos[body], m.body_inertia[body] = mass, center, inertia
        mujoco.mju_mat2Quat(m.body_iquat[body], axes.ravel())
    return m


def after(m: Any, data: Any, state: Array, ctrl: Array, usual: Array | None) -> Array:
    """Return the state after a step: the displacement from the usual configuration, qvel, act.

    Without `usual`, return the configuration.
    """
    other = mujoco.MjData(m)
    mujoco.mj_setState(m, other, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    other.ctrl[:], other.qfrc_applied[:] = ctrl, data.qfrc_applied
    mujoco.mj_step(m, other)
    if usual is None:
        return np.array(other.qpos)
    moved = np.empty(m.nv)
    mujoco.mj_differentiatePos(m, moved, 1.0, usual, other.qpos)
    return np.concatenate([moved, other.qvel, other.act])


def sizes_of(mj_model: Any, name: str, shape: tuple[int, ...]) -> Array:
    """Return sizes of changes, about those of the parameters."""
    if name == "body_inertial":
        return 0.1 * np.abs(dtau.mujoco.inertial_parameters(mj_model)) + 1e-4
    if name == "geom_friction":
        return 0.1 * mj_model.geom_friction
    if name == "dof_frictionloss":
        return 0.1 * mj_model.dof_frictionloss  # no other joints have friction
    return np.full(shape, 0.01)


def error_of(
    mj_model: Any, data: Any, state: Array, ctrl: Array, name: str, by: Array, direction: Array
) -> float:
    usual = after(mj_model, data, state, ctrl, None)

    def f(h: float) -> Array:
        return after(changed(mj_model, name, h * direction), data, state, ctrl, usual)

    got = (by * direction).reshape(len(by), -1).sum(axis=1)
    errors = []
    for h in (1e-2, 1e-3, 1e-4):  # differences may straddle a change of the active set
        numeric = (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
        errors.append(float(np.abs(numeric - got).max()))
    scale = float(np.abs(got[mj_model.nv :]).max())
    return min(errors) / (scale + 1e-4)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_columns_are_those_of_differences(integrator: str, cone: str) -> None:
    mj_model, data, states, ctrl = model_and_states(integrator, cone)
    data.qfrc_applied[:] = 0.1
    found = dtau.mujoco.parameter_derivatives_batch(mj_model, data, states, ctrl, NAMES)
    assert tuple(found) == NAMES
    rng, largest = np.random.default_rng(0), dict.fromkeys(NAMES, 0.0)
    for name, by in found.items():
        shape = by.shape[2:]
        for k in range(len(states)):
            direction = rng.uniform(-1.0, 1.0, shape) * sizes_of(mj_model, name, shape)
            args = mj_model, data, states[k], ctrl[k]
            assert error_of(*args, name, by[k], direction) < 1e-9, (name, k)
            largest[name] = max(largest[name], float(np.abs(by[k]).max()))
    assert min(largest.values()) > 1e-4, largest


def test_one_state_is_a_batch_of_one() -> None:
    mj_model, data, states, ctrl = model_and_states("implicitfast", "elliptic")
    mujoco.mj_setState(mj_model, data, states[1], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    data.ctrl[:] = ctrl[1]
    one = parameter_derivatives(mj_model, data, NAMES[::-1])
    assert tuple(one) == NAMES[::-1]
    some = slice(1, 2)
    batch = dtau.mujoco.parameter_derivatives_batch(mj_model, data, states[some], ctrl[some], NAMES)
    for name, by in one.items():
        np.testing.assert_allclose(by, batch[name][0], atol=1e-9 * np.abs(by).max())
    alone = parameter_derivatives(mj_model, data, ["dof_armature"])
    np.testing.assert_allclose(alone["dof_armature"], one["dof_armature"], atol=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_products(integrator: str) -> None:
    mj_model, data, states, ctrl = model_and_states(integrator, "elliptic")
    step = dtau.mujoco.StepFunction(mj_model, data)
    by = dtau.mujoco.StepParameters(step, NAMES)
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(2, *states.shape))
    variations = {}
    for name, part in by.vjp(states, ctrl, weights[0]).items():
        shape = part.shape[1:]
        variations[name] = rng.normal(size=shape) * sizes_of(mj_model, name, shape)
    moved = by.jvp(states, ctrl, variations)
    columns = dtau.mujoco.parameter_derivatives_batch(mj_model, data, states, ctrl, NAMES)
    velocities = slice(1 + mj_model.nq, 1 + mj_model.nq + mj_model.nv)
    expected = sum(
        (columns[name] * dp).reshape(*columns[name].shape[:2], -1).sum(-1)
        for name, dp in variations.items()
    )
    of_velocity = expected[:, mj_model.nv : 2 * mj_model.nv]
    np.testing.assert_allclose(moved[:, velocities], of_velocity, rtol=1e-6, atol=1e-9)
    for w in (weights[:1], weights):  # one weight a state forms no matrices
        found = by.vjp(states, ctrl, w)
        total = sum(
            (found[name] * dp).reshape(*w.shape[:2], -1).sum(-1) for name, dp in variations.items()
        )
        np.testing.assert_allclose(total, (w * moved).sum(-1), rtol=1e-6, atol=1e-8)


def test_gradient_of_a_rollout() -> None:
    mj_model, data, states, ctrl = model_and_states("implicitfast", "elliptic")
    name, u = "dof_damping", np.tile(ctrl[2], (12, 1))
    step = dtau.mujoco.StepFunction(mj_model, data)
    weights = np.random.default_rng(0).normal(size=(12, step.nstate))
    weights[:, 0] = 0.0
    got = dtau.mujoco.StepParameters(step, [name]).rollout_vjp(states[2], u, weights)[name]
    direction = np.random.default_rng(1).uniform(0.0, 0.1, mj_model.nv)

    def f(h: float) -> float:
        other = dtau.mujoco.StepFunction(changed(mj_model, name, h * direction), data)
        return float((other.rollout(states[2], u) * weights).sum())

    numeric = [
        (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h) for h in (1e-3, 1e-4)
    ]
    assert min(abs(x - got @ direction) for x in numeric) < 1e-7 * np.abs(got * direction).max()
    moved = dtau.mujoco.StepParameters(step, [name]).rollout_jvp(states[2], u, {name: direction})
    np.testing.assert_allclose((moved * weights).sum(), got @ direction, rtol=1e-10)


PAIR = """<mujoco><option tolerance="0" iterations="80"/>{}<worldbody>
<geom name="floor" type="plane" size="5 5 1" friction="{} 0.005 0.0001"/>
<body pos="0 0 0.099"><freejoint/><geom name="ball" type="sphere" size="0.1" friction="{}"
 mass="1"/></body></worldbody>{}</mujoco>"""


def sliding(*parts: str) -> tuple[Any, Any]:
    mj_model = mujoco.MjModel.from_xml_string(PAIR.format(*parts))
    data = mujoco.MjData(mj_model)
    data.qvel[:2] = 1.0, 0.3
    return mj_model, data


def test_geoms_of_the_same_friction_share_the_derivative() -> None:
    name = "geom_friction"
    both = parameter_derivatives(*sliding("", "0.5", "0.5", ""), [name])[name]
    np.testing.assert_array_equal(both[:, 0], both[:, 1])
    assert np.abs(both[6:, 0, 0]).max() > 1e-3
    for friction, owner in ((("0.6", "0.5"), 0), (("0.5", "0.6"), 1)):
        by = parameter_derivatives(*sliding("", *friction, ""), [name])[name]
        assert by[:, owner, 0].any()
        assert not by[:, 1 - owner, 0].any()
    mj_model, data = sliding("", "0.5", "0.5", "")
    direction = np.tile([[0.1, 0.0, 0.0]], (2, 1))
    state = np.concatenate([[0.0], data.qpos, data.qvel])
    assert error_of(mj_model, data, state, data.ctrl, name, both, direction) < 1e-9


def test_contacts_with_their_own_friction_do_not_follow_the_geoms() -> None:
    name = "geom_friction"
    pair = '<contact><pair geom1="ball" geom2="floor"/></contact>'
    override = '<option><flag override="enable"/></option>'
    for parts in (("", "0.5", "0.6", pair), (override, "0.5", "0.6", "")):
        assert not parameter_derivatives(*sliding(*parts), [name])[name].any()
    assert not parameter_derivatives(*sliding("", "0", "0", ""), [name])[name].any()


def test_damping_of_a_model_without_damping() -> None:
    mj_model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint axis="0 1 0"/><geom type="sphere" size="0.1"'
        ' pos="0 0 -1" mass="1"/><body pos="0 0 -1"><joint axis="0 1 0"/><geom type="sphere"'
        ' size="0.1" pos="0 0 -1" mass="1"/></body></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(mj_model)
    data.qpos[:], data.qvel[:] = (0.3, -0.4), (1.0, 2.0)
    by = parameter_derivatives(mj_model, data, ["dof_damping"])["dof_damping"]
    state, h = np.concatenate([[0.0], data.qpos, data.qvel]), 1e-3
    for dof in range(2):
        f0, f1, f2 = (
            after(changed(mj_model, "dof_damping", k * h * np.eye(2)[dof]), data, state, [], [0, 0])
            for k in range(3)
        )
        np.testing.assert_allclose(by[:, dof], (4.0 * f1 - 3.0 * f0 - f2) / (2.0 * h), atol=1e-8)


def test_flags_disable_parameters() -> None:
    mj_model, data, states, _ = model_and_states("Euler", "elliptic")
    mujoco.mj_setState(mj_model, data, states[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    bits = mujoco.mjtDisableBit
    mj_model.opt.disableflags = bits.mjDSBL_SPRING | bits.mjDSBL_DAMPER | bits.mjDSBL_ACTUATION
    found = parameter_derivatives(mj_model, data, NAMES)
    zero = {name for name, by in found.items() if not by.any()}
    assert zero == {"dof_damping", "jnt_stiffness", "actuator_gainprm", "actuator_biasprm"}


def test_set_parameters_follow_the_derivatives() -> None:
    mj_model, data, states, ctrl = model_and_states("implicitfast", "elliptic")
    rng, values = np.random.default_rng(4), dtau.mujoco.parameter_values(mj_model, NAMES)
    for name, value in values.items():
        change = rng.uniform(-0.5, 0.5, value.shape) * sizes_of(mj_model, name, value.shape)
        if name == "jnt_stiffness":
            change[mj_model.jnt_type < 2] = 0.0
        m = copy.copy(mj_model)
        dtau.mujoco.set_parameters(m, {name: value + change})
        got = dtau.mujoco.parameter_values(m, [name])[name]
        np.testing.assert_allclose(got[1:], (value + change)[1:], rtol=1e-12, atol=1e-14)
        for x, u in zip(states, ctrl, strict=True):
            by_hand = after(changed(mj_model, name, change), data, x, u, None)
            np.testing.assert_allclose(after(m, data, x, u, None), by_hand, rtol=0, atol=1e-12)
    m = copy.copy(mj_model)
    dtau.mujoco.set_parameters(m, values)  # the same ones change nothing
    for name in ("body_iquat", "body_ipos", "body_sameframe", "geom_sameframe", "dof_M0"):
        np.testing.assert_array_equal(getattr(m, name), getattr(mj_model, name))


FREE = """<mujoco><option tolerance="0"/><worldbody><body name="top" {}>
<freejoint/><geom type="box" size="0.1 0.2 0.3" mass="1"/></body></worldbody></mujoco>"""


def test_parameters_of_a_free_body() -> None:
    for simple in ("", 'simple="false"'):
        mj_model = mujoco.MjModel.from_xml_string(FREE.format(simple))
        data = mujoco.MjData(mj_model)
        data.qvel[:] = 0.3, -0.2, 0.1, 1.0, 2.0, -3.0
        state = np.concatenate([[0.0], data.qpos, data.qvel])
        names = ["body_inertial", "dof_armature"]
        by = parameter_derivatives(mj_model, data, names)
        usual = after(mj_model, data, state, data.ctrl, None)
        values = dtau.mujoco.parameter_values(mj_model, names)
        directions = [("body_inertial", (1, k)) for k in (0, 4, 6, 9)]
        directions += [("dof_armature", (3,))]
        directions += [] if not simple else [("body_inertial", (1, k)) for k in (1, 2, 3, 5, 7, 8)]
        for name, place in directions:
            ends = []
            for h in (-2e-4, -1e-4, 1e-4, 2e-4):
                m, other = copy.copy(mj_model), {name: values[name].copy()}
                other[name][place] += h
                dtau.mujoco.set_parameters(m, other)
                ends.append(after(m, data, state, data.ctrl, usual))
            slope = (8.0 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / 12e-4
            np.testing.assert_allclose(
                slope, by[name][(slice(None), *place)], atol=1e-9 * np.abs(by[name]).max()
            )


def test_bodies_collide_as_before_when_their_inertia_changes() -> None:
    mj_model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .49"><freejoint/>
        <geom type="capsule" size=".05" fromto="0 0 0 0 .1 -.45"/><geom size=".05" pos=".1 0 0"/>
        </body></worldbody></mujoco>"""
    )
    boxes = mj_model.bvh_aabb.copy()
    values = dtau.mujoco.parameter_values(mj_model, ["body_inertial"])
    for factor in (1.5, 1.0):  # the principal axes come in another order
        dtau.mujoco.set_parameters(mj_model, {"body_inertial": factor * values["body_inertial"]})
        data = mujoco.MjData(mj_model)
        mujoco.mj_forward(mj_model, data)
        assert data.ncon == 1
    assert np.abs(mj_model.bvh_aabb - boxes).max() > 0.1


def test_set_parameters_refuses() -> None:
    mj_model = mujoco.MjModel.from_xml_string(FREE.format(""))
    usual = dtau.mujoco.parameter_values(mj_model, ["body_inertial"])["body_inertial"]
    for place, number, message in (
        (0, 0.0, "body_inertial of body 'top': expected a positive mass, got 0"),
        (4, -1.0, "expected positive moments of inertia .* got -1; dtau.identification"),
        (1, 0.1, 'compiled as simple; give the body simple="false"'),
        (5, 0.001, "no first moments and products of inertia"),
        (2, np.nan, "body_inertial: expected finite numbers"),
    ):
        numbers = usual.copy()
        numbers[1, place] = number
        with pytest.raises(ValueError, match=message):
            dtau.mujoco.set_parameters(
                mj_model, {"dof_damping": np.ones(6), "body_inertial": numbers}
            )
        assert not mj_model.dof_damping.any()
    with pytest.raises(ValueError, match=r"values: expected names among body_inertial, .* 'mass'"):
        dtau.mujoco.set_parameters(mj_model, {"mass": 1.0})
    with pytest.raises(ValueError, match=r"dof_damping: expected shape \(6,\), got \(\)"):
        dtau.mujoco.set_parameters(mj_model, {"dof_damping": 1.0})
    with pytest.raises(TypeError, match="values: expected a dict of names and arrays, got list"):
        dtau.mujoco.set_parameters(mj_model, [])
    for call in (dtau.mujoco.set_parameters, dtau.mujoco.parameter_values):
        with pytest.raises(TypeError, match=r"mj_model: expected a mujoco\.MjModel, got list"):
            call([], {"dof_damping": np.ones(6)})


def test_errors_name_parameters() -> None:
    mj_model, data, states, ctrl = model_and_states("Euler", "elliptic")
    for names in (["body_mass"], [], "dof_damping", ["dof_damping", "dof_damping"]):
        with pytest.raises(ValueError, match="parameters: expected one or more of body_inertial"):
            parameter_derivatives(mj_model, data, names)
    with pytest.raises(TypeError, match="parameters: expected names of parameters, got int"):
        parameter_derivatives(mj_model, data, 3)
    with pytest.raises(TypeError, match=r"mj_model: expected a mujoco\.MjModel"):
        parameter_derivatives(data, data, ["dof_damping"])
    with pytest.raises(TypeError, match=r"mj_model: expected a mujoco\.MjModel"):
        dtau.mujoco.inertial_parameters(data)
    with pytest.raises(TypeError, match="step: expected a StepFunction"):
        dtau.mujoco.StepParameters(mj_model, ["dof_damping"])
    by = dtau.mujoco.StepParameters(dtau.mujoco.StepFunction(mj_model, data), ["dof_damping"])
    with pytest.raises(ValueError, match="variations: expected names among dof_damping"):
        by.jvp(states, ctrl, {"dof_armature": np.zeros(mj_model.nv)})
    with pytest.raises(ValueError, match="dof_damping: expected shape"):
        by.jvp(states, ctrl, {"dof_damping": np.zeros(2)})
    mj_model.opt.density = 1.2
    with pytest.raises(NotImplementedError, match="body_inertial in a fluid"):
        parameter_derivatives(mj_model, data, ["body_inertial"])
    muscle = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody><actuator>'
        '<muscle name="biceps" joint="j" lengthrange="0 1"/></actuator></mujoco>'
    )
    for name in ("actuator_gainprm", "actuator_biasprm"):
        with pytest.raises(NotImplementedError, match=f"{name} of muscles .actuator 'biceps'"):
            parameter_derivatives(muscle, mujoco.MjData(muscle), [name])
