"""The convention of a `mujoco.MjModel`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau.conventions.convention import Convention
from dtau.conventions.coordinates import CoordinateMap
from dtau.conventions.matching import match_joints, require_attributes
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
        If a joint is missing in one of the models, or is of another kind there: it is named.
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
    require_attributes("mj_model", mj_model, _ATTRIBUTES, "mujoco.MjModel")
    names = [str(mj_model.joint(i).name) for i in range(mj_model.njnt)]
    types = [int(kind) for kind in mj_model.jnt_type]
    free_roots = [i for i, kind in enumerate(types) if kind == _FREE]
    matched = match_joints(model, "mj_model", names, free_roots)

    copies: list[tuple[int, int]] = []
    offsets: list[float] = []
    velocities = np.empty(model.nv, dtype=np.intp)
    body_of_joint = {}
    for joint, i in zip(model.joints, matched, strict=True):
        kind, counterpart = _KINDS[types[i]]
        if not isinstance(joint.type, counterpart) or (types[i] == _FREE and joint.parent >= 0):
            raise ValueError(
                f"mj_model: joint {joint.name!r} is a {kind} joint there, which cannot be "
                f"converted from and to {type(joint.type).__name__}"
            )
        first, q, v = int(mj_model.jnt_qposadr[i]), joint.q, int(mj_model.jnt_dofadr[i])
        theirs = list(range(first, first + joint.type.nq))
        if types[i] in (_FREE, _BALL):
            w = theirs.pop(-4)
            theirs.append(w)
            offsets += [0.0] * len(theirs)
        else:
            offsets.append(float(mj_model.qpos0[first]))
        copies += zip(range(q.start, q.stop), theirs, strict=True)
        velocities[v : v + joint.type.nv] = np.r_[joint.v]
        body_of_joint[i] = joint.body
    placed = [
        joint
        for joint in model.joints
        if isinstance(joint.type, Free)
        and (joint.placement.translation.any() or (joint.placement.rotation != np.eye(3)).any())
    ]
    coordinates = CoordinateMap(model, int(mj_model.nq), copies, offsets=offsets, placed=placed)
    return Convention(
        "MuJoCo",
        model,
        coordinates=coordinates,
        velocities=velocities,
        twists=TwistMap(model),
        wrenches=_wrenches(model, mj_model, body_of_joint),
    )


def _wrenches(model: Model, mj_model: Any, body_of_joint: dict[int, int]) -> WrenchMap:
    """Where rows of ``xfrc_applied`` act: at centres of mass, also of bodies that are welded on."""
    rows: dict[int, int] = {}  # of each body of the model
    moved_by = {0: -1}  # the model's body of each of MuJoCo's that has a joint
    # Of several joints of a body the last one moves it; the others move bodies of the model only.
    for i in sorted(body_of_joint):
        moved_by[int(mj_model.jnt_bodyid[i])] = body_of_joint[i]
    for row, body in moved_by.items():
        if row:
            rows[body] = row
    nbody = int(mj_model.nbody)
    carriers = [moved_by.get(int(mj_model.body_weldid[row]), -1) for row in range(nbody)]
    local_rotation = rotations(np.asarray(mj_model.body_quat)[:, [1, 2, 3, 0]])
    rotation, origin = np.tile(np.eye(3), (nbody, 1, 1)), np.zeros((nbody, 3))
    for row in range(1, nbody):  # parents come first
        if row != mj_model.body_weldid[row]:
            parent = mj_model.body_parentid[row]
            rotation[row] = rotation[parent] @ local_rotation[row]
            origin[row] = origin[parent] + rotation[parent] @ mj_model.body_pos[row]
    points = origin + (rotation @ np.asarray(mj_model.body_ipos)[..., np.newaxis])[..., 0]
    return WrenchMap(model, carriers, rows=rows, points=points)
