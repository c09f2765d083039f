"""Order links as a tree and merge fixed links into bodies: `depth_first`, `merge_fixed`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from dtau.model.links import Body, Frame, Link
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia
from dtau.support.checks import listing, unknown_name

_HERE = Pose()
_WORLD = Frame("", -1, _HERE)


def depth_first(links: Sequence[Link]) -> tuple[Link, ...]:
    """Order links so that each follows its parent, branch by branch; siblings stay in order.

    Raises
    ------
    ValueError
        If two links or two moving joints have one name, a parent is missing, or links carry
        each other in a cycle.
    """
    parents = {link.name: link.parent for link in links}
    _raise_for_duplicates("link", [link.name for link in links])
    _raise_for_duplicates("joint", [link.joint_name for link in links if link.joint.nv > 0])
    children: dict[str | None, list[Link]] = {}
    for link in links:
        if link.parent is not None and link.parent not in parents:
            raise ValueError(
                f"parent of link {link.name!r}: {unknown_name('link', link.parent, parents)}"
            )
        children.setdefault(link.parent, []).append(link)

    ordered: list[Link] = []
    waiting = children.get(None, [])[::-1]
    while waiting:
        link = waiting.pop()
        ordered.append(link)
        waiting.extend(reversed(children.get(link.name, [])))

    reached = {link.name for link in ordered}
    lost = next((name for name in parents if name not in reached), None)
    if lost is not None:
        raise ValueError(f"links form a cycle: {listing(_cycle(lost, parents), ' -> ')}")
    return tuple(ordered)


def _raise_for_duplicates(kind: str, names: list[str]) -> None:
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ValueError(f"two {kind}s of one name: {listing(repeated)}")


def _cycle(name: str, parents: Mapping[str, str | None]) -> list[str]:
    """Follow parents from a link that the world does not carry; return the cycle that they form."""
    path: dict[str, int] = {}
    while name not in path:
        path[name] = len(path)
        parent = parents[name]
        assert parent is not None
        name = parent
    return [*list(path)[path[name] :], name]


@np.errstate(over="ignore", invalid="ignore")
def merge_fixed(links: Sequence[Link]) -> tuple[list[Body], dict[str, Frame]]:
    """Return bodies and frames of links that are in depth-first order."""
    bodies: list[Body] = []
    frames: dict[str, Frame] = {}
    for link in links:
        try:
            _place(link, bodies, frames)
        except ValueError as error:  # products overflow
            raise ValueError(f"link {link.name!r}, seen from its body: {error}") from None
    return bodies, frames


def _place(link: Link, bodies: list[Body], frames: dict[str, Frame]) -> None:
    """Add a link as a body of its own or, if its joint is fixed, to the body that carries it."""
    carrier = _WORLD if link.parent is None else frames[link.parent]
    placement = link.placement
    if carrier.placement is not _HERE:
        placement = carrier.placement @ placement
    if link.joint.nv > 0:
        frames[link.name] = Frame._trusted(name=link.name, body=len(bodies), placement=_HERE)
        bodies.append(
            Body._trusted(link=link, parent=carrier.body, placement=placement, inertia=link.inertia)
        )
        return
    frames[link.name] = Frame._trusted(name=link.name, body=carrier.body, placement=placement)
    if carrier.body >= 0:
        body = bodies[carrier.body]
        inertia = _welded(body.inertia, link.inertia, placement)
        bodies[carrier.body] = Body._trusted(**{**vars(body), "inertia": inertia})


def _welded(inertia: Inertia, added: Inertia, placement: Pose) -> Inertia:
    """Return the inertia of a body with the inertia of a link at this placement."""
    if added.mass > 0.0 or added.tensor.any():
        return inertia + added.transformed(placement)
    # the same sum without its zeros, much faster
    com = inertia.com + 0.0 * (placement.translation - inertia.com)
    return Inertia._unchecked(inertia.mass, com, inertia.tensor + 0.0)
