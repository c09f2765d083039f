"""The convention of a `pinocchio.Model`: `pinocchio`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dtau.conventions.convention import Convention
from dtau.conventions.coordinates import CoordinateMap
from dtau.conventions.foreign import ForeignModel
from dtau.conventions.matching import match_joints
from dtau.conventions.pinocchio_joints import (
    COSINE_AND_SINE,
    KINDS,
    MIMIC,
    Element,
    element_names,
    elements,
    kind_of,
)
from dtau.conventions.wrenches import WrenchMap
from dtau.model.joints import Planar
from dtau.model.model import Model
from dtau.support.checks import require

_ATTRIBUTES = ("names", "joints", "parents", "nq", "nv", "idx_qs", "idx_vs", "nqs", "nvs")


def pinocchio(model: Model, pin_model: Any) -> Convention:
    """Pinocchio's convention, from its model of the same robot.

    Joints are matched by name, in any order. A free joint at the root matches under any name, if
    each model has exactly one. A joint of several parts, for example a composite joint, matches one
    joint, or the chain of joints that `from_pinocchio` makes of it. Mimic joints match mimic
    joints.

    The conventions may differ in the order of joints and in the form of angles: Pinocchio's
    continuous joints are (cosine, sine), and convert back to an angle in [-pi, pi]. The velocities,
    displacements and torques of all joints are the same. External wrenches are the same too, one
    per joint, the universe first; `[pinocchio.Force(w) for w in wrenches]` makes the list that
    Pinocchio's functions take.

    Parameters
    ----------
    model : Model
    pin_model : pinocchio.Model
        Pinocchio's model of the same robot, with the same body frames (as loaded from the same
        URDF). The argument is only read, not stored.

    Returns
    -------
    Convention

    Raises
    ------
    ValueError
        If a joint is missing in one of the models or its kind differs, or if a part of
        ``pin_model`` cannot be read or contradicts another. The message names it.
    TypeError
        If an argument is not a model.

    Examples
    --------
    >>> import dtau, numpy as np, pinocchio
    >>> builder = dtau.ModelBuilder("wheel")
    >>> disc = dtau.Inertia(mass=1.0, tensor=np.diag([0.1, 0.2, 0.1]))
    >>> _ = builder.add(dtau.Revolute(axis=(0, 1, 0)), name="wheel", inertia=disc)
    >>> model = builder.build()
    >>> pin_model = pinocchio.Model()
    >>> joint, origin = pinocchio.JointModelRUBY(), pinocchio.SE3.Identity()
    >>> _ = pin_model.addJoint(0, joint, origin, "wheel")
    >>> convention = dtau.conventions.pinocchio(model, pin_model)
    >>> convention.from_dtau([0.0]).q  # cosine and sine
    array([1., 0.])
    """
    require("model", model, Model)
    peer = ForeignModel("pin_model", pin_model, "pinocchio.Model", _ATTRIBUTES)
    names = peer.names("names", lambda x: list(x)[1:])  # without the universe
    n = len(names)
    kinds = peer.names("joints", lambda x: [kind_of(joint) for joint in list(x)[1:]])
    if len(kinds) != n:
        raise peer.error("joints", f"{n + 1} joints, as there are names", len(kinds) + 1)
    chains = peer.read("joints", "joints", lambda x: [elements(joint) for joint in list(x)[1:]])
    parents = peer.integers("parents", n, n, skip=1)
    nqs, nvs = (peer.integers(name, n, skip=1) for name in ("nqs", "nvs"))
    starts_q, starts_v = (peer.integers(name, n, skip=1) for name in ("idx_qs", "idx_vs"))
    nq_total = peer.integer("nq")
    peer.require_places("idx_qs", starts_q, nqs, nq_total)
    peer.require_places("idx_vs", starts_v, nvs, peer.integer("nv"))
    slots: list[_Slot] = []
    for i, called in enumerate(element_names(names, [len(chain) for chain in chains])):
        whole = _Slot(called[-1], kinds[i], starts_q[i], starts_v[i], nqs[i], nvs[i], i)
        slots += _slots(model, whole, called, chains[i])
    free_roots = [
        k for k, slot in enumerate(slots) if slot.kind == "FreeFlyer" and parents[slot.joint] == 0
    ]
    mimics = [k for k, slot in enumerate(slots) if slot.kind == MIMIC]
    matched = match_joints(
        model, "pin_model", [slot.name for slot in slots], free_roots, mimics=mimics
    )

    copies: list[tuple[int, int]] = []
    angles: list[tuple[int, int, int]] = []
    velocities = np.empty(model.nv, dtype=np.intp)
    carriers = np.full(n + 1, -1)
    counterparts = {joint.name: slots[k] for joint, k in zip(model.joints, matched, strict=True)}
    for joint in model.joints:
        slot = counterparts[joint.name]
        if slot.carries:
            carriers[slot.joint + 1] = joint.body
        if joint.mimic is not None:
            mimicked = counterparts[joint.mimic.joint]
            if starts_v[slot.joint] != mimicked.v:
                raise ValueError(
                    f"pin_model: joint {joint.name!r} mimics another joint there than "
                    f"{joint.mimic.joint!r}"
                )
            continue
        kind, q, v, nq, nv = slot.kind, slot.q, slot.v, slot.nq, slot.nv
        paired = COSINE_AND_SINE.fullmatch(kind) is not None
        fits = re.fullmatch(KINDS.get(type(joint.type).__name__, r".*"), kind)
        if not fits or (nq, nv) != (joint.type.nq + paired, joint.type.nv):
            raise ValueError(
                f"pin_model: joint {joint.name!r} is a JointModel{kind} there, which cannot be "
                f"converted from and to {type(joint.type).__name__}"
            )
        if isinstance(joint.type, Planar) and joint.type.normal != (0.0, 0.0, 1.0):
            raise ValueError(
                f"model: joint {joint.name!r}: expected the normal (0, 0, 1), as "
                f"Pinocchio's planar joints have, got {joint.type.normal}"
            )
        alike = joint.type.nq - paired  # an angle comes last
        copies += [(joint.q.start + k, q + k) for k in range(alike)]
        if paired:
            angles.append((joint.q.start + alike, q + alike, q + alike + 1))
        velocities[v : v + nv] = np.r_[joint.v]
    return Convention(
        "Pinocchio",
        model,
        coordinates=CoordinateMap(model, nq_total, copies, angles=angles),
        velocities=velocities,
        wrenches=WrenchMap(model, carriers),
    )


class _Slot(NamedTuple):
    """A joint, or an element of one, and its places in Pinocchio's vectors."""

    name: str
    kind: str
    q: int
    v: int
    nq: int
    nv: int
    joint: int
    carries: bool = True  # the body of the joint


def _slots(
    model: Model, whole: _Slot, names: Sequence[str], chain: Sequence[Element]
) -> list[_Slot]:
    """Return one slot, or the elements' if the model has the joint as a chain."""
    if len(chain) == 1:
        return [whole]
    ours = next((joint.type for joint in model.joints if joint.name == whole.name), None)
    if ours is None or ours.nv == whole.nv:
        return [whole]
    slots, q, v = [], whole.q, whole.v
    for name, element in zip(names, chain, strict=True):
        nq, nv = element.nq or 0, element.nv or 0
        slots.append(_Slot(name, element.kind, q, v, nq, nv, whole.joint, name == whole.name))
        q, v = q + nq, v + nv
    return slots
