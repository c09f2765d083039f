"""Write models as URDF: `urdf_text`, which lists all that a URDF cannot represent.

`dtau.loaders.urdf` reads the elements and documents their meaning.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.base import ModelBase
from dtau.model.joints import Fixed, Free, Planar, Prismatic, Revolute
from dtau.model.links import Limits, Link
from dtau.model.pose import Pose
from dtau.model.roll_pitch_yaw import angles_of
from dtau.model.spatial import Inertia
from dtau.support.checks import listing, require_name

_GRAVITY = [0.0, 0.0, -9.81]  # the default of `dtau.load`
_ROOT = "root_joint"  # the readers' name for the root's joint
_ROOT_NAME = "dtau:root_joint"  # attribute of <robot> for another name
_EXACT = "dtau:rotation"  # attribute of <origin>, in addition to rpy
_KINDS = (Fixed, Free, Planar, Prismatic, Revolute)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_XACRO = re.compile(r"\$[{(]")
_ESCAPED = str.maketrans(
    {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)


def urdf_text(model: ModelBase, root_link: str | None) -> str:
    """Return the text of `Model.to_urdf`.

    Raises
    ------
    ValueError
        If a URDF cannot represent the model.
    """
    if root_link is not None:
        require_name("root_link", root_link)
        if root_link in model.frames:
            raise ValueError(f"root_link: there is already a link named {root_link!r}")
    joints = model.links if root_link is not None else model.links[1:]
    problems = [*_of_model(model), *_of_root(model, root_link), *_of_joints(joints)]
    others = [model.name] if root_link is None else [model.name, root_link]
    problems += _of_names(others, model.links)
    problems += _of_order(joints)
    if problems:
        raise ValueError(
            f"model {model.name!r:.80}: a URDF cannot represent all of it: {'; '.join(problems)}"
        )
    options = spelled(load_options(model, root_link)).replace("--", r"-\x2d")  # ends no comment
    lines = [] if root_link is None else [f"  <link name={_quoted(root_link)}/>"]
    for link in model.links:
        lines += _link(link)
    for link in joints:
        lines += _joint(link, str(root_link) if link.parent is None else link.parent)
    own = ""
    if root_link is None and model.links[0].joint_name != _ROOT:
        own = f" {_ROOT_NAME}={_quoted(model.links[0].joint_name)}"
    if own or any(f" {_EXACT}=" in line for line in lines):
        own = f' xmlns:dtau="urn:dtau"{own}'
    return "\n".join(
        [
            f"<!-- dtau.load(..., {options}) gives the model that this was written from -->",
            f"<robot name={_quoted(model.name)}{own}>",
            *lines,
            "</robot>",
            "",
        ]
    )


def load_options(model: ModelBase, root_link: str | None) -> dict[str, Any]:
    """Return the options with which `dtau.load` reads an equal model from the model's URDF."""
    joints = model.links if root_link is not None else model.links[1:]
    free = root_link is None and isinstance(model.links[0].joint, Free)
    options: dict[str, Any] = {"root": "free" if free else "fixed"}
    if any(link.mimic for link in model.links):
        options["mimic"] = "exact"
    if any(any(_floats(link.friction_speed)) for link in joints):
        options["friction_speed"] = _friction_speeds(joints)
    return options


def _friction_speeds(links: Sequence[Link]) -> float | dict[str, float | list[float]]:
    """Return the option of `dtau.load` with which links get their speeds of friction again."""
    moving = {link.joint_name: _floats(link.friction_speed) for link in links if link.joint.nv}
    first, *others = moving.values()
    if len(first) == 1 and all(each == first for each in others):
        return first[0]
    return {name: x[0] if len(x) == 1 else x for name, x in moving.items() if any(x)}


def spelled(options: Mapping[str, Any]) -> str:
    """Return options as they stand in a call."""
    values = (f'"{x}"' if isinstance(x, str) else repr(x) for x in options.values())
    return ", ".join(map("=".join, zip(options, values, strict=True)))


# Parts of a model that a URDF cannot represent


def _of_model(model: ModelBase) -> Iterator[str]:
    if model.gravity.tolist() != _GRAVITY:
        yield (
            f"gravity {model.gravity.tolist()} (replace(gravity={tuple(_GRAVITY)}) leaves it out, "
            "dtau.load(..., gravity=) gives it back)"
        )
    with_armature = [link.joint_name for link in model.links if any(_floats(link.armature))]
    if with_armature:
        yield (
            f"armature of joints {listing(with_armature)} (replace(armature=0) leaves it out, "
            "of free roots by name; dtau.load(..., armature=) gives it back)"
        )
    with_springs = [link.joint_name for link in model.links if any(_floats(link.stiffness))]
    if with_springs:
        yield f"springs of joints {listing(with_springs)} (replace(stiffness=0) leaves them out)"


def _of_root(model: ModelBase, root_link: str | None) -> Iterator[str]:
    if root_link is not None:
        return
    first, *others = model.links
    way_out = "root_link= adds a link that carries all of it"
    trees = [link.name for link in (first, *others) if link.parent is None]
    if len(trees) > 1:
        yield f"several links on the world, {listing(trees)} ({way_out})"
    plain = Link(first.name, None, first.joint, first.joint_name, inertia=first.inertia)
    if not isinstance(first.joint, Fixed | Free) or first != plain:
        yield (
            f"link {first.name!r} on the world by joint {first.joint_name!r}, where a URDF's root "
            f"is fixed or free at the world's origin, without damping and limits ({way_out})"
        )


def _of_joints(links: Sequence[Link]) -> Iterator[str]:
    others = [
        f"{link.joint_name!r} ({type(link.joint).__name__})"
        for link in links
        if not isinstance(link.joint, _KINDS)
    ]
    if others:
        yield f"kinds of joints {', '.join(others)}"
    plural = [
        link.joint_name
        for link in links
        if isinstance(link.joint, Free | Planar)
        and (
            any(_floats(link.damping) + _floats(link.friction))
            or _magnitudes(link.limits) != {math.inf}
        )
    ]
    if plural:
        yield f"damping, friction and limits of joints with several coordinates, {listing(plural)}"
    half = [link.joint_name for link in links if link.joint.nq == 1 and _is_half(link)]
    if half:
        yield (
            f"limits with one bound, or of prismatic joints velocity and effort without a range, "
            f"of joints {listing(half)}"
        )


def _is_half(link: Link) -> bool:
    bounds = math.isfinite(link.limits.lower) + math.isfinite(link.limits.upper)
    unlimited = _magnitudes(link.limits) == {math.inf}
    return bounds == 1 or (bounds == 0 and isinstance(link.joint, Prismatic) and not unlimited)


def _magnitudes(limits: Limits) -> set[float]:
    return {*_floats(limits.velocity), *_floats(limits.effort)}


def _of_names(others: Sequence[str], links: Sequence[Link]) -> Iterator[str]:
    joints = [link.joint_name for link in links]
    names = [*others, *joints, *(link.name for link in links)]
    strange = [name for name in dict.fromkeys(names) if not name or _NOT_XML.search(name)]
    if strange:
        yield f"names that are empty or have characters that XML has not, {listing(strange)}"
    if xacro := [name for name in dict.fromkeys(names) if _XACRO.search(name)]:
        yield f"names that read as xacro, {listing(xacro)}"
    repeated = [name for name, count in Counter(joints).items() if count > 1]
    if repeated:
        yield f"several joints of one name, {listing(repeated)}"


def _of_order(links: Sequence[Link]) -> Iterator[str]:
    """Yield siblings that a reader would reorder: moving ones change q and v, others frames."""
    moving = {link.name for link in links if not isinstance(link.joint, Fixed)}
    for link in reversed(links):
        if link.name in moving and link.parent is not None:
            moving.add(link.parent)
    if found := _disorder([link for link in links if link.name in moving]):
        yield f"{found}, and q and v with them"
    elif found := _disorder(links):
        yield f"{found}, and frames with them"


def _disorder(links: Iterable[Link]) -> str | None:
    last: dict[str | None, str] = {}
    for link in links:
        before = last.setdefault(link.parent, link.joint_name)
        if link.joint_name < before:
            return (
                f"joint {link.joint_name!r} after {before!r} on one link, where readers take "
                "joints in the order of their names"
            )
        last[link.parent] = link.joint_name
    return None


# The elements


def _link(link: Link) -> list[str]:
    name = f"  <link name={_quoted(link.name)}"
    inertia = link.inertia
    if inertia == Inertia():
        return [f"{name}/>"]
    tensor = inertia.tensor
    if not np.array_equal(tensor, tensor.T):
        tensor = 0.5 * tensor + 0.5 * tensor.T
    moments = " ".join(
        f'i{"xyz"[i]}{"xyz"[j]}="{_number(tensor[i, j])}"' for i in range(3) for j in range(i, 3)
    )
    return [
        f"{name}>",
        "    <inertial>",
        *(f"      {line}" for line in _origin(Pose(translation=inertia.com))),
        f'      <mass value="{_number(inertia.mass)}"/>',
        f"      <inertia {moments}/>",
        "    </inertial>",
        "  </link>",
    ]


def _joint(link: Link, parent: str) -> list[str]:
    joint, limits = link.joint, link.limits
    kinds = {Fixed: "fixed", Free: "floating", Planar: "planar", Prismatic: "prismatic"}
    ranged = math.isfinite(limits.lower)
    kind = kinds.get(type(joint), "revolute" if ranged else "continuous")
    lines = [
        f'  <joint name={_quoted(link.joint_name)} type="{kind}">',
        f"    <parent link={_quoted(parent)}/>",
        f"    <child link={_quoted(link.name)}/>",
        *(f"    {line}" for line in _origin(link.placement)),
    ]
    if isinstance(joint, Planar | Prismatic | Revolute):
        axis = joint.normal if isinstance(joint, Planar) else joint.axis
        lines.append(f'    <axis xyz="{_numbers(axis)}"/>')
    if joint.nq == 1:
        (velocity,), (effort,) = _floats(limits.velocity), _floats(limits.effort)
        given = {"velocity": velocity, "effort": effort}
        if ranged:
            given = {"lower": limits.lower, "upper": limits.upper, **given}
        words = [f'{name}="{_number(x)}"' for name, x in given.items() if math.isfinite(x)]
        if words:
            lines.append(f"    <limit {' '.join(words)}/>")
        dynamics = {"damping": _floats(link.damping), "friction": _floats(link.friction)}
        words = [f'{name}="{_numbers(x)}"' for name, x in dynamics.items() if any(x)]
        if words:
            lines.append(f"    <dynamics {' '.join(words)}/>")
    if link.mimic:
        mimic = link.mimic
        lines.append(
            f"    <mimic joint={_quoted(mimic.joint)} "
            f'multiplier="{_number(mimic.multiplier)}" offset="{_number(mimic.offset)}"/>'
        )
    return [*lines, "  </joint>"]


def _origin(pose: Pose) -> list[str]:
    words = []
    if pose.translation.any():
        words.append(f'xyz="{_numbers(pose.translation.tolist())}"')
    if not np.array_equal(pose.rotation, np.eye(3)):
        angles, exact = angles_of(pose)
        words.append(f'rpy="{_numbers(angles)}"')
        if not exact:
            words.append(f'{_EXACT}="{_numbers(pose.rotation.ravel().tolist())}"')
    return [f"<origin {' '.join(words)}/>"] if words else []


def _floats(values: ArrayLike) -> list[float]:
    return [float(x) for x in np.asarray(values, dtype=np.float64)]


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPED)}"'


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(_number, values))
