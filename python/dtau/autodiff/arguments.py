"""Check arguments of the array libraries' functions: `check_contacts`, `constant`, `is_long`."""

from __future__ import annotations

import numpy as np

from dtau.autodiff.rows import PARAMETERS
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.support.checks import class_name, require


def check_contacts(contacts: object, active: object) -> None:
    """Check optional contacts, and that a mask comes only with contacts, as the core does."""
    if contacts is not None:
        require("contacts", contacts, Contacts)
    elif active is not None:
        raise ValueError("active: goes with contacts=, which is not given")


def constant(name: str, value: object) -> float:
    """Check a number by which no library differentiates, and return it as Python's."""
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (np.integer, np.floating)):
        return float(value)
    raise TypeError(
        f"{name}: expected a number, got {class_name(value)}: derivatives by it do not exist; give "
        f"float({name})"
    )


def expected_shape(name: str, core: tuple[int, ...], model: Model) -> str:
    """Return the shape of an argument for any batch, as text; parameters have three."""
    if name != PARAMETERS:
        return _any_batch(core)
    flat, long = ((parameter_count(model, of_joints=x),) for x in (False, True))
    bodies = f"{_any_batch(flat)}, {_any_batch((model.nbodies, 10))}"
    return f"{bodies} or, with model.joint_parameters behind, {_any_batch(long)}"


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
    """Whether parameters include parameters of joints."""
    return (*shape[-1:],) == (parameter_count(model, of_joints=True),)


def parameter_count(model: Model, *, of_joints: bool) -> int:
    """Return the number of parameters of the bodies, and of the joints too."""
    return 10 * model.nbodies + (4 * model.nv if of_joints else 0)
