"""Read SRDF: group states as postures, rotor parameters as armature: `with_srdf`.

https://wiki.ros.org/srdf documents group states; rotor parameters are Pinocchio's.
"""

from __future__ import annotations

from collections.abc import Mapping

from dtau.loaders.elements import attribute, located, number, numbers
from dtau.loaders.postures import fitting
from dtau.loaders.source import Parts, Source
from dtau.loaders.xml import Element, parse
from dtau.model.link_changes import changed
from dtau.support.checks import listing

_UNREAD = frozenset({"group", "disable_collisions", "end_effector", "passive_joint"})


def with_srdf(parts: Parts, source: Source) -> Parts:
    """Return the parts of a model with the postures and the armature of an SRDF.

    Raises
    ------
    ModelError
        If the file is not an SRDF, or an attribute is missing or not understood.
    """
    robot = parse(source.content, source.label, _UNREAD)
    if robot.tag != "robot" or any(True for _ in robot.all("link")):
        got = f"<{robot.tag}>" if robot.tag != "robot" else "a URDF"
        raise robot.error(f"expected an SRDF, got {got}")
    states, notes = _group_states(robot)
    postures, ignored = fitting(states, parts.links)
    moving = {link.joint_name for link in parts.links if link.joint.nv == 1}
    links, unknown = parts.links, []
    for rotors in robot.all("rotor_params"):
        armature: dict[str, float] = {}
        for joint in rotors.all("joint"):
            name = attribute(joint, "name")
            if name in moving:
                armature[name] = number(joint, "mass") * number(joint, "gear_ratio") ** 2
            else:
                unknown.append(name)
        with located(rotors, "rotor_params"):
            links = list(changed(links, armature=armature))
    if unknown:
        notes.append(f"ignored rotor_params, no joints with one velocity: {listing(unknown)}")
    return parts._replace(links=links, postures=postures, notes=[*parts.notes, *notes, *ignored])


def _group_states(robot: Element) -> tuple[Mapping[str, dict[str, list[float]]], list[str]]:
    """Return positions by joint, by the names of group states, and notes about contradictions."""
    states: dict[str, dict[str, list[float]]] = {}
    notes = []
    for state in robot.all("group_state"):
        name = attribute(state, "name")
        positions = {
            attribute(joint, "name"): numbers(
                joint, "value", len(attribute(joint, "value").split())
            )
            for joint in state.all("joint")
        }
        before = states.setdefault(name, {})
        if differing := [j for j, x in positions.items() if before.get(j, x) != x]:
            notes.append(
                f"posture {name!r}: several group states place joints {listing(differing)}: the "
                "last one counts"
            )
        before.update(positions)
    return states, notes
