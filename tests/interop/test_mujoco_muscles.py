"""Exact derivatives of MuJoCo's step with muscles against differences of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mujoco_steps import check

mujoco = pytest.importorskip("mujoco")
from dtau.mujoco import transition_derivatives  # noqa: E402

SCENE = """<mujoco><option integrator="{integrator}" timestep="0.004"/><compiler autolimits="true"/>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody><body pos="0 0 1"><joint name="shoulder" axis="0 1 .2" damping=".3"/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 -.1" mass=".5"/>
<body pos=".3 0 -.1"><joint name="elbow" axis="0 1 0" damping=".3"/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 -.1" mass=".5"/></body></body></worldbody>
<tendon><fixed name="both"><joint joint="shoulder" coef=".05"/><joint joint="elbow" coef="-.04"/>
</fixed></tendon>
<actuator>{actuators}</actuator></mujoco>"""
MUSCLES = {
    "muscle": '<muscle joint="elbow" lengthrange="-.6 1" force="9" range=".6 1.2"/>',
    "smooth": '<muscle tendon="both" lengthrange="-.1 .05" force="300" tausmooth=".7" lmin=".7"/>',
    "scaled": '<muscle tendon="both" lengthrange="-.05 .1" scale="9" vmax=".4" fvmax="1.6"/>',
    "early": """<general joint="elbow" dyntype="muscle" dynprm=".02 .05 .3" actearly="true"
 gaintype="muscle" gainprm=".75 1.05 5 200 .5 1.6 1.5 1.3 1.2" lengthrange="-.6 1"/>""",
    "gain alone": """<general joint="elbow" gaintype="muscle" gainprm=".75 1.05 5 200 .5 1.6 1.5 1.3
 1.2" lengthrange="-.6 1" ctrlrange="-1 1"/>""",
    "filter": """<general joint="elbow" dyntype="filter" dynprm=".03" gaintype="muscle"
 gainprm=".75 1.05 5 200 .5 1.6 1.5 1.3 1.2" biastype="muscle" biasprm=".75 1.05 5 200 .5 1.6 1.5
 1.3 1.2" lengthrange="-.6 1" forcerange="-9 9"/>""",
}


def random_data(mj_model: Any, seed: int) -> Any:
    rng, data = np.random.default_rng(seed), mujoco.MjData(mj_model)
    data.qpos[:] = rng.uniform(-1.0, 1.4, 2)
    data.qvel[:] = rng.uniform(-6.0, 6.0, 2)
    data.ctrl[:] = rng.uniform(0.02, 0.98, mj_model.nu)
    data.act[:] = rng.uniform(0.02, 0.98, mj_model.na)
    return data


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
@pytest.mark.parametrize("name", MUSCLES)
def test_muscles(name: str, integrator: str) -> None:
    scene = SCENE.format(integrator=integrator, actuators=MUSCLES[name])
    mj_model = mujoco.MjModel.from_xml_string(scene)
    for seed in range(12):  # the lengths and speeds are on all parts of the curves
        check(mj_model, random_data(mj_model, seed), 1e-6, 1e-5)


def test_muscles_beyond_the_range_of_controls_and_activations() -> None:
    scene = SCENE.format(integrator="Euler", actuators="".join(MUSCLES.values()))
    mj_model = mujoco.MjModel.from_xml_string(scene)
    mj_model.actuator_ctrllimited[:] = 0
    data = random_data(mj_model, 0)
    for u, w in ((1.3, 0.4), (-0.2, 0.7), (0.6, -0.1), (0.3, 1.2)):
        data.ctrl[:], data.act[:] = u, w
        check(mj_model, data, 1e-6, 1e-5)
    data.ctrl[:] = 1.3
    by_control = transition_derivatives(mj_model, data).B[4:]
    assert not by_control[:4].any()  # of the activations of muscles


def test_muscles_without_actuation() -> None:
    scene = SCENE.format(integrator="Euler", actuators=MUSCLES["muscle"])
    flag = '<flag actuation="disable"/></option>'
    scene = scene.replace('timestep="0.004"/>', f'timestep="0.004">{flag}')
    mj_model = mujoco.MjModel.from_xml_string(scene)
    check(mj_model, random_data(mj_model, 0))
