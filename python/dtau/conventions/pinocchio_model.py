"""The convention of a `pinocchio.Model`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dtau.conventions.convention import Convention
from dtau.conventions.coordinates import CoordinateMap
from dtau.conventions.matching import match_joints, require_attributes
from dtau.conventions.wrenches import WrenchMap
from dtau.model.joints import Planar
from dtau.model.model import Model

_ATTRIBUTES = ("names", "joints", "parents", "nq", "nv", "idx_qs", "idx_vs", "nqs", "nvs")

# What a joint of ours may be there; a type that is not listed must have the same nq and nv.
_KINDS = {
    "Revolute": r"R[XYZ]|RUB[XYZ]|Revolute(Unbounded)?Unaligned",
    "Prismatic": r"P[XYZ]|PrismaticUnaligned",
    "Helical": r"H[XYZ]|HelicalUnaligned",
    "Spherical": r"Spherical",
    "Planar": r"Planar",
    "Free": r"FreeFlyer",
}
_COSINE_AND_SINE = re.compile(r"RUB[XYZ]|RevoluteUnboundedUnaligned|Planar")


def pinocchio(model: Model, pin_model: Any) -> Convention:
    """Pinocchio's convention, for its model of the same robot.

    Joints are matched by their names, in whatever order; a free joint at the root under any name,
    if each model has exactly one. The two may differ in the order of joints and in the form of
    angles: continuous joints are (cosine, sine) there, and come back as an angle in [-pi, pi]. The
    velocities, displacements and torques of all joints are the same. An external wrench is the same
    too, one a joint, that of the universe first; `[pinocchio.Force(w) for w in wrenches]` makes the
    list that Pinocchio's functions take.

    Parameters
    ----------
    model : Model
    pin_model : pinocchio.Model
        Of the same robot, with the same frames of bodies (as both have from one URDF). It is only
        read, and not kept.

    Returns
    -------
    Convention

    Raises
    ------
    ValueError
        If a joint is missing in one of the models, or is of another kind there: it is named.
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
    require_attributes("pin_model", pin_model, _ATTRIBUTES, "pinocchio.Model")
    names = list(pin_model.names)[1:]  # without the universe
    kinds = [joint.shortname().removeprefix("JointModel") for joint in list(pin_model.joints)[1:]]
    parents = list(pin_model.parents)[1:]
    free_roots = [i for i, kind in enumerate(kinds) if kind == "FreeFlyer" and parents[i] == 0]
    matched = match_joints(model, "pin_model", names, free_roots)

    copies: list[tuple[int, int]] = []
    angles: list[tuple[int, int, int]] = []
    velocities = np.empty(model.nv, dtype=np.intp)
    carriers = np.full(len(names) + 1, -1)
    for joint, i in zip(model.joints, matched, strict=True):
        kind, theirs = kinds[i], i + 1
        q, v = int(pin_model.idx_qs[theirs]), int(pin_model.idx_vs[theirs])
        nq, nv = int(pin_model.nqs[theirs]), int(pin_model.nvs[theirs])
        paired = _COSINE_AND_SINE.fullmatch(kind) is not None
        fits = re.fullmatch(_KINDS.get(type(joint.type).__name__, r".*"), kind)
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
        alike = joint.type.nq - paired  # the angle, where there is one, comes last
        copies += [(joint.q.start + k, q + k) for k in range(alike)]
        if paired:
            angles.append((joint.q.start + alike, q + alike, q + alike + 1))
        velocities[v : v + nv] = np.r_[joint.v]
        carriers[theirs] = joint.body
    return Convention(
        "Pinocchio",
        model,
        coordinates=CoordinateMap(model, int(pin_model.nq), copies, angles=angles),
        velocities=velocities,
        wrenches=WrenchMap(model, carriers),
    )
