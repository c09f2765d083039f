"""Print a model as a table: `table`, and `html_table` for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from html import escape

import numpy as np

from dtau.model.base import ModelBase
from dtau.model.links import Joint
from dtau.model.rotations import Vector

_AXES = ("axis", "normal", "axis1", "axis2")
_HEADER = ("body", "joint", "type", "q", "v", "kg")
_MOST_ROWS, _MOST_FRAMES = 60, 300  # in a notebook
_DEEPEST_INDENT = 30  # levels: `print(model)` stays readable for a long chain


def table(model: ModelBase) -> str:
    """Return the tree of bodies, one per line, with joints, their entries of q and v, masses."""
    depth: list[int] = []
    rows = []
    for joint, cells in zip(model.joints, _rows(model), strict=True):
        depth.append(depth[joint.parent] + 1 if joint.parent >= 0 else 0)
        rows.append(("  " * min(depth[-1], _DEEPEST_INDENT) + cells[0], *cells[1:]))
    widths = [max(map(len, column)) for column in zip(_HEADER, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False))
        + f"  {row[-1]}"
        for row in [_HEADER, *rows]
    ]
    return "\n".join([f"{model!r}, {model.mass:.6g} kg", *lines])


def html_table(model: ModelBase) -> str:
    """Return the same for notebooks, with parents and limits; long lists are cut or folded."""
    cut = model.nbodies - _MOST_ROWS
    lines = [
        f"<p><b>{escape(repr(model))}</b>, {model.mass:.6g} kg</p>",
        "<table><thead>" + _html_row((*_HEADER, "parent", "position", "speed", "effort"), "th"),
        "</thead><tbody>",
    ]
    for joint, cells in zip(model.joints[:_MOST_ROWS], _rows(model), strict=False):
        parent = model.bodies[joint.parent] if joint.parent >= 0 else "the world"
        limits = joint.limits
        limited = math.isfinite(limits.lower) or math.isfinite(limits.upper)
        position = f"{limits.lower:.4g} to {limits.upper:.4g}" if limited else ""
        most = [float(np.min(x)) for x in (limits.velocity, limits.effort)]
        ends = [f"{x:.4g}" if math.isfinite(x) else "" for x in most]
        lines.append(_html_row((*cells, parent, position, *ends), "td"))
    lines.append("</tbody></table>")
    if cut > 0:
        lines.append(f"<p>and {cut} more bodies: <code>print(model)</code></p>")
    names = [escape(name) for name in model.frames[:_MOST_FRAMES]]
    names += ["..."] * (len(model.frames) > _MOST_FRAMES)
    frames = f"<details><summary>{len(model.frames)} frames</summary>{', '.join(names)}</details>"
    return "\n".join([*lines, frames])


def _rows(model: ModelBase) -> Iterator[tuple[str, ...]]:
    for joint in model.joints:
        names = model.bodies[joint.body], joint.name, describe(joint)
        mass = model.inertias[joint.body].mass
        yield (*names, span(joint.q), span(joint.v), f"{mass:.6g}")


def _html_row(cells: Iterable[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


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
