"""The model of a robot: what every function of the package takes first."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import real_array, require, require_name, tuple_of, unknown_name
from dtau.errors import ModelWarning
from dtau.immutable import Immutable, checking
from dtau.model.compile import MOST_DOFS, compile_tree, concatenate, take_apart
from dtau.model.joints import Fixed
from dtau.model.links import Body, Frame, Joint, Link, Mimic
from dtau.model.massless import massless_joints
from dtau.model.mimic import resolve_mimics
from dtau.model.rotations import Vector
from dtau.model.tree import depth_first, merge_fixed

_AXES = ("axis", "normal", "axis1", "axis2")
_DEEPEST_INDENT = 30  # levels; `print(model)` of a long chain should stay readable


class Model(Immutable):
    """A tree of rigid bodies, or several; immutable, validated once, picklable, comparable.

    Bodies are numbered depth first, siblings in the order of `links`; the k-th joint carries
    the k-th body. Fixed links are merged into the body that carries them and remain as frames.
    Two models are equal if name, gravity and links are.

    Parameters
    ----------
    name : str
        Name of the robot.
    links : sequence of Link
        The links, in any order.
    gravity : array_like (3,)
        Acceleration of gravity along the world's axes, in m/s².
    notes : iterable of str
        Remarks of the loader: what it ignored.

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
    joints : tuple of Joint
        The moving joints, those that mimic others among them.
    frames : tuple of str
        Names of all links, moving or fixed.
    armature, damping : ndarray (nv,)
        Inertia added to that of a joint, and viscous damping; those of joints that mimic others are
        added, times the square of the multiplier, to those of the joint that they follow.
    lower_limits, upper_limits : ndarray (nq,)
        Range of the coordinates; infinite where there is none.
    velocity_limits, effort_limits : ndarray (nv,)
        Largest magnitudes of velocity and of force or torque; infinite where there is none.
    mass : float
        Mass of all moving bodies.
    notes : tuple of str
        What the loader ignored, and what has no effect.
    massless_joints : tuple of str
        Joints with no inertia to accelerate: none, or less than 1e-13 of what they carry. Forward
        dynamics refuses a model that has any.

    Raises
    ------
    ValueError
        If names repeat or cannot be encoded, a parent is missing, links form a cycle, nothing
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

    name: str
    gravity: NDArray[np.float64]
    nq: int
    nv: int
    nbodies: int
    bodies: tuple[str, ...]
    joints: tuple[Joint, ...]
    frames: tuple[str, ...]
    armature: NDArray[np.float64]
    damping: NDArray[np.float64]
    lower_limits: NDArray[np.float64]
    upper_limits: NDArray[np.float64]
    velocity_limits: NDArray[np.float64]
    effort_limits: NDArray[np.float64]
    mass: float
    notes: tuple[str, ...]
    massless_joints: tuple[str, ...]
    _links: tuple[Link, ...]
    _bodies: tuple[Body, ...]
    _frames: dict[str, Frame]
    _joints: dict[str, Joint]
    _tree: _core.Tree

    def __init__(
        self,
        name: str,
        links: Iterable[Link],
        *,
        gravity: ArrayLike = (0, 0, -9.81),
        notes: Iterable[str] = (),
    ) -> None:
        self._assemble(name, links, gravity, notes)
        if self.massless_joints:
            warnings.warn(
                "joints that move no inertia, or less than 1e-13 of what they carry: "
                f"{', '.join(self.massless_joints)}; inverse dynamics works, forward dynamics "
                "will refuse this model",
                ModelWarning,
                stacklevel=3,  # the caller of dtau.load or ModelBuilder.build
            )

    def _assemble(
        self,
        name: str,
        links: Iterable[Link],
        gravity: ArrayLike,
        notes: Iterable[str],
    ) -> None:
        """Check the arguments and set all attributes."""
        self._require_new()
        require_name("name", name)
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
        joints = _joint_records(bodies, mimics)
        independent = [joint for joint in joints if joint.mimic is None]
        core_bodies = take_apart(bodies, mimics)
        massless = massless_joints(core_bodies)
        unmoved = [
            f"link {link.name!r} is fixed to the world: its inertia has no effect"
            for link in links
            if frames[link.name].body < 0 and link.inertia.mass > 0
        ]
        vars(self).update(
            name=name,
            gravity=real_array("gravity", gravity, (3,)),
            nq=sum(joint.type.nq for joint in independent),
            nv=sum(joint.type.nv for joint in independent),
            nbodies=len(bodies),
            bodies=tuple(body.link.name for body in bodies),
            joints=joints,
            frames=tuple(frames),
            armature=_with_followers("armature", bodies, joints),
            damping=_with_followers("damping", bodies, joints),
            lower_limits=concatenate([joint.limits.lower] * joint.type.nq for joint in independent),
            upper_limits=concatenate([joint.limits.upper] * joint.type.nq for joint in independent),
            velocity_limits=concatenate(joint.limits.velocity for joint in independent),
            effort_limits=concatenate(joint.limits.effort for joint in independent),
            mass=math.fsum(body.inertia.mass for body in bodies),
            notes=tuple(dict.fromkeys([*notes, *unmoved])),
            massless_joints=massless,
            _links=links,
            _bodies=tuple(bodies),
            _frames=frames,
            _joints={joint.name: joint for joint in joints},
            _tree=compile_tree(core_bodies, real_array("gravity", gravity, (3,)), massless, frames),
        )

    def __getstate__(self) -> dict[str, Any]:
        parts = {"name": self.name, "links": self._links}
        return {**parts, "gravity": self.gravity, "notes": self.notes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._require_new()
        with checking(state, ("name", "links", "gravity", "notes")):
            self._assemble(**state)

    def joint(self, name: str) -> Joint:
        """Look up a moving joint by its name.

        Raises
        ------
        ValueError
            If there is none; the message lists names that come close.
        TypeError
            If the name is no string.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> q = dtau.neutral(model)
        >>> q[model.joint("LF_HFE").q] = 0.6
        """
        require("name", name, str)
        if name not in self._joints:
            raise unknown_name("joint", name, self._joints)
        return self._joints[name]

    def frame(self, name: str) -> Frame:
        """Look up the frame of a link, moving or fixed, by its name.

        Raises
        ------
        ValueError
            If there is none; the message lists names that come close.
        TypeError
            If the name is no string.

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
            raise unknown_name("frame", name, self._frames)
        return self._frames[name]

    def lock(self, positions: Mapping[str, ArrayLike]) -> Model:
        """Return a model with some joints fixed.

        Parameters
        ----------
        positions : mapping of str to float or array_like (nq of the joint,)
            Names of the joints, and the coordinates where each is fixed. Their armature, damping
            and limits are dropped with them.

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If there is no such joint, it mimics another, coordinates are not valid, or nothing is
            left to move. Joints that mimic a locked one are locked with it.
        TypeError
            If it is no mapping, or coordinates are not real numbers.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> model.lock({"LF_KFE": -1.2, "RF_KFE": -1.2}).nv
        16
        """
        require("positions", positions, Mapping)
        links = {link.name: link for link in self._links}
        for name in positions:
            if (mimic := self.joint(name).mimic) is not None:
                raise ValueError(f"joint {name!r} mimics {mimic.joint!r}: lock that one")
        for joint in self.joints:
            name, mimic = joint.name, joint.mimic
            leader = mimic.joint if mimic else name
            if leader not in positions:
                continue
            link = links[self.bodies[joint.body]]
            try:
                position = joint.type._coordinates(positions[leader])
                if mimic:
                    with np.errstate(over="ignore"):  # placement() refuses what is not finite
                        position = mimic.multiplier * position + mimic.offset
                placement = link.placement @ joint.type.placement(position)
            except (TypeError, ValueError) as error:
                raise type(error)(f"position of joint {leader!r}: {error}") from None
            links[link.name] = Link(link.name, link.parent, Fixed(), name, placement, link.inertia)
        locked = Model.__new__(Model)  # no warning again: locking leaves no joint lighter
        locked._assemble(self.name, links.values(), self.gravity, self.notes)
        return locked

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return (
            self.name == other.name
            and np.array_equal(self.gravity, other.gravity)
            and self._links == other._links
        )

    def __hash__(self) -> int:
        return hash((self.name, self.frames, self.nq))

    def __repr__(self) -> str:
        bodies = "body" if self.nbodies == 1 else "bodies"
        return f"<Model {self.name!r}: {self.nbodies} {bodies}, nq = {self.nq}, nv = {self.nv}>"

    def __str__(self) -> str:
        depth: list[int] = []
        rows = []
        for joint in self.joints:
            depth.append(depth[joint.parent] + 1 if joint.parent >= 0 else 0)
            body = "  " * min(depth[-1], _DEEPEST_INDENT) + self.bodies[joint.body]
            rows.append((body, joint.name, _describe(joint), _span(joint.q), _span(joint.v)))
        header = ("body", "joint", "type", "q", "v")
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        masses = ["kg", *(f"{body.inertia.mass:.6g}" for body in self._bodies)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            + f"  {mass}"
            for row, mass in zip([header, *rows], masses, strict=True)
        ]
        return "\n".join([f"{self!r}, {self.mass:.6g} kg", *lines])


def _joint_records(bodies: Sequence[Body], mimics: Mapping[str, Mimic]) -> tuple[Joint, ...]:
    entries: dict[str, tuple[slice, slice]] = {}  # of the independent joints
    q = v = 0
    for body in bodies:
        link = body.link
        if link.joint_name not in mimics:
            nq, nv = link.joint.nq, link.joint.nv
            entries[link.joint_name] = slice(q, q + nq), slice(v, v + nv)
            q, v = q + nq, v + nv
    joints = []
    for index, body in enumerate(bodies):
        link = body.link
        mimic = mimics.get(link.joint_name)
        at_q, at_v = entries[mimic.joint if mimic else link.joint_name]
        joints.append(
            Joint(
                name=link.joint_name,
                type=link.joint,
                body=index,
                parent=body.parent,
                q=at_q,
                v=at_v,
                placement=body.placement,
                limits=link.limits,
                mimic=mimic,
            )
        )
    return tuple(joints)


@np.errstate(over="ignore", invalid="ignore")
def _with_followers(
    name: str, bodies: Sequence[Body], joints: Sequence[Joint]
) -> NDArray[np.float64]:
    """Add what followers have, times the square of the multiplier, to what they follow."""
    total = np.zeros(max(joint.v.stop for joint in joints))
    for body, joint in zip(bodies, joints, strict=True):
        scale = joint.mimic.multiplier if joint.mimic else 1.0
        total[joint.v] += scale**2 * np.asarray(getattr(body.link, name))
        if not np.isfinite(total[joint.v]).all():
            raise ValueError(f"{name} of joint {joint.name!r}, felt by another: too large")
    total.flags.writeable = False
    return total


def _describe(joint: Joint) -> str:
    """Name the kind of a joint, with its axes where it has any, and what it mimics."""
    kind = joint.type
    axes = [getattr(kind, name) for name in _AXES if hasattr(kind, name)]
    words = [type(kind).__name__.lower(), ", ".join(map(_direction, axes))]
    if joint.mimic:
        words.append(f"mimics {joint.mimic.joint}")
    return " ".join(filter(None, words))


def _direction(axis: Vector) -> str:
    for k, letter in enumerate("xyz"):
        if abs(axis[k]) == 1:
            return f"{'-' if axis[k] < 0 else ''}{letter}"
    return f"({', '.join(f'{x:.3g}' for x in axis)})"


def _span(entries: slice) -> str:
    count = entries.stop - entries.start
    return str(entries.start) if count == 1 else f"{entries.start}:{entries.stop}"
