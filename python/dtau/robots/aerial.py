"""The aerial manipulator of [HO-FBS]: arms of revolute joints below a flying base."""

from __future__ import annotations

import operator

import numpy as np

from dtau.model.builder import ModelBuilder
from dtau.model.joints import Free, Revolute
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia

# [HO-FBS] table 3, in SI units
_BASE = Inertia(2.5, tensor=np.diag([0.03, 0.03, 0.05]))
_BELOW_BASE = 0.10  # b: the arms' first joints below the base's center of mass
_HALF_LINK = 0.06  # d: from a joint down to its link's center of mass
_SPACING = 0.18  # c: between two arms
_LINK = Inertia(0.25, com=(0, 0, -_HALF_LINK), tensor=np.diag([0.002, 0.002, 0.001]))
_AXES = ((0, 1, 0), (1, 0, 0), (0, 0, 1))  # repeated down an arm


def aerial_manipulator(branches: int = 2, links: int = 3) -> Model:
    """Make an aerial manipulator: a flying base with arms that hang straight down at zero angles.

    Parameters
    ----------
    branches : int
        Number of arms. Their first joints are evenly spaced on a circle of 0.09 m radius, 0.1 m
        below the base's center of mass, the first one on the base's axis x.
    links : int
        Number of links of each arm, 0.12 m long, one below the other. Their joints are revolute,
        about y, x, z, y, x, z and so on.

    Returns
    -------
    Model
        ``7 + branches * links`` coordinates, ``1 + branches * links`` bodies. The base's frame is
        at its center of mass; links are ``arm1_link1``, ``arm1_link2``, ..., their frames at their
        joints.

    Raises
    ------
    ValueError
        If a number is less than 1.
    TypeError
        If a number is not an integer.

    Notes
    -----
    [HO-FBS] section 7.1 and table 3, which is the default. The paper does not describe its larger
    trees, of five branches and up to 996 bodies, in detail; here they repeat the pattern.

    Examples
    --------
    >>> import dtau
    >>> dtau.robots.aerial_manipulator()
    <Model 'aerial manipulator': 7 bodies, nq = 13, nv = 12>
    >>> dtau.robots.aerial_manipulator(branches=5, links=20).nv
    106
    """
    branches, links = _count("branches", branches), _count("links", links)
    builder = ModelBuilder("aerial manipulator")
    builder.add(Free(), name="base", inertia=_BASE)
    for arm in range(branches):
        angle = 2.0 * np.pi * arm / branches
        x, y = 0.5 * _SPACING * np.cos(angle), 0.5 * _SPACING * np.sin(angle)
        parent, joint = "base", Pose(translation=(x, y, -_BELOW_BASE))
        for link in range(links):
            parent = builder.add(
                Revolute(_AXES[link % len(_AXES)]),
                name=f"arm{arm + 1}_link{link + 1}",
                parent=parent,
                placement=joint,
                inertia=_LINK,
            )
            joint = Pose(translation=(0, 0, -2.0 * _HALF_LINK))
    return builder.build()


def _count(argument: str, value: int) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument}: expected an integer, got {value!r:.80}") from None
    if count < 1:
        raise ValueError(f"{argument}: expected at least 1, got {count}")
    return count
