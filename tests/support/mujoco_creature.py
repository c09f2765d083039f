"""A creature on a floor in MuJoCo, and states that it passes through: `creature`, `states_of`."""

from __future__ import annotations

from typing import Any

import numpy as np
from trees import Array

HEAD = """<mujoco><option timestep="0.004" tolerance="0" iterations="60" integrator="{}" cone="{}"
 {}/>
<compiler autolimits="true"/><default><geom contype="0" conaffinity="1"/></default>
<worldbody><geom type="plane" size="5 5 1" contype="1"/>"""
# A base with a ball joint, a hinge at its limit, a tendon, and actuators with activations.
CREATURE = """<body pos="0 0 0.35"><freejoint/><geom type="sphere" size="0.12" mass="2"/>
<body pos="0.2 0 0"><joint type="ball" damping="0.3" armature="0.02"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0.2 0 -0.2" mass="0.6"/>
<body pos="0.2 0 -0.2"><joint name="knee" axis="0 1 0" range="-90 5" damping="0.2" stiffness="2"
 armature="0.02"/>
<geom type="capsule" size="0.04" fromto="0 0 0 0.1 0 -0.1" mass="0.3"/></body></body>
<body pos="-0.2 0 0"><joint name="hip" axis="0 1 0" damping="0.2" frictionloss="0.05"
 armature="0.01"/>
<geom type="capsule" size="0.05" fromto="0 0 0 -0.2 0 -0.25" mass="0.5"/></body></body></worldbody>
<tendon><fixed name="pull"><joint joint="knee" coef="0.5"/><joint joint="hip" coef="-1"/></fixed>
</tendon>
<actuator><position joint="knee" kp="5" kv="0.3"/>
<general joint="hip" dyntype="filter" dynprm="0.05" gainprm="0.4"
 ctrlrange="-1 1"/><motor tendon="pull" gear="0.3"/></actuator></mujoco>"""


def creature(integrator: str, cone: str, option: str = "") -> tuple[Any, Any]:
    """Return its model and data."""
    import mujoco

    mj_model = mujoco.MjModel.from_xml_string(HEAD.format(integrator, cone, option) + CREATURE)
    return mj_model, mujoco.MjData(mj_model)


def close(got: Any, expected: Any, tolerance: float = 1e-9) -> None:
    """Compare relative to the largest element."""
    np.testing.assert_allclose(got, expected, rtol=0.0, atol=tolerance * np.abs(expected).max())


def states_of(mj_model: Any, data: Any, count: int = 6) -> tuple[Array, Array]:
    """Return states on the floor, and controls."""
    import mujoco

    rng = np.random.default_rng(3)
    data.qvel[:] = 0.4 * rng.normal(size=mj_model.nv)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states, ctrl = np.empty((count, mujoco.mj_stateSize(mj_model, kind))), []
    for state in states:
        u = rng.uniform(-0.8, 0.8, mj_model.nu)
        for _ in range(20):
            data.ctrl[:] = u
            mujoco.mj_step(mj_model, data)
        mujoco.mj_getState(mj_model, data, state, kind)
        ctrl.append(u)
    assert data.ncon
    mujoco.mj_resetData(mj_model, data)
    return states, np.array(ctrl)
