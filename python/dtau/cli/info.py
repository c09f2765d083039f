"""`dtau info`: show a robot's tree, with indices, masses and limits, and the loader's notes."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import click
import numpy as np
from rich.text import Text

from dtau.cli.description import as_data, merged
from dtau.cli.output import (
    FAINT,
    Column,
    console,
    fits,
    guides,
    hanging,
    plural,
    print_json,
    print_table,
    say,
)
from dtau.cli.robot import Loaded, RobotFile, takes_robot
from dtau.model.joints import Fixed, Free
from dtau.model.model import Model
from dtau.model.printing import describe, span

_EPILOG = """\b
Examples:
  dtau info panda.urdf
  dtau info anymal.urdf --root free
  dtau info gripper.urdf --mimic exact        mimic joints have no entries of their own
  dtau info panda.urdf --json | jq .joints[0].limits
  xacro arm.urdf.xacro arm:=left | dtau info -
"""


@click.command(epilog=_EPILOG, short_help="Show a robot: its tree, masses and limits.")
@takes_robot
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def info(robot: RobotFile, as_json: bool) -> None:
    """Show a robot: its tree, masses, limits, and merged or ignored parts.

    Each line of the tree is a moving joint and the body that it carries, with its entries of q and
    v. Links on fixed joints are merged into the body that carries them; the model keeps their
    frames.
    """
    loaded = robot.load()
    if as_json:
        print_json(as_data(loaded))
    else:
        _show(loaded)


def _show(loaded: Loaded) -> None:
    model = loaded.model
    links = plural(len(model.links), "link")
    say(f"{model.name or 'a robot without a name'}: {root_of(model)}, {model.mass:.4g} kg", "bold")
    say(
        f"{plural(model.nbodies, 'moving body', 'moving bodies')} of {links}, nq {model.nq}, "
        f"nv {model.nv}, gravity {' '.join(f'{x:g}' for x in model.gravity)} m/s²"
    )
    say()
    _print_tree(model)
    say("Revolute in rad, rad/s, N m; prismatic in m, m/s, N.", FAINT)
    _list(
        "Merged into the bodies that carry them (their frames remain):",
        [f"{body}: {', '.join(links)}" for body, links in merged(model).items()],
    )
    _list("Notes on the file:", loaded.notes)
    _list("Warnings:", loaded.warnings, "yellow")


def _list(title: str, lines: list[str], style: str = "") -> None:
    if lines:
        say()
        say(title, "bold")
        for line in lines:
            hanging(Text("- "), [Text(line, style)], 2)


def root_of(model: Model) -> str:
    """Describe how a model is attached to the world."""
    free = any(isinstance(joint.type, Free) and joint.parent < 0 for joint in model.joints)
    return "free root" if free else "fixed root"


def _print_tree(model: Model) -> None:
    """Print one table if it fits, else two that share the joints' names or velocities."""
    joints = model.joints
    limits = [joint.limits for joint in joints]
    by_name = {link.joint_name: link for link in model.links if not isinstance(link.joint, Fixed)}
    links = [by_name[joint.name] for joint in joints]
    body = Column("body", _branches(model))
    name = Column("joint", [joint.name for joint in joints])
    kind = Column("type", [describe(joint) for joint in joints])
    q = Column("q", [span(joint.q) for joint in joints], numbers=True)
    v = Column("v", [span(joint.v) for joint in joints], numbers=True)
    mass = Column("kg", [f"{inertia.mass:.4g}" for inertia in model.inertias], numbers=True)
    more = [
        Column("range", [_range(one.lower, one.upper) for one in limits]),
        Column("velocity", [_bound(one.velocity) for one in limits], numbers=True),
        Column("effort", [_bound(one.effort) for one in limits], numbers=True),
        Column("damping", [_some(link.damping) for link in links], numbers=True),
        Column("armature", [_some(link.armature) for link in links], numbers=True),
    ]
    first = [body, name, kind, q, v, mass]
    if fits([*first, *more]):
        print_table([*first, *more])
        return
    print_table(first if fits(first) else [body, kind, q, v, mass])
    if any(any(column.cells) for column in more):
        say()
        print_table([name, v, *more])


def _branches(model: Model) -> list[str]:
    """Return the bodies' names after the lines of a tree; an only child has no line of its own."""
    branch, last, passing, nothing = guides(console())
    parents = [joint.parent for joint in model.joints]
    siblings = Counter(parents)
    final = {parent: i for i, parent in enumerate(parents)}  # the last child of each
    before = {-1: ""}  # prefix of the children of each body
    lines = []
    for i, (body, parent) in enumerate(zip(model.bodies, parents, strict=True)):
        own, below = "", ""
        if siblings[parent] > 1:
            own, below = (last, nothing) if final[parent] == i else (branch, passing)
        lines.append(before[parent] + own + body)
        before[i] = before[parent] + below
    return lines


def _range(lower: float, upper: float) -> str:
    if math.isinf(lower) and math.isinf(upper):
        return ""
    return f"{lower:.4g} .. {upper:.4g}"


def _bound(values: Any) -> str:
    largest = np.unique(np.asarray(values, dtype=np.float64))
    return "" if np.isinf(largest).all() else ", ".join(f"{x:.4g}" for x in largest)


def _some(values: Any) -> str:
    return ", ".join(f"{x:.4g}" for x in np.unique(values)) if np.any(values) else ""
