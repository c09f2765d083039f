"""Read URDF: convert the elements of the file to links: `read`.

http://wiki.ros.org/urdf/XML documents the elements and attributes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from dtau.loaders.elements import (
    RUN_XACRO,
    attribute,
    in_element,
    number,
    number_each,
    numbers,
    required,
)
from dtau.loaders.inertias import read_inertias
from dtau.loaders.source import Options, Parts, Source
from dtau.loaders.xml import Element, parse
from dtau.model.compile import MOST_DOFS
from dtau.model.joint_type import JointType
from dtau.model.joints import Fixed, Free, Planar, Prismatic, Revolute
from dtau.model.links import Limits, Link, Mimic
from dtau.model.names import distinct
from dtau.model.pose import Pose
from dtau.model.rotations import IDENTITY
from dtau.model.spatial import Inertia
from dtau.support.checks import listing, unknown_name
from dtau.support.errors import warn_of_model
from dtau.support.options import MimicJoints

_ONE_COORDINATE = {"revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic}
_JOINTS: dict[str, type[JointType]] = {
    "fixed": Fixed,
    "floating": Free,
    "planar": Planar,
    **_ONE_COORDINATE,
}
_UNREAD = frozenset({"visual", "collision", "material", "gazebo", "transmission", "sensor"})
_UNUSED = {
    "fixed": ("axis", "limit", "dynamics", "mimic"),
    "floating": ("axis", "limit", "dynamics", "mimic"),
    "planar": ("limit", "dynamics", "mimic"),
}

_HERE, _UNLIMITED = Pose(), Limits()  # defaults
_UNMOVED = Limits(velocity=(), effort=())  # limits of a fixed joint

_SAME_ROTATION = 1e-9

# Attributes and children that are read, by element.
_READ_WORDS = {
    "robot": ("name version dtau:root_joint", "link joint"),
    "link": ("name", "inertial"),
    "inertial": ("", "origin mass inertia"),
    "mass": ("value", ""),
    "inertia": ("ixx ixy ixz iyy iyz izz", ""),
    "joint": ("name type", "parent child origin axis limit dynamics mimic"),
    "parent": ("link", ""),
    "child": ("link", ""),
    "origin": ("xyz rpy quat_xyzw dtau:rotation", ""),
    "axis": ("xyz", ""),
    "limit": ("lower upper velocity effort", ""),
    "dynamics": ("damping friction", ""),
    "mimic": ("joint multiplier offset", ""),
}
_READ = {
    tag: tuple(frozenset(words.split()) for words in both) for tag, both in _READ_WORDS.items()
}


def read(source: Source, options: Options) -> Parts:
    """Return the parts of a URDF's model.

    The first link is the root, on a fixed or a free joint; the others are in the order of their
    joints' names. `options` are as in `dtau.load`.

    Raises
    ------
    ModelError
        If anything in the file is missing, contradictory or not understood.
    """
    robot = parse(source.content, source.label, _UNREAD)
    root, mimic = options.root, options.mimic
    for element in robot.children:
        if element.tag.startswith("xacro:") and element.tag != "xacro:property":
            raise element.error(f"got <{element.tag}>: {RUN_XACRO}")
    link_elements = _by_name(robot, "link")
    joint_elements = _by_name(robot, "joint")
    if not link_elements:
        raise robot.error("expected at least one <link>, got none: there is no robot in it")
    name = attribute(robot, "name")
    root_joint = "root_joint"
    if "dtau:root_joint" in robot.attributes:  # `Model.to_urdf` writes it for another name
        root_joint = attribute(robot, "dtau:root_joint")
    wanted, root_joint = root_joint, distinct([*joint_elements, root_joint])[-1]
    types = {name: _type(element, name) for name, element in joint_elements.items()}
    dofs = sum(_JOINTS[kind].nv for kind in types.values()) + (Free.nv if root == "free" else 0)
    if dofs > MOST_DOFS:  # checked before the joints are read, which takes longer
        raise robot.error(f"expected at most {MOST_DOFS} degrees of freedom, got {dofs}")
    _check_mimics(joint_elements, types, mimic)

    inertias, notes = read_inertias(link_elements, origin, options.inertia)
    carriers: dict[str, Element] = {}  # the joint that carries each link
    links = []
    for joint_name in sorted(joint_elements):
        element = joint_elements[joint_name]
        link = _link(element, joint_name, inertias, mimic)
        if link.name in carriers:
            other = attribute(carriers[link.name], "name")
            raise element.error(
                f"link {link.name!r} has two parents: joints {other!r} and {joint_name!r} "
                "both carry it"
            )
        carriers[link.name] = element
        links.append(link)

    roots = [link for link in link_elements if link not in carriers]
    if len(roots) > 1:
        raise link_elements[roots[1]].error(
            f"expected one root link, got {len(roots)}: {listing(roots)}"
        )
    if dofs == 0:
        raise robot.error(
            "expected a joint that moves, got none; root='free' lets the robot move as a whole"
        )
    joint = Free() if root == "free" else Fixed()
    links[:0] = [Link(link, None, joint, root_joint, inertia=inertias[link]) for link in roots]

    if root == "free" and root_joint != wanted:
        notes.append(
            f"the free joint of the root is called {root_joint!r}: the file has a joint {wanted!r}"
        )
    friction = _friction(joint_elements) if options.friction else {}
    return Parts(name, links, [*_notes(robot, options.friction), *notes], friction=friction)


def _by_name(robot: Element, tag: str) -> dict[str, Element]:
    elements: dict[str, Element] = {}
    for element in robot.all(tag):
        name = attribute(element, "name")
        if name in elements:
            raise element.error(
                f"two {tag}s are named {name!r}; the first is in line {elements[name].line}"
            )
        elements[name] = element
    return elements


def _link(element: Element, name: str, inertias: dict[str, Inertia], mimic: MimicJoints) -> Link:
    """Read a joint and make its child link."""
    parent = attribute(required(element, "parent"), "link")
    child = attribute(required(element, "child"), "link")
    for link in (parent, child):
        if link not in inertias:
            raise element.error(f"joint {name!r} refers to link {link!r}, which does not exist")
    damping = 0.0
    limits = _UNLIMITED
    mimicked = None
    try:
        joint = _joint_type(element, name)
        if joint.nv == 0:
            limits = _UNMOVED
        elif joint.nq == 1:
            damping = _damping(element)
            limits = _limits(element)
            mimicked = _mimic(element) if mimic == "exact" else None
        placement, inertia = origin(element), inertias[child]
        return Link(child, parent, joint, name, placement, inertia, 0.0, damping, limits, mimicked)
    except ValueError as error:
        raise in_element(element, f"joint {name!r}", error) from None


def _type(element: Element, name: str) -> str:
    kind = attribute(element, "type")
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
    axis = element.first("axis")
    return [1.0, 0.0, 0.0] if axis is None else numbers(axis, "xyz", 3)


def _mimic(element: Element) -> Mimic | None:
    mimic = element.first("mimic")
    if mimic is None:
        return None
    return Mimic(
        attribute(mimic, "joint"),
        number(mimic, "multiplier", default=1.0),
        number(mimic, "offset", default=0.0),
    )


def _limits(element: Element) -> Limits:
    limit = element.first("limit")
    if limit is None:
        return _UNLIMITED
    continuous = attribute(element, "type") == "continuous"
    # If a range applies, a missing bound is 0 by the format's definition.
    bounds = {} if continuous else {"lower": 0.0, "upper": 0.0}
    given = [name for name in (*bounds, "velocity", "effort") if name in limit.attributes]
    values = bounds | dict(zip(given, number_each(limit, given), strict=True))
    if not continuous and values["lower"] > values["upper"]:
        del values["lower"], values["upper"]  # as MuJoCo and Bullet read it
    for name in ("velocity", "effort"):
        if values.get(name, 0.0) < 0.0:
            raise ValueError(
                f"limits.{name}: expected a number of at least 0, got {values[name]}; without the "
                "attribute it has no limit"
            )
    return Limits._trusted(
        lower=values.get("lower", -math.inf),
        upper=values.get("upper", math.inf),
        velocity=(values.get("velocity", math.inf),),
        effort=(values.get("effort", math.inf),),
    )


def _damping(element: Element) -> float:
    dynamics = element.first("dynamics")
    return 0.0 if dynamics is None else number(dynamics, "damping", default=0.0)


def origin(element: Element) -> Pose:
    """Return the pose of the <origin> of a joint, an inertial or a visual."""
    found = element.first("origin")
    if found is None:
        return _HERE
    xyz = numbers(found, "xyz", 3) if "xyz" in found.attributes else [0.0, 0.0, 0.0]
    if "dtau:rotation" in found.attributes:
        return _exact_origin(found, xyz)
    if "quat_xyzw" in found.attributes:
        if "rpy" in found.attributes:
            raise found.error("expected either rpy or quat_xyzw in <origin>, got both")
        return Pose.from_quaternion(numbers(found, "quat_xyzw", 4), xyz, order="xyzw")
    rpy = numbers(found, "rpy", 3) if "rpy" in found.attributes else [0.0, 0.0, 0.0]
    translation = np.array(xyz)
    translation.setflags(write=False)
    if any(rpy):
        return Pose._of_angles(np.array(rpy), translation)
    return Pose._trusted(rotation=IDENTITY, translation=translation)


def _exact_origin(origin: Element, xyz: list[float]) -> Pose:
    """Read `dtau:rotation`, which `Model.to_urdf` writes if roll, pitch and yaw lose bits."""
    exact = Pose(np.reshape(numbers(origin, "dtau:rotation", 9), (3, 3)), xyz)
    angles = numbers(origin, "rpy", 3)
    if np.abs(exact.rotation - Pose.from_rpy(angles).rotation).max() > _SAME_ROTATION:
        raise origin.error(
            "expected the same rotation by rpy and by dtau:rotation in <origin>, got two; remove "
            "dtau:rotation to change rpy"
        )
    return exact


def _check_mimics(
    joints: Mapping[str, Element], types: Mapping[str, str], mimic: MimicJoints
) -> None:
    """Refuse mimic joints that cannot mimic their joint, or warn that they load as independent.

    Raises
    ------
    ModelError
        If mimics must be exact, and a mimicked joint does not exist or does not have one
        coordinate.
    """
    mimics = {
        name: found
        for name, element in joints.items()
        if types[name] in _ONE_COORDINATE and (found := element.first("mimic")) is not None
    }
    lost = {}
    for name, element in mimics.items():
        mimicked = attribute(element, "joint")
        if mimicked not in types:
            lost[name] = f"mimic of joint {name!r}: {unknown_name('joint', mimicked, types)}"
        elif types[mimicked] not in _ONE_COORDINATE:
            lost[name] = (
                f"mimic of joint {name!r}: expected a joint with one coordinate, got {mimicked!r}, "
                f"which is {types[mimicked]}"
            )
    if lost and mimic == "exact":
        problems = "; ".join(lost.values())
        raise mimics[next(iter(lost))].error(
            f"{problems}; mimic='independent' makes joints that mimic others independent"
        )
    if mimics and mimic == "independent":
        way = "mimic='exact' ties them"
        if lost:
            way = f"mimic='exact' would not load: {'; '.join(lost.values())}"
        warn_of_model(
            f"joints that mimic others load as independent joints ({way}): {', '.join(mimics)}",
            stacklevel=4,  # the caller of dtau.load
        )


def _notes(robot: Element, friction: bool) -> list[str]:
    """List the parts of the file that a model does not keep, and missing limits."""
    ignored: Counter[str] = Counter()
    _count_ignored(robot, ignored)
    if friction:
        del ignored[_FRICTION]
    notes = [f"ignored {what}: {count}" for what, count in sorted(ignored.items())]
    unlimited: dict[str, list[str]] = {}
    for joint in robot.all("joint"):
        if joint.attributes["type"] in ("revolute", "prismatic"):
            limit = joint.first("limit")
            if limit is None:
                unlimited.setdefault("without <limit>", []).append(joint.attributes["name"])
            elif number(limit, "lower", 0.0) > number(limit, "upper", 0.0):
                unlimited.setdefault("lower above upper", []).append(joint.attributes["name"])
    notes += [f"{why}, taken as unlimited: joints {listing(x)}" for why, x in unlimited.items()]
    if repeated := [*_repeated(robot)]:
        notes.append(f"elements that repeat, of which the first counts: {', '.join(repeated)}")
    return notes


def _repeated(robot: Element) -> Iterator[str]:
    """Name the elements that repeat in a link or a joint; most readers take the first one."""
    for part in (*robot.all("link"), *robot.all("joint")):
        for element in (part, *part.all("inertial")):
            tags = [child.tag for child in element.children]
            for tag in dict.fromkeys(tags) if len(tags) != len(set(tags)) else ():
                if tags.count(tag) > 1 and tag in _READ[element.tag][1]:
                    yield f"{tag} of {part.tag} {part.attributes['name']!r}"


_FRICTION = "friction (friction_speed= of dtau.load smooths and includes it)"


def _friction(joints: Mapping[str, Element]) -> dict[str, float]:
    """Return the Coulomb friction of joints that have it."""
    found: dict[str, float] = {}
    for name, element in joints.items():
        dynamics = element.first("dynamics")
        if dynamics is None or element.attributes["type"] not in _ONE_COORDINATE:
            continue
        friction = number(dynamics, "friction", default=0.0)
        if friction < 0.0:
            raise dynamics.error(
                f"joint {name!r}: friction: expected a number of at least 0, got {friction}"
            )
        if friction > 0.0:
            found[name] = friction
    return found


def _count_ignored(element: Element, ignored: Counter[str]) -> None:
    attributes, children = _READ[element.tag]
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
    if element.tag == "dynamics" and number(element, "friction", default=0.0) != 0:
        ignored[_FRICTION] += 1
