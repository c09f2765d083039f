"""Check limits: empty ranges, and ranges or velocities that look like degrees."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dtau.cli.checks.findings import Finding
from dtau.model.joints import Revolute
from dtau.model.links import Joint
from dtau.model.model import Model

# rad; in example-robot-data the largest intended range ends at 10
_TURNS = 4 * math.pi
_NO_RANGE = 1e4  # rad; a bound beyond this means no limit
_FASTEST = 60.0  # rad/s for a joint with a range; example-robot-data has 59.9, and powers of ten
_SAME = 1e-3


def check_limits(model: Model) -> Iterator[Finding]:
    """Check ranges, and the largest velocities and efforts."""
    joints = [joint for joint in model.joints if joint.type.nq == 1]
    stuck = [joint for joint in joints if joint.limits.lower == joint.limits.upper]
    if stuck:
        yield Finding(
            "warning",
            "empty-range",
            "Joints have a range of a single point, which a <limit> without lower and upper means.",
            {joint.name: f"{joint.limits.lower:g} .. {joint.limits.upper:g}" for joint in stuck},
            "Add lower and upper, or make the joint continuous or fixed.",
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
            "Joints have a largest velocity or effort of 0: programs that respect it never "
            "move them.",
            none,
            "Write the drive's limits in <limit>, or leave the attribute out.",
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
            "Ranges of several turns look like degrees; they are read as radians.",
            {
                joint.name: f"{joint.limits.lower:g} .. {joint.limits.upper:g} rad, or in degrees "
                f"{math.radians(joint.limits.lower):.3g} .. {math.radians(joint.limits.upper):.3g} "
                "rad"
                for joint in degrees
            },
            "Multiply lower, upper and velocity by pi / 180.",
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
            "Joints with a range may turn faster than ten times a second, which looks like "
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
            "Ranges are so wide that they limit nothing; random states are drawn from all of them.",
            unlimited,
            "Make the joints continuous.",
        )


def _largest(joint: Joint) -> float:
    return max(abs(joint.limits.lower), abs(joint.limits.upper))


def _whole_turns(bound: float) -> bool:
    """Whether a bound is a multiple of a quarter turn in radians."""
    quarters = bound / (0.5 * math.pi)
    return abs(quarters - round(quarters)) < _SAME * quarters
