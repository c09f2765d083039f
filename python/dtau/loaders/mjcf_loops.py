"""Convert `connect` and `weld` of an MJCF to contacts and loops: `closures`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dtau.conventions.mujoco_names import named
from dtau.loaders.mjcf_forces import acting_equalities, is_closure
from dtau.model.contact_kinds import AnyContact, FrameContact, Loop, PointContact
from dtau.model.pose import Pose
from dtau.support.checks import listing


class Closure(NamedTuple):
    """Two frames that are held together: on a moving body, and on another body or in the world."""

    name: str  # the equality's
    body: int  # the moving one
    place: Pose  # the frame on it
    other: int  # 0: the world
    there: Pose  # the frame on the other body
    rows: int  # 3 or 6

    def contact(self, frame: str, bodies: Sequence[str]) -> AnyContact:
        """Make the contact or loop; `frame` is the frame at `place`, `bodies` the bodies' names."""
        if self.other:
            other = bodies[self.other]
            return Loop(frame, other, self.rows, placement=self.there, name=self.name)
        if self.rows == 3:
            return PointContact(frame, position=self.there.translation, name=self.name)
        return FrameContact(frame, placement=self.there, name=self.name)


def closures(mujoco: Any, m: Any) -> tuple[list[Closure], list[str]]:
    """Return the closures of a file, and notes on those left out."""
    acting = acting_equalities(mujoco, m)
    given = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_EQUALITY, i) or "" for i in range(m.neq)]
    names = named(given, (f"equality_{i}" for i in range(m.neq)))
    # The body that moves each body; 0 where none does: on mocap bodies `body_weldid` is not 0.
    carriers = np.where(m.body_jntnum[m.body_weldid] > 0, m.body_weldid, 0)
    made: list[Closure] = []
    left_out: dict[str, list[str]] = {}
    for i, name in enumerate(names):
        if not is_closure(mujoco, m, i):
            continue
        one, two = _sides(mujoco, m, i)
        if i not in acting:
            left_out.setdefault("that are not active", []).append(name)
        elif carriers[one[0]] == carriers[two[0]]:
            left_out.setdefault("between bodies at rest to each other", []).append(name)
        else:
            if carriers[one[0]] == 0:
                one, two = two, one
            # MuJoCo's scale of the angular part; 0 does not hold it
            turns = m.eq_type[i] == mujoco.mjtEq.mjEQ_WELD and m.eq_data[i, 10] != 0
            made.append(Closure(name, *one, *two, 6 if turns else 3))
    notes = [f"ignored connect and weld {why}: {listing(x)}" for why, x in left_out.items()]
    return made, notes


def _sides(mujoco: Any, m: Any, i: int) -> tuple[tuple[int, Pose], tuple[int, Pose]]:
    """Return both bodies of an equality, and the frames on them that it holds together."""
    ids = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
    if m.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
        one, two = ((int(m.site_bodyid[k]), _pose(m.site_pos[k], m.site_quat[k])) for k in ids)
        return one, two
    data = m.eq_data[i]
    if m.eq_type[i] == mujoco.mjtEq.mjEQ_CONNECT:
        return (ids[0], Pose(translation=data[:3])), (ids[1], Pose(translation=data[3:6]))
    return (ids[0], _pose(data[3:6], data[6:10])), (ids[1], Pose(translation=data[:3]))


def _pose(position: Any, quaternion: Any) -> Pose:
    return Pose.from_quaternion(np.array(quaternion), position, order="wxyz")
