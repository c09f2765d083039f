"""Exact derivatives of MuJoCo's step with forces on bodies that depend on their motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mujoco_steps import check, random_data

mujoco = pytest.importorskip("mujoco")
from dtau.mujoco import transition_derivatives  # noqa: E402

SCENE = """<mujoco>
<option tolerance="1e-12" iterations="500" ls_iterations="100" {option}><flag {flags}/></option>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody><body pos="0 0 1" {root}><freejoint/>
<geom type="box" size=".2 .1 .05" mass="2" pos=".05 .02 0" {box}/>
<body pos=".2 0 0" {first}><joint name="hinge" axis="0 1 .2" damping=".7" {hinge}/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 -.1" mass=".5" {capsule}/>
<body pos=".3 0 -.1" {second}><joint name="slide" type="slide" axis="1 0 .3" damping="2" {slide}/>
<joint name="off" axis="0 0 1" pos=".02 0 0" damping=".1"/>
<geom type="ellipsoid" size=".1 .02 .03" mass=".3" quat="1 .2 .3 .1" {ellipsoid}/>
<site name="nozzle" pos=".1 .03 -.02" quat="1 .3 .2 -.1"/></body></body>
<body pos="-.2 0 0" {third}><joint type="ball" damping=".3"/>
<geom type="cylinder" size=".03 .1" mass=".4" pos=".1 .05 0" quat="1 .3 -.2 .1" {cylinder}/></body>
</body>{more}</worldbody>
<actuator><motor joint="hinge" gear="3"/><position joint="slide" kp="30" kv="2"/>
{thrusters}</actuator>
</mujoco>"""
PARTS = (
    *("option", "flags", "root", "first", "second", "third", "hinge", "slide", "more"),
    *("box", "capsule", "ellipsoid", "cylinder", "thrusters"),
)
INTEGRATORS = ("Euler", "implicitfast", "RK4")


def compiled(**parts: str) -> Any:
    return mujoco.MjModel.from_xml_string(SCENE.format(**dict.fromkeys(PARTS, "") | parts))


COMPENSATED = {
    "root": 'gravcomp=".8"',
    "second": 'gravcomp="1"',
    "third": 'gravcomp="1.7"',
    "more": '<body gravcomp="1"><geom size=".1" mass="1"/></body>',
}
BY_ACTUATORS = {
    "hinge": 'actuatorgravcomp="true" actuatorfrcrange="-2 2.5"',
    "slide": 'actuatorgravcomp="true"',
}


@pytest.mark.parametrize("flags", ["", 'spring="disable" damper="disable"', 'gravity="disable"'])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_gravity_compensation(integrator: str, flags: str) -> None:
    option = f'integrator="{integrator}" gravity="1 -2 -9"'
    mj_model = compiled(option=option, flags=flags, **COMPENSATED)
    for seed in range(3):
        check(mj_model, random_data(mj_model, seed))


@pytest.mark.parametrize("flags", ["", 'actuation="disable"'])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_gravity_compensation_by_actuators(integrator: str, flags: str) -> None:
    option = f'integrator="{integrator}" gravity="1 -2 -9"'
    mj_model = compiled(option=option, flags=flags, **COMPENSATED, **BY_ACTUATORS)
    at_limit = set()
    for seed in range(6):
        data = random_data(mj_model, seed)
        check(mj_model, data)
        mujoco.mj_forward(mj_model, data)
        at_limit.add(bool(-2.0 < data.qfrc_actuator[6] < 2.5))
    assert flags or len(at_limit) == 2


def test_gravity_compensation_by_actuators_that_are_missing() -> None:
    scene = SCENE.format(**dict.fromkeys(PARTS, "") | COMPENSATED | BY_ACTUATORS)
    start, end = scene.index("<actuator>"), scene.index("</mujoco>")
    mj_model = mujoco.MjModel.from_xml_string(scene[:start] + scene[end:])
    check(mj_model, random_data(mj_model, 0))


def test_changes_of_gravity_compensation_count() -> None:
    mj_model = compiled(**COMPENSATED)
    data = random_data(mj_model, 0)
    first = transition_derivatives(mj_model, data)
    mj_model.body_gravcomp[3] = 2.5
    assert not np.allclose(transition_derivatives(mj_model, data).A, first.A)
    check(mj_model, data)


THRUSTERS = """<motor site="nozzle" gear=".2 1 3 .1 -.2 .3"/>
<general site="nozzle" gear="0 0 2 .1 0 0" dyntype="filter" dynprm=".05" gainprm="3"/>"""
DAMPED = """<velocity site="nozzle" gear="1 0 2 .1 .3 0" kv="2"/>
<general site="nozzle" gear="0 1 0 0 .2 .1" gaintype="affine" gainprm="1 2 -.5"
 biastype="affine" biasprm="1 -2 -.3" forcerange="-.9 .9"/>"""


@pytest.mark.parametrize("flags", ["", 'actuation="disable"'])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("more", ["", DAMPED])
def test_actuators_of_sites(integrator: str, flags: str, more: str) -> None:
    option = f'integrator="{integrator}"'
    mj_model = compiled(option=option, flags=flags, thrusters=THRUSTERS + more, **BY_ACTUATORS)
    data = random_data(mj_model, 0)
    if more and integrator == "implicitfast":
        with pytest.raises(NotImplementedError, match="sites and spatial tendons that depend"):
            transition_derivatives(mj_model, data)
        return
    for seed in range(4):
        data = random_data(mj_model, seed)
        data.act[:] = 0.7
        check(mj_model, data)


@pytest.mark.parametrize(
    ("thruster", "named"),
    [
        ('<motor site="nozzle" refsite="nozzle" gear="1 0 0 0 0 0"/>', "single sites"),
        (
            '<general site="nozzle" biastype="muscle" lengthrange="0 1" '
            'biasprm=".7 1 -1 200 .5 1.6 1.5 1.3 1.2"/>',
            "muscles of sites",
        ),
    ],
)
def test_other_actuators_of_sites_are_refused(thruster: str, named: str) -> None:
    mj_model = compiled(thrusters=thruster)
    with pytest.raises(NotImplementedError, match=named):
        transition_derivatives(mj_model, random_data(mj_model, 0))


FLUIDS = ("density", "viscosity", "wind", "all")
SWIMMING = {
    "capsule": 'fluidshape="ellipsoid" fluidcoef=".4 .2 1.3 .9 .8"',
    "ellipsoid": 'fluidshape="ellipsoid"',
    "cylinder": 'fluidshape="ellipsoid" fluidcoef="1 2 .5 .1 1.2"',
    "more": '<body><geom type="box" size=".1 .2 .3"/></body>',
}


def fluid(name: str) -> str:
    values = {"density": "1000", "viscosity": "0.9", "wind": "2 -1 .5"}
    if name == "wind":  # without a fluid it exerts no force
        return 'wind="2 -1 .5" density="30"'
    return " ".join(f'{key}="{x}"' for key, x in values.items() if name in (key, "all"))


@pytest.mark.parametrize("flags", ["", 'spring="disable" damper="disable"'])
@pytest.mark.parametrize("shapes", ["boxes", "ellipsoids"])
@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
@pytest.mark.parametrize("name", FLUIDS)
def test_fluid_forces(name: str, integrator: str, shapes: str, flags: str) -> None:
    option = f'integrator="{integrator}" {fluid(name)}'
    parts = SWIMMING if shapes == "ellipsoids" else {}
    mj_model = compiled(option=option, flags=flags, **parts)
    for seed in range(3):
        check(mj_model, random_data(mj_model, seed), 1e-7)


def test_bodies_at_rest_in_a_fluid() -> None:
    mj_model = compiled(option=f'{fluid("all")} gravity="0 0 0"', **SWIMMING)
    mj_model.opt.wind[:] = 0.0
    data = mujoco.MjData(mj_model)
    assert np.isfinite(transition_derivatives(mj_model, data).A).all()
    check(mj_model, data, 1e-4)  # the force has second derivatives that jump there


def test_changes_of_the_fluid_count() -> None:
    mj_model = compiled(option=fluid("all"), **SWIMMING)
    data = random_data(mj_model, 0)
    for change in ("density", "viscosity"):
        first = transition_derivatives(mj_model, data)
        setattr(mj_model.opt, change, 0.5 * getattr(mj_model.opt, change))
        assert not np.allclose(transition_derivatives(mj_model, data).A, first.A, atol=1e-9)
    mj_model.opt.wind[0] += 1.0
    mj_model.geom_size[2] *= 1.1
    mj_model.geom_fluid[2, 1] *= 1.1
    check(mj_model, data)
