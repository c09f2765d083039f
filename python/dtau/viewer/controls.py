"""Controls that move a robot by hand: sliders for scalar coordinates, gizmos for the others."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dtau.functions.manifold_states import configuration, neutral
from dtau.model.joints import Cylindrical, Free, Planar, Prismatic, Spherical
from dtau.model.links import Joint
from dtau.model.model import Model
from dtau.support.arrays import Array

_TURN, _WAY = math.pi, 1.0  # default range on either side without limits: radians, meters
_STEPS = 1000  # steps of a slider


class Slider(NamedTuple):
    """A slider of one coordinate."""

    label: str  # the joint's name and, if it has several, the coordinate
    at: int  # index in q
    lower: float  # radians or meters, like the others
    upper: float
    step: float


_SEVERAL = {Planar: (" x", " y", " angle"), Cylindrical: (" distance", " angle")}
_LENGTHS = {Prismatic: 1, Planar: 2, Cylindrical: 1}  # number of leading coordinates in meters


def sliders(model: Model, q: Array | None = None) -> list[Slider]:
    """Return the sliders of a model, joint by joint.

    Their range is the range of the joint's limits. Without a limit it is half a turn, or a meter
    for lengths, from zero or from the limit on the other side. It is extended to the configurations
    q (T, nq).
    """
    found = []
    for joint in model.joints:
        if joint.mimic is not None or has_gizmo(joint):
            continue
        kind = type(joint.type)
        plain = [""] if joint.type.nq == 1 else [" 1", " 2"]
        for i, suffix in enumerate(_SEVERAL.get(kind, plain)):
            at = joint.q.start + i
            way = _WAY if i < _LENGTHS.get(kind, 0) else _TURN
            lower, upper = _range(float(model.lower_limits[at]), float(model.upper_limits[at]), way)
            if q is not None:
                lower, upper = min(lower, float(q[:, at].min())), max(upper, float(q[:, at].max()))
            step = 10.0 ** math.floor(math.log10(max(upper - lower, 1e-6) / _STEPS))
            found.append(Slider(joint.name + suffix, at, lower, upper, step))
    return found


def _range(lower: float, upper: float, way: float) -> tuple[float, float]:
    if math.isinf(lower) and math.isinf(upper):
        return -way, way
    if math.isinf(lower):
        return upper - 2 * way, upper
    if math.isinf(upper):
        return lower, lower + 2 * way
    return lower, upper


def has_gizmo(joint: Joint) -> bool:
    """Whether a joint's coordinates hold a quaternion, which sliders cannot move."""
    return joint.mimic is None and isinstance(joint.type, Free | Spherical)


def start(model: Model, q: ArrayLike | str | None = None) -> ArrayLike:
    """Return the configurations to show: the given ones, or a posture's by its name.

    By default the neutral configuration, within the limits of the joints.
    """
    if isinstance(q, str):
        return configuration(model, posture=q)
    if q is None:
        return np.clip(neutral(model), model.lower_limits, model.upper_limits)
    return q
