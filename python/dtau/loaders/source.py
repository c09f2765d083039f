"""Input and output of the formats' readers: `Source`, `Options`, `Parts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from numpy.typing import ArrayLike

from dtau.model.contact_kinds import AnyContact
from dtau.model.links import Link
from dtau.support.arrays import Array
from dtau.support.options import Inertias, MimicJoints, Root


class Source(NamedTuple):
    """A file, or a text."""

    label: str  # in errors: the path, or "XML text"
    content: str | bytes
    path: str | None  # None for a text


class Options(NamedTuple):
    """Options of `load`; root None means the format's default."""

    root: Root | None
    mimic: MimicJoints
    inertia: Inertias
    loops: bool = False
    friction: bool = False  # the speed that smooths friction is stated: keep the file's friction


class Parts(NamedTuple):
    """The parts of a model."""

    name: str  # the robot's
    links: list[Link]  # siblings in order
    notes: list[str]  # ignored parts of the file
    gravity: ArrayLike | None = None  # if the format has it
    loops: Sequence[AnyContact] = ()  # and contacts of the file, if requested
    posture: Mapping[str, Array] = {}  # that the file draws, by joint
    postures: Mapping[str, Mapping[str, ArrayLike]] = {}  # named ones, by joint
    friction: Mapping[str, ArrayLike] = {}  # Coulomb friction by joint, if requested
