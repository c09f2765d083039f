"""Contacts with the world and closed loops: what of a model is held, and where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import integer, real_array, require, require_name, tuple_of, unknown_name
from dtau.immutable import Immutable, Record, checking
from dtau.model.compile_contacts import compile_contacts
from dtau.model.links import Frame
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.options import ForceAxes, HingeAxis, require_option

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PointContact(Record):
    """A point of the robot that does not slide and does not lift: a foot, three rows.

    Parameters
    ----------
    frame : str
        The frame, from ``model.frames``, whose origin is held. It may turn.
    axes : {"body", "mixed"}
        Axes of the force: the frame's own, or the world's.
    kp, kd : float
        Gains of Baumgarte's stabilisation, in 1/s² and 1/s: the acceleration of the point becomes
        ``-kp (x - position) - kd dx/dt``.
    position : array_like (3,), optional
        Where in the world it is held, in metres; ``kp`` needs it. See the argument ``at`` of
        `Contacts`.
    name : str
        What the contact is called; the name of the frame by default.

    Raises
    ------
    ValueError, TypeError
        If a gain is negative or not finite, ``axes`` is unknown, or a shape or type is wrong.

    Examples
    --------
    >>> import dtau
    >>> dtau.PointContact("LF_FOOT", axes="mixed").rows
    3
    """

    frame: str
    axes: ForceAxes = "body"
    kp: float = 0.0
    kd: float = 0.0
    position: ArrayLike | None = None
    name: str = ""

    def __post_init__(self) -> None:
        _check(self)
        if self.position is not None:
            position = real_array("position", self.position, (3,))
            object.__setattr__(self, "position", tuple(position.tolist()))

    @property
    def rows(self) -> int:
        """How many rows the contact has."""
        return 3


@dataclass(frozen=True)
class FrameContact(Record):
    """A frame of the robot that stays where it is: a flat foot, six rows.

    Parameters
    ----------
    frame : str
        The frame, from ``model.frames``.
    axes : {"body", "mixed"}
        Axes of force and moment: the frame's own, or the world's.
    kp, kd : float
        Gains of Baumgarte's stabilisation, in 1/s² and 1/s, of the origin's displacement and of the
        rotation vector from `placement`.
    placement : Pose, optional
        Where in the world it is held; ``kp`` needs it. See the argument ``at`` of `Contacts`.
    name : str
        What the contact is called; the name of the frame by default.

    Raises
    ------
    ValueError, TypeError
        If a gain is negative or not finite, ``axes`` is unknown, or a type is wrong.

    Examples
    --------
    >>> import dtau
    >>> dtau.FrameContact("left_foot").rows
    6
    """

    frame: str
    axes: ForceAxes = "body"
    kp: float = 0.0
    kd: float = 0.0
    placement: Pose | None = None
    name: str = ""

    def __post_init__(self) -> None:
        _check(self)
        if self.placement is not None:
            require("placement", self.placement, Pose)

    @property
    def rows(self) -> int:
        """How many rows the contact has."""
        return 6


@dataclass(frozen=True)
class Loop(Record):
    """Two frames of the robot that are joined, beside the joints of the tree: a closed loop.

    Parameters
    ----------
    frame_a : str
        A frame, from ``model.frames``, that moves.
    frame_b : str
        The frame that it is joined to; it may be fixed to the world.
    rows : {6, 5, 3}
        What is held: all; all but turns about an axis (a hinge); the origins alone (a ball joint).
    hinge : {"x", "y", "z"}, optional
        With five rows, the axis of ``frame_a`` about which it turns.
    axes : {"body", "mixed"}
        Axes of the force and moment on ``frame_a``: its own, or the world's. Of a hinge its own.
    kp, kd : float
        Gains of Baumgarte's stabilisation, in 1/s² and 1/s.
    placement : Pose
        Where ``frame_a`` stands in ``frame_b`` when the loop is closed; by default they coincide.
    name : str
        What the loop is called; ``"frame_a-frame_b"`` by default.

    Raises
    ------
    ValueError, TypeError
        If both frames are the same, a gain is negative or not finite, a word or a number of rows is
        unknown, ``hinge`` does not go with the rows, or a type is wrong.

    Examples
    --------
    >>> import dtau
    >>> dtau.Loop("coupler_end", "rocker_pin", rows=5, hinge="z").name
    'coupler_end-rocker_pin'
    """

    frame_a: str
    frame_b: str
    rows: int = 6
    hinge: HingeAxis | None = None
    axes: ForceAxes = "body"
    kp: float = 0.0
    kd: float = 0.0
    placement: Pose = field(default_factory=Pose)
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "frame_a", require_name("frame_a", self.frame_a))
        object.__setattr__(self, "frame_b", require_name("frame_b", self.frame_b))
        if self.frame_a == self.frame_b:
            raise ValueError(f"loop: expected two frames, got {self.frame_a!r} twice")
        if integer("rows", self.rows, 0) not in (3, 5, 6):
            raise ValueError(f"rows: expected 6, 5 or 3, got {self.rows}")
        if self.rows == 5:
            require_option("hinge", self.hinge, HingeAxis)
            if self.axes == "mixed":
                raise ValueError("axes: expected 'body' for a hinge, got 'mixed'")
        elif self.hinge is not None:
            raise ValueError(f"hinge: goes with 5 rows, got {self.rows}")
        require("placement", self.placement, Pose)
        _check(self)


AnyContact = PointContact | FrameContact | Loop


def _check(contact: AnyContact) -> None:
    """Check what all contacts have, and name them."""
    if not isinstance(contact, Loop):
        object.__setattr__(contact, "frame", require_name("frame", contact.frame))
    require_option("axes", contact.axes, ForceAxes)
    for gain in ("kp", "kd"):
        value = float(real_array(gain, getattr(contact, gain), ()))
        if value < 0.0:
            raise ValueError(f"{gain}: expected a number of at least 0, got {value}")
        object.__setattr__(contact, gain, value)
    name = require_name("name", contact.name)
    if not name:
        name = (
            f"{contact.frame_a}-{contact.frame_b}" if isinstance(contact, Loop) else contact.frame
        )
    object.__setattr__(contact, "name", name)


class Contacts(Immutable):
    """Contacts and loops of a model, checked once; immutable, picklable, comparable.

    Parameters
    ----------
    model : Model
    contacts : sequence of PointContact, FrameContact or Loop
        In the order of their rows, of which there are at most 10000.
    at : array_like (nq,), optional
        A configuration: contacts with the world that say no placement are held where they are in
        it.

    Attributes
    ----------
    model : Model
    contacts : tuple of PointContact, FrameContact or Loop
        With the placements of ``at``.
    names : tuple of str
    nrows : int
        Rows of all contacts, the length of their forces.

    Raises
    ------
    ValueError
        If names repeat, the model has no such frame, the frame of a contact or the first one of a
        loop does not move, the frames of a loop are of one body, ``kp`` is given without a
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
                raise ValueError(f"contacts: two of one name, {contact.name!r}")
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
        """Return the rows of a contact, by its name.

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
        """Whether these are contacts of an equal model; the last one is known again."""
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
    """Give a contact with the world its placement in a configuration, unless it has one."""
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
    """Return both frames of a contact, checked; in the world of what it is held to."""
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
    return a, Frame("", -1, held or Pose())
