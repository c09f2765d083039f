"""Joints that follow others: what they follow in the end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dtau.checks import listing, unknown_name
from dtau.model.links import Link, Mimic


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
