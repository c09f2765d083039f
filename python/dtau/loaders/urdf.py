"""URDF: from the elements of the file to links.

Meaning of the elements and attributes: http://wiki.ros.org/urdf/XML.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from dtau.checks import listing
from dtau.errors import ModelError, ModelWarning
from dtau.loaders.source import Parts, Source
from dtau.loaders.xml import Element, parse
from dtau.model.compile import MOST_DOFS
from dtau.model.joint_type import JointType
from dtau.model.joints import Fixed, Free, Planar, Prismatic, Revolute
from dtau.model.links import Limits, Link, Mimic
from dtau.model.pose import Pose
from dtau.model.rotations import rotation_of_quaternion
from dtau.model.spatial import Inertia
from dtau.options import MimicJoints, Root

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_ONE_COORDINATE = {"revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic}
_JOINTS: dict[str, type[JointType]] = {
    "fixed": Fixed,
    "floating": Free,
    "planar": Planar,
    **_ONE_COORDINATE,
}
_UNUSED = {
    "fixed": ("axis", "limit", "dynamics", "mimic"),
    "floating": ("axis", "limit", "dynamics", "mimic"),
    "planar": ("limit", "dynamics", "mimic"),
}

_HERE, _NOTHING, _UNLIMITED = Pose(), Inertia(), Limits()  # where a file says nothing

# What is read: of every element its attributes and its children.
_READ = {
    "robot": ("name version", "link joint"),
    "link": ("name", "inertial"),
    "inertial": ("", "origin mass inertia"),
    "mass": ("value", ""),
    "inertia": ("ixx ixy ixz iyy iyz izz", ""),
    "joint": ("name type", "parent child origin axis limit dynamics mimic"),
    "parent": ("link", ""),
    "child": ("link", ""),
    "origin": ("xyz rpy quat_xyzw", ""),
    "axis": ("xyz", ""),
    "limit": ("lower upper velocity effort", ""),
    "dynamics": ("damping friction", ""),
    "mimic": ("joint multiplier offset", ""),
}


def read(source: Source, root: Root | None, mimic: MimicJoints) -> Parts:
    """Return the parts of a URDF's model.

    The first link is the root, on a fixed or a free joint; the others come in the order of
    their joints' names. `root` and `mimic` are those of `dtau.load`.

    Raises
    ------
    ModelError
        If anything in the file is missing, contradictory or not understood.
    """
    robot = parse(source.content, source.label)
    for element in robot.children:
        if element.tag.startswith("xacro:") and element.tag != "xacro:property":
            raise element.error(
                f"got <{element.tag}>: run xacro on this file first, or name it *.xacro "
                "and load it with the extra dtau[xacro]"
            )
    name = _attribute(robot, "name")
    link_elements = _by_name(robot, "link")
    joint_elements = _by_name(robot, "joint")
    if not link_elements:
        raise robot.error("expected at least one <link>, got none")
    types = [_type(element, name) for name, element in joint_elements.items()]
    dofs = sum(_JOINTS[kind].nv for kind in types) + (Free.nv if root == "free" else 0)
    if dofs > MOST_DOFS:  # found out before the joints are read, which takes longer
        raise robot.error(f"expected at most {MOST_DOFS} degrees of freedom, got {dofs}")

    inertias = _inertias(link_elements)
    carriers: dict[str, Element] = {}  # the joint that carries each link
    links = []
    for joint_name in sorted(joint_elements):
        element = joint_elements[joint_name]
        link = _link(element, joint_name, inertias, mimic)
        if link.name in carriers:
            other = _attribute(carriers[link.name], "name")
            raise element.error(
                f"link {link.name!r} has two parents: joints {other!r} and {joint_name!r} "
                "both carry it"
            )
        if root == "free" and joint_name == "root_joint" and link.joint.nv > 0:
            raise element.error(
                "joint 'root_joint': root='free' adds a joint of that name; rename this one, or "
                "load with root='fixed'"
            )
        carriers[link.name] = element
        links.append(link)

    roots = [link for link in link_elements if link not in carriers]
    if len(roots) > 1:
        raise link_elements[roots[1]].error(
            f"expected one root link, got {len(roots)}: {listing(roots)}"
        )
    joint = Free() if root == "free" else Fixed()
    links[:0] = [Link(link, None, joint, "root_joint", inertia=inertias[link]) for link in roots]

    if mimic == "independent":
        _warn_of_mimics(joint_elements)
    return Parts(name, links, _notes(robot))


def _by_name(robot: Element, tag: str) -> dict[str, Element]:
    elements: dict[str, Element] = {}
    for element in robot.all(tag):
        name = _attribute(element, "name")
        if name in elements:
            raise element.error(
                f"two {tag}s are named {name!r}; the first is in line {elements[name].line}"
            )
        elements[name] = element
    return elements


def _inertias(links: dict[str, Element]) -> dict[str, Inertia]:
    """Read the inertia of each link in the link's frame; zero where the file gives none."""
    inertias = {}
    unphysical = []
    for name, link in links.items():
        inertial = link.one("inertial")
        if inertial is None:
            inertias[name] = _NOTHING
            continue
        mass = _required(inertial, "mass")
        moments = _required(inertial, "inertia")
        xx, xy, xz, yy, yz, zz = (
            _number(moments, f"i{axes}") for axes in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        with _located(inertial, f"inertia of link {name!r}"):
            inertia = Inertia._unchecked(
                _number(mass, "value"), (0, 0, 0), [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
            )
            if inertia._problem():
                unphysical.append(name)
            inertias[name] = inertia.transformed(_origin(inertial))
    if unphysical:
        warnings.warn(
            "principal moments that break the triangle inequality, which no rigid body has, in "
            f"links {', '.join(unphysical)}",
            ModelWarning,
            stacklevel=4,  # the caller of dtau.load
        )
    return inertias


def _link(element: Element, name: str, inertias: dict[str, Inertia], mimic: MimicJoints) -> Link:
    """Read a joint and make its child link."""
    parent, child = (_attribute(_required(element, tag), "link") for tag in ("parent", "child"))
    for link in (parent, child):
        if link not in inertias:
            raise element.error(f"joint {name!r} refers to link {link!r}, which does not exist")
    damping = 0.0
    limits = _UNLIMITED
    followed = None
    with _located(element, f"joint {name!r}"):
        joint = _joint_type(element, name)
        if joint.nq == 1:
            damping = _damping(element)
            limits = _limits(element)
            followed = _mimic(element) if mimic == "exact" else None
        return Link(
            child,
            parent,
            joint,
            name,
            placement=_origin(element),
            inertia=inertias[child],
            damping=damping,
            limits=limits,
            mimic=followed,
        )


def _type(element: Element, name: str) -> str:
    kind = _attribute(element, "type")
    if kind not in _JOINTS:
        known = ", ".join(_JOINTS)
        raise element.error(f"joint {name!r}: expected a type among {known}; got {kind!r}")
    return kind


def _joint_type(element: Element, name: str) -> JointType:
    kind = _type(element, name)
    if kind == "fixed":
        return Fixed()
    if kind == "floating":
        return Free()
    if kind == "planar":
        return Planar(_axis(element))
    return _ONE_COORDINATE[kind](_axis(element))


def _axis(element: Element) -> list[float]:
    axis = element.one("axis")
    return [1.0, 0.0, 0.0] if axis is None else _numbers(axis, "xyz", 3)


def _mimic(element: Element) -> Mimic | None:
    mimic = element.one("mimic")
    if mimic is None:
        return None
    return Mimic(
        _attribute(mimic, "joint"),
        _number(mimic, "multiplier", default=1.0),
        _number(mimic, "offset", default=0.0),
    )


def _limits(element: Element) -> Limits:
    limit = element.one("limit")
    if limit is None:
        return _UNLIMITED
    continuous = _attribute(element, "type") == "continuous"
    return Limits(
        # Where a range applies, a bound that is left out is 0 by the format's definition.
        lower=-math.inf if continuous else _number(limit, "lower", default=0.0),
        upper=math.inf if continuous else _number(limit, "upper", default=0.0),
        velocity=_number(limit, "velocity", default=math.inf),
        effort=_number(limit, "effort", default=math.inf),
    )


def _damping(element: Element) -> float:
    dynamics = element.one("dynamics")
    return 0.0 if dynamics is None else _number(dynamics, "damping", default=0.0)


def _origin(element: Element) -> Pose:
    origin = element.one("origin")
    if origin is None:
        return _HERE
    xyz = _numbers(origin, "xyz", 3) if "xyz" in origin.attributes else [0.0, 0.0, 0.0]
    if "quat_xyzw" in origin.attributes:
        if "rpy" in origin.attributes:
            raise origin.error("expected either rpy or quat_xyzw in <origin>, got both")
        quaternion = np.array(_numbers(origin, "quat_xyzw", 4))
        return Pose(rotation_of_quaternion(quaternion), xyz)
    rpy = _numbers(origin, "rpy", 3) if "rpy" in origin.attributes else [0.0, 0.0, 0.0]
    return Pose.from_rpy(rpy, xyz)


def _warn_of_mimics(joints: dict[str, Element]) -> None:
    mimics = [
        name
        for name, element in joints.items()
        if element.attributes["type"] in _ONE_COORDINATE and element.one("mimic") is not None
    ]
    if mimics:
        warnings.warn(
            "joints that mimic others load as independent joints (mimic='exact' ties them): "
            f"{', '.join(mimics)}",
            ModelWarning,
            stacklevel=4,  # the caller of dtau.load
        )


def _notes(robot: Element) -> list[str]:
    """List what the file says that a model does not keep, and what it leaves out."""
    ignored: Counter[str] = Counter()
    _count_ignored(robot, ignored)
    notes = [f"ignored {what}: {count}" for what, count in sorted(ignored.items())]
    unlimited = [
        _attribute(joint, "name")
        for joint in robot.all("joint")
        if joint.attributes["type"] in ("revolute", "prismatic") and joint.one("limit") is None
    ]
    if unlimited:
        notes.append(f"without <limit>, taken as unlimited: joints {listing(unlimited)}")
    return notes


def _count_ignored(element: Element, ignored: Counter[str]) -> None:
    attributes, children = (names.split() for names in _READ[element.tag])
    for name in element.attributes:
        if name not in attributes and not name.startswith("xmlns"):
            ignored[f"attribute {name} of <{element.tag}>"] += 1
    kind = element.attributes.get("type") if element.tag == "joint" else None
    for child in element.children:
        if child.tag not in children:
            ignored[child.tag] += 1
        elif child.tag in _UNUSED.get(kind or "", ()):
            ignored[f"{child.tag} of {kind} joints"] += 1
        else:
            _count_ignored(child, ignored)
            if kind == "continuous" and child.tag == "limit":
                ignored.update(
                    f"{bound} of continuous joints"
                    for bound in ("lower", "upper")
                    if bound in child.attributes
                )
    if element.tag == "dynamics" and _number(element, "friction", default=0.0) != 0:
        ignored["friction"] += 1


def _required(element: Element, tag: str) -> Element:
    found = element.one(tag)
    if found is None:
        raise element.error(f"expected <{tag}> in {_name(element)}, got none")
    return found


def _attribute(element: Element, name: str) -> str:
    if not element.attributes.get(name):
        raise element.error(f"expected the attribute {name!r} in {_name(element)}")
    return element.attributes[name]


def _name(element: Element) -> str:
    """Name an element as messages do."""
    name = element.attributes.get("name")
    return f"<{element.tag} name={name!r}>" if name else f"<{element.tag}>"


def _number(element: Element, name: str, default: float | None = None) -> float:
    if default is not None and name not in element.attributes:
        return default
    return _numbers(element, name, 1)[0]


def _numbers(element: Element, name: str, count: int) -> list[float]:
    """Read an attribute of finite numbers that spaces separate; no locale, no commas."""
    words = _attribute(element, name).split()
    numbers = [float(word) for word in words if _NUMBER.fullmatch(word)]
    if not len(words) == len(numbers) == count or not all(map(math.isfinite, numbers)):
        wanted = "a finite number" if count == 1 else f"{count} finite numbers"
        raise element.error(
            f"{name} of <{element.tag}>: expected {wanted}, got {_attribute(element, name)!r:.80}"
        )
    return numbers


@contextmanager
def _located(element: Element, what: str) -> Iterator[None]:
    """Say where in the file numbers stand that Pose, Inertia, a joint or Link refuses."""
    try:
        yield
    except ModelError:
        raise
    except ValueError as error:
        raise element.error(f"{what}: {error}") from None
