"""`dtau.mujoco.transition_derivatives` against MuJoCo's own differences of its step."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import mujoco_steps
import numpy as np
import pytest
from mujoco_steps import check

import dtau

mujoco = pytest.importorskip("mujoco")
from dtau.mujoco import transition_derivatives, transition_derivatives_batch  # noqa: E402

MODEL = """<mujoco>
<option tolerance="1e-12" iterations="500" ls_iterations="100" {option}><flag {flags}/></option>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody><body pos="0 0 1"><freejoint/>
<geom type="box" size=".2 .1 .05" mass="2" pos=".05 .02 0"/>
<body pos=".2 0 0"><joint name="hinge" axis="0 1 .2" ref="15" damping=".7" armature=".02" {hinge}/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 -.1" mass=".5"/>
<body pos=".3 0 -.1"><joint name="slide" type="slide" axis="1 0 .3" damping="2" {slide}/>
<joint name="off" axis="0 0 1" pos=".02 0 0" damping=".1" {off}/>
<geom type="box" size=".1 .02 .02" mass=".3"/></body></body>
<body pos="-.2 0 0"><joint name="ball" type="ball" damping=".3" armature=".01" {ball}/>
<geom type="capsule" size=".03" fromto="0 0 0 -.3 .1 0" mass=".4"/></body></body>{world}</worldbody>
{more}<actuator>{actuators}</actuator></mujoco>"""
STATES = """<intvelocity joint="hinge" kp="30" actrange="-.5 .5"/>
<general joint="slide" dyntype="filter" dynprm=".03" gainprm="5" ctrlrange="-1 1"/>
<general joint="off" dyntype="filterexact" dynprm=".02" gaintype="affine" gainprm="1 2 -.5"/>
<motor joint="slide"/>
<general joint="hinge" dyntype="filter" dynprm=".05" actearly="true" actrange="-2 .2"
 actlimited="true" forcerange="-9 9" biastype="affine" biasprm="1 -2 -.3"/>
<general joint="off" dyntype="integrator" actearly="true" gaintype="affine" gainprm="1 .1 -.2"/>"""
ACTUATORS = """<motor joint="hinge" gear="3"/>
<position joint="slide" kp="30" kv="2" gear="2" ctrlrange="-1 1" ctrllimited="true"/>
<velocity joint="off" kv=".5" forcerange="-.2 .2"/><damper joint="hinge" kv="2" ctrlrange="0 3"/>
<general joint="slide" gaintype="affine" gainprm="1 2 -.5" biastype="affine" biasprm="1 -2 -.3"/>"""
SPRINGS = {"hinge": 'stiffness="5" springref="10"', "slide": 'stiffness="20"'}
LIMITS = {
    "hinge": 'range="-20 20" stiffness="5"',
    "slide": 'range="-.1 .1" margin=".05" solimplimit=".5 .97 .3 .4 3"',
    "off": 'range="-10 30" frictionloss=".3" solreflimit="-900 -30"',
}
INTEGRATORS = ("Euler", "implicitfast", "RK4")
PARTS = ("option", "flags", "hinge", "slide", "off", "ball", "world", "more")


def compiled(**parts: str) -> Any:
    parts = dict.fromkeys(PARTS, "") | {"actuators": ACTUATORS} | parts
    return mujoco.MjModel.from_xml_string(MODEL.format(**parts))


random_data = partial(mujoco_steps.random_data, low=0.05)  # controls inside the ranges


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    "flags",
    [
        "",
        'eulerdamp="disable"',
        'gravity="disable" damper="disable"',
        'spring="disable" actuation="disable"',
        'energy="enable"',
    ],
)
def test_smooth_steps(flags: str, integrator: str, seed: int) -> None:
    option = f'integrator="{integrator}" timestep="0.004"'
    mj_model = compiled(option=option, flags=flags, **SPRINGS)
    check(mj_model, random_data(mj_model, seed))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_limits_and_friction_loss(integrator: str, seed: int) -> None:
    mj_model = compiled(option=f'integrator="{integrator}"', **LIMITS)
    data = random_data(mj_model, seed, 0.3)
    check(mj_model, data)
    mujoco.mj_forward(mj_model, data)
    assert data.nefc


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_limits_of_ball_joints(integrator: str) -> None:
    ball = 'range="0 25" solreflimit=".03 .8" solimplimit=".5 .97 .3 .4 3"'
    mj_model = compiled(option=f'integrator="{integrator}"', ball=ball)
    beyond = 0
    for seed in range(8):
        data = random_data(mj_model, seed, 0.1 * (1 + seed))
        check(mj_model, data)
        mujoco.mj_forward(mj_model, data)
        beyond += data.nl
    assert beyond > 4


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_activation_of_actuators(integrator: str, seed: int) -> None:
    mj_model = compiled(option=f'integrator="{integrator}"', actuators=STATES)
    data = random_data(mj_model, seed)
    data.act[:] = np.random.default_rng(seed).uniform(-0.45, 0.45, mj_model.na)
    check(mj_model, data)
    A, B = transition_derivatives(mj_model, data)
    assert A.shape == (29, 29)
    assert B[-5:].any()


@pytest.mark.parametrize("flags", ["", 'actuation="disable"'])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_limits_of_the_actuators_force_on_a_joint(integrator: str, flags: str) -> None:
    mj_model = compiled(
        option=f'integrator="{integrator}"',
        flags=flags,
        hinge='actuatorfrcrange="-1.5 1"',
        slide='actuatorfrcrange="-9 30"',
        off='actuatorfrcrange="-.1 .1"',
    )
    dofs = np.flatnonzero(mj_model.jnt_actfrclimited[mj_model.dof_jntid])
    low, high = mj_model.jnt_actfrcrange[mj_model.dof_jntid[dofs]].T
    within = set()
    for seed in range(8):
        data = random_data(mj_model, seed)
        check(mj_model, data)
        mujoco.mj_forward(mj_model, data)
        force = data.qfrc_actuator[dofs]
        within |= set(zip(dofs.tolist(), ((low < force) & (force < high)).tolist(), strict=True))
    assert flags or len(within) == 2 * len(dofs)  # each joint at its limit and within


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_batches_equal_single_states(integrator: str) -> None:
    mj_model = compiled(option=f'integrator="{integrator}"', actuators=STATES, **LIMITS)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.empty((70, mujoco.mj_stateSize(mj_model, kind)))
    ctrl, singles = np.empty((70, mj_model.nu)), []
    data = random_data(mj_model, 0)
    for k, (state, u) in enumerate(zip(states, ctrl, strict=True)):
        other = random_data(mj_model, k, 0.3)
        other.qfrc_applied[:] = data.qfrc_applied
        mujoco.mj_getState(mj_model, other, state, kind)
        u[:] = other.ctrl
        singles.append(transition_derivatives(mj_model, other))
    A, B = transition_derivatives_batch(mj_model, data, states, ctrl)
    np.testing.assert_allclose(A, [one.A for one in singles], atol=1e-9)
    np.testing.assert_allclose(B, [one.B for one in singles], atol=1e-9)
    empty = transition_derivatives_batch(mj_model, data, states[:0], ctrl[:0])
    assert (empty.A.shape, empty.B.shape) == ((0, 29, 29), (0, 29, 6))


def test_batches_of_other_shapes_are_refused() -> None:
    mj_model = compiled()
    data = mujoco.MjData(mj_model)
    size = 1 + mj_model.nq + mj_model.nv
    with pytest.raises(ValueError, match=rf"states: expected shape \(n, {size}\), got \(3, 2\)"):
        transition_derivatives_batch(mj_model, data, np.zeros((3, 2)), np.zeros((3, 5)))
    with pytest.raises(ValueError, match=r"ctrl: expected shape \(3, 5\), got \(2, 5\)"):
        transition_derivatives_batch(mj_model, data, np.zeros((3, size)), np.zeros((2, 5)))


def test_sparse_and_dense_jacobians_agree() -> None:
    results = []
    for kind in ("dense", "sparse"):
        mj_model = compiled(option=f'jacobian="{kind}"', **LIMITS)
        results.append(transition_derivatives(mj_model, random_data(mj_model, 1, 0.3)))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


def test_models_without_actuators_or_gravity() -> None:
    mj_model = compiled(actuators="", option='gravity="0 0 0"')
    assert transition_derivatives(mj_model, random_data(mj_model, 0)).B.shape == (24, 0)
    check(mj_model, random_data(mj_model, 0))


@pytest.mark.parametrize("speed", [20.0, 60.0])
def test_fast_rotations_with_runge_kutta(speed: float) -> None:
    mj_model = compiled(option='integrator="RK4" timestep=".02"')
    data = random_data(mj_model, 0)
    data.qvel[:] *= speed
    assert np.abs(data.qvel).max() * mj_model.opt.timestep > 0.1  # rad
    check(mj_model, data, step=2e-4)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_negative_damping(integrator: str) -> None:
    mj_model = compiled(option=f'integrator="{integrator}"')
    damping = mj_model.dof_damping.copy()
    for factor in (-1.0, np.where(np.arange(mj_model.nv) % 2, -1.0, 1.0)):
        mj_model.dof_damping[:] = factor * damping  # Euler is explicit unless one is positive
        check(mj_model, random_data(mj_model, 0))


def test_saturated_controls_and_forces_have_no_derivative() -> None:
    mj_model = compiled()
    data = random_data(mj_model, 0)
    data.ctrl[1], data.ctrl[2] = 1.5, 3.0  # beyond the control's range; at the force's limit
    got = transition_derivatives(mj_model, data)
    assert not got.B[:, 1:3].any()
    assert got.B[:, [0, 3, 4]].any(axis=0).all()
    check(mj_model, data)


def test_controls_without_clamping_follow_beyond_their_range() -> None:
    mj_model = compiled(flags='clampctrl="disable"')
    data = random_data(mj_model, 0)
    within = transition_derivatives(mj_model, data).B[:, 1]
    data.ctrl[1] = 1.5  # mjd_transitionFD returns 0 there
    beyond = transition_derivatives(mj_model, data).B[:, 1]
    np.testing.assert_allclose(beyond[mj_model.nv :], within[mj_model.nv :], atol=1e-12)


def test_changes_of_the_model_count_and_the_data_stay() -> None:
    mj_model = compiled(**LIMITS)
    data = random_data(mj_model, 3, 0.3)
    before = copy.copy(data)
    first = transition_derivatives(mj_model, data)
    for name in ("qpos", "qvel", "ctrl", "qacc", "qacc_warmstart", "qfrc_applied", "time"):
        assert np.array_equal(getattr(data, name), getattr(before, name))
    mj_model.body_mass[2] *= 3.0
    mj_model.body_inertia[2] *= 3.0
    mj_model.dof_armature[6] = 0.5
    mj_model.opt.gravity[0] = 3.0
    assert not np.allclose(transition_derivatives(mj_model, data).A, first.A)
    check(mj_model, data)


def test_a_changed_solver_is_refused_as_another_model_is() -> None:
    mj_model = compiled(option='cone="elliptic"')
    data = random_data(mj_model, 0)
    transition_derivatives(mj_model, data)
    mj_model.opt.solver = mujoco.mjtSolver.mjSOL_PGS
    with pytest.raises(NotImplementedError, match="elliptic cones with the solver PGS"):
        transition_derivatives(mj_model, data)


LONE = '<body pos="0 0 9"><freejoint/><geom type="box" size=".1 .2 .3"/></body>'


def test_lone_free_bodies() -> None:
    mj_model = compiled(world=LONE)
    check(mj_model, random_data(mj_model, 0))


def test_unknown_terms_of_a_step_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mj_model = compiled()
    data = random_data(mj_model, 0)

    def another_step(mj_model: Any, data: Any) -> None:
        data.qvel[:] *= 1.001

    monkeypatch.setattr(mujoco, "mj_Euler", another_step)
    with pytest.raises(NotImplementedError, match="adds to this step"):
        transition_derivatives(mj_model, data)


TENDONS = """<tendon><fixed springlength="-.05 .05" stiffness="40" damping="3" armature=".03">
<joint joint="hinge" coef="1"/><joint joint="slide" coef="-2"/></fixed>
<fixed stiffness="15" frictionloss=".2"><joint joint="off" coef="2"/></fixed>
<fixed range="-.1 .05" margin=".02" limited="true" solimplimit=".5 .97 .3 .4 3">
<joint joint="off" coef="1"/><joint joint="hinge" coef=".5"/></fixed></tendon>"""


@pytest.mark.parametrize("flags", ["", 'spring="disable"', 'damper="disable"'])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_fixed_tendons(integrator: str, flags: str) -> None:
    option = f'integrator="{integrator}" timestep="0.004"'
    mj_model = compiled(option=option, flags=flags, more=TENDONS, **SPRINGS)
    limited = 0
    for seed in range(6):
        data = random_data(mj_model, seed, 0.4)
        check(mj_model, data)
        mujoco.mj_forward(mj_model, data)
        limited += data.nl
    assert limited > 2


OF_TENDONS = """<motor tendon="pull" gear="3"/><position tendon="across" kp="30" kv="2" gear="-2"/>
<general tendon="pull" dyntype="filter" dynprm=".03" gaintype="affine" gainprm="1 2 -.5"
 biastype="affine" biasprm="1 -2 -.3" forcerange="-9 9"/>"""
PULLED = """<tendon><fixed name="pull" damping="2"><joint joint="hinge" coef="1"/>
<joint joint="slide" coef="-2"/></fixed><fixed name="across" stiffness="9">
<joint joint="off" coef="1"/><joint joint="other" coef=".5"/></fixed></tendon>"""
FINGER = """<body pos="0 0 2"><joint name="other" axis="0 1 0" damping=".2"/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 -.1" mass=".5"/></body>"""


@pytest.mark.parametrize("flags", ["", 'actuation="disable"'])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_actuators_of_fixed_tendons(integrator: str, flags: str) -> None:
    option = f'integrator="{integrator}" timestep="0.004"'
    mj_model = compiled(option=option, flags=flags, more=PULLED, actuators=OF_TENDONS, world=FINGER)
    for seed in range(4):
        data = random_data(mj_model, seed, 0.4)
        data.act[:] = 0.3
        check(mj_model, data)


LINES = """<tendon><spatial springlength=".1 .2" stiffness="40" damping="3">
<site site="near"/><geom geom="wrapped"/><site site="far"/></spatial>
<spatial range="0 .5" margin=".1" limited="true" solimplimit=".5 .97 .3 .4 3" frictionloss=".4">
<site site="near"/><site site="middle"/><pulley divisor="2"/><site site="middle"/>
<site site="far"/></spatial><fixed stiffness="9"><joint joint="off" coef="1"/></fixed></tendon>"""
ENDS = """<site name="near" pos="0 .1 1.3"/><geom name="wrapped" type="sphere" size=".1"
 pos=".2 .1 1.23"/><body pos=".3 0 1.3"><joint type="ball" damping=".2"/>
<joint type="slide" axis="0 0 1" pos=".1 0 0"/><geom size=".1"/><site name="middle" pos=".05 0 0"/>
<body pos=".2 0 0"><joint axis="0 1 .3"/><geom size=".1"/><site name="far" pos=".1 .05 0"/></body>
</body>"""


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_spatial_tendons_by_differences_of_their_moment_arms(integrator: str) -> None:
    option = f'integrator="{integrator}" timestep="0.004"'
    mj_model = compiled(option=option, more=LINES, world=ENDS)
    limited = wrapped = 0
    for seed in range(6):
        data = random_data(mj_model, seed, 0.3)
        check(mj_model, data, 1e-7, 1e-5, geometry="differences")
        mujoco.mj_forward(mj_model, data)
        limited, wrapped = limited + data.nl, wrapped + int(data.ten_wrapnum[0] > 2)
        assert data.nf
    assert limited > 1
    assert wrapped > 1


PULLING = """<motor tendon="line" gear="3"/><position tendon="line" kp="30" kv="2" gear="-2"/>
<muscle tendon="rope" lengthrange=".1 .9" force="20"/>
<general tendon="rope" dyntype="filter" dynprm=".03" gaintype="affine" gainprm="1 2 -.5"
 biastype="affine" biasprm="1 -2 -.3" forcerange="-9 9"/><motor joint="off" gear="2"/>"""
NAMED = LINES.replace("<spatial ", '<spatial name="line" ', 1).replace(
    "<spatial range", '<spatial name="rope" range'
)


@pytest.mark.parametrize("flags", ["", 'actuation="disable"'])
@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_actuators_of_spatial_tendons(integrator: str, flags: str) -> None:
    option = f'integrator="{integrator}" timestep="0.004"'
    world = ENDS.replace('axis="0 1 .3"', 'axis="0 1 .3" actuatorfrcrange="-.5 .5"')
    mj_model = compiled(option=option, flags=flags, more=NAMED, world=world, actuators=PULLING)
    for seed in range(4):
        data = random_data(mj_model, seed, 0.3)
        data.act[:] = 0.4
        check(mj_model, data, 1e-7, 1e-5, geometry="differences")


def test_motors_of_spatial_tendons_with_implicitfast() -> None:
    more = NAMED.replace('damping="3"', "")
    motor = '<motor tendon="line" gear="300"/>'
    mj_model = compiled(option='integrator="implicitfast"', more=more, world=ENDS, actuators=motor)
    check(mj_model, random_data(mj_model, 1, 0.3), 1e-7, 1e-5, geometry="differences")


@pytest.mark.parametrize("beyond", [False, True])
def test_implicitfast_with_controls_beyond_their_range(beyond: bool) -> None:
    # Its matrix has the gains by velocity, times the control within its range.
    mj_model = compiled(option='integrator="implicitfast" timestep="0.004"')
    data = random_data(mj_model, 1)
    if beyond:
        data.ctrl[1], data.ctrl[3] = -1.5, 4.0
    mj_model.actuator_ctrllimited[4], mj_model.actuator_ctrlrange[4] = True, (-0.02, 0.02)
    check(mj_model, data)


SPATIAL = """<tendon><spatial {}><site site="left"/><site site="right"/></spatial></tendon>"""
SITES = '<site name="left" pos="0 0 1"/><site name="right" pos="1 0 1"/>'
USER = '<general name="user" joint="hinge" dyntype="user" actdim="1"/>'


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"option": 'integrator="implicit"'}, "integrators other than"),
        ({"option": 'solver="PGS" cone="elliptic"'}, "elliptic cones with the solver PGS"),
        ({"option": 'integrator="implicitfast"', "world": LONE}, "free bodies that carry no joint"),
        ({"option": 'density="1.2" integrator="implicitfast"'}, "fluid forces with implicitfast"),
        (
            {"more": SPATIAL.format(""), "world": SITES},
            r"spatial tendons, unless geometry='differences' \(tendon 0\)",
        ),
        (
            {"more": SPATIAL.format('armature="1"'), "world": SITES},
            r"armature of spatial tendons \(tendon 0\);",
        ),
        (
            {
                "more": SPATIAL.format('damping="1"'),
                "world": SITES,
                "option": 'integrator="implicitfast"',
            },
            r"dampers of spatial tendons with implicitfast \(tendon 0\)",
        ),
        (
            {
                "more": SPATIAL.format('name="line"'),
                "world": SITES,
                "actuators": '<damper tendon="line" kv="1" ctrlrange="0 1"/>',
                "option": 'integrator="implicitfast"',
            },
            r"that depend on velocity, with implicitfast \(actuator 0\)",
        ),
        ({"actuators": USER}, r"integrators, filters and muscles \(actuator 'user'\)"),
        (
            {"actuators": '<motor joint="ball" gear="1 0 0"/>'},
            "hinges, slides, tendons and single sites",
        ),
        ({"ball": 'stiffness="1"'}, r"springs of free and ball joints \(joint 'ball'\)"),
    ],
)
def test_other_parts_are_refused_by_name(parts: dict[str, str], named: str) -> None:
    mj_model = compiled(**parts)
    with pytest.raises(NotImplementedError, match=named):
        transition_derivatives(mj_model, random_data(mj_model, 0))


def test_wrenches_and_callbacks_are_refused() -> None:
    mj_model = compiled()
    data = random_data(mj_model, 0)
    data.xfrc_applied[1, 0] = 1.0
    with pytest.raises(NotImplementedError, match="xfrc_applied"):
        transition_derivatives(mj_model, data)
    mujoco.set_mjcb_control(lambda model, data: None)
    try:
        with pytest.raises(NotImplementedError, match="callbacks"):
            transition_derivatives(mj_model, random_data(mj_model, 0))
    finally:
        mujoco.set_mjcb_control(None)


def test_other_arguments_are_refused() -> None:
    mj_model = compiled()
    with pytest.raises(TypeError, match=r"mj_model: expected a mujoco\.MjModel, got dtau\.Model"):
        transition_derivatives(dtau.robots.quadruped(), mujoco.MjData(mj_model))
    with pytest.raises(TypeError, match=r"mj_data: expected a mujoco\.MjData"):
        transition_derivatives(mj_model, None)


# What one model has, and another has not, of each part of a state that MuJoCo reads from the data.
_OTHER_DATA = {
    "qpos": '<worldbody><body><joint/><geom size=".1"/></body></worldbody>',
    "ctrl": '<actuator><motor joint="j"/></actuator>',
    "act": '<actuator><general joint="j" dyntype="filter"/></actuator>',
    "xfrc_applied": '<worldbody><body><geom size=".1"/></body></worldbody>',
    "eq_active": '<equality><joint joint1="j"/></equality>',
    "mocap_pos": '<worldbody><body mocap="true"/></worldbody>',
    "userdata": '<size nuserdata="50000000"/>',
    "plugin": '<extension><plugin plugin="mujoco.pid"><instance name="p">'
    '<config key="ki" value="1"/><config key="slewmax" value="1"/></instance></plugin></extension>'
    '<actuator><plugin joint="j" plugin="mujoco.pid" instance="p" actdim="2"/></actuator>',
}


@pytest.mark.parametrize("part", _OTHER_DATA)
def test_data_of_other_sizes_are_refused(part: str) -> None:
    one = '<worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>'
    plain = mujoco.MjModel.from_xml_string(f"<mujoco>{one}</mujoco>")
    other = mujoco.MjModel.from_xml_string(f"<mujoco>{one}{_OTHER_DATA[part]}</mujoco>")
    states = np.zeros((1, 3))
    for model, data in ((plain, mujoco.MjData(other)), (other, mujoco.MjData(plain))):
        expected = r"mj_data: expected data of mj_model, with \d+ numbers of \w+, got"
        with pytest.raises(ValueError, match=expected):
            transition_derivatives(model, data)
        with pytest.raises(ValueError, match=expected):
            transition_derivatives_batch(model, data, states, np.zeros((1, model.nu)))


def test_states_that_are_not_finite_are_refused() -> None:
    mj_model = compiled()
    data = random_data(mj_model, 0)
    states, ctrl = np.zeros((3, 1 + mj_model.nq + mj_model.nv)), np.zeros((3, 5))
    states[2, 1] = np.nan
    for name in ("states", "ctrl"):
        for wrong in (1j, "x"):
            given = {"states": 0.0 * states, "ctrl": ctrl} | {name: wrong}
            with pytest.raises(TypeError, match=f"^{name}: expected real numbers, got "):
                transition_derivatives_batch(mj_model, mujoco.MjData(mj_model), **given)
    with pytest.raises(ValueError, match=r"^states: expected finite .* nan at index \(2, 1\)$"):
        transition_derivatives_batch(mj_model, data, states, ctrl)
    data.qvel[3] = np.inf
    with pytest.raises(ValueError, match=r"^mj_data\.qvel: expected finite .* inf at index \(3,\)"):
        transition_derivatives(mj_model, data)
