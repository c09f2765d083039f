"""What the readers of the formats take, and what they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.model.contact_kinds import AnyContact
from dtau.model.links import Link
from dtau.options import Inertias, MimicJoints, Root


class Source(NamedTuple):
    """A file, or a text.

    Attributes
    ----------
    label : str
        How errors call it: the path, or "XML text".
    content : str or bytes
        What is in it.
    path : str or None
        Where it is, if it is a file.
    """

    label: str
    content: str | bytes
    path: str | None


class Options(NamedTuple):
    """What was asked for; root None is what the format has by default."""

    root: Root | None
    mimic: MimicJoints
    inertia: Inertias
    loops: bool = False


class Parts(NamedTuple):
    """What a model is made of.

    Attributes
    ----------
    name : str
        Of the robot.
    links : list of Link
        All of them, siblings in order.
    notes : list of str
        What was ignored.
    gravity : array_like (3,) or None
        The file's own, if the format has one.
    loops : sequence of PointContact, FrameContact or Loop
        What the file holds together, if that was asked for.
    posture : mapping of str to ndarray
        Coordinates by joints, if the file draws the robot in a posture.
    """

    name: str
    links: list[Link]
    notes: list[str]
    gravity: ArrayLike | None = None
    loops: Sequence[AnyContact] = ()
    posture: Mapping[str, NDArray[np.float64]] = {}
