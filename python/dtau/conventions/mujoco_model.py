"""The convention of a `mujoco.MjModel`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau.checks import require
from dtau.conventions.convention import Convention
from dtau.conventions.coordinates import CoordinateMap
from dtau.conventions.foreign import ForeignModel
from dtau.conventions.maps import quiet
from dtau.conventions.matching import match_joints
from dtau.conventions.twists import TwistMap, rotations
from dtau.conventions.wrenches import WrenchMap
from dtau.model.joint_type import JointType
from dtau.model.joints import Free, Prismatic, Revolute, Spherical
from dtau.model.model import Model

Array = NDArray[np.float64]

_ATTRIBUTES = (
    *("nq", "nv", "njnt", "nbody", "joint", "jnt_type", "jnt_qposadr", "jnt_dofadr", "jnt_bodyid"),
    *("qpos0", "body_parentid", "body_weldid", "body_pos", "body_quat", "body_ipos"),
)
_KINDS: tuple[tuple[str, type[JointType]], ...] = (  # by the number of mjtJoint
    ("free", Free),
    ("ball", Spherical),
    ("slide", Prismatic),
    ("hinge", Revolute),
)
_FREE, _BALL = 0, 1


def mujoco(model: Model, mj_model: Any) -> Convention:
    """MuJoCo's convention, for its model of the same robot.

    Joints are matched by their names, in whatever order; a free joint at the root under any name or
    none, if each model has exactly one.

    - Quaternions are (w, x, y, z). A free joint's pose is that of the body in the world, also
      where the model places the joint elsewhere. Coordinates of hinges and slides are larger by
      their ``ref``, if they have any.
    - The velocity of a free joint is the linear one of the body's origin along the world's axes and
      the angular one along the body's axes; so is a displacement. Its torque is [force along world
      axes, moment along body axes].
    - External wrenches are ``xfrc_applied``, (..., nbody, 6): force and moment along world axes at
      the body's centre of mass, the world first. Bodies of MuJoCo's that do not move against each
      other are one body here: back in dtau their wrenches are added.

    Parameters
    ----------
    model : Model
    mj_model : mujoco.MjModel
        Of the same robot, with the same frames of bodies and axes of joints (as both have from one
        URDF). It is only read, and not kept.

    Returns
    -------
    Convention

    Raises
    ------
    ValueError
        If a joint is missing in one of the models, or is of another kind there: it is named. If a
        part of ``mj_model`` cannot be read or contradicts another: that is named.
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
    names = peer.names("joint", lambda joint: [joint(i).name for i in range(n)])
    free_roots = [i for i, kind in enumerate(types) if kind == _FREE]
    matched = match_joints(model, "mj_model", names, free_roots)

    copies: list[tuple[int, int]] = []
    offsets: list[float] = []
    velocities = np.empty(model.nv, dtype=np.intp)
    moved_by: dict[int, tuple[int, int]] = {}  # of each of their bodies: last joint, our body
    for joint, i in zip(model.joints, matched, strict=True):
        kind, counterpart = _KINDS[types[i]]
        if not isinstance(joint.type, counterpart) or (types[i] == _FREE and joint.parent >= 0):
            raise ValueError(
                f"mj_model: joint {joint.name!r} is a {kind} joint there, which cannot be "
                f"converted from and to {type(joint.type).__name__}"
            )
        first, q, v = starts_q[i], joint.q, starts_v[i]
        theirs = list(range(first, first + joint.type.nq))
        if types[i] in (_FREE, _BALL):
            w = theirs.pop(-4)
            theirs.append(w)
            offsets += [0.0] * len(theirs)
        else:
            offsets.append(float(neutral[first]))
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
        wrenches=_wrenches(model, peer, nbody, {row: body for row, (_, body) in moved_by.items()}),
    )


@quiet
def _wrenches(model: Model, peer: ForeignModel, nbody: int, moved: dict[int, int]) -> WrenchMap:
    """Where rows of ``xfrc_applied`` act: at centres of mass, also of bodies that are welded on.

    `moved`: the model's body of each of MuJoCo's that has a joint, the last of several: the others
    move bodies of the model only.
    """
    rows = {body: row for row, body in moved.items() if row}
    parents = peer.integers("body_parentid", nbody, nbody - 1)
    welds = peer.integers("body_weldid", nbody, nbody - 1)
    quaternion = peer.numbers("body_quat", (nbody, 4))
    position, centre = (peer.numbers(name, (nbody, 3)) for name in ("body_pos", "body_ipos"))
    if not quaternion.any(axis=1).all():
        raise peer.error("body_quat", "quaternions that are not zero", "one that is")
    carried_by = {0: -1, **moved}
    carriers = [carried_by.get(weld, -1) for weld in welds]
    local_rotation = rotations(quaternion[:, [1, 2, 3, 0]])
    rotation, origin = np.tile(np.eye(3), (nbody, 1, 1)), np.zeros((nbody, 3))
    for row in range(1, nbody):
        if parents[row] >= row:
            raise peer.error("body_parentid", f"a parent before body {row}", parents[row])
        if row != welds[row]:
            parent = parents[row]
            rotation[row] = rotation[parent] @ local_rotation[row]
            origin[row] = origin[parent] + rotation[parent] @ position[row]
    points = origin + (rotation @ centre[..., np.newaxis])[..., 0]
    if not np.isfinite(points).all():
        raise peer.error("body_pos", "numbers that can be added", "larger ones")
    return WrenchMap(model, carriers, rows=rows, axes="mixed", points=points)
