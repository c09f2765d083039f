"""Write models as named arrays: `saved`; `restored` reads them.

A file has the model twice: its links as they were given (`links.*`), which Python reads, and the
bodies and frames that the core computes with (`core.*`), for programs that call the core without
Python: they need not merge fixed links, and compute the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dtau._core import JointKind
from dtau.model.array_file import pack, unpack
from dtau.model.base import ModelBase
from dtau.model.compile import body_arrays, concatenate, take_apart, tree_arguments
from dtau.model.joint_type import JointType
from dtau.model.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from dtau.model.links import Body, Limits, Link, Mimic
from dtau.model.mimic import resolve_mimics
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array
from dtau.support.immutable import Immutable

_AXIS = 3
_JOINTS: dict[str, tuple[type[JointType], tuple[int, ...]]] = {  # sizes of the arguments
    "fixed": (Fixed, ()),
    "revolute": (Revolute, (_AXIS,)),
    "prismatic": (Prismatic, (_AXIS,)),
    "helical": (Helical, (_AXIS, 1)),
    "spherical": (Spherical, ()),
    "free": (Free, ()),
    "cylindrical": (Cylindrical, (_AXIS,)),
    "planar": (Planar, (_AXIS,)),
    "universal": (Universal, (_AXIS, _AXIS)),
}
_NAMES = {kind: name for name, (kind, _) in _JOINTS.items()}
_PER_VELOCITY = (
    *("armature", "damping", "stiffness", "rest_position", "friction", "friction_speed"),
    *("velocity", "effort"),
)


class Saved(NamedTuple):
    """The parts of a model that a file has."""

    name: str
    links: list[Link]
    notes: list[str]
    gravity: Array
    postures: dict[str, dict[str, Array]]


def saved(model: ModelBase, core: bool = True) -> bytes:
    """Return the content of the file that `Model.save` writes; Python reads it without `core`."""
    links = model.links
    place: dict[str | None, int] = {link.name: index for index, link in enumerate(links)}
    joints = {link.joint_name: index for index, link in enumerate(links) if link.joint.nv > 0}
    mimics = [link.mimic or Mimic("") for link in links]

    def numbers(values: Any) -> Array:
        return np.array(list(values), dtype=np.float64)

    return pack(
        {
            "name": [model.name],
            "gravity": model.gravity,
            "notes": model.notes,
            "postures.names": list(model.postures),
            "postures.q": numbers(model.postures.values()).reshape(-1, model.nq),
            "links.name": [link.name for link in links],
            "links.parent": np.array([place.get(link.parent, -1) for link in links], np.int32),
            "links.joint_name": [link.joint_name for link in links],
            "links.joint": [_NAMES[type(link.joint)] for link in links],
            "links.joint_numbers": concatenate(map(_arguments, links)),
            "links.rotation": numbers(link.placement.rotation for link in links),
            "links.translation": numbers(link.placement.translation for link in links),
            "links.mass": numbers(link.inertia.mass for link in links),
            "links.com": numbers(link.inertia.com for link in links),
            "links.tensor": numbers(link.inertia.tensor for link in links),
            "links.armature": concatenate(link.armature for link in links),
            "links.damping": concatenate(link.damping for link in links),
            "links.stiffness": concatenate(link.stiffness for link in links),
            "links.rest_position": concatenate(link.rest_position for link in links),
            "links.friction": concatenate(link.friction for link in links),
            "links.friction_speed": concatenate(link.friction_speed for link in links),
            "links.lower": numbers(link.limits.lower for link in links),
            "links.upper": numbers(link.limits.upper for link in links),
            "links.velocity": concatenate(link.limits.velocity for link in links),
            "links.effort": concatenate(link.limits.effort for link in links),
            "links.mimicked": np.array([joints.get(m.joint, -1) for m in mimics], np.int32),
            "links.multiplier": numbers(mimic.multiplier for mimic in mimics),
            "links.offset": numbers(mimic.offset for mimic in mimics),
            **(_core_arrays(model) if core else {}),
        }
    )


def restored(content: bytes) -> Saved:
    """Return the parts of the model in a file.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        If the file is truncated, damaged or of another version, or holds no model.
    """
    arrays = unpack(content)
    _require_forms(arrays)
    of_links = {
        name.removeprefix("links."): arrays[name] for name in _FORMS if name.startswith("links.")
    }
    links = list(_links(of_links))
    gravity = arrays["gravity"]
    return Saved(arrays["name"][0], links, arrays["notes"], gravity, _postures(arrays, links))


# The arrays of a file: texts, or numbers of a kind and a shape, -1 for any length.
_Form = tuple[str, tuple[int, ...]]
_TEXTS: _Form = ("texts", (-1,))
_INTEGERS: _Form = ("integers", (-1,))
_FLOATS: _Form = ("floats", (-1,))
_FORMS: dict[str, _Form] = {
    "name": ("texts", (1,)),
    "gravity": ("floats", (3,)),
    "notes": _TEXTS,
    "postures.names": _TEXTS,
    "postures.q": ("floats", (-1, -1)),
    **{f"links.{name}": _TEXTS for name in ("name", "joint_name", "joint")},
    **{f"links.{name}": _INTEGERS for name in ("parent", "mimicked")},
    **{f"links.{name}": _FLOATS for name in ("mass", "lower", "upper", "multiplier", "offset")},
    **{f"links.{name}": _FLOATS for name in ("joint_numbers", *_PER_VELOCITY)},
    **{f"links.{name}": ("floats", (-1, 3)) for name in ("com", "translation")},
    **{f"links.{name}": ("floats", (-1, 3, 3)) for name in ("rotation", "tensor")},
}


def _require_forms(arrays: Mapping[str, Any]) -> None:
    for name, (kind, shape) in _FORMS.items():
        x = arrays[name]
        numbers = "integers" if getattr(x, "dtype", None) == np.int32 else "floats"
        got, size = ("texts", (len(x),)) if isinstance(x, list) else (numbers, x.shape)
        fits = len(size) == len(shape) and all(
            n in (-1, m) for n, m in zip(shape, size, strict=True)
        )
        if got != kind or not fits:
            raise ValueError(f"expected {name} with {kind} of shape {shape}, got {got} of {size}")


def _core_arrays(model: ModelBase) -> dict[str, Any]:
    bodies: tuple[Body, ...] = model._bodies  # type: ignore[attr-defined]
    core_bodies = take_apart(bodies, resolve_mimics(model.links))
    arrays = body_arrays(core_bodies)
    frames = model._frames  # type: ignore[attr-defined]
    arguments = tree_arguments(core_bodies, arrays, model.gravity, model.massless_joints, frames)
    del arguments["gravity"]
    arguments["kind"] = [JointKind(kind).name for kind in arrays.kind.tolist()]
    return {f"core.{name}": values for name, values in arguments.items()}


def _arguments(link: Link) -> list[float]:
    values = vars(link.joint).values()
    return [x for value in values for x in (value if isinstance(value, tuple) else (value,))]


class _Row:
    """A row of numbers that is read from the front."""

    def __init__(self, numbers: Array) -> None:
        self.numbers = numbers.tolist()
        self.place = 0

    def take(self, count: int) -> tuple[float, ...]:
        self.place += count
        if self.place > len(self.numbers):
            raise ValueError("expected more numbers of joints, got too few")
        return tuple(self.numbers[self.place - count : self.place])


def _links(x: Mapping[str, Any]) -> Iterator[Link]:
    count = len(x["name"])
    for name, values in x.items():
        if name not in (*_PER_VELOCITY, "joint_numbers") and len(values) != count:
            raise ValueError(f"expected links.{name} of {count} links, got {len(values)}")
    numbers = _Row(x["joint_numbers"])
    rows = {name: _Row(x[name]) for name in _PER_VELOCITY}
    for i, name in enumerate(x["name"]):
        kind, sizes = _JOINTS[x["joint"][i]]
        values = [numbers.take(size) for size in sizes]
        joint = kind(*(value if len(value) > 1 else value[0] for value in values))
        per_velocity = {name: row.take(joint.nv) for name, row in rows.items()}
        parent, mimicked = int(x["parent"][i]), int(x["mimicked"][i])
        if not -1 <= parent < i:
            raise ValueError(f"link {name!r}: expected a parent before it, got number {parent}")
        mimic = None
        if mimicked >= 0:
            multiplier, offset = float(x["multiplier"][i]), float(x["offset"][i])
            mimic = Mimic(x["joint_name"][mimicked], multiplier, offset)
        yield Link(
            name,
            x["name"][parent] if parent >= 0 else None,
            joint,
            x["joint_name"][i],
            _state(Pose, rotation=x["rotation"][i], translation=x["translation"][i]),
            _state(Inertia, mass=float(x["mass"][i]), com=x["com"][i], tensor=x["tensor"][i]),
            per_velocity["armature"],
            per_velocity["damping"],
            Limits(
                float(x["lower"][i]),
                float(x["upper"][i]),
                per_velocity["velocity"],
                per_velocity["effort"],
            ),
            mimic,
            per_velocity["stiffness"],
            per_velocity["rest_position"],
            per_velocity["friction"],
            per_velocity["friction_speed"],
        )


_Part = TypeVar("_Part", bound=Immutable)


def _state(cls: type[_Part], **state: Any) -> _Part:
    """Make an object as unpickling does: checked, with the same bits, without warnings."""
    made = cls.__new__(cls)
    made.__setstate__(state)
    return made


def _postures(arrays: Mapping[str, Any], links: list[Link]) -> dict[str, dict[str, Array]]:
    joints = [(link.joint_name, link.joint.nq) for link in links if link.mimic is None]
    ends = np.cumsum([nq for _, nq in joints])
    names, rows = arrays["postures.names"], arrays["postures.q"]
    if rows.shape != (len(names), ends[-1]):
        raise ValueError(f"expected {len(names)} postures of {ends[-1]} numbers, got {rows.shape}")
    return {
        name: {
            joint: q[end - nq : end] for (joint, nq), end in zip(joints, ends, strict=True) if nq
        }
        for name, q in zip(names, rows, strict=True)
    }
