"""The constraints of a model, contacts with the world and closed loops: `Contacts`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import real_array, require, tuple_of, unknown_name
from dtau.immutable import Immutable, checking
from dtau.model.compile_contacts import compile_contacts
from dtau.model.contact_kinds import AnyContact, Loop, PointContact
from dtau.model.links import Frame
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.model.rotations import Vector, plane_axes

Array = NDArray[np.float64]


class Contacts(Immutable):
    """Constraints of a model: contacts with the world and loops, checked once and immutable.

    Parameters
    ----------
    model : Model
    contacts : sequence of PointContact, FrameContact or Loop
        The constraints, in the order of their rows. All together have at most 10000 rows.
    at : array_like (nq,), optional
        A configuration. A contact with the world without a placement is held where this
        configuration puts it.

    Attributes
    ----------
    model : Model
    contacts : tuple of PointContact, FrameContact or Loop
        The constraints, with the placements of ``at``.
    names : tuple of str
    nrows : int
        Number of rows of all constraints, the length of the vector of forces.

    Raises
    ------
    ValueError
        If names repeat, the model has no such frame, the frame of a contact or ``frame_a`` of a
        loop does not move, the frames of a loop belong to one body, ``kp`` is given without a
        placement, or there are more than 10000 rows.
    TypeError
        If an argument is of the wrong type.

    Examples
    --------
    >>> import dtau
    >>> model = dtau.robots.quadruped()
    >>> held = [dtau.PointContact(f, kp=100, kd=20) for f in dtau.robots.QUADRUPED_FEET]
    >>> contacts = dtau.Contacts(model, held, at=dtau.neutral(model))
    >>> contacts.nrows, contacts.rows("RF_FOOT")
    (12, slice(3, 6, None))
    """

    model: Model
    contacts: tuple[AnyContact, ...]
    names: tuple[str, ...]
    nrows: int
    _rows: dict[str, slice]
    _equal: Model
    _compiled: _core.Contacts

    def __init__(
        self, model: Model, contacts: Iterable[AnyContact], at: ArrayLike | None = None
    ) -> None:
        self._require_new()
        require("model", model, Model)
        expected = "objects of class PointContact, FrameContact or Loop"
        given = tuple_of("contacts", contacts, AnyContact, expected)  # type: ignore[arg-type]
        rows, first = dict[str, slice](), 0
        for contact in given:
            if contact.name in rows:
                raise ValueError(f"contacts: expected distinct names, got {contact.name!r} twice")
            rows[contact.name] = slice(first, first + contact.rows)
            first += contact.rows
        if first > (most := _core.max_contact_rows):
            raise ValueError(f"contacts: expected at most {most} rows, got {first}")
        if at is not None:
            q = real_array("at", at, (model.nq,))
            given = tuple(_held_at(model, contact, q) for contact in given)
        vars(self).update(
            model=model,
            contacts=given,
            names=tuple(rows),
            nrows=first,
            _rows=rows,
            _equal=model,
            _compiled=compile_contacts(model, given, [_frames(model, x) for x in given]),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "contacts": self.contacts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._require_new()
        with checking(state, ("model", "contacts")):
            made = type(self)(**state)
        vars(self).update(vars(made))

    def rows(self, name: str) -> slice:
        """Return the rows of the contact with this name.

        Parameters
        ----------
        name : str
            A name from ``contacts.names``.

        Raises
        ------
        ValueError
            If there is no contact of this name.
        """
        if name not in self.names:
            raise ValueError(f"contacts: {unknown_name('contact', name, self._rows)}")
        return self._rows[name]

    def _is_of(self, model: Model) -> bool:
        """Whether these contacts belong to an equal model; the last model compared is cached."""
        if same := self._equal is model or bool(self.model == model):
            vars(self).update(_equal=model)
        return same

    def __len__(self) -> int:
        return len(self.contacts)

    def __iter__(self) -> Iterator[AnyContact]:
        return iter(self.contacts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Contacts):
            return NotImplemented
        return self.contacts == other.contacts and self.model == other.model

    def __hash__(self) -> int:
        return hash((self.names, self.nrows, self.model))

    def __repr__(self) -> str:
        return f"<Contacts of {self.model.name!r}: {len(self)}, nrows = {self.nrows}>"


def _held_at(model: Model, contact: AnyContact, q: Array) -> AnyContact:
    """Give a contact with the world its placement in configuration q, unless it has one."""
    if isinstance(contact, Loop):
        return contact
    place = _core.frame_placements(model, q, contact.frame)
    if isinstance(contact, PointContact):
        return replace(contact, position=place.translation) if contact.position is None else contact
    placement = Pose(place.rotation, place.translation)
    return replace(contact, placement=placement) if contact.placement is None else contact


def _moving_frame(model: Model, contact: AnyContact, name: str) -> Frame:
    frame = model.frame(name)
    if frame.body < 0:
        raise ValueError(
            f"contact {contact.name!r}: frame {name!r} is fixed to the world, expected one that "
            "moves"
        )
    return frame


def _frames(model: Model, contact: AnyContact) -> tuple[Frame, Frame]:
    """Return both frames of a contact, checked; one is the world for a contact with it.

    The z axis of the first frame is the direction of a contact that has one. A direction along the
    world's axes is fixed to the world, which therefore comes first, and is pushed the other way.
    """
    if isinstance(contact, Loop):
        a = _moving_frame(model, contact, contact.frame_a)
        b = model.frame(contact.frame_b)
        if a.body == b.body:
            raise ValueError(
                f"loop {contact.name!r}: both frames belong to body {model.bodies[a.body]!r}, "
                "expected frames that move against each other"
            )
        return a, replace(b, placement=b.placement @ contact.placement)
    a = _moving_frame(model, contact, contact.frame)
    if isinstance(contact, PointContact):
        held = None if contact.position is None else Pose(translation=contact.position)
    else:
        held = contact.placement
    if held is None and contact.kp > 0.0:
        where = "position" if isinstance(contact, PointContact) else "placement"
        raise ValueError(
            f"contact {contact.name!r}: kp needs a {where} to hold; give {where}=, or a "
            "configuration at= to dtau.Contacts"
        )
    world = Frame("", -1, held or Pose())
    direction = getattr(contact, "direction", None)
    if direction is None:
        return a, world
    if contact.axes == "body":
        return replace(a, placement=a.placement @ Pose(_rotation_to(direction))), world
    x, y, z = direction
    place = Pose(_rotation_to((-x, -y, -z)), world.placement.translation)
    return replace(world, placement=place), a


def _rotation_to(direction: Vector) -> Array:
    """Return a rotation that takes the z axis to a direction."""
    return np.stack([*plane_axes(direction), np.array(direction)], axis=1)
