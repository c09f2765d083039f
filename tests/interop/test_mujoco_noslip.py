"""Derivatives of MuJoCo's step with the noslip solver, against differences of the step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.peers.mujoco_pairs import CONES, pair, touching
from mujoco_steps import check

mujoco = pytest.importorskip("mujoco")
from dtau.mujoco import parameter_derivatives, transition_derivatives  # noqa: E402

SCENE = """<mujoco>
<option tolerance="1e-14" iterations="500" ls_iterations="100" noslip_iterations="{sweeps}"
 noslip_tolerance="{tolerance}" cone="{cone}" integrator="{integrator}"/>
<default><geom friction="{friction} .03 .01" condim="{condim}" solref=".02 .9" {geom}/></default>
<worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .19"><freejoint/><geom type="box" size=".2 .1 .1" mass="2" pos=".02 .01 0"
 contype="0" conaffinity="0"/>
<geom type="sphere" size=".1" pos=".2 .1 -.1"/><geom type="sphere" size=".1" pos="-.2 .1 -.1"/>
<geom type="sphere" size=".1" pos="0 -.15 -.1"/>
<body name="arm" pos=".3 0 .1"><joint name="hinge"
 axis="0 1 .2" frictionloss="{loss}" damping=".1"/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 -.17" mass=".5"/>
<body pos=".3 0 -.17"><joint name="ball" type="ball" frictionloss="{loss}" damping=".05"/>
<geom type="sphere" size=".08" pos=".05 0 -.02" mass=".3"/></body></body></body>
<body pos="1 0 .095"><freejoint/><geom type="capsule" size=".1 .1" zaxis="1 .2 0" mass="1"/>
<body><joint name="crank" axis="0 1 0"/><geom size=".05" pos="0 0 .1" mass=".1"/></body></body>
</worldbody>
<equality>{equality}</equality><tendon>{tendon}</tendon>
<actuator><motor joint="hinge"/><position joint="hinge" kp="3" kv=".5"/></actuator></mujoco>"""
DEFAULTS = {
    "sweeps": 3,
    "tolerance": 0,
    "cone": "elliptic",
    "integrator": "implicitfast",
    "friction": 0.4,
    "condim": 3,
    "geom": "",
    "loss": 0.3,
    "equality": "",
    "tendon": "",
}


def scene(**parts: Any) -> Any:
    return mujoco.MjModel.from_xml_string(SCENE.format(**DEFAULTS | parts))


def moving(mj_model: Any, seed: int, speed: float = 0.3) -> Any:
    rng, data = np.random.default_rng(seed), mujoco.MjData(mj_model)
    q = data.qpos.copy()
    mujoco.mj_integratePos(mj_model, q, 0.01 * rng.normal(size=mj_model.nv), 1.0)
    data.qpos[:], data.qvel[:] = q, speed * rng.normal(size=mj_model.nv)
    data.qfrc_applied[:] = rng.normal(size=mj_model.nv)
    data.ctrl[:] = rng.normal(size=mj_model.nu)
    return data


# Differences need states away from changes of the active set. MuJoCo's solution of an elliptic cone
# ends at a tolerance: it jumps by 1e-11, so the differences take a large step.
@pytest.mark.parametrize("condim", [3, 4, 6])
@pytest.mark.parametrize(("cone", "seeds"), [("pyramidal", (5, 5, 5)), ("elliptic", (4, 4, 5))])
def test_cones(cone: str, seeds: tuple[int, ...], condim: int) -> None:
    mj_model = scene(cone=cone, condim=condim)
    check(mj_model, moving(mj_model, seeds[condim // 2 - 1]), close=3e-8)


TENDON = """<fixed frictionloss=".4"><joint joint="hinge" coef="1.5"/><joint joint="crank"
 coef="-.7"/></fixed>"""


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize(
    "parts",
    [
        {"integrator": "Euler"},
        {"integrator": "RK4"},
        {"tolerance": 1e-6, "sweeps": 5},
        {"equality": '<connect body1="arm" anchor=".1 0 0"/>'},
        {"tendon": TENDON},
    ],
    ids=["Euler", "RK4", "tolerance", "connect", "tendon"],
)
def test_parts(parts: dict[str, Any], cone: str) -> None:
    mj_model = scene(cone=cone, **parts)
    check(mj_model, moving(mj_model, 3, 0.1), close=3e-7)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize(
    ("one", "other", "geometry"),
    [
        ("plane", "box", "exact"),
        ("capsule", "capsule", "exact"),
        ("sphere", "mesh", "differences"),
        ("box", "box", "differences"),
    ],
)
def test_pairs_of_geoms(one: str, other: str, geometry: str, cone: str) -> None:
    mj_model = pair(one, other, 4, cone, 'noslip_iterations="3" noslip_tolerance="0"')
    for data in touching(mj_model, 1, 3):
        check(mj_model, data, 1e-6, 1e-5, geometry=geometry)


def refusal(mj_model: Any, data: Any, message: str) -> None:
    with pytest.raises(NotImplementedError, match=message):
        transition_derivatives(mj_model, data)


def test_refusals() -> None:
    spatial = """<spatial><site site="one"/><site site="other"/></spatial>"""
    sites = (
        '<site name="one"/><body pos="0 0 2"><joint/><geom size=".1"/><site name="other"/></body>'
    )
    mj_model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option noslip_iterations="1"/><worldbody>{sites}</worldbody>
        <tendon>{spatial}</tendon></mujoco>"""
    )
    data = mujoco.MjData(mj_model)
    transition_derivatives(mj_model, data, geometry="differences")
    mj_model.tendon_frictionloss[0] = 0.1  # a changed model is read again
    refusal(mj_model, data, "friction loss of spatial tendons with the noslip")

    mj_model = scene(tolerance=1e-6)
    with pytest.raises(NotImplementedError, match="by parameters with the noslip solver"):
        parameter_derivatives(mj_model, moving(mj_model, 3), ["dof_damping"])
    mj_model.opt.iterations = 2
    refusal(mj_model, moving(mj_model, 3), "unless option/tolerance is smaller")


def test_many_islands() -> None:
    swings = 21 * (
        '<body><joint axis="0 1 0" frictionloss=".2"/><geom size=".1" pos=".3 0 -.4" mass=".2"'
        ' contype="0" conaffinity="0"/></body>'
    )
    mj_model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option noslip_iterations="2" tolerance="0" iterations="50"/>
        <worldbody>{swings}</worldbody></mujoco>"""
    )
    data = moving(mj_model, 0)
    refusal(mj_model, data, "more than 20 islands, unless option/flag disables island")
    mj_model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    check(mj_model, data)


def test_default_tolerance_can_be_refused() -> None:
    mj_model, refused = scene(), 0
    mj_model.opt.iterations = 100
    for seed in range(12):
        data = moving(mj_model, seed)
        for _ in range(5):
            mujoco.mj_step(mj_model, data)
        mj_model.opt.tolerance = 1e-8
        try:
            transition_derivatives(mj_model, data)
        except NotImplementedError as error:
            refused += "unless option/tolerance is smaller" in str(error)
        mj_model.opt.tolerance = 1e-12  # docs/mujoco_derivatives.md: what then
        transition_derivatives(mj_model, data)
    assert refused
