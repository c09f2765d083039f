"""Compile contacts into flat arrays for the core: `compile_contacts`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau import _core
from dtau.model.contact_kinds import AnyContact, Loop
from dtau.model.links import Frame
from dtau.model.model import Model

Array = NDArray[np.float64]


def compile_contacts(
    model: Model, contacts: Sequence[AnyContact], frames: Sequence[tuple[Frame, Frame]]
) -> _core.Contacts:
    """Write contacts into the core's arrays: for each, the constrained frame and its placement.

    A contact along a direction has one row along the z axis of its first frame.
    """

    def numbers(values: Iterable[Any], *shape: int) -> Array:
        return np.array(list(values), dtype=np.float64).reshape(len(contacts), *shape)

    def integers(values: Iterable[int]) -> NDArray[np.int32]:
        return np.fromiter(values, np.int32)

    def side(frames: list[Frame]) -> tuple[NDArray[np.int32], Array, Array]:
        return (
            integers(frame.body for frame in frames),
            numbers((frame.placement.rotation for frame in frames), 3, 3),
            numbers((frame.placement.translation for frame in frames), 3),
        )

    return _core.Contacts(
        model._tree,
        *side([a for a, _ in frames]),
        *side([b for _, b in frames]),
        integers(contact.rows for contact in contacts),
        integers("xyz".find(getattr(contact, "hinge", None) or "none") for contact in contacts),
        integers(contact.axes == "mixed" and contact.rows > 1 for contact in contacts),
        integers(getattr(contact, "acceleration", None) == "spatial" for contact in contacts),
        numbers(contact.kp for contact in contacts),
        numbers(contact.kd for contact in contacts),
        integers(contact.kp > 0.0 for contact in contacts),
        integers(isinstance(contact, Loop) for contact in contacts),
    )
