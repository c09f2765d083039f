"""The model of a robot, the first argument of every function: `Model`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.model.compile import MOST_DOFS, body_arrays, concatenate, take_apart, tree_arguments
from dtau.model.links import Body, Frame, Joint, Link
from dtau.model.massless import massless_joints, warn_of_massless
from dtau.model.mimic import resolve_mimics
from dtau.model.names import no_joint, no_link
from dtau.model.postures import Postures, by_joint, read_postures
from dtau.model.printing import html_table, table
from dtau.model.records import (
    frictions,
    joint_records,
    parameters_of,
    rest_positions,
    with_mimics,
    with_unmoved,
)
from dtau.model.rerooting import Rerootable
from dtau.model.stability import Stable
from dtau.model.tree import depth_first, merge_fixed
from dtau.model.writable import Writable
from dtau.support.checks import real_array, require, require_name, tuple_of
from dtau.support.immutable import Immutable, checking

_NO_POSTURES: Postures = MappingProxyType({})


class Model(Rerootable, Writable, Stable, Immutable):
    """Model of a robot: trees of rigid bodies; immutable, validated once, picklable, comparable.

    Bodies are numbered depth first, siblings in the order of `links`; the k-th joint carries the
    k-th body. Fixed links are merged into the body that carries them and remain as frames. Two
    models are equal if their names, gravity and links are equal: notes and postures do not count.

    Parameters
    ----------
    name : str
        Name of the robot.
    links : sequence of Link
        The links, in any order.
    gravity : array_like (3,)
        Acceleration of gravity along the world's axes, in m/s².
    notes : iterable of str
        Remarks of the loader about parts that it ignored, repaired or found odd.
    postures : mapping of str to mapping
        Named configurations: for each, positions of joints by name, as `configuration` takes them.
        All other joints are neutral.

    Attributes
    ----------
    name : str
        Name of the robot.
    gravity : ndarray (3,)
        Acceleration of gravity along the world's axes.
    nq, nv, nbodies : int
        Numbers of coordinates, of velocities, and of moving bodies.
    bodies : tuple of str
        Names of the moving bodies.
    inertias : tuple of Inertia
        Inertias of the moving bodies, each in its own frame, including all links that are fixed to
        it.
    joints : tuple of Joint
        The moving joints, including mimic joints.
    links : tuple of Link
        All links, moving or fixed, depth first, with names, parents, joints, placements, inertias,
        limits, armature, damping, springs, friction and mimics.
    frames : tuple of str
        Names of all links, moving or fixed.
    armature, damping : ndarray (nv,)
        Rotor inertia, added to the diagonal of the mass matrix, and viscous damping. Values of a
        mimic joint, times the square of its multiplier, are added to the values of the joint that
        it mimics.
    stiffness, rest_position : ndarray (nv,)
        Springs of the joints, of torque ``stiffness * (q - rest_position)``; springs of mimic
        joints are added to the spring of the joint that they mimic. A spherical joint has one
        stiffness k, three times, and rests after a rotation vector: its torque is k log(R_rest^T
        R), in body axes, which jumps at half a turn from rest. Free and planar joints have none.
    friction, friction_speed : ndarray (nv,)
        Coulomb friction of the joints, of torque ``friction * tanh(v / friction_speed)``; the speed
        is zero where none was stated. Friction of a mimic joint, times the magnitude of its
        multiplier, is added to the friction of the joint that it mimics; `links` has its own speed.
    lower_limits, upper_limits : ndarray (nq,)
        Range of the coordinates; infinite without limits.
    velocity_limits, effort_limits : ndarray (nv,)
        Largest magnitudes of velocity and of force or torque; infinite without limits.
    mass : float
        Mass of all moving bodies.
    parameters : ndarray (nbodies, 10)
        Inertial parameters of the moving bodies, see `Inertia.from_parameters`.
    joint_parameters : ndarray (4, nv)
        Armature, damping, stiffness and friction, which may follow the bodies' in ``parameters=``.
    notes : tuple of str
        Remarks about parts that the loader ignored, repaired or found odd, and inertias without
        effect.
    postures : mapping of str to ndarray (nq,)
        Named configurations, read-only: keyframes of an MJCF, group states of an SRDF.
    massless_joints : tuple of str
        Joints with no inertia to accelerate: none, or less than 1e-13 of the inertia that they
        carry. A joint and its mimics have one common inertia, which may cancel; the mimicked joint
        is then listed. Forward dynamics refuses a model that has any.

    Raises
    ------
    ValueError
        If names repeat or cannot be encoded, a parent is missing, links form a cycle, no joint
        moves, there are more than 26000 degrees of freedom, or numbers are not finite.
    TypeError
        If an argument is of the wrong type.

    Warns
    -----
    ModelWarning
        If there are massless joints.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> model.nq, model.nv, model.nbodies
    (19, 18, 13)
    >>> model.joint("LF_KFE").v
    slice(8, 9, None)
    """

    __slots__ = ("_tree",)  # all calls read it: a slot is found faster than an attribute

    _bodies: tuple[Body, ...]
    _frames: dict[str, Frame]
    _joints: dict[str, Joint]
    _links: dict[str, Link]
    _tree: _core.Tree

    def __init__(
        self,
        name: str,
        links: Iterable[Link],
        *,
        gravity: ArrayLike = (0, 0, -9.81),
        notes: Iterable[str] = (),
        postures: Postures = _NO_POSTURES,
    ) -> None:
        self._assemble(name, links, gravity, notes, postures)
        warn_of_massless(self.massless_joints, stacklevel=3)  # of dtau.load or ModelBuilder.build

    def _assemble(
        self,
        name: str,
        links: Iterable[Link],
        gravity: ArrayLike,
        notes: Iterable[str],
        postures: Postures,
    ) -> None:
        """Check the arguments and set all attributes."""
        self._require_new()
        name = require_name("name", name)
        links = tuple_of("links", links, Link, "objects of class Link")
        dofs = sum(link.joint.nv for link in links)
        if dofs > MOST_DOFS:
            raise ValueError(f"links: expected at most {MOST_DOFS} degrees of freedom, got {dofs}")
        links = depth_first(links)
        notes = tuple_of("notes", notes, str, "strings")
        bodies, frames = merge_fixed(links)
        if not bodies:
            raise ValueError(f"model {name!r}: expected a joint that moves, got none")
        mimics = resolve_mimics(links)
        joints = joint_records(bodies, mimics)
        non_mimic = [joint for joint in joints if joint.mimic is None]
        core_bodies = take_apart(bodies, mimics)
        arrays = body_arrays(core_bodies)
        massless = massless_joints(core_bodies, arrays)
        notes = with_unmoved(notes, links, frames)
        gravity = real_array("gravity", gravity, (3,))
        friction, friction_speed = frictions(bodies, joints)
        vars(self).update(
            name=name,
            gravity=gravity,
            nq=sum(joint.type.nq for joint in non_mimic),
            nv=sum(joint.type.nv for joint in non_mimic),
            nbodies=len(bodies),
            bodies=tuple(body.link.name for body in bodies),
            inertias=tuple(body.inertia for body in bodies),
            joints=joints,
            frames=tuple(frames),
            armature=with_mimics("armature", bodies, joints),
            damping=with_mimics("damping", bodies, joints),
            stiffness=(stiffness := with_mimics("stiffness", bodies, joints)),
            rest_position=rest_positions(stiffness, bodies, joints),
            friction=friction,
            friction_speed=friction_speed,
            lower_limits=concatenate((joint.limits.lower,) * joint.type.nq for joint in non_mimic),
            upper_limits=concatenate((joint.limits.upper,) * joint.type.nq for joint in non_mimic),
            velocity_limits=concatenate(joint.limits.velocity for joint in non_mimic),
            effort_limits=concatenate(joint.limits.effort for joint in non_mimic),
            mass=math.fsum(body.inertia.mass for body in bodies),
            parameters=parameters_of(arrays),
            notes=tuple(dict.fromkeys(notes)),
            postures=read_postures(joints, postures),
            massless_joints=massless,
            links=links,
            _bodies=tuple(bodies),
            _frames=frames,
            _joints={joint.name: joint for joint in joints},
            _links={link.name: link for link in links},
        )
        tree = _core.Tree(**tree_arguments(core_bodies, arrays, gravity, massless, frames))
        object.__setattr__(self, "_tree", tree)

    def __getstate__(self) -> dict[str, Any]:
        parts: dict[str, Any] = {"name": self.name, "links": self.links}
        parts |= {"gravity": self.gravity, "notes": self.notes}
        return {**parts, "postures": by_joint(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._require_new()
        with checking(state, ("name", "links", "gravity", "notes", "postures")):
            self._assemble(**state)

    def joint(self, name: str) -> Joint:
        """Look up a moving joint by its name.

        Parameters
        ----------
        name : str
            The joint, from ``[joint.name for joint in model.joints]``.

        Raises
        ------
        ValueError
            If there is none. The message lists similar names, or the joint that carries the link of
            this name.
        TypeError
            If the name is not a string.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> q = dtau.neutral(model)
        >>> q[model.joint("LF_HFE").q] = 0.6
        """
        require("name", name, str)
        if name not in self._joints:
            raise no_joint(self, name)
        return self._joints[name]

    def link(self, name: str) -> Link:
        """Look up a link, moving or fixed, by its name: its parts as they were given.

        Parameters
        ----------
        name : str
            The link, from ``model.frames``.

        Raises
        ------
        ValueError
            If there is none; the message lists names that come close, or says which link the joint
            of this name carries.
        TypeError
            If the name is not a string.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> shank = model.link("LF_SHANK")
        >>> shank.parent, shank.joint_name, shank.limits.effort
        ('LF_THIGH', 'LF_KFE', (40.0,))
        """
        require("name", name, str)
        if name not in self._links:
            raise no_link(self, "link", name)
        return self._links[name]

    def frame(self, name: str) -> Frame:
        """Look up the frame of a link, moving or fixed, by its name.

        Parameters
        ----------
        name : str
            The link, from ``model.frames``.

        Raises
        ------
        ValueError
            If there is none; the message lists names that come close, or says which link the joint
            of this name carries.
        TypeError
            If the name is not a string.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> foot = model.frame("LF_FOOT")
        >>> model.bodies[foot.body]
        'LF_SHANK'
        """
        require("name", name, str)
        if name not in self._frames:
            raise no_link(self, "frame", name)
        return self._frames[name]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return (
            self.name == other.name
            and np.array_equal(self.gravity, other.gravity)
            and self.links == other.links
        )

    def __hash__(self) -> int:
        return hash((self.name, self.frames, self.nq))

    def __repr__(self) -> str:
        bodies = "body" if self.nbodies == 1 else "bodies"
        return f"<Model {self.name!r}: {self.nbodies} {bodies}, nq = {self.nq}, nv = {self.nv}>"

    def __str__(self) -> str:
        return table(self)

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        return html_table(self)
