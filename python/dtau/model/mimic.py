"""Joints that follow others: the coordinate of one is a linear function of another's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dtau.checks import listing, real_array, require_name, unknown_name

if TYPE_CHECKING:
    from dtau.model.links import Link


@dataclass(frozen=True)
class Mimic:
    """Says that a joint follows another: q = multiplier * q of the other + offset.

    The follower has no coordinate and no velocity of its own; its motion, its inertia, its armature
    and its damping are felt through the coordinate of the joint that it follows.

    Parameters
    ----------
    joint : str
        Name of the joint that is followed, which has one coordinate, as the follower has.
    multiplier, offset : float
        Of the other's coordinate; units as the two joints have them (radians, metres).

    Raises
    ------
    ValueError, TypeError
        If a number is not finite, or the name is no text.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> builder = dtau.ModelBuilder("gripper")
    >>> finger = dtau.Inertia(0.1, tensor=0.001 * np.eye(3))
    >>> left = builder.add(dtau.Prismatic(axis=(0, 1, 0)), name="left", inertia=finger)
    >>> right = builder.add(
    ...     dtau.Prismatic(axis=(0, -1, 0)), name="right", inertia=finger, mimic=dtau.Mimic("left")
    ... )
    >>> model = builder.build()
    >>> model.nbodies, model.nv
    (2, 1)
    >>> dtau.mass_matrix(model, [0.0])
    array([[0.2]])
    """

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        require_name("mimic.joint", self.joint)
        for name in ("multiplier", "offset"):
            value = real_array(f"mimic.{name}", getattr(self, name), ())
            object.__setattr__(self, name, float(value))


def resolve_mimics(links: Sequence[Link]) -> Mapping[str, Mimic]:
    """Return, by the names of the joints that follow, what they follow in the end.

    Raises
    ------
    ValueError
        If a joint follows one that does not exist, has not one coordinate, or follows it, or
        multipliers are too large to be multiplied or squared.
    """
    joints = {link.joint_name: link for link in links if link.joint.nv > 0}
    resolved = {}
    for name, link in joints.items():
        mimic = link.mimic
        if mimic is None:
            continue
        chain = [name]
        multiplier, offset, leader = 1.0, 0.0, mimic.joint
        while mimic is not None:
            if mimic.joint not in joints:
                problem = unknown_name("joint", mimic.joint, joints)
                raise ValueError(f"mimic of joint {chain[-1]!r}: {problem}")
            if mimic.joint in chain:
                cycle = [*chain[chain.index(mimic.joint) :], mimic.joint]
                raise ValueError(f"joints mimic each other in a cycle: {listing(cycle, ' -> ')}")
            offset += multiplier * mimic.offset
            multiplier *= mimic.multiplier
            leader = mimic.joint
            chain.append(leader)
            mimic = joints[leader].mimic
        if joints[leader].joint.nq != 1:
            kind = type(joints[leader].joint).__name__
            raise ValueError(
                f"mimic of joint {name!r}: expected a joint with one coordinate, "
                f"got {leader!r}, which is {kind}"
            )
        if not all(map(math.isfinite, (multiplier * multiplier, offset))):
            raise ValueError(
                f"mimic of joint {name!r}: numbers too large, in the end the multiplier "
                f"{multiplier:g} (its square is needed) and the offset {offset:g}"
            )
        resolved[name] = Mimic(leader, multiplier, offset)
    return resolved
