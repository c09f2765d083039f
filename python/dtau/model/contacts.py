"""The constraints of a model, contacts with the world and closed loops: `Contacts`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from dtau import _core
from dtau.model.contact_kinds import AnyContact, Loop, PointContact
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.support.arrays import Array
from dtau.support.checks import real_array, require, tuple_of, unknown_name
from dtau.support.immutable import Immutable, checking


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
            _compiled=_core.Contacts(model._tree, model, given),
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
