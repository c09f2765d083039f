"""Names the rows of contacts that depend on others in a state, for error messages."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.functions.frames import frame_jacobians, frame_placements
from dtau.functions.terms import mass_matrix
from dtau.model.contact_kinds import AnyContact, Loop
from dtau.model.contacts import Contacts
from dtau.model.model import Model

Array = NDArray[np.float64]

# Squares of what is left of a row without those before it, relative to the row, and of a row
# relative to its contact: the core refuses less than 1e-11 and 1e-22. This only says which one.
_DEPENDENT = 1e-9
_NOTHING = 1e-20


def dependent_row(
    model: Model, q: ArrayLike, contacts: Contacts, before: list[int], k: int
) -> tuple[str, bool]:
    """Name the first row of contact ``k`` that depends on rows before it, of contacts ``before``.

    Also return whether the row is nothing but rounding errors.
    """
    last = contacts.contacts[k]
    a, b = _sides(model, q, last)
    own = (a - b)[_components(last)]
    small = np.sum(own**2, axis=1) <= _NOTHING * np.sum(a**2 + b**2)
    others = [_row_jacobian(model, q, contacts.contacts[i]) for i in before]
    factor = np.linalg.cholesky(mass_matrix(model, q))
    left = _left(np.linalg.solve(factor, np.vstack([*others, own]).T))[-last.rows :]
    wrong = small if small.any() else left <= max(_DEPENDENT, left.min())
    row = int(np.argmax(wrong))
    component = _components(last)[row]
    kind = "linear" if component < 3 else "angular"
    return f"row {row} ({'xyz'[component % 3]}, {kind}) of contact {last.name!r}", bool(small[row])


def unreached_joints(
    model: Model, q: ArrayLike, contacts: Contacts, on: list[int], loose: NDArray[np.intp]
) -> list[str]:
    """Name the joints with velocities, of those in ``loose``, that no force of contacts reaches."""
    rows = [_row_jacobian(model, q, contacts.contacts[i]) for i in on]
    columns = np.vstack([np.zeros((0, model.nv)), *rows])[:, loose]
    squares = np.sum(columns**2, axis=0)
    wrong = (_left(columns) <= _DEPENDENT) | (squares <= _NOTHING * max(1.0, squares.max()))
    moves = np.isin(np.arange(model.nv), loose[wrong])
    return [joint.name for joint in model.joints if moves[joint.v].any()]


def _sides(model: Model, q: ArrayLike, contact: AnyContact) -> tuple[Array, Array]:
    """Return the Jacobians (6, nv) of both frames of a contact in one state, along its axes."""
    name = contact.frame_a if isinstance(contact, Loop) else contact.frame
    a = frame_jacobians(model, q, name, "mixed")
    b = np.zeros_like(a)
    if isinstance(contact, Loop):
        b = frame_jacobians(model, q, contact.frame_b, "mixed")
        arm = frame_placements(model, q, contact.frame_b).rotation @ contact.placement.translation
        b[:3] += np.cross(b[3:].T, arm).T
    axes = np.eye(3) if contact.axes == "mixed" else frame_placements(model, q, name).rotation.T
    both = np.kron(np.eye(2), axes)
    return both @ a, both @ b


def _components(contact: AnyContact) -> list[int]:
    """Return which components of [linear, angular] are rows of a contact."""
    hinge = contact.hinge if isinstance(contact, Loop) else None
    free = None if hinge is None else 3 + "xyz".index(hinge)
    return [k for k in range(6) if k != free][: contact.rows]


def _row_jacobian(model: Model, q: ArrayLike, contact: AnyContact) -> Array:
    a, b = _sides(model, q, contact)
    return (a - b)[_components(contact)]


def _left(columns: Array) -> Array:
    """Square of each column without its part along those before it, relative to the column."""
    basis = np.zeros((len(columns), 0))
    left = []
    for column in columns.T:
        rest = column
        for _ in range(2):
            rest = rest - basis @ (basis.T @ rest)
        size, own = rest @ rest, column @ column
        left.append(size / own if own > 0.0 else 0.0)
        if left[-1] >= _DEPENDENT:
            basis = np.column_stack([basis, rest / np.sqrt(size)])
    return np.array(left)
