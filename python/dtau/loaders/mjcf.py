"""Read MJCF: convert the model that MuJoCo compiles to links: `read`.

MuJoCo resolves defaults, includes, inertias of geometry and everything else that a file leaves to
its reader. MuJoCo's mjmodel.h documents the fields of a compiled model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dtau.conventions import mujoco_names
from dtau.conventions.mujoco_names import BALL, FREE, HINGE, SLIDE
from dtau.loaders.mjcf_forces import friction_of, is_off, mimics_of, passive, springs_of, uncarried
from dtau.loaders.mjcf_limits import effort_limits
from dtau.loaders.mjcf_loops import Closure, closures
from dtau.loaders.mujoco_compiler import compiled_model
from dtau.loaders.postures import fitting
from dtau.loaders.source import Options, Parts, Source
from dtau.model.contact_kinds import AnyContact
from dtau.model.joint_type import JointType
from dtau.model.joints import Fixed, Free, Prismatic, Revolute, Spherical
from dtau.model.links import Limits, Link
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array
from dtau.support.checks import listing
from dtau.support.errors import ModelError, warn_of_model
from dtau.support.options import Root

_SIZES = {FREE: 7, BALL: 4, SLIDE: 1, HINGE: 1}  # numbers of coordinates

# Parts that a model does not have, by the names of their counts in a compiled model.
_IGNORED = {
    "nu": "actuators",
    "ntendon": "tendons",
    "nsensor": "sensors",
    "ngeom": "geoms (except the inertias that MuJoCo made of them)",
    "ncam": "cameras",
    "nlight": "lights",
    "nskin": "skins",
}


def read(source: Source, options: Options) -> Parts:
    """Return the parts of an MJCF's model.

    Raises
    ------
    ModelError
        If MuJoCo is missing or cannot compile the file, or the option `root` contradicts it.
    """
    mujoco, compiled, said = compiled_model(source)
    try:
        parts = parts_of(mujoco, compiled, options, stacklevel=4)  # the caller of dtau.load
    except ValueError as error:
        raise ModelError(f"{source.label}: {error}") from None
    return parts._replace(notes=[*(f"MuJoCo: {what}" for what in said), *parts.notes])


def time_step(source: Source) -> float:
    """Return the time step that an MJCF asks for, in s.

    Raises
    ------
    ModelError
        If MuJoCo is missing or cannot compile the file.
    """
    return float(compiled_model(source)[1].opt.timestep)


def parts_of(mujoco: Any, compiled: Any, options: Options, *, stacklevel: int) -> Parts:
    """Return the parts of a compiled model; warn of forces and mimics that they do not have.

    Raises
    ------
    ValueError
        If the option `root` contradicts the model, or numbers are out of their range.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # links refuse non-finite numbers
        file = _File(mujoco, compiled)
        file.require_root(options.root)
        found, left_out = closures(mujoco, compiled) if options.loops else ([], [])
        links, loops = file.links(found, exact=options.mimic == "exact")
    missed = uncarried(
        mujoco, compiled, file.joints, file.bodies, loops=options.loops, friction=options.friction
    )
    if missed:
        warn_of_model(
            "what acts in MuJoCo and is no part of this model: " + "; ".join(missed),
            stacklevel=stacklevel,
        )
    if options.mimic == "independent" and file.mimics:
        warn_of_model(
            "joints that mimic others load as independent joints (mimic='exact' ties them): "
            f"{', '.join(file.mimics)}",
            stacklevel=stacklevel,
        )
    postures, unfit = fitting(file.keyframes(), links)
    notes = [*file.notes(), *unfit, *left_out]
    friction = friction_of(mujoco, compiled, file.joints) if options.friction else {}
    return Parts(file.name, links, notes, file.gravity, loops, file.posture(), postures, friction)


class _File:
    """A compiled model, with names.

    Attributes
    ----------
    name : str
        Name of the robot.
    bodies, joints : list of str
        Names of bodies, the world first, and of joints; missing names are filled in.
    gravity : ndarray (3,)
        Acceleration along the world's axes.
    mimics : dict of str to Mimic
        Mimic joints, from linear equalities of two joints.
    """

    def __init__(self, mujoco: Any, compiled: Any) -> None:
        def names(kind: Any, count: int) -> list[str]:
            return [mujoco.mj_id2name(compiled, kind, i) or "" for i in range(count)]

        self._m = compiled
        self.name = bytes(compiled.names).split(b"\0")[0].decode()
        self.bodies, self.joints = mujoco_names.bodies_and_joints(mujoco, compiled)
        self._keys = mujoco_names.named(
            names(mujoco.mjtObj.mjOBJ_KEY, compiled.nkey),
            (f"key_{i}" for i in range(compiled.nkey)),
        )
        self._sites = names(mujoco.mjtObj.mjOBJ_SITE, compiled.nsite)
        weightless = is_off(mujoco, compiled, "GRAVITY")
        self.gravity = np.zeros(3) if weightless else np.array(compiled.opt.gravity)
        self.mimics = mimics_of(mujoco, compiled, self.joints)
        self._armature, self._damping = passive(mujoco, compiled)
        self._effort = effort_limits(mujoco, compiled)
        self._stiffness, self._rest = springs_of(mujoco, compiled)
        self._renamed: list[str] = []  # notes about renamed frames

    def require_root(self, root: Root | None) -> None:
        """Raise ValueError if the requested root contradicts the file."""
        if root is None:
            return
        free = self._m.jnt_bodyid[self._m.jnt_type == FREE].tolist()
        moving = sorted({int(self._m.body_rootid[body]) for body in self._m.jnt_bodyid})
        if root == "free" and (fixed := [body for body in moving if body not in free]):
            raise ValueError(
                f"root: 'free' was asked for, but an MJCF says itself what is free, and body "
                f"{self.bodies[fixed[0]]!r} has no <freejoint/>: add it there, and leave out root="
            )
        if root == "fixed" and free:
            raise ValueError(
                f"root: 'fixed' was asked for, but an MJCF says itself what is free, and body "
                f"{self.bodies[free[0]]!r} has a free joint: take it out there, and leave out root="
            )

    def links(
        self, closures: Sequence[Closure], exact: bool
    ) -> tuple[list[Link], list[AnyContact]]:
        """Make the links, bodies in the file's order; `exact` keeps mimic joints.

        Also make contacts of closures, with a frame each.
        """
        m = self._m
        types = m.jnt_type.tolist()
        origins = mujoco_names.joint_origins(types, np.array(m.jnt_pos), np.array(m.jnt_axis))
        last = m.body_jntadr + m.body_jntnum - 1
        # The last joint of a body, if it goes through the body's origin, carries the body itself.
        whole = {j for j in last[m.body_jntnum > 0].tolist() if not origins[j].any()}
        frames = mujoco_names.frame_names(
            self.bodies,
            self._sites,
            self.joints,
            (j for j in range(m.njnt) if j not in whole),
            [closure.name for closure in closures],
        )
        self._renamed = frames.notes
        links = []
        for body, name in enumerate(self.bodies):
            if body:
                parent = self._parent(body)
                placement = Pose.from_quaternion(m.body_quat[body], m.body_pos[body], order="wxyz")
                inertia = self._inertia(body)
                joints = range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body])
                at = np.zeros(3)  # origin of the last joint's frame, in the body's frame
                for joint in joints:
                    if types[joint] == FREE:  # its coordinates are the world pose
                        placement = Pose()
                    step = placement @ Pose(translation=origins[joint] - at)
                    at, placement = origins[joint], Pose()
                    links.append(
                        self._link(
                            joint,
                            name if joint in whole else frames.joints[joint],
                            parent,
                            step,
                            inertia if joint in whole else Inertia(),
                            exact,
                        )
                    )
                    parent = links[-1].name
                if not joints or at.any():
                    placement = placement @ Pose(translation=-at)
                    links.append(
                        Link(name, parent, Fixed(), frames.fixed[name], placement, inertia)
                    )
            for site in np.flatnonzero(m.site_bodyid == body):
                if frame := frames.sites[site]:
                    place = Pose.from_quaternion(m.site_quat[site], m.site_pos[site], order="wxyz")
                    carrier = name if body else None
                    links.append(Link(frame, carrier, Fixed(), frames.fixed[frame], place))
            links += [
                Link(end, name, Fixed(), frames.fixed[end], closure.place)
                for end, closure in zip(frames.ends, closures, strict=True)
                if closure.body == body
            ]
        return links, [
            closure.contact(end, self.bodies)
            for end, closure in zip(frames.ends, closures, strict=True)
        ]

    def posture(self) -> dict[str, Array]:
        """Return the coordinates of the posture that the file draws, by joint."""
        return self._by_joint(np.array(self._m.qpos0))

    def keyframes(self) -> dict[str, dict[str, Array]]:
        """Return the coordinates of the keyframes, by name and joint."""
        return {
            name: self._by_joint(np.array(q))
            for name, q in zip(self._keys, self._m.key_qpos, strict=True)
        }

    def _by_joint(self, q: Array) -> dict[str, Array]:
        types = self._m.jnt_type.tolist()
        posture = {}
        for name, kind, first in zip(self.joints, types, self._m.jnt_qposadr, strict=True):
            x = q[first : first + _SIZES[kind]]
            if kind in (FREE, BALL):
                x[-4:] = np.roll(x[-4:], -1)
            posture[name] = x
        return posture

    def notes(self) -> list[str]:
        """List the parts of the file that a model does not keep."""
        m = self._m
        notes = [
            f"ignored {what}: {count}"
            for attribute, what in _IGNORED.items()
            if (count := int(getattr(m, attribute)))
        ]
        more = np.hstack([m.key_qvel, m.key_act, m.key_ctrl]).any(axis=1)
        if more.any():
            names = listing([self._keys[i] for i in np.flatnonzero(more)])
            notes.append(f"ignored velocities, activations and controls of keyframes: {names}")
        notes += self._renamed
        without = self._sites.count("")
        if without:
            notes.append(f"ignored sites without a name: {without}")
        balls = [self.joints[i] for i in np.flatnonzero(m.jnt_limited & (m.jnt_type == BALL))]
        if balls:
            notes.append(f"ignored ranges of ball joints: {listing(balls)}")
        mocap = [self.bodies[i] for i in np.flatnonzero(m.body_mocapid >= 0)]
        if mocap:
            notes.append(
                f"mocap bodies, fixed to the world where the file has them: {listing(mocap)}"
            )
        return notes

    def _parent(self, body: int) -> str | None:
        parent = int(self._m.body_parentid[body])
        return self.bodies[parent] if parent else None

    def _inertia(self, body: int) -> Inertia:
        m = self._m
        axes = Pose.from_quaternion(m.body_iquat[body], order="wxyz").rotation
        tensor = axes @ np.diag(m.body_inertia[body]) @ axes.T
        try:
            return Inertia(m.body_mass[body], m.body_ipos[body], 0.5 * (tensor + tensor.T))
        except ValueError as error:
            raise ValueError(f"inertia of body {self.bodies[body]!r}: {error}") from None

    def _link(
        self,
        joint: int,
        name: str,
        parent: str | None,
        placement: Pose,
        inertia: Inertia,
        exact: bool,
    ) -> Link:
        m, kind, axis = self._m, int(self._m.jnt_type[joint]), self._m.jnt_axis[joint]
        first = m.jnt_dofadr[joint]
        joint_name = self.joints[joint]
        try:
            moves: JointType
            limits = Limits()
            if kind == FREE:
                moves = Free()
            elif kind == BALL:
                moves = Spherical()
            else:
                moves = Prismatic(axis) if kind == SLIDE else Revolute(axis)
                # The file has the body at the joint's ref: q is MuJoCo's qpos.
                placement = placement @ moves.placement(-m.qpos0[m.jnt_qposadr[joint]])
                limits = self._limits(joint)
            return Link(
                name,
                parent,
                moves,
                joint_name,
                placement,
                inertia,
                armature=self._armature[first : first + moves.nv],
                damping=self._damping[first : first + moves.nv],
                limits=limits,
                mimic=self.mimics.get(joint_name) if exact else None,
                stiffness=self._stiffness[first : first + moves.nv],
                rest_position=self._rest[first : first + moves.nv],
            )
        except ValueError as error:
            raise ValueError(f"joint {joint_name!r}: {error}") from None

    def _limits(self, joint: int) -> Limits:
        m = self._m
        lower, upper = m.jnt_range[joint] if m.jnt_limited[joint] else (-math.inf, math.inf)
        return Limits(lower, upper, effort=float(self._effort[joint]))
