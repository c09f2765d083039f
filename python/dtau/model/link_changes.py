"""Change parts of links, as `Model.replace` does: `changed`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dtau.model.joints import Free
from dtau.model.links import Link
from dtau.model.names import Names
from dtau.support.checks import naming, plain, real_numbers, require

_FIELDS = {  # fields of a link, by the arguments that change them
    "armature": "armature",
    "damping": "damping",
    "stiffness": "stiffness",
    "rest_position": "rest_position",
    "friction_speed": "friction_speed",
    "friction": "friction",
    "limits": "limits",
    "inertias": "inertia",
    "placements": "placement",
}

_BY_VELOCITY = (  # a number for each
    *("armature", "damping", "stiffness", "rest_position", "friction", "friction_speed"),
)


def changed(links: Sequence[Link], **given: Any) -> tuple[Link, ...]:
    """Return links with the values that `Model.replace` takes.

    Raises
    ------
    ValueError, TypeError
        In the same cases as `Model.replace`.
    """
    names = Names(links)
    changes: dict[str, dict[str, tuple[str, Any]]] = {link.name: {} for link in links}
    for argument, values in given.items():
        if values is None:
            continue
        if argument in _BY_VELOCITY and not isinstance(values, Mapping):
            expected = "one number, or a mapping by the names of joints"
            if (shape := real_numbers(argument, values, expected).shape) not in ((), (1,)):
                raise ValueError(f"{argument}: expected {expected}, got shape {shape}")
            named = {
                link.name: (link.joint_name, values) for link in links if _takes_a_number(link)
            }
        else:
            named = _by_link(argument, values, names)
        for at, change in named.items():
            changes[at][argument] = change
    return tuple(_changed(link, changes[link.name]) for link in links)


def _by_link(argument: str, values: Any, names: Names) -> dict[str, tuple[str, Any]]:
    """Return, by the names of links, the given names and values."""
    require(argument, values, Mapping)
    named: dict[str, tuple[str, Any]] = {}
    for name, value in values.items():
        name = plain(name)
        at = names.find(argument, name, links_first=argument == "inertias")
        if at in named:
            raise ValueError(
                f"{argument}: {named[at][0]!r} and {name!r} are names of one link, {at!r}"
            )
        named[at] = name, value
    return named


def _takes_a_number(link: Link) -> bool:
    return link.joint.nv > 0 and not (isinstance(link.joint, Free) and link.parent is None)


def _changed(link: Link, changes: Mapping[str, tuple[str, Any]]) -> Link:
    """Change all fields at once, since friction and its speed are valid only together."""
    if not changes:
        return link  # it is immutable, and checked
    for argument, (name, _) in changes.items():
        if link.joint.nv == 0 and argument in (*_BY_VELOCITY, "limits"):
            fixed = f"joint {link.joint_name!r} is fixed"
            raise ValueError(f"{argument}: {name!r} does not move, {fixed}")
    try:
        return replace(link, **{_FIELDS[x]: value for x, (_, value) in changes.items()})
    except (TypeError, ValueError) as error:
        together = error
    for argument, (name, value) in changes.items():  # the one that is wrong by itself
        with naming(f"{argument} of {name!r}"):
            replace(link, **{_FIELDS[argument]: value})
    raise together
