"""`dtau.mujoco.transition_derivatives` against MuJoCo's own differences of its step."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from trees import Array

import dtau

mujoco = pytest.importorskip("mujoco")
transition_derivatives = pytest.importorskip("dtau.mujoco").transition_derivatives

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
INTEGRATORS = ("Euler", "implicitfast")
PARTS = ("option", "flags", "hinge", "slide", "off", "ball", "world", "more")


def compiled(**parts: str) -> Any:
    parts = dict.fromkeys(PARTS, "") | {"actuators": ACTUATORS} | parts
    return mujoco.MjModel.from_xml_string(MODEL.format(**parts))


def random_data(mj_model: Any, seed: int, size: float = 1.0) -> Any:
    rng, data = np.random.default_rng(seed), mujoco.MjData(mj_model)
    q = data.qpos.copy()
    mujoco.mj_integratePos(mj_model, q, size * rng.normal(size=mj_model.nv), 1.0)
    data.qpos[:], data.qvel[:] = q, rng.normal(size=mj_model.nv)
    data.qfrc_applied[:] = rng.normal(size=mj_model.nv)
    data.ctrl[:] = rng.uniform(0.05, 0.9, mj_model.nu)  # inside the ranges
    return data


def differences(mj_model: Any, data: Any, step: float = 2e-5) -> tuple[Array, Array]:
    """Centered differences of fourth order, from two of second order."""
    n = 2 * mj_model.nv
    out = []
    for scale in (1.0, 2.0):
        by_state, by_control = np.zeros((n, n)), np.zeros((n, mj_model.nu))
        mujoco.mjd_transitionFD(
            mj_model, data, scale * step, True, by_state, by_control, None, None
        )
        out.append((by_state, by_control))
    (a1, b1), (a2, b2) = out
    return (4.0 * a1 - a2) / 3.0, (4.0 * b1 - b2) / 3.0


def check(mj_model: Any, data: Any, close: float = 1e-7) -> None:
    for got, expected in zip(
        transition_derivatives(mj_model, data), differences(mj_model, data), strict=True
    ):
        assert got.shape == expected.shape
        if got.size:
            scale = np.abs(expected).max() + 1e-3
            assert np.abs(got - expected).max() < close * scale


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


TENDON = '<tendon><fixed><joint joint="hinge" coef="1"/></fixed></tendon>'
SPHERE = (
    '<body pos="0 0 .09"><freejoint/><geom type="sphere" size=".1" contype="1"/></body>'
    '<geom type="plane" size="1 1 1" conaffinity="1"/>'
)
FILTER = '<general joint="hinge" dyntype="filter" dynprm="1"/>'


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"option": 'integrator="RK4"'}, "integrators other than"),
        ({"option": 'integrator="implicit"'}, "integrators other than"),
        ({"option": 'integrator="implicitfast"', "world": LONE}, "free bodies that carry no joint"),
        ({"option": 'noslip_iterations="3"'}, "noslip"),
        ({"option": 'density="1.2"'}, "fluid"),
        ({"more": TENDON}, "tendons"),
        ({"actuators": FILTER}, "activation states"),
        ({"actuators": '<motor joint="ball" gear="1 0 0"/>'}, "hinges and slides"),
        ({"ball": 'stiffness="1"'}, "springs of free and ball"),
        ({"ball": 'range="0 1" limited="true"'}, "limits of ball joints"),
        ({"hinge": 'actuatorfrcrange="-1 1"'}, "force on a joint"),
        ({"world": SPHERE}, "contacts"),
        (
            {"more": '<equality><joint joint1="hinge" joint2="off"/></equality>'},
            "equality constraints",
        ),
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
    with pytest.raises(TypeError, match=r"mj_model: expected a mujoco\.MjModel, got Model"):
        transition_derivatives(dtau.robots.quadruped(), mujoco.MjData(mj_model))
    with pytest.raises(TypeError, match=r"mj_data: expected a mujoco\.MjData"):
        transition_derivatives(mj_model, None)
