"""Exact derivatives of MuJoCo's step with equality constraints against differences of it."""

from __future__ import annotations

import pytest
from mujoco_steps import check, random_data

mujoco = pytest.importorskip("mujoco")
from dtau.mujoco import transition_derivatives  # noqa: E402

SCENE = """<mujoco>
<option tolerance="0" iterations="200" ls_iterations="200" ls_tolerance="1e-6" {option}/>
<default><geom contype="0" conaffinity="0"/>
<equality solref=".05 .8" solimp=".7 .96 .2 .4 2"/></default>
<worldbody>
<body name="one" pos="0 0 1"><freejoint/><geom type="box" size=".2 .1 .05" pos=".05 .02 0"/>
<site name="there" pos=".1 0 .1" quat="1 .2 .3 .1"/>
<body name="arm" pos=".2 0 0"><joint name="first" axis="0 1 .2" ref="15" damping=".7"/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 -.1"/>
<body name="tip" pos=".3 0 -.1"><joint name="second" axis="1 0 .3"/>
<geom type="box" size=".1 .02 .03"/><site name="here" pos=".1 .05 0" quat="1 -.2 .1 .1"/>
</body></body></body>
<body name="two" pos=".1 .2 .3"><joint name="slide" type="slide" axis="0 .1 1"/>
<joint name="ball" type="ball" damping=".1"/><geom type="box" size=".1 .12 .03"/></body>
</worldbody>
<equality>{equality}</equality></mujoco>"""
EQUALITIES = {
    "connect to the world": '<connect body1="tip" anchor=".1 .02 .03"/>',
    "connect": '<connect body1="tip" body2="two" anchor=".1 .02 .03"/>',
    "connect within a tree": '<connect body1="tip" body2="one" anchor=".1 .02 .03"/>',
    "connected sites": '<connect site1="here" site2="there"/>',
    "weld to the world": '<weld body1="arm" anchor=".1 0 .2" torquescale=".7"/>',
    "weld": '<weld body1="arm" body2="two" relpose=".1 .2 .1 1 .3 .2 .1" torquescale=".3"/>',
    "welded sites": '<weld site1="here" site2="there"/>',
    "joint": '<joint joint1="first" joint2="second" polycoef=".1 .8 .3 -.2 .1"/>',
    "joint alone": '<joint joint1="second" polycoef=".2 0 0 0 0"/>',
}
EQUALITIES["all"] = "".join(EQUALITIES.values())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", EQUALITIES)
def test_equalities(name: str, seed: int) -> None:
    mj_model = mujoco.MjModel.from_xml_string(SCENE.format(equality=EQUALITIES[name], option=""))
    data = random_data(mj_model, seed, 0.1)
    check(mj_model, data, 1e-8)
    mujoco.mj_forward(mj_model, data)
    assert data.ne


CORDS = """<tendon><fixed name="cord"><joint joint="first" coef="1"/>
<joint joint="slide" coef=".5"/>
</fixed><fixed name="rope"><joint joint="second" coef=".8"/></fixed>
<spatial name="line"><site site="here"/><site site="there"/></spatial>
<spatial name="string"><site site="here"/><site site="far"/></spatial></tendon></mujoco>"""
OF_TENDONS = {
    "fixed": '<tendon tendon1="cord" tendon2="rope" polycoef=".1 .8 .3 -.2 .1"/>',
    "fixed alone": '<tendon tendon1="cord" polycoef=".1 0 0 0 0"/>',
    "spatial": '<tendon tendon1="line" tendon2="string" polycoef=".1 .8 .3 -.2 .1"/>',
    "spatial alone": '<tendon tendon1="line" polycoef=".1 .4 .2 .1 0"/>',
    "spatial and fixed": '<tendon tendon1="line" tendon2="cord" polycoef=".1 .8 .3 -.2 .1"/>',
    "fixed and spatial": '<tendon tendon1="rope" tendon2="string" polycoef=".1 .8 .3 -.2 .1"/>',
}
OF_TENDONS["all"] = "".join([*OF_TENDONS.values(), EQUALITIES["joint"]])


@pytest.mark.parametrize(
    ("name", "integrator"),
    [*((name, "Euler") for name in OF_TENDONS), ("all", "implicitfast"), ("all", "RK4")],
)
def test_equalities_of_tendons(name: str, integrator: str) -> None:
    scene = SCENE.format(equality=OF_TENDONS[name], option=f'integrator="{integrator}"')
    scene = scene.replace("</mujoco>", CORDS)
    scene = scene.replace("<worldbody>", '<worldbody><site name="far" pos="1 .2 .3"/>')
    mj_model = mujoco.MjModel.from_xml_string(scene)
    for seed in range(2):
        data = random_data(mj_model, seed, 0.1)
        check(mj_model, data, 1e-7, 1e-5, geometry="differences")
        mujoco.mj_forward(mj_model, data)
        assert data.ne


@pytest.mark.parametrize("integrator", ["implicitfast", "RK4"])
def test_equalities_with_other_integrators(integrator: str) -> None:
    scene = SCENE.format(equality=EQUALITIES["all"], option=f'integrator="{integrator}"')
    mj_model = mujoco.MjModel.from_xml_string(scene)
    for seed in range(2):
        check(mj_model, random_data(mj_model, seed, 0.1), 1e-8)


CLOTH = """<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01" mass="1"
dim="2"><edge equality="true"/></flexcomp>"""


def test_equalities_of_flexes_are_refused_by_name() -> None:
    scene = SCENE.format(equality="", option="").replace("</worldbody>", CLOTH + "</worldbody>")
    mj_model = mujoco.MjModel.from_xml_string(scene)
    assert mj_model.eq_type == [mujoco.mjtEq.mjEQ_FLEX]
    with pytest.raises(NotImplementedError, match="does not differentiate flexes;"):
        transition_derivatives(mj_model, mujoco.MjData(mj_model))
