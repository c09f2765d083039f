"""Robots in contact for MuJoCo, and states that they pass through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.checks import Array
from benchmarks.optional import optional

mujoco = optional("mujoco")

_HEAD = """<mujoco><option timestep="0.005" tolerance="0" iterations="50" ls_iterations="50"
 cone="{cone}"/><compiler autolimits="true"/>
<default><joint damping="1" armature="0.01"/><geom type="capsule" friction="0.8 0.02 0.01"
 contype="0" conaffinity="1"/><motor ctrlrange="-1 1"/></default><worldbody>"""
_FLOOR = '<geom type="plane" size="9 9 1" contype="1"/>'


def _hinge(name: str, axis: str, low: int, high: int) -> str:
    return f'<joint name="{name}" axis="{axis}" range="{low} {high}"/>'


def _capsule(end: str, size: float, condim: int = 3) -> str:
    return f'<geom fromto="0 0 0 {end}" size="{size}" condim="{condim}"/>'


def _pendulum() -> str:
    return (
        f'<geom type="plane" size="9 9 1" contype="1" pos="0 0 -.55"/><body>'
        f"{_hinge('first', '0 1 0', -90, 90)}{_capsule('0 0 -.3', 0.03)}"
        f'<body pos="0 0 -.3">{_hinge("second", "0 1 0", -150, 150)}{_capsule("0 0 -.3", 0.03)}'
        "</body></body>"
    )


def _hopper() -> str:
    return (
        f'{_FLOOR}<body pos="0 0 .85"><joint type="slide" axis="1 0 0" damping="0"/>'
        '<joint type="slide" axis="0 0 1" damping="0"/><joint axis="0 1 0" damping="0"/>'
        f"{_capsule('0 0 .4', 0.05)}<body>{_hinge('hip', '0 1 0', -120, 60)}"
        f'{_capsule("0 0 -.4", 0.05)}<body pos="0 0 -.4">{_hinge("knee", "0 1 0", -5, 130)}'
        f'{_capsule("0 0 -.4", 0.04)}<body pos="0 0 -.4">{_hinge("ankle", "0 1 0", -60, 60)}'
        '<geom fromto="-.1 0 0 .2 0 0" size=".06"/></body></body></body></body>'
    )


def _ant() -> str:
    legs = ""
    for i in range(4):
        turn = 45 + 90 * i
        legs += (
            f'<body euler="0 0 {turn}" pos="0 0 0">{_capsule(".28 0 0", 0.08)}'
            f'<body pos=".28 0 0">{_hinge(f"hip{i}", "0 0 1", -30, 30)}{_capsule(".28 0 0", 0.08)}'
            f'<body pos=".28 0 0">{_hinge(f"ankle{i}", "0 1 0", -30, 100)}'
            f"{_capsule('.55 0 0', 0.08, 4)}</body></body></body>"
        )
    return (
        f'{_FLOOR}<body pos="0 0 .55"><freejoint/>'
        f'<geom type="sphere" size=".25" condim="1"/>{legs}</body>'
    )


def _humanoid() -> str:
    limbs = ""
    for side, y in (("right", -1), ("left", 1)):
        limbs += (
            f'<body pos="0 {0.1 * y} -.2">{_hinge(f"{side}_hip_x", "1 0 0", -30, 30)}'
            f"{_hinge(f'{side}_hip_z', '0 0 1', -60, 35)}"
            f"{_hinge(f'{side}_hip_y', '0 1 0', -150, 20)}"
            f'{_capsule("0 0 -.34", 0.06)}<body pos="0 0 -.4">'
            f"{_hinge(f'{side}_knee', '0 1 0', -2, 160)}{_capsule('0 0 -.3', 0.05)}"
            f'<body pos="0 0 -.39">{_hinge(f"{side}_ankle_y", "0 1 0", -50, 50)}'
            f"{_hinge(f'{side}_ankle_x', '1 0 .5', -50, 50)}"
            '<geom fromto="-.07 -.03 0 .14 -.03 0" size=".027"/>'
            '<geom fromto="-.07 .03 0 .14 .03 0" size=".027"/></body></body></body>'
            f'<body pos="0 {0.17 * y} .35">{_hinge(f"{side}_shoulder_1", f"2 {y} 1", -85, 60)}'
            f"{_hinge(f'{side}_shoulder_2', f'0 {-y} 1', -85, 60)}"
            f'{_capsule(f".16 {0.16 * y} -.16", 0.04)}<body pos=".18 {0.18 * y} -.18">'
            f"{_hinge(f'{side}_elbow', f'0 -1 {y}', -100, 50)}"
            f"{_capsule(f'.17 {-0.17 * y} .17', 0.03)}"
            "</body></body>"
        )
    return (
        f'{_FLOOR}<body pos="0 0 1.1"><freejoint/><geom type="sphere" size=".09" pos="0 0 .55"/>'
        '<geom fromto="0 -.07 .35 0 .07 .35" size=".07"/>'
        '<geom fromto="0 -.06 .1 0 .06 .1" size=".06"/>'
        f"{_hinge_body()}{limbs}</body>"
    )


def _hinge_body() -> str:
    """Return the lower trunk, with the three joints of an abdomen."""
    return (
        f'<body pos="0 0 -.05">{_hinge("abdomen_z", "0 0 1", -45, 45)}'
        f"{_hinge('abdomen_y', '0 1 0', -75, 30)}{_hinge('abdomen_x', '1 0 0', -35, 35)}"
        '<geom fromto="0 -.07 -.1 0 .07 -.1" size=".09"/></body>'
    )


def _hand() -> str:
    fingers = ""
    for i, y in enumerate((-0.06, -0.02, 0.02, 0.06)):
        chain = ""
        for k, length in reversed(list(enumerate((0.05, 0.035, 0.03)))):
            chain = (
                f'<body pos="{(0.05, 0.05, 0.035)[k]} {y if k == 0 else 0} 0">'
                f'<joint name="f{i}_{k}" axis="0 -1 0" range="-10 100" damping=".05"/>'
                f'<geom fromto="0 0 0 {length} 0 0" size=".009" condim="4" contype="1"/>'
                f"{chain}</body>"
            )
        fingers += chain
    return (
        '<body><geom fromto="0 -.05 0 0 .05 0" size=".03" contype="1" condim="4"/>'
        f'<geom fromto=".04 -.05 0 .04 .05 0" size=".02" contype="1" condim="4"/>{fingers}</body>'
        '<body pos=".05 0 .06"><freejoint/>'
        '<geom type="sphere" size=".03" condim="6" mass=".1"/></body>'
        '<body pos=".03 .05 .075"><freejoint/>'
        '<geom fromto="0 -.03 0 0 .03 0" size=".02" condim="4" mass=".1" contype="1"/></body>'
    )


SCENES = {
    "pendulum": _pendulum,
    "hopper": _hopper,
    "ant": _ant,
    "hand": _hand,
    "humanoid": _humanoid,
}


@dataclass(frozen=True)
class Scene:
    """A robot and states that it passes through, with contacts."""

    name: str
    model: Any
    states: Array  # mjSTATE_FULLPHYSICS
    ctrl: Array

    def data(self, k: int) -> Any:
        """Return the data of state `k`."""
        data = mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, data, self.states[k], mujoco.mjtState.mjSTATE_FULLPHYSICS)
        data.ctrl[:] = self.ctrl[k]
        mujoco.mj_forward(self.model, data)
        return data


def scene(name: str, cone: str, count: int, seed: int = 0) -> Scene:
    """Return a robot that moves under random controls, in states with active contacts."""
    parts = SCENES[name]()
    joints = [part.split('"')[0] for part in parts.split('<joint name="')[1:]]
    gear = {"hand": 0.3, "pendulum": 5.0}.get(name, 30.0)
    motors = "".join(f'<motor joint="{joint}" gear="{gear}"/>' for joint in joints)
    model = mujoco.MjModel.from_xml_string(
        f"{_HEAD.format(cone=cone)}{parts}</worldbody><actuator>{motors}</actuator></mujoco>"
    )
    rng, data = np.random.default_rng(seed), mujoco.MjData(model)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states, ctrl = [], []
    while len(states) < count:
        if not data.time or data.time > 2.0:
            mujoco.mj_resetData(model, data)
            data.qvel[:] = 0.3 * rng.normal(size=model.nv)
        target = rng.uniform(-0.6, 0.6, model.nu)
        for _ in range(10):
            data.ctrl[:] = target
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        if not data.ncon or not np.abs(data.efc_force).any():
            continue
        states.append(np.empty(mujoco.mj_stateSize(model, kind)))
        mujoco.mj_getState(model, data, states[-1], kind)
        ctrl.append(target)
    return Scene(name, model, np.array(states), np.array(ctrl))
