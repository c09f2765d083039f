"""Input and output of the formats' readers: `Source`, `Options`, `Parts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.model.contact_kinds import AnyContact
from dtau.model.links import Link
from dtau.support.options import Inertias, MimicJoints, Root


class Source(NamedTuple):
    """A file, or a text.

    Attributes
    ----------
    label : str
        Name in errors: the path, or "XML text".
    content : str or bytes
        Content of the file or text.
    path : str or None
        Path of the file; None for a text.
    """

    label: str
    content: str | bytes
    path: str | None


class Options(NamedTuple):
    """Options of `load`; root None means the format's default."""

    root: Root | None
    mimic: MimicJoints
    inertia: Inertias
    loops: bool = False
    friction: bool = False  # the speed that smooths friction is stated: keep the file's friction


class Parts(NamedTuple):
    """The parts of a model.

    Attributes
    ----------
    name : str
        Name of the robot.
    links : list of Link
        All links, siblings in order.
    notes : list of str
        Ignored parts of the file.
    gravity : array_like (3,) or None
        Gravity of the file, if the format has it.
    loops : sequence of PointContact, FrameContact or Loop
        Closed loops and contacts of the file, if requested.
    posture : mapping of str to ndarray
        Coordinates by joint of the posture that the file draws, if there is one.
    postures : mapping of str to mapping of str to array_like
        Coordinates by joint of the file's named postures.
    friction : mapping of str to array_like
        Coulomb friction by joint, if requested.
    """

    name: str
    links: list[Link]
    notes: list[str]
    gravity: ArrayLike | None = None
    loops: Sequence[AnyContact] = ()
    posture: Mapping[str, NDArray[np.float64]] = {}
    postures: Mapping[str, Mapping[str, ArrayLike]] = {}
    friction: Mapping[str, ArrayLike] = {}
