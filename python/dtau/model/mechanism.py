"""A robot with closed loops: `Mechanism`."""

from __future__ import annotations

from typing import NamedTuple

from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.support.arrays import Array


class Mechanism(NamedTuple):
    """A robot with closed loops: the tree as a model, the constraints, and a configuration (nq,).

    The loops are closed in ``q`` of the mechanisms of `dtau.robots`. `dtau.load_mechanism` returns
    ``q`` as the file draws it; `dtau.project` closes the loops.
    """

    model: Model
    contacts: Contacts
    q: Array
