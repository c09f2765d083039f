"""Describe a model as data for JSON: `as_data`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtau.cli.output import finite
from dtau.cli.robot import Loaded
from dtau.model.joints import Fixed
from dtau.model.links import Joint
from dtau.model.model import Model
from dtau.model.printing import describe

_BY_VELOCITY = ("armature", "damping", "stiffness", "rest_position", "friction", "friction_speed")


def merged(model: Model) -> dict[str, list[str]]:
    """Return the links on fixed joints, by the body that carries them, or 'the world'."""
    found: dict[str, list[str]] = {}
    for link in model.links:
        if isinstance(link.joint, Fixed):
            body = model.frame(link.name).body
            found.setdefault("the world" if body < 0 else model.bodies[body], []).append(link.name)
    return found


def as_data(loaded: Loaded) -> dict[str, Any]:
    """Return everything that is shown, and more, as data for JSON; missing limits are null."""
    model = loaded.model
    carried = merged(model)
    return {
        "file": loaded.file.label,
        "name": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "nbodies": model.nbodies,
        "mass": model.mass,
        "gravity": model.gravity.tolist(),
        "joints": [_joint(model, joint) for joint in model.joints],
        "bodies": [
            {
                "name": body,
                "mass": inertia.mass,
                "com": np.asarray(inertia.com).tolist(),
                "inertia": inertia.tensor.tolist(),
                "merged": carried.get(body, []),
            }
            for body, inertia in zip(model.bodies, model.inertias, strict=True)
        ],
        "fixed_to_the_world": carried.get("the world", []),
        "frames": list(model.frames),
        "massless_joints": list(model.massless_joints),
        "notes": loaded.notes,
        "warnings": loaded.warnings,
    }


def _joint(model: Model, joint: Joint) -> dict[str, Any]:
    limits, mimic = joint.limits, joint.mimic
    return {
        "name": joint.name,
        "type": describe(joint),
        "body": model.bodies[joint.body],
        "parent": model.bodies[joint.parent] if joint.parent >= 0 else None,
        "q": [joint.q.start, joint.q.stop],
        "v": [joint.v.start, joint.v.stop],
        "translation": joint.placement.translation.tolist(),
        "rotation": joint.placement.rotation.tolist(),
        "limits": {
            "lower": finite(limits.lower),
            "upper": finite(limits.upper),
            "velocity": [finite(x) for x in np.atleast_1d(limits.velocity)],
            "effort": [finite(x) for x in np.atleast_1d(limits.effort)],
        },
        **{name: getattr(model, name)[joint.v].tolist() for name in _BY_VELOCITY},
        "mimic": mimic
        and {"joint": mimic.joint, "multiplier": mimic.multiplier, "offset": mimic.offset},
    }
