"""A robot whose tree does not say it all: loops close it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtau.model.contacts import Contacts
from dtau.model.model import Model


class Mechanism(NamedTuple):
    """A model, which is a tree, the contacts that make a mechanism of it, and a ``q`` of it, (nq,).

    In q the loops are closed as far as who made the mechanism says so; `dtau.project` closes them
    from wherever.
    """

    model: Model
    contacts: Contacts
    q: NDArray[np.float64]
