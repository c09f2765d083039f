"""Names of an MJCF's joints, bodies and frames, and the origins of its joints.

The reader of MJCF and `dtau.conventions.mujoco` share this module, so that a model matches MuJoCo's
model of the same file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from dtau.model.names import distinct
from dtau.support.arrays import Array

FREE, BALL, SLIDE, HINGE = range(4)  # the numbers of mjtJoint

_ROUNDING = 1e-12  # relative to the joint's distance from the body's origin


def named(names: Sequence[str], stand_ins: Iterable[str]) -> list[str]:
    """Fill in stand-ins for missing names; underscores are appended to taken ones."""
    taken = set(names)
    complete = []
    for name, stand_in in zip(names, stand_ins, strict=True):
        while not name and stand_in in taken:
            stand_in += "_"
        complete.append(name or stand_in)
        taken.add(complete[-1])
    return complete


class FrameNames(NamedTuple):
    """Names of the frames of bodies, sites, joints and loops, which may coincide in MuJoCo."""

    sites: list[str]  # of all sites; empty for unnamed ones
    joints: dict[int, str]  # of the additional links of joints
    ends: list[str]  # of the frames of loops
    fixed: dict[str, str]  # joints that carry frames, by frame; no moving joint has such a name
    notes: list[str]  # about frames that are renamed


def frame_names(
    bodies: Sequence[str],
    sites: Sequence[str],
    joints: Sequence[str],
    carriers: Iterable[int],
    ends: Sequence[str],
) -> FrameNames:
    """Name the frames: if several share a name, the body keeps it, then the site.

    `carriers` are the joints that have their own links.
    """
    carriers = list(carriers)
    given = [*bodies, *sites, *(joints[j] for j in carriers), *ends]
    frames = distinct(given)
    kinds = (["body"] * len(bodies), ["site"] * len(sites), ["link of joint"] * len(carriers))
    others = [
        f"{frame!r} is the {kind} {name!r}"
        for kind, name, frame in zip(
            [*chain(*kinds), *["frame of loop"] * len(ends)], given, frames, strict=True
        )
        if frame != name
    ]
    places = iter(frames[len(bodies) :])
    return FrameNames(
        [next(places) for _ in sites],
        {j: next(places) for j in carriers},
        list(places),
        dict(zip(frames, distinct([*joints, *frames])[len(joints) :], strict=True)),
        [f"frames renamed, since others have their names: {'; '.join(others)}"] if others else [],
    )


def body_names(names: Sequence[str]) -> list[str]:
    """Name every body, including the world; unnamed ones become body_1, body_2, ..."""
    return named(names, (f"body_{i}" for i in range(len(names))))


def joint_names(
    names: Sequence[str], bodies: Sequence[int], body_names: Sequence[str]
) -> list[str]:
    """Name every joint: unnamed ones after their body, numbered if it has several.

    `bodies` is the body of each joint.
    """
    total, so_far = Counter(bodies), Counter[int]()
    stand_ins = []
    for body in bodies:
        so_far[body] += 1
        number = f"_{so_far[body]}" if total[body] > 1 else ""
        stand_ins.append(f"{body_names[body]}_joint{number}")
    return named(names, stand_ins)


def bodies_and_joints(mujoco: Any, m: Any) -> tuple[list[str], list[str]]:
    """Return the names of bodies, the world first, and of joints; missing names are filled in."""

    def names(kind: Any, count: int) -> list[str]:
        return [mujoco.mj_id2name(m, kind, i) or "" for i in range(count)]

    bodies = body_names(names(mujoco.mjtObj.mjOBJ_BODY, m.nbody))
    joints = names(mujoco.mjtObj.mjOBJ_JOINT, m.njnt)
    return bodies, joint_names(joints, m.jnt_bodyid.tolist(), bodies)


def joint_origins(types: Sequence[int], positions: Array, axes: Array) -> Array:
    """Return the origin of each joint's frame in the frame of its body ``(njoints, 3)``.

    The frame of a hinge is at the point of its axis nearest to the body's origin. The frame of a
    ball joint is at its center. The frame of a slide or a free joint may be anywhere; it is at the
    body's origin.
    """
    origins = np.zeros((len(types), 3))
    for i, kind in enumerate(types):
        if kind in (BALL, HINGE):
            origin = positions[i] - (positions[i] @ axes[i] * axes[i] if kind == HINGE else 0.0)
            if not np.abs(origin).max() <= _ROUNDING * np.abs(positions[i]).max():  # NaN too
                origins[i] = origin
    return origins
