"""Check arguments of the array libraries' functions: `check_contacts`."""

from __future__ import annotations

from dtau.checks import require
from dtau.model.contacts import Contacts


def check_contacts(contacts: object, active: object) -> None:
    """Check optional contacts, and that a mask comes only with contacts, as the core does."""
    if contacts is not None:
        require("contacts", contacts, Contacts)
    elif active is not None:
        raise ValueError("active: goes with contacts=, which is not given")
