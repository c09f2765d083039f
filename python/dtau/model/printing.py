"""Print a model as a table: `table`."""

from __future__ import annotations

from dtau.model.base import ModelBase
from dtau.model.links import Joint
from dtau.model.rotations import Vector

_AXES = ("axis", "normal", "axis1", "axis2")
_DEEPEST_INDENT = 30  # levels: `print(model)` stays readable for a long chain


def table(model: ModelBase) -> str:
    """Return the tree of bodies, one per line, with joints, their entries of q and v, masses."""
    depth: list[int] = []
    rows = []
    for joint in model.joints:
        depth.append(depth[joint.parent] + 1 if joint.parent >= 0 else 0)
        body = "  " * min(depth[-1], _DEEPEST_INDENT) + model.bodies[joint.body]
        rows.append((body, joint.name, describe(joint), span(joint.q), span(joint.v)))
    header = ("body", "joint", "type", "q", "v")
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    masses = ["kg", *(f"{inertia.mass:.6g}" for inertia in model.inertias)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + f"  {mass}"
        for row, mass in zip([header, *rows], masses, strict=True)
    ]
    return "\n".join([f"{model!r}, {model.mass:.6g} kg", *lines])


def describe(joint: Joint) -> str:
    """Describe a joint: its kind, its axes and the joint that it mimics."""
    kind = joint.type
    axes = [getattr(kind, name) for name in _AXES if hasattr(kind, name)]
    words = [type(kind).__name__.lower(), ", ".join(map(_direction, axes))]
    if joint.mimic:
        words.append(f"mimics {joint.mimic.joint}")
    return " ".join(filter(None, words))


def _direction(axis: Vector) -> str:
    for k, letter in enumerate("xyz"):
        if abs(axis[k]) == 1:
            return f"{'-' if axis[k] < 0 else ''}{letter}"
    return f"({', '.join(f'{x:.3g}' for x in axis)})"


def span(entries: slice) -> str:
    """Return a slice as Python writes it, or the index of a single entry."""
    count = entries.stop - entries.start
    return str(entries.start) if count == 1 else f"{entries.start}:{entries.stop}"
