"""Robots along coordinate axes, and their states, full of zeros of both signs.

Whole results of theirs are zeros whose signs depend on how sums begin and what is left out.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from cases import CONFIGURATIONS, State, random_state
from trees import Array

import dtau

KINDS = {
    "revolute": 0.3,
    "prismatic": 0.15,
    "helical": 0.1,
    "cylindrical": 0.1,
    "planar": 0.1,
    "spherical": 0.1,
    "universal": 0.05,
    "free": 0.1,
}  # with how often they are drawn
SINGLE = ("revolute", "prismatic", "helical")
LEFT_ALONE = ("dt", "active", "restitution")  # arguments that have a range of their own


def _numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.choice([0.0, -0.0, 0.0, -0.0, 1.0, -1.0, 0.5], shape)


def _turn(rng: np.random.Generator) -> Array:
    """A rotation by right angles."""
    rows = np.eye(3)[rng.permutation(3)] * rng.choice([1.0, -1.0], 3)[:, np.newaxis]
    return np.asarray(rows * np.sign(np.linalg.det(rows)))


def _joint(rng: np.random.Generator, kind: str) -> dtau.JointType:
    axes = rng.choice([1.0, -1.0], 3)[:, np.newaxis] * np.eye(3)  # with zeros of both signs
    axis, other = axes[rng.permutation(3)[:2]]
    joints: dict[str, dtau.JointType] = {
        "revolute": dtau.Revolute(axis),
        "prismatic": dtau.Prismatic(axis),
        "helical": dtau.Helical(axis, 0.1),
        "cylindrical": dtau.Cylindrical(axis),
        "planar": dtau.Planar(axis),
        "spherical": dtau.Spherical(),
        "universal": dtau.Universal(axis, other),
        "free": dtau.Free(),
    }
    return joints[kind]


@cache
def axis_parallel_robot(seed: int) -> dtau.Model:
    """A tree of one to eight bodies; some joints mimic others."""
    rng = np.random.default_rng(seed)
    builder = dtau.ModelBuilder("zeros", gravity=rng.choice([0.0, -0.0, -9.81], 3))
    leaders: list[str] = []
    for k in range(rng.integers(1, 9)):
        name, kind = f"b{k}", str(rng.choice(list(KINDS), p=list(KINDS.values())))
        mimic = None
        if kind in SINGLE and leaders and rng.random() < 0.25:
            mimic = dtau.Mimic(str(rng.choice(leaders)), float(rng.choice([-1.0, 0.5, 2.0])))
        elif kind in SINGLE:
            leaders.append(name)
        builder.add(
            _joint(rng, kind),
            name=name,
            parent=f"b{rng.integers(k)}" if k and rng.random() > 0.15 else None,
            placement=dtau.Pose(_turn(rng), _numbers(rng, (3,))),
            inertia=dtau.Inertia(1.0, 0.3 * _numbers(rng, (3,)), np.diag([1.0, 1.2, 1.5])),
            armature=float(rng.choice([0.0, 0.1])),
            damping=float(rng.choice([0.0, 0.5])),
            mimic=mimic,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        return builder.build()


def state_of_zeros(model: dtau.Model, seed: int, count: int) -> State:
    """Of every argument mostly zeros of both signs, and a fifth of ordinary numbers."""
    rng = np.random.default_rng(seed)
    state = random_state(model, seed, (count,))
    for name, ordinary in state.items():
        if name in LEFT_ALONE:
            continue
        numbers = _numbers(rng, ordinary.shape)
        if name in CONFIGURATIONS:  # half turns about axes, or none
            for joint in model.joints:
                if isinstance(joint.type, dtau.Free | dtau.Spherical):
                    quaternion = rng.choice([0.0, -0.0], (count, 4))
                    at = rng.integers(4, size=count)
                    quaternion[range(count), at] = rng.choice([1.0, -1.0], count)
                    numbers[:, joint.q.stop - 4 : joint.q.stop] = quaternion
            kept = rng.random(count) < 0.2
        elif name == "targets":  # the same
            numbers[..., 3:] = rng.choice([0.0, -0.0], (*numbers.shape[:-1], 4))
            at = rng.integers(3, 7, size=numbers.shape[:-1])
            np.put_along_axis(numbers, at[..., np.newaxis], 1.0, axis=-1)
            kept = rng.random(numbers.shape[:-1]) < 0.2
        else:
            kept = rng.random(ordinary.shape) < 0.2
        numbers[kept] = ordinary[kept]
        state[name] = numbers
    return state
