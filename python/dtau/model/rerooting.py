"""Hang a mechanism from another link: `Rerootable.with_root`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from dtau.model.editing import Editable
from dtau.model.joint_type import JointType
from dtau.model.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from dtau.model.links import Link
from dtau.model.massless import warn_of_massless
from dtau.model.pose import Pose
from dtau.model.postures import Postures, by_joint
from dtau.support.checks import require

R = TypeVar("R", bound="Rerootable")

_HERE = Pose()


class Rerootable(Editable):
    """The method of a model that returns the same mechanism with another root."""

    def with_root(self: R, link: str) -> R:
        """Return the same mechanism, hung from another link.

        The joint between the world and the root of the link's tree, free or fixed, carries this
        link instead. The joints between the two are reversed: each carries the link that was its
        parent, with the same name, coordinates, limits, armature, damping, friction and spring;
        their axes change sign. All frames keep their names and places. `dtau.transfer_state`
        converts states, and postures are converted.

        Parameters
        ----------
        link : str
            Name of the new root link, moving or fixed.

        Returns
        -------
        Model
            The link that a reversed joint carries has its frame at the joint. If this is not the
            frame of the joint's former parent, that one is fixed to an additional link with the
            joint's name (with underscores if it is taken).

        Raises
        ------
        ValueError
            If there is no such link; if the present root's joint is neither free nor fixed, or has
            armature, damping or friction; or if a joint cannot be reversed: a free or planar joint
            within the tree, or a spherical joint that has friction, or whose armature, damping or
            limits differ by axis.
        TypeError
            If the name is not a string.

        Warns
        -----
        ModelWarning
            If joints no longer have inertia to accelerate.

        Notes
        -----
        With a free root, the equations of motion are the same in other coordinates. With a fixed
        root, the new root is at rest where the old one was: joint coordinates and their rates keep
        their meaning, while gravity acts along other axes of the links.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> standing = model.with_root("LF_FOOT")
        >>> standing.bodies[:3]
        ('LF_FOOT', 'LF_KFE', 'LF_HFE')
        >>> state = dtau.random_state(model, np.random.default_rng(0))
        >>> same = dtau.transfer_state(model, standing, *state)
        >>> energy = dtau.kinetic_energy(model, state.q, state.v)
        >>> bool(np.isclose(dtau.kinetic_energy(standing, same.q, same.v), energy))
        True
        """
        require("link", link, str)
        self.frame(link)  # raises if it does not exist
        made = self._with(rerooted(self.links, link), postures=_postures(self, link))
        warn_of_massless(set(made.massless_joints) - set(self.massless_joints), stacklevel=2)
        return made


Rerootable.with_root.__qualname__ = "Model.with_root"  # as users know it


def _path(links: Sequence[Link], name: str) -> list[Link]:
    """Return the link of this name and all that carry it, the root last."""
    by_name = {link.name: link for link in links}
    path = [by_name[name]]
    while (parent := path[-1].parent) is not None:
        path.append(by_name[parent])
    return path


def _postures(model: Rerootable, name: str) -> Postures:
    """Return the postures in the coordinates of the mechanism that hangs from this link."""
    postures = by_joint(model)
    path = _path(model.links, name)
    for posture, positions in postures.items():
        q, place = model.postures[posture], Pose()
        for link in reversed(path):
            place = place @ link.placement
            if link.joint.nv:
                joint = model.joint(link.joint_name)
                x = q[joint.q]
                if joint.mimic is not None:
                    x = joint.mimic.multiplier * x + joint.mimic.offset
                place = place @ joint.type.placement(x)
        for link in path[:-1]:
            if isinstance(link.joint, Universal):
                positions[link.joint_name] = q[model.joint(link.joint_name).q][::-1]
            elif isinstance(link.joint, Spherical):
                positions[link.joint_name] = link.joint.placement(
                    q[model.joint(link.joint_name).q]
                ).inverse()
        if isinstance(path[-1].joint, Free):
            positions[path[-1].joint_name] = path[-1].placement.inverse() @ place
    return postures


def rerooted(links: Sequence[Link], name: str) -> list[Link]:
    """Return the links of a mechanism that hangs from the link of this name."""
    path = _path(links, name)
    root = path[-1]
    if not isinstance(root.joint, Free | Fixed):
        raise ValueError(
            f"with_root: expected a free or fixed joint between the world and {root.name!r}, got "
            f"{type(root.joint).__name__} {root.joint_name!r}"
        )
    if np.any(root.armature) or np.any(root.damping) or np.any(root.friction):
        raise ValueError(
            f"with_root: expected no armature, damping and friction of the root's joint "
            f"{root.joint_name!r}: they act on the velocity of this root only"
        )
    taken = {link.name for link in links}
    joints = {link.joint_name for link in links}
    moved = [replace(root, name=name, inertia=path[0].inertia)]
    for child, link in pairwise(path):
        back = child.placement.inverse()
        if isinstance(child.joint, Fixed):
            moved.append(Link(link.name, child.name, Fixed(), child.joint_name, back, link.inertia))
            continue
        carried = _reversed(child, link.name)
        if child.placement == _HERE:
            moved.append(replace(carried, inertia=link.inertia))
            continue
        carried = replace(carried, name=_free_name(child.joint_name, taken))
        fixed = _free_name(link.name, joints)
        moved += [carried, Link(link.name, carried.name, Fixed(), fixed, back, link.inertia)]
    on_path = {link.name for link in path}
    return [*moved, *(link for link in links if link.name not in on_path)]


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _reversed(child: Link, name: str) -> Link:
    """Return a link that a joint carries the other way round, at the frame of the joint."""
    carried = Link(
        name,
        child.name,
        reversed_type(child),
        child.joint_name,
        armature=child.armature,
        damping=child.damping,
        limits=child.limits,
        mimic=child.mimic,
        stiffness=child.stiffness,
        rest_position=child.rest_position,
        friction=child.friction,
        friction_speed=child.friction_speed,
    )
    if isinstance(child.joint, Spherical):
        return replace(carried, rest_position=_negated(np.asarray(child.rest_position)))
    if isinstance(child.joint, Universal):
        limits = child.limits
        turned = replace(limits, velocity=_swapped(limits.velocity), effort=_swapped(limits.effort))
        return replace(
            carried,
            armature=_swapped(child.armature),
            damping=_swapped(child.damping),
            stiffness=_swapped(child.stiffness),
            rest_position=_swapped(child.rest_position),
            friction=_swapped(child.friction),
            friction_speed=_swapped(child.friction_speed),
            limits=turned,
        )
    return carried


def _swapped(values: object) -> tuple[float, ...]:
    assert isinstance(values, tuple)
    return values[::-1]


def reversed_type(link: Link) -> JointType:
    """Return the joint that moves the parent in the child's frame.

    Raises
    ------
    ValueError
        If there is none with the same rates.
    """
    joint = link.joint
    if isinstance(joint, Revolute | Prismatic | Cylindrical):
        return type(joint)(_negated(joint.axis))
    if isinstance(joint, Helical):
        return Helical(_negated(joint.axis), joint.pitch)
    if isinstance(joint, Universal):
        return Universal(_negated(joint.axis2), _negated(joint.axis1))
    rows = link.armature, link.damping, link.limits.velocity, link.limits.effort
    same = all(np.unique(row).size == 1 for row in rows) and not np.any(link.friction)
    if isinstance(joint, Spherical) and same:
        return joint
    raise ValueError(
        f"with_root: cannot reverse joint {link.joint_name!r}: {type(joint).__name__}"
        + (
            ", whose numbers differ by axis or that has friction"
            if isinstance(joint, Spherical)
            else ""
        )
    )


def _negated(axis: Iterable[float]) -> list[float]:
    return [0.0 - x for x in axis]
