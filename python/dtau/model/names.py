"""Look up links and joints by name, with helpful errors, and make names distinct: `Names`."""

from __future__ import annotations

from collections.abc import Sequence

from dtau.model.base import ModelBase
from dtau.model.links import Link
from dtau.support.checks import listing, shown, unknown_name


def no_joint(model: ModelBase, name: str) -> ValueError:
    """Make the error for a name that no moving joint has; for a link's name it names the joint."""
    carried = [link for link in model.links if link.joint_name == name]
    if carried:
        links = listing([link.name for link in carried])
        return ValueError(f"no joint named {name!r:.80} that moves: it fixes the link {links}")
    link = next((link for link in model.links if link.name == name), None)
    if link is None:
        return unknown_name("joint", name, (joint.name for joint in model.joints))
    if link.joint.nv:
        return ValueError(
            f"no joint named {name!r:.80}: it is a link; the joint that carries it is "
            f"{link.joint_name!r}"
        )
    body = model.frame(name).body
    carrier = (
        "the world"
        if body < 0
        else f"{model.bodies[body]!r}, which the joint {model.joints[body].name!r} carries"
    )
    return ValueError(f"no joint named {name!r:.80}: it is a link, fixed to {carrier}")


def no_link(model: ModelBase, kind: str, name: str) -> ValueError:
    """Make the error for a name that no link has; for a joint's name it names the link."""
    carried = [link.name for link in model.links if link.joint_name == name]
    if not carried:
        return unknown_name(kind, name, model.frames)
    what = "link that it carries is" if len(carried) == 1 else "links of such joints are"
    return ValueError(f"no {kind} named {name!r:.80}: it is a joint; the {what} {listing(carried)}")


class Names:
    """Find links by their own names or by the names of the joints that carry them.

    If a name belongs to a joint and to the link of another joint, moving joints come first, then
    links, then fixed joints; or links before all joints.
    """

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = {link.name: [link.name] for link in links}
        self._joints: dict[str, list[str]] = {}
        self._moving: dict[str, list[str]] = {}
        for link in links:
            of_kind = self._moving if link.joint.nv else self._joints
            of_kind.setdefault(link.joint_name, []).append(link.name)

    def find(self, argument: str, name: object, links_first: bool) -> str:
        """Return the name of the link.

        Raises
        ------
        ValueError
            If there is none, or several fixed joints have the name.
        TypeError
            If it is not a string.
        """
        if not isinstance(name, str):
            raise TypeError(f"{argument}: expected names, got {shown(name)}")
        order = [self._moving, self._links, self._joints]
        if links_first:
            order = [self._links, self._moving, self._joints]
        found = next((names[name] for names in order if name in names), None)
        if found is None:
            known = [*self._moving, *self._links, *self._joints]
            problem = unknown_name("joint or link", name, dict.fromkeys(known))
            raise ValueError(f"{argument}: {problem}")
        if len(found) > 1:
            raise ValueError(
                f"{argument}: {len(found)} fixed joints are named {name!r:.80}; expected the name "
                f"of a link, {listing(found)}"
            )
        return found[0]


def distinct(names: Sequence[str]) -> list[str]:
    """Append underscores to repeated names until all names are distinct."""
    taken, met = set(names), set[str]()
    result = []
    for name in names:
        other = name
        if name and name in met:
            while other in taken:
                other += "_"
            taken.add(other)
        met.add(name)
        result.append(other)
    return result
