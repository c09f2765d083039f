"""Translate contacts and impulses of crocoddyl to `dtau.Contacts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import crocoddyl
import numpy as np
import pinocchio

from dtau.crocoddyl.members import Members
from dtau.crocoddyl.robot import Robot
from dtau.model.contact_kinds import FrameContact, PointContact
from dtau.model.contacts import Contacts
from dtau.model.pose import Pose
from dtau.support.arrays import Array
from dtau.support.options import ForceAxes

REGULARIZATION = 1e-6  # 1/kg; the results do not depend on it
Given = Any  # a ContactModelMultiple, an ImpulseModelMultiple or Contacts
CONTACTS = (crocoddyl.ContactModel1D, crocoddyl.ContactModel3D, crocoddyl.ContactModel6D)


def contacts_of(robot: Robot, given: Given) -> Contacts:
    """Return the active contacts or impulses of crocoddyl's, in the order of their forces."""
    if isinstance(given, Contacts):
        return given
    found: list[PointContact | FrameContact]
    if isinstance(given, crocoddyl.ContactModelMultiple):
        if given.computeAllContacts:
            raise ValueError("contacts: expected computeAllContacts = False, got True")
        items = given.contacts.todict()
        found = [_contact(robot, name, items[name].contact) for name in sorted(given.active_set)]
    elif isinstance(given, crocoddyl.ImpulseModelMultiple):
        items = given.impulses.todict()
        found = [_impulse(robot, name, items[name].impulse) for name in sorted(given.active_set)]
    else:
        raise TypeError(
            "contacts: expected a crocoddyl.ContactModelMultiple, a crocoddyl.ImpulseModelMultiple "
            f"or dtau.Contacts, got {type(given).__name__}"
        )
    return Contacts(robot.model, found)


def members_of(given: Given) -> Members | None:
    """Return the members of crocoddyl's contacts or impulses; None of `dtau.Contacts`."""
    if isinstance(given, crocoddyl.ContactModelMultiple):
        return Members("contact", given)
    if isinstance(given, crocoddyl.ImpulseModelMultiple):
        return Members("impulse", given)
    return None


class Status:
    """Status and references of contacts or impulses as they were read."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self._active = [(item, item.active) for item in members.items.values()]
        places = [_PLACES.get(type(contact)) for contact in members]
        self._places = [
            (contact, place, place(contact))
            for contact, place, (_, active) in zip(members, places, self._active, strict=True)
            if active and place is not None and contact.gains[0]  # nothing else pulls it there
        ]

    def has_changed(self, members: Members) -> bool:
        """Whether one has another status or reference now.

        Raises
        ------
        ValueError
            If one has joined or left since the data of a knot was made, which has these members.
        """
        members.check()
        if self._members.have_moved():
            return True
        for item, active in self._active:
            if item.active is not active:
                return True
        # most contacts have no place to keep
        return bool(self._places) and any([place(x) != was for x, place, was in self._places])


def _place_of_1d(contact: Any) -> tuple[Any, ...]:
    return contact.reference, contact.Raxis.tobytes()


# What places a contact; impulses have no references.
_PLACES: dict[Any, Callable[[Any], Any]] = {
    crocoddyl.ContactModel1D: _place_of_1d,
    crocoddyl.ContactModel3D: lambda contact: contact.reference.tobytes(),
    crocoddyl.ContactModel6D: lambda contact: contact.reference.homogeneous.tobytes(),
}


def place_frames(robot: Robot, data: Any, q: Array, members: Members) -> None:
    """Place the frames of all members in Pinocchio's data, which crocoddyl's forces read."""
    pinocchio.forwardKinematics(robot.pinocchio, data, q)
    for member in members:
        pinocchio.updateFramePlacement(robot.pinocchio, data, member.id)


def turned_contacts(given: crocoddyl.ContactModelMultiple, data: Any) -> list[tuple[Any, Any]]:
    """Return contacts of six rows along the world's axes, with their data, which has their turn."""
    found = data.contacts.todict()
    return [
        (item, found[name])
        for name, item in given.contacts.todict().items()
        if item.contact.type != pinocchio.ReferenceFrame.LOCAL
        and type(item.contact) is crocoddyl.ContactModel6D
    ]


def _contact(robot: Robot, name: str, contact: Any) -> PointContact | FrameContact:
    kind = type(contact)
    if kind not in CONTACTS:
        raise ValueError(
            "contacts: expected ContactModel1D, ContactModel3D or ContactModel6D, got "
            f"{kind.__name__}, whose rows dtau does not have; use crocoddyl's own action model for "
            "this knot"
        )
    kp, kd = (float(gain) for gain in contact.gains)
    held: dict[str, Any] = {"axes": _axes(contact.type), "kp": kp, "kd": kd, "name": name}
    frame, at = _frame(robot, contact.id), contact.reference
    if kind is crocoddyl.ContactModel6D:
        placement = Pose(at.rotation, at.translation) if kp else None
        return FrameContact(frame, placement=placement, acceleration="spatial", **held)
    if kind is crocoddyl.ContactModel3D:
        return PointContact(frame, position=np.array(at) if kp else None, **held)
    axes = np.array(contact.Raxis)  # its rows are directions, its columns place the point
    return PointContact(frame, position=at * axes[:, 2] if kp else None, direction=axes[2], **held)


def _impulse(robot: Robot, name: str, impulse: Any) -> PointContact | FrameContact:
    kinds: dict[Any, type[PointContact | FrameContact]] = {
        crocoddyl.ImpulseModel3D: PointContact,
        crocoddyl.ImpulseModel6D: FrameContact,
    }
    if type(impulse) not in kinds:
        raise ValueError(
            "impulses: expected ImpulseModel3D or ImpulseModel6D, got "
            f"{type(impulse).__name__}; use crocoddyl's own action model for this knot"
        )
    kind = kinds[type(impulse)]
    return kind(_frame(robot, impulse.id), axes=_axes(impulse.type), name=name)


def _axes(kind: Any) -> ForceAxes:
    return "body" if kind == pinocchio.ReferenceFrame.LOCAL else "mixed"


def _frame(robot: Robot, index: int) -> str:
    """Return the name of a frame that both models have in one place."""
    theirs = robot.state.pinocchio.frames[index]
    ours = robot.model.frame(theirs.name)
    place = theirs.placement
    if not (
        np.allclose(ours.placement.rotation, place.rotation, atol=1e-9)
        and np.allclose(ours.placement.translation, place.translation, atol=1e-9)
    ):
        raise ValueError(
            f"model: expected frame {theirs.name!r} where state.pinocchio has it, got another "
            "placement in its body"
        )
    return str(theirs.name)
