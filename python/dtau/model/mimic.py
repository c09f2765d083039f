"""Resolve chains of mimic joints: `resolve_mimics`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dtau.model.links import Link, Mimic
from dtau.support.checks import listing, unknown_name


def resolve_mimics(links: Sequence[Link]) -> Mapping[str, Mimic]:
    """Return, by the names of mimic joints, their mimics with all chains resolved.

    Raises
    ------
    ValueError
        If a joint mimics one that does not exist, that does not have exactly one coordinate, or
        that mimics it back, or if products or squares of multipliers overflow.
    """
    joints = {link.joint_name: link for link in links if link.joint.nv > 0}
    known: dict[str, tuple[str, float, float]] = {}  # mimicked joint, multiplier, offset: resolved
    for first in joints:
        chain: dict[str, Mimic] = {}  # joints up to a resolved one, or one that mimics none
        name = first
        while name not in known and (mimic := joints[name].mimic) is not None:
            if name in chain:
                path = list(chain)
                cycle = [*path[path.index(name) :], name]
                raise ValueError(f"joints mimic each other in a cycle: {listing(cycle, ' -> ')}")
            if mimic.joint not in joints:
                problem = unknown_name("joint", mimic.joint, joints)
                raise ValueError(f"mimic of joint {name!r}: {problem}")
            chain[name] = mimic
            name = mimic.joint
        for name, mimic in reversed(chain.items()):
            mimicked, multiplier, offset = known.get(mimic.joint, (mimic.joint, 1.0, 0.0))
            offset = mimic.offset + mimic.multiplier * offset
            known[name] = mimicked, mimic.multiplier * multiplier, offset
    return {name: _checked(name, *known[name], joints) for name in joints if name in known}


def _checked(
    name: str, mimicked: str, multiplier: float, offset: float, joints: Mapping[str, Link]
) -> Mimic:
    if joints[mimicked].joint.nq != 1:
        kind = type(joints[mimicked].joint).__name__
        raise ValueError(
            f"mimic of joint {name!r}: expected a joint with one coordinate, "
            f"got {mimicked!r}, which is {kind}"
        )
    if not all(map(math.isfinite, (multiplier * multiplier, offset))):
        raise ValueError(
            f"mimic of joint {name!r}: numbers too large: with chains of mimics resolved, the "
            f"multiplier is {multiplier:g} (its square is needed), the offset {offset:g}"
        )
    return Mimic(mimicked, multiplier, offset)
