"""The convention of a `mujoco.MjModel`: `mujoco`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtau.conventions.convention import Convention
from dtau.conventions.coordinates import CoordinateMap
from dtau.conventions.foreign import ForeignModel
from dtau.conventions.maps import quiet
from dtau.conventions.matching import match_joints
from dtau.conventions.mujoco_indices import require_names
from dtau.conventions.mujoco_names import BALL, FREE, HINGE, body_names, joint_names, joint_origins
from dtau.conventions.twists import TwistMap
from dtau.conventions.wrenches import WrenchMap
from dtau.model.joint_type import JointType
from dtau.model.joints import Free, Prismatic, Revolute, Spherical
from dtau.model.links import Joint
from dtau.model.model import Model
from dtau.model.rotations import rotation_about, rotations_of_quaternions
from dtau.support.checks import require

_ATTRIBUTES = (
    *("nq", "nv", "njnt", "nbody", "joint", "jnt_type", "jnt_qposadr", "jnt_dofadr", "jnt_bodyid"),
    *("jnt_pos", "jnt_axis", "qpos0", "body", "body_parentid", "body_weldid", "body_pos"),
    *("body_quat", "body_ipos"),
)
_KINDS: tuple[tuple[str, type[JointType]], ...] = (  # indexed by mjtJoint
    ("free", Free),
    ("ball", Spherical),
    ("slide", Prismatic),
    ("hinge", Revolute),
)


def mujoco(model: Model, mj_model: Any) -> Convention:
    """MuJoCo's convention, from its model of the same robot.

    Joints are matched by name, in any order. A free joint at the root matches under any name or
    none, if each model has exactly one. Other unnamed joints match by the name that `dtau.load`
    gives them.

    - Quaternions are (w, x, y, z). A free joint's pose is the pose of the body in the world,
      wherever the model places the joint. Coordinates of hinges and slides are equal if the model
      was loaded from the MJCF (`dtau.load`): the ``ref`` of a joint is then in its placement.
      Otherwise, with the file's placements, MuJoCo's coordinates are larger by ``ref``.
    - The velocity of a free joint is the linear velocity of the body's origin along the world's
      axes and the angular velocity along the body's axes; displacements likewise. Its torque is
      [force along world axes, moment along body axes].
    - External wrenches are ``xfrc_applied``, (..., nbody, 6): force and moment along world axes at
      the body's center of mass, the world first. MuJoCo's bodies that do not move relative to each
      other are one body in dtau: on the way to dtau, their wrenches are added.

    Parameters
    ----------
    model : Model
    mj_model : mujoco.MjModel
        MuJoCo's model of the same robot, with the same body frames and joint axes (as loaded from
        the same URDF or MJCF). If a joint is not at the origin of MuJoCo's body, the model's body
        has its origin on the axis, as `dtau.load` places it. The argument is only read, not stored.

    Returns
    -------
    Convention

    Raises
    ------
    ValueError
        If a joint is missing in one of the models or its kind differs, or if a part of ``mj_model``
        cannot be read or contradicts another. The message names it.
    TypeError
        If an argument is not a model.

    Examples
    --------
    >>> import dtau, mujoco, numpy as np
    >>> builder = dtau.ModelBuilder("body")
    >>> _ = builder.add(dtau.Free(), name="base", inertia=dtau.Inertia(1.0, tensor=np.eye(3)))
    >>> model = builder.build()
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" '
    ...     'diaginertia="1 1 1"/></body></worldbody></mujoco>'
    ... )
    >>> convention = dtau.conventions.mujoco(model, mj_model)
    >>> convention.from_dtau(dtau.neutral(model)).q  # w first
    array([0., 0., 0., 1., 0., 0., 0.])
    """
    require("model", model, Model)
    peer = ForeignModel("mj_model", mj_model, "mujoco.MjModel", _ATTRIBUTES)
    n, nbody, nq = (peer.integer(name) for name in ("njnt", "nbody", "nq"))
    types = peer.integers("jnt_type", n, len(_KINDS) - 1)
    starts_q, starts_v = (peer.integers(name, n) for name in ("jnt_qposadr", "jnt_dofadr"))
    bodies = peer.integers("jnt_bodyid", n, nbody - 1)
    kinds = [_KINDS[kind][1] for kind in types]
    peer.require_places("jnt_qposadr", starts_q, [kind.nq for kind in kinds], nq)
    peer.require_places("jnt_dofadr", starts_v, [kind.nv for kind in kinds], peer.integer("nv"))
    neutral = peer.numbers("qpos0", (nq,))
    if hasattr(mj_model, "names"):
        try:
            require_names(mj_model)
        except ValueError as error:
            raise ValueError(f"mj_model.{error}") from None
    names = peer.names("joint", lambda joint: [joint(i).name for i in range(n)])
    called = peer.names("body", lambda body: [body(i).name for i in range(nbody)])
    free_roots = [i for i, kind in enumerate(types) if kind == FREE]
    stand_ins = joint_names(names, bodies, body_names(called))
    matched = match_joints(model, "mj_model", names, free_roots, stand_ins)
    frames = _Frames(peer, types, bodies)

    copies: list[tuple[int, int]] = []
    offsets: list[float] = []
    velocities = np.empty(model.nv, dtype=np.intp)
    moved_by: dict[int, tuple[int, int]] = {}  # MuJoCo's body: last joint, dtau's body
    for joint, i in zip(model.joints, matched, strict=True):
        kind, counterpart = _KINDS[types[i]]
        if not isinstance(joint.type, counterpart) or (types[i] == FREE and joint.parent >= 0):
            raise ValueError(
                f"mj_model: joint {joint.name!r} is a {kind} joint there, which cannot be "
                f"converted from and to {type(joint.type).__name__}"
            )
        first, q, v = starts_q[i], joint.q, starts_v[i]
        theirs = list(range(first, first + joint.type.nq))
        if types[i] in (FREE, BALL):
            w = theirs.pop(-4)
            theirs.append(w)
            offsets += [0.0] * len(theirs)
        else:
            ref = float(neutral[first])
            offsets.append(0.0 if frames.includes(ref, i, joint) else ref)
        copies += zip(range(q.start, q.stop), theirs, strict=True)
        velocities[v : v + joint.type.nv] = np.r_[joint.v]
        moved_by[bodies[i]] = max(moved_by.get(bodies[i], (-1, -1)), (i, joint.body))
    placed = [
        joint
        for joint in model.joints
        if isinstance(joint.type, Free)
        and (joint.placement.translation.any() or (joint.placement.rotation != np.eye(3)).any())
    ]
    coordinates = CoordinateMap(model, nq, copies, offsets=offsets, placed=placed)
    return Convention(
        "MuJoCo",
        model,
        coordinates=coordinates,
        velocities=velocities,
        twists=TwistMap(model),
        wrenches=_wrenches(model, frames, {row: body for row, (_, body) in moved_by.items()}),
    )


class _Frames:
    """Poses of MuJoCo's bodies in the model's frames, in the configuration of the file.

    Attributes
    ----------
    welds : list of int
        For each body, the first body from the root that does not move relative to it.
    points : ndarray (nbody, 3)
        Centers of mass, in the frame of that body's last joint.
    """

    @quiet
    def __init__(self, peer: ForeignModel, types: list[int], bodies: list[int]) -> None:
        nbody = peer.integer("nbody")
        parents = peer.integers("body_parentid", nbody, nbody - 1)
        self.welds = peer.integers("body_weldid", nbody, nbody - 1)
        quaternion = peer.numbers("body_quat", (nbody, 4))
        position, center = (peer.numbers(name, (nbody, 3)) for name in ("body_pos", "body_ipos"))
        place, self._axes = (peer.numbers(n, (len(types), 3)) for n in ("jnt_pos", "jnt_axis"))
        if not quaternion.any(axis=1).all():
            raise peer.error("body_quat", "quaternions that are not zero", "one that is")
        self._types = types
        self._origins = joint_origins(types, place, self._axes)
        self._before = {i: i - 1 for i in range(1, len(types)) if bodies[i] == bodies[i - 1]}
        last = dict(zip(bodies, self._origins, strict=True))
        local = rotations_of_quaternions(np.roll(quaternion, -1, axis=-1))
        # Poses of bodies with joints in their parent, as in the file, and of all bodies in their
        # own frame.
        self._bodies = bodies
        self._turned, self._placed = np.tile(np.eye(3), (nbody, 1, 1)), np.zeros((nbody, 3))
        rotation, origin = self._turned.copy(), self._placed.copy()
        for row in range(1, nbody):
            parent = parents[row]
            if parent >= row:
                raise peer.error("body_parentid", f"a parent before body {row}", parent)
            self._turned[row] = rotation[parent] @ local[row]
            self._placed[row] = origin[parent] + rotation[parent] @ position[row]
            if row in last:
                origin[row] = -last[row]
            else:
                rotation[row], origin[row] = self._turned[row], self._placed[row]
        self.points = origin + (rotation @ center[..., np.newaxis])[..., 0]
        if not np.isfinite(self.points).all():
            raise peer.error("body_pos", "numbers that can be added", "larger ones")

    @quiet
    def includes(self, ref: float, i: int, joint: Joint) -> bool:
        """Whether our joint's placement is MuJoCo's joint `i` moved back by `ref`."""
        rotation, origin = np.eye(3), self._origins[i]
        if i in self._before:
            origin = origin - self._origins[self._before[i]]
        else:
            rotation, place = (x[self._bodies[i]] for x in (self._turned, self._placed))
            origin = place + rotation @ origin
        ours = joint.placement
        if self._types[i] == HINGE:
            at, wanted = rotation, ours.rotation
            back = rotation @ rotation_about(tuple(self._axes[i]), -ref)
        else:
            at, wanted = origin, ours.translation
            back = origin - ref * rotation @ self._axes[i]
        return bool(np.abs(back - wanted).max() < np.abs(at - wanted).max())


def _wrenches(model: Model, frames: _Frames, moved: dict[int, int]) -> WrenchMap:
    """Return the map of ``xfrc_applied``, whose rows act at centers of mass, also of welded bodies.

    `moved`: for each of MuJoCo's bodies with joints, the model's body of its last joint; the other
    joints move bodies that only the model has.
    """
    rows = {body: row for row, body in moved.items() if row}
    carried_by = {0: -1, **moved}
    carriers = [carried_by.get(weld, -1) for weld in frames.welds]
    return WrenchMap(model, carriers, rows=rows, axes="mixed", points=frames.points)
