"""States where the frame of a contact or the axis of a limit may jump: numbers or an error."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from benchmarks.peers.mujoco_pairs import CONES, EXACT, ROUGH
from benchmarks.peers.mujoco_pairs import pair as compiled_pair
from mujoco_steps import check
from trees import Array

import dtau

mujoco = pytest.importorskip("mujoco")
from dtau.mujoco import transition_derivatives  # noqa: E402

UPRIGHT = """<mujoco><option tolerance="0" iterations="100" cone="{cone}" {option}/><worldbody>
<geom name="floor" type="plane" size="5 5 1" condim="{condim}"/>
<body pos="0 0 .2494">{joints}<geom name="foot" type="capsule" size=".05 .2" mass="1" {pos}
 condim="{condim}"/></body></worldbody></mujoco>"""
LIFT, SPIN = '<joint type="slide" axis="0 0 1"/>', '<joint axis="0 0 1" {}/>'
TURNING = {  # about the normal alone
    "turntable": (LIFT + SPIN, ""),
    "two turntables": (
        LIFT + SPIN + SPIN.format('pos=".3 0 0"') + '<joint type="slide" axis="1 .3 0"/>',
        'pos=".2 .1 0"',
    ),
}
TILTING = {
    "free": ("<freejoint/>", ""),
    "planar leg": ('<joint type="slide" axis="1 0 0"/>' + LIFT + '<joint axis="0 1 0"/>', ""),
}
MEET = """<mujoco><option tolerance="0"/><worldbody>
<body><joint type="slide" axis="1 0 0"/><geom name="one" {one}/></body>
<body><freejoint/><geom name="other" {other}/></body></worldbody></mujoco>"""
FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS


def upright(
    joints: tuple[str, str], cone: str, condim: int, tilt: float = 0.0, option: str = ""
) -> tuple[Any, Any]:
    """A capsule that slides on a plane and presses on it."""
    xml = UPRIGHT.format(
        cone=cone, condim=condim, joints=joints[0].format(""), pos=joints[1], option=option
    )
    mj_model = mujoco.MjModel.from_xml_string(xml)
    mj_model.geom_sameframe[1] = 0
    mj_model.geom_quat[1] = 1.0, 0.3 * tilt, 0.4 * tilt, 0.0
    data = mujoco.MjData(mj_model)
    data.qvel[:] = np.random.default_rng(0).uniform(-0.6, 0.6, mj_model.nv)
    mujoco.mj_forward(mj_model, data)
    data.qvel[:] *= -np.sign(data.efc_vel[0])  # towards the plane
    mujoco.mj_forward(mj_model, data)
    assert data.ncon == 1
    return mj_model, data


def solved(mj_model: Any, place: Array) -> Any:
    data = mujoco.MjData(mj_model)
    data.qpos[-7:] = place
    mujoco.mj_forward(mj_model, data)
    return data


@pytest.mark.parametrize("tilt", [0.0, 1e-16, 1e-12, 1e-9, 1e-6])
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("joints", TURNING)
def test_upright_capsules_that_turn_about_the_normal(
    joints: str, cone: str, condim: int, tilt: float
) -> None:
    check(*upright(TURNING[joints], cone, condim, tilt), 1e-8, 1e-6)


@pytest.mark.parametrize("joints", TILTING)
@pytest.mark.parametrize("cone", CONES)
def test_upright_capsules_that_tilt(joints: str, cone: str) -> None:
    """The frame jumps. Without friction it does not matter, and a small tilt has derivatives."""
    said = (
        r"^contact 0 of plane 'floor' and capsule 'foot': expected a contact that "
        r"moves continuously, got one that jumps in this state, .*; displace the state by 1e-6"
    )
    for condim, tilt in product((3, 4, 6), (0.0, 1e-15, 1e-12)):
        mj_model, data = upright(TILTING[joints], cone, condim, tilt)
        with pytest.raises(ValueError, match=said):
            transition_derivatives(mj_model, data)
    for condim, tilt in ((1, 0.0), (1, 1e-12), (3, 1e-9), (3, 1e-6), (6, 1e-6)):
        check(*upright(TILTING[joints], cone, condim, tilt), 1e-7, 1e-6)


@pytest.mark.parametrize("cone", CONES)
def test_upright_cylinders(cone: str) -> None:
    """Their contact points jump if they tilt: that matters unless all points move alike."""
    said = r"^contact \d of plane 'floor' and cylinder 'foot': expected a contact that moves"
    for name, speed, matters in (
        ("turntable", (-0.1, 2.0), False),
        ("free", (0.0, 0.0, -0.05, 0.0, 0.0, 0.0), False),
        ("free", (0.0, 0.0, -0.05, 0.0, 0.0, 2.0), False),
        ("free", (1.0, 0.3, 0.0, 0.0, 0.0, 0.0), True),
        ("free", (0.0, 0.0, 0.0, 0.05, 0.02, 0.0), True),
        ("planar leg", (0.0, -0.05, 0.0), False),
        ("planar leg", (0.0, 0.0, 0.3), True),
    ):
        joints = {**TURNING, **TILTING}[name]
        xml = UPRIGHT.format(cone=cone, condim=3, joints=joints[0].format(""), pos="", option="")
        mj_model = mujoco.MjModel.from_xml_string(
            xml.replace('"capsule"', '"cylinder"').replace(".2494", ".1994")
        )
        data = mujoco.MjData(mj_model)
        data.qvel[:] = speed
        mujoco.mj_forward(mj_model, data)
        assert data.ncon == 3
        if matters:
            with pytest.raises(ValueError, match=said):
                transition_derivatives(mj_model, data)
        else:  # the jumps are steps of 1e-10 in the differences of bodies that tilt
            close, step = (1e-8, 1e-6) if name == "turntable" else (1e-4, 1e-5)
            check(mj_model, data, close, step)


def test_a_capsule_that_stands_on_a_slope() -> None:
    """MuJoCo's tangents are not orthogonal to the normal."""
    xml = UPRIGHT.format(cone="elliptic", condim=3, joints=LIFT, pos="", option="")
    spec = mujoco.MjSpec.from_string(xml)
    for frame in (spec.geom("floor"), spec.worldbody.first_body()):
        frame.quat = np.cos(0.2), 0.0, np.sin(0.2), 0.0
    spec.worldbody.first_body().pos = np.array([np.sin(0.4), 0.0, np.cos(0.4)]) * 0.2494
    mj_model = spec.compile()
    data = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, data)
    assert abs(data.contact.frame[0, :3] @ data.contact.frame[0, 3:6]) > 0.1
    with pytest.raises(ValueError, match="capsule 'foot': expected a contact that moves"):
        transition_derivatives(mj_model, data)


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [
        ("sphere", "sphere", (0, 0, 0, 1, 0, 0, 0)),
        ("sphere", "capsule", (0, 0, 0.1, 1, 0, 0, 0)),
        ("capsule", "capsule", (0, 0, 0.05, 1, 1, 0, 0)),
        ("capsule", "capsule", (0, 0, 0.05, 1, 0, 0, 0)),
    ],
)
def test_centers_and_axes_that_meet(one: str, other: str, place: tuple[float, ...]) -> None:
    geoms = {
        "sphere": 'type="sphere" size=".1" mass="1"',
        "capsule": 'type="capsule" size=".07 .2" mass="1"',
    }
    mj_model = mujoco.MjModel.from_xml_string(MEET.format(one=geoms[one], other=geoms[other]))
    place = np.array(place, dtype=np.float64)
    place[3:] /= np.linalg.norm(place[3:])
    data = solved(mj_model, place)
    assert data.nefc
    said = rf"^contact \d of {one} 'one' and {other} 'other': expected a contact that moves"
    with pytest.raises(ValueError, match=said):
        transition_derivatives(mj_model, data)


def test_a_sphere_with_its_center_on_a_face() -> None:
    """The formulas end there; MuJoCo's contact goes on."""
    geoms = 'type="sphere" size=".1" mass="1"', 'type="box" size=".2 .2 .2" mass="1"'
    mj_model = mujoco.MjModel.from_xml_string(MEET.format(one=geoms[0], other=geoms[1]))
    data = solved(mj_model, np.array([0.2, 0.05, -0.03, 1, 0, 0, 0]))
    with pytest.raises(NotImplementedError, match=r"contacts of sphere and box, unless .*'one'"):
        transition_derivatives(mj_model, data)
    got = transition_derivatives(mj_model, data, geometry="differences")
    assert np.isfinite(got.A).all()


def test_the_limit_of_a_ball_joint_at_the_angle_0() -> None:
    xml = """<mujoco><option tolerance="0"/><worldbody><body><joint name="hip" type="ball"
    limited="true" range="0 .1" margin=".3"/><geom type="sphere" size=".1" pos="0 0 -1" mass="1"/>
    </body></worldbody></mujoco>"""
    mj_model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, data)
    assert data.nefc == 1
    said = "^joint 'hip': expected a limit that moves continuously, got one that jumps"
    with pytest.raises(ValueError, match=said):
        transition_derivatives(mj_model, data)
    data.qpos[:] = np.cos(0.005), 0.0, np.sin(0.005), 0.0
    check(mj_model, data, 1e-6, 1e-5)


@pytest.mark.parametrize("pair", [*EXACT, *ROUGH], ids="-".join)
def test_aligned_geoms_have_numbers_or_an_error(pair: tuple[str, str]) -> None:
    """Poses along the axes, where lengths vanish: no result has NaN."""
    mj_model = compiled_pair(*pair, 3, "pyramidal", "")
    turns = np.eye(4)[0], np.array([0.5**0.5, 0.5**0.5, 0, 0]), np.array([0.5**0.5, 0, 0.5**0.5, 0])
    offsets = 0.0, 0.05, 0.1, -0.14
    touched, said = 0, set[str]()
    normal = mj_model.geom_quat[0] if pair[0] == "plane" else None
    for turn, *place in product(turns, offsets, offsets[:2], offsets):
        data = mujoco.MjData(mj_model)
        free = mj_model.jnt_qposadr[mj_model.jnt_type == 0][0]
        data.qpos[free : free + 3] = place
        data.qpos[free + 3 : free + 7] = turn
        if normal is not None:  # along the plane's axes
            mujoco.mju_rotVecQuat(data.qpos[free : free + 3], np.array(place), normal)
            mujoco.mju_mulQuat(data.qpos[free + 3 : free + 7], normal, turn)
        mujoco.mj_forward(mj_model, data)
        touched += data.ncon > 0
        for geometry in ("exact", "differences"):
            try:
                got = transition_derivatives(mj_model, data, geometry=geometry)
            except (ValueError, NotImplementedError) as error:
                said.add(str(error))
            else:
                assert np.isfinite(got.A).all(), (place, turn)
                assert np.isfinite(got.B).all()
    assert touched > 10
    assert all("contact" in message for message in said)


def test_refused_states_of_a_batch_are_named() -> None:
    xml = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
    <geom name="table" type="box" size=".2 .2 .1" pos="0 0 .1"/><body pos="0 0 .3">
    <joint type="slide" axis="0 0 1" name="z"/><geom type="box" size=".05 .05 .05" mass="1"/></body>
    </worldbody><actuator><motor joint="z"/></actuator></mujoco>"""
    mj_model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(mj_model)
    states = np.zeros((300, mujoco.mj_stateSize(mj_model, FULL)))
    states[271, 1] = -0.0501
    arguments = mj_model, data, states, np.zeros((300, 1))
    said = (
        r"contacts of box and box, unless geometry='differences' "
        r"\(contact \d of box 'table' and box \(geom 2\), state 271\)"
    )
    for threads in (1, 3):
        with pytest.raises(NotImplementedError, match=said):
            dtau.mujoco.transition_derivatives_batch(*arguments, threads=threads)


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_jumps_in_a_batch_are_named(integrator: str) -> None:
    mj_model, data = upright(TILTING["free"], "elliptic", 3, 0.0, f'integrator="{integrator}"')
    data.qvel[:] = 0.0
    states = np.empty((40, mujoco.mj_stateSize(mj_model, FULL)))
    for k, state in enumerate(states):
        data.qpos[3:] = [np.cos(0.1), np.sin(0.1), 0.0, 0.0] if k != 33 else [1.0, 0.0, 0.0, 0.0]
        mujoco.mj_getState(mj_model, data, state, FULL)
    said = "^contact 0 of plane 'floor' and capsule 'foot', state 33"
    said += ", stage 1 of RK4: expected" if integrator == "RK4" else ": expected"
    for threads in (1, 2):
        with pytest.raises(ValueError, match=said):
            dtau.mujoco.transition_derivatives_batch(
                mj_model, data, states, np.zeros((40, 0)), threads=threads
            )


def test_contacts_that_jump_over_the_differences_are_named() -> None:
    """A box that lies flat: its corners touch or not, however little it turns."""
    xml = """<mujoco><worldbody><geom name="table" type="box" size=".2 .2 .1" pos="0 0 .1"/>
    <body pos="0 0 .2495"><freejoint/><geom name="b" type="box" size=".05 .05 .05" mass="1"/></body>
    </worldbody></mujoco>"""
    mj_model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, data)
    assert data.ncon
    data.qpos[2] += 4.99e-4
    states = np.empty((2, mujoco.mj_stateSize(mj_model, FULL)))
    for state in states:
        mujoco.mj_getState(mj_model, data, state, FULL)
        data.qpos[0] += 0.15
    said = (
        r"contacts of box and box that jump when geoms move by 3e-5, or when .* 1e-12 "
        r"\(contact \d of box 'table' and box 'b', state [01]\)"
    )
    with pytest.raises(NotImplementedError, match=said):
        dtau.mujoco.transition_derivatives_batch(
            mj_model, data, states, np.zeros((2, 0)), geometry="differences"
        )
