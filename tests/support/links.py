"""Links for models that tests make by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

import dtau

X, Y, Z = dtau.Revolute((1, 0, 0)), dtau.Revolute((0, 1, 0)), dtau.Revolute((0, 0, 1))
BALL = dtau.Inertia(2.0, (0, 0, 0.1), 0.01 * np.eye(3))


UP = dtau.Pose(translation=(0, 0, 1))


def link(name: str, parent: str | None, joint: dtau.JointType = Z, **more: Any) -> dtau.Link:
    """A link with mass, one meter above its parent; its joint is called after it."""
    arguments: dict[str, Any] = {"placement": UP, "inertia": BALL, **more}
    return dtau.Link(name, parent, joint, f"{name}_joint", **arguments)


def model_of(*links: dtau.Link, **more: Any) -> dtau.Model:
    return dtau.Model("robot", links, **more)
