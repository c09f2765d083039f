"""Check arguments of the array libraries' functions: `check_contacts`, `has_rows`."""

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


def expected_shape(name: str, core: tuple[int, ...]) -> str:
    """Return the shape of an argument for any batch, as text; inertias have two."""
    shapes = [core, (core[0] // 10, 10)] if name == PARAMETERS else [core]
    return " or ".join(f"({', '.join(('...', *map(str, shape)))})" for shape in shapes)


def has_rows(shape: tuple[int, ...], nbodies: int) -> bool:
    """Whether inertias have a row for each body: their last two axes decide."""
    if (*shape[-2:],) != (nbodies, 10):
        return False
    if nbodies == 1:
        raise ValueError(
            f"{PARAMETERS}: expected shape {expected_shape(PARAMETERS, (10,))}, got {shape}: with "
            f"one body it may be either; give {PARAMETERS}[..., 0, :]"
        )
    return True
