"""What the readers of the formats take, and what they give."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

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
    """What `dtau.load` was asked for; root None is what the format has by default."""

    root: Root | None
    mimic: MimicJoints
    inertia: Inertias


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
    """

    name: str
    links: list[Link]
    notes: list[str]
    gravity: ArrayLike | None = None
