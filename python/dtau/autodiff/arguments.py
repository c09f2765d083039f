"""Check arguments of the array libraries' functions: `check_contacts`; advise: `rows_hint`."""

from __future__ import annotations

from dtau.autodiff.rows import PARAMETERS
from dtau.checks import require
from dtau.model.contacts import Contacts


def check_contacts(contacts: object, active: object) -> None:
    """Check optional contacts, and that a mask comes only with contacts, as the core does."""
    if contacts is not None:
        require("contacts", contacts, Contacts)
    elif active is not None:
        raise ValueError("active: goes with contacts=, which is not given")


def rows_hint(name: str, shape: tuple[int, ...], core: tuple[int, ...]) -> str:
    """Return advice for inertial parameters of bodies in rows, as `Model.parameters` has them."""
    if name != PARAMETERS or len(shape) < 2 or (*shape[-2:],) != (core[0] // 10, 10):
        return ""
    flat = ".ravel()" if len(shape) == 2 else f".reshape(*{name}.shape[:-2], -1)"
    return f": the rows of all bodies one behind the other, {name}{flat}"
