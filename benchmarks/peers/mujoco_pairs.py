"""Pairs of geoms in contact for MuJoCo, random states of them, and differences of high order."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.checks import Array
from benchmarks.optional import optional

mujoco = optional("mujoco")

GEOMS = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".07 .15"',
    "box": 'type="box" size=".1 .12 .14"',
    "plane": 'type="plane" size="1 1 1" quat="1 .05 .1 .02"',
    "ellipsoid": 'type="ellipsoid" size=".1 .12 .14"',
    "cylinder": 'type="cylinder" size=".1 .12"',
    "mesh": 'type="mesh" mesh="tetrahedron"',
}
SCENE = """<mujoco>
<option tolerance="0" iterations="30" ls_iterations="200" ls_tolerance="1e-6" cone="{cone}"
 {option}/>
<asset><mesh name="tetrahedron" vertex=".2 0 -.1  -.1 .2 -.1  -.1 -.2 -.1  0 0 .2"/></asset>
<default><geom friction="0.8 0.02 0.01" condim="{condim}" margin=".03" {geom}
 solimp=".8 .97 .05 .4 2" solref=".03 .9"/></default>
<worldbody>{fixed}
<body><joint type="slide" axis="1 .1 0" damping="1"/><joint axis="0 1 .3" damping=".3"/>{moving}
<geom type="sphere" size=".05" pos="0 0 -2" contype="0" conaffinity="0"/></body>
<body pos="0 0 .2"><freejoint/><geom {other}/>
<body pos="0 0 .4"><joint name="swing" axis="1 0 0"/><joint axis="0 1 .3" damping=".3"/>
<geom type="sphere" size=".05" pos="0.1 .1 .1" contype="0" conaffinity="0"/></body></body>
</worldbody><actuator><motor joint="swing"/></actuator></mujoco>"""
CONES = ("pyramidal", "elliptic")
EXACT = (
    ("plane", "sphere"),
    ("plane", "capsule"),
    ("plane", "box"),
    ("plane", "mesh"),
    ("plane", "ellipsoid"),
    ("plane", "cylinder"),
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("sphere", "box"),
    ("sphere", "cylinder"),
    ("capsule", "capsule"),
)
ROUGH = (("sphere", "mesh"), ("capsule", "box"), ("box", "box"))


def pair(
    one: str, other: str, condim: int = 3, cone: str = "elliptic", option: str = "", geom: str = ""
) -> Any:
    """Return a model in which a geom of a free body meets one of the world or of another body."""
    first = f"<geom {GEOMS[one]}/>"
    return mujoco.MjModel.from_xml_string(
        SCENE.format(
            cone=cone,
            condim=condim,
            option=option,
            geom=geom,
            fixed=first if one == "plane" else "",
            moving="" if one == "plane" else first,
            other=GEOMS[other],
        )
    )


def touching(model: Any, seed: int, count: int) -> Iterator[Any]:
    """Yield `count` random states with contacts that have a force."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(model)
    while count:
        mujoco.mj_resetData(model, data)
        q = data.qpos.copy()
        sizes = np.repeat((0.05, 0.15, 1.0), (2, 3, 5))
        mujoco.mj_integratePos(model, q, sizes * rng.normal(size=model.nv), 1.0)
        data.qpos[:], data.qvel[:] = q, 0.5 * rng.normal(size=model.nv)
        data.qfrc_applied[:] = rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        if data.nefc and np.abs(data.efc_force).max() > 1.0:
            count -= 1
            yield data


def differences(model: Any, data: Any, step: float, centered: bool = True) -> tuple[Array, Array]:
    """Return A and B of `mujoco.mjd_transitionFD`, also for RK4, which it refuses."""
    if model.opt.integrator == int(mujoco.mjtIntegrator.mjINT_RK4):
        return _differences_of_steps(model, data, step)
    n = 2 * model.nv + model.na
    out = np.zeros((n, n)), np.zeros((n, model.nu))
    mujoco.mjd_transitionFD(model, data, step, centered, *out, None, None)
    return out


def _differences_of_steps(model: Any, data: Any, step: float) -> tuple[Array, Array]:
    """Return centered differences of `mujoco.mj_step` by state and control."""
    nv, na = model.nv, model.na
    after = copy.copy(data)

    def ahead(change: Array) -> tuple[Array, Array]:
        for name in ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "qacc_warmstart"):
            getattr(after, name)[:] = getattr(data, name)
        dq, dv, dact, du = np.split(change, np.cumsum([nv, nv, na]))
        mujoco.mj_integratePos(model, after.qpos, dq, 1.0)
        after.qvel[:] += dv
        after.act[:] += dact
        after.ctrl[:] += du
        mujoco.mj_step(model, after)
        return after.qpos.copy(), np.concatenate([after.qvel, after.act])

    columns = []
    for change in step * np.eye(2 * nv + na + model.nu):
        (q, rest), (q_back, rest_back) = ahead(change), ahead(-change)
        dq = np.empty(nv)
        mujoco.mj_differentiatePos(model, dq, 2.0 * step, q_back, q)
        columns.append(np.concatenate([dq, (rest - rest_back) / (2.0 * step)]))
    both = np.array(columns).T
    return both[:, : 2 * nv + na], both[:, 2 * nv + na :]


def sixth_order(model: Any, data: Any, step: float) -> tuple[Array, Array]:
    """Return A and B by differences of sixth order, from three centered ones."""
    parts = [
        (weight * a, weight * b)
        for scale, weight in ((1.0, 1.5), (2.0, -0.6), (3.0, 0.1))
        for a, b in [differences(model, data, scale * step)]
    ]
    states, controls = zip(*parts, strict=True)
    return sum(states), sum(controls)
