"""Check arguments of the array libraries' functions: `check_contacts`, `has_rows`, `is_long`."""

from __future__ import annotations

from dtau.autodiff.rows import PARAMETERS
from dtau.checks import require
from dtau.model.contacts import Contacts
from dtau.model.model import Model


def check_contacts(contacts: object, active: object) -> None:
    """Check optional contacts, and that a mask comes only with contacts, as the core does."""
    if contacts is not None:
        require("contacts", contacts, Contacts)
    elif active is not None:
        raise ValueError("active: goes with contacts=, which is not given")


def expected_shape(name: str, core: tuple[int, ...], model: Model) -> str:
    """Return the shape of an argument for any batch, as text; parameters have three."""
    if name != PARAMETERS:
        return _any_batch(core)
    n = model.nbodies
    bodies, joints = f"{_any_batch((10 * n,))}, {_any_batch((n, 10))}", 10 * n + 4 * model.nv
    return f"{bodies} or, with model.joint_parameters behind, {_any_batch((joints,))}"


def _any_batch(core: tuple[int, ...]) -> str:
    return f"({', '.join(('...', *map(str, core)))})"


def has_rows(shape: tuple[int, ...], nbodies: int) -> bool:
    """Whether parameters have a row for each body: their last two axes decide."""
    if (*shape[-2:],) != (nbodies, 10):
        return False
    if nbodies == 1:
        raise ValueError(
            f"{PARAMETERS}: expected shape (..., 10) or (..., 1, 10), got {shape}: with "
            f"one body it may be either; give {PARAMETERS}[..., 0, :]"
        )
    return True


def is_long(shape: tuple[int, ...], model: Model) -> bool:
    """Whether parameters are those of joints too."""
    return (*shape[-1:],) == (10 * model.nbodies + 4 * model.nv,)
