"""Pinocchio's joints as joints of a model: `elements` and `element_names`.

A joint of Pinocchio with several parts, for example `JointModelComposite`, is a chain of joints.
`dtau.from_pinocchio` and `dtau.conventions.pinocchio` share this module, so that models match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dtau.model.joint_type import JointType
from dtau.model.joints import Free, Helical, Planar, Prismatic, Revolute, Spherical, Universal
from dtau.model.names import distinct

# Pinocchio's types for our joints; types that are not listed must have the same nq and nv.
KINDS = {
    "Revolute": r"R[XYZ]|RUB[XYZ]|Revolute(Unbounded)?Unaligned",
    "Prismatic": r"P[XYZ]|PrismaticUnaligned",
    "Helical": r"H[XYZ]|HelicalUnaligned",
    "Spherical": r"Spherical",
    "Planar": r"Planar",
    "Free": r"FreeFlyer",
}
COSINE_AND_SINE = re.compile(r"RUB[XYZ]|RevoluteUnboundedUnaligned|Planar")
MIMIC = "Mimic"
_AXES = dict(zip("XYZ", np.eye(3).tolist(), strict=True))
_CHAINS = {"Translation": ("PX", "PY", "PZ"), "SphericalZYX": ("RZ", "RY", "RX")}


class Element(NamedTuple):
    """One joint of a chain."""

    kind: str  # Pinocchio's type without ``JointModel``
    nq: int | None  # in Pinocchio; None if the chain has one element
    nv: int | None  # likewise
    joint: Any  # Pinocchio's, which has the axis
    placement: Any = None  # pinocchio.SE3 in the frame of the element before; None: they coincide


def kind_of(joint: Any) -> str:
    """Return Pinocchio's type of a joint, without ``JointModel``."""
    name: str = joint.shortname().removeprefix("JointModel")
    return name


def elements(joint: Any) -> list[Element]:
    """Return the chain of joints that a joint of Pinocchio consists of; most have one element."""
    chain = list(_elements(joint, None))
    return chain if len(chain) > 1 else [chain[0]._replace(nq=None, nv=None)]


def _elements(joint: Any, placement: Any) -> Iterator[Element]:
    kind = kind_of(joint)
    if kind == "Composite":
        whole = joint.extract() if hasattr(joint, "extract") else joint
        parts = list(zip(whole.joints, whole.jointPlacements, strict=True))
        if not parts:
            raise ValueError("a composite joint without joints")
        for k, (part, place) in enumerate(parts):
            if k == 0 and placement is not None:
                place = placement * place
            yield from _elements(part, place)
    elif kind in _CHAINS:
        for k, name in enumerate(_CHAINS[kind]):
            yield Element(name, 1, 1, joint, placement if k == 0 else None)
    else:
        yield Element(
            kind, getattr(joint, "nq", None), getattr(joint, "nv", None), joint, placement
        )


def element_names(names: Sequence[str], counts: Sequence[int]) -> list[list[str]]:
    """Name the elements of each joint: the last has the joint's name, others a number behind it.

    Underscores are appended to names that repeat.
    """
    last = distinct(names)
    extra = [f"{name}_{k + 1}" for name, n in zip(last, counts, strict=True) for k in range(n - 1)]
    others = iter(distinct([*last, *extra])[len(last) :])
    return [
        [*(next(others) for _ in range(n - 1)), name] for name, n in zip(last, counts, strict=True)
    ]


def joint_type(element: Element) -> JointType:
    """Return the joint in a model.

    Raises
    ------
    ValueError
        If a model has no such joint.
    """
    kind = element.kind
    for ours, make in (("Revolute", Revolute), ("Prismatic", Prismatic)):
        if re.fullmatch(KINDS[ours], kind):
            return make(_axis(element))
    if re.fullmatch(KINDS["Helical"], kind):
        return Helical(_axis(element), element.joint.extract().pitch)
    if kind == "Universal":
        own = element.joint.extract()
        return Universal(np.ravel(own.axis1), np.ravel(own.axis2))
    plain: dict[str, type[JointType]] = {
        "Spherical": Spherical,
        "Planar": Planar,
        "FreeFlyer": Free,
    }
    if kind not in plain:
        raise ValueError(f"no joint of dtau moves as a JointModel{kind}")
    return plain[kind]()


def _axis(element: Element) -> Any:
    letter = element.kind[-1]
    return _AXES[letter] if letter in _AXES else np.ravel(element.joint.extract().axis)
