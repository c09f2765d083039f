"""Limits: ranges in which nothing moves, or that look like degrees."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dtau.cli.checks.findings import Finding
from dtau.model.joints import Revolute
from dtau.model.links import Joint
from dtau.model.model import Model

# rad; in example-robot-data the largest range that is meant ends at 10
_TURNS = 4 * math.pi
_NO_RANGE = 1e4  # rad, from where on a bound says that there is none
_FASTEST = 60.0  # rad/s of a joint with a range; example-robot-data has 59.9, and powers of ten
_SAME = 1e-3


def check_limits(model: Model) -> Iterator[Finding]:
    """Ranges, and the largest velocities and efforts."""
    joints = [joint for joint in model.joints if joint.type.nq == 1]
    stuck = [joint for joint in joints if joint.limits.lower == joint.limits.upper]
    if stuck:
        yield Finding(
            "warning",
            "empty-range",
            "Joints whose range is a single point, as a <limit> without lower and upper says.",
            {joint.name: f"{joint.limits.lower:g} .. {joint.limits.upper:g}" for joint in stuck},
            "Give lower and upper, or make the joint continuous or fixed.",
        )
    none = {
        joint.name: " and ".join(zeros)
        for joint in joints
        if (zeros := [x for x in ("velocity", "effort") if getattr(joint.limits, x) == (0.0,)])
    }
    if none:
        yield Finding(
            "warning",
            "zero-limits",
            "Joints whose largest velocity or effort is 0: whoever heeds that cannot move them.",
            none,
            "Give what the drive can do in <limit>, or leave the word out.",
        )
    yield from _degrees(joints)


def _degrees(joints: list[Joint]) -> Iterator[Finding]:
    turning = [joint for joint in joints if isinstance(joint.type, Revolute)]
    largest = {joint.name: _largest(joint) for joint in turning}
    degrees = [
        joint
        for joint in turning
        if _TURNS < largest[joint.name] < _NO_RANGE and not _whole_turns(largest[joint.name])
    ]
    if degrees:
        yield Finding(
            "warning",
            "degrees",
            "Ranges of several turns, which look like degrees; they are read as radians.",
            {
                joint.name: f"{joint.limits.lower:g} .. {joint.limits.upper:g} rad, or in degrees "
                f"{math.radians(joint.limits.lower):.3g} .. {math.radians(joint.limits.upper):.3g} "
                "rad"
                for joint in degrees
            },
            "Multiply lower and upper by pi / 180; velocity too.",
        )
    fast = {
        joint.name: f"{velocity:g} rad/s, {math.degrees(velocity) / 360:.3g} turns/s"
        for joint in turning
        if 0 < largest[joint.name] < _NO_RANGE
        and _FASTEST < (velocity := float(np.max(joint.limits.velocity))) < math.inf
        and not math.log10(velocity).is_integer()
    }
    if fast:
        yield Finding(
            "warning",
            "degrees-per-second",
            "Joints with a range that may turn faster than ten times a second; it looks like "
            "degrees per second.",
            fast,
            "Multiply velocity by pi / 180.",
        )
    unlimited = {
        joint.name: f"{joint.limits.lower:g} .. {joint.limits.upper:g}"
        for joint in turning
        if _NO_RANGE <= largest[joint.name] < math.inf
    }
    if unlimited:
        yield Finding(
            "note",
            "wide-range",
            "Ranges so wide that they limit nothing; random states are drawn from all of it.",
            unlimited,
            "Make the joints continuous.",
        )


def _largest(joint: Joint) -> float:
    return max(abs(joint.limits.lower), abs(joint.limits.upper))


def _whole_turns(bound: float) -> bool:
    """Whether a bound is a multiple of a quarter turn in radians."""
    quarters = bound / (0.5 * math.pi)
    return abs(quarters - round(quarters)) < _SAME * quarters
