"""A robot whose tree does not say it all: loops close it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtau.model.contacts import Contacts
from dtau.model.model import Model


class Mechanism(NamedTuple):
    """A model, which is a tree, the contacts that close its loops, and a configuration, (nq,).

    ``q`` is closed in those of `dtau.robots`, and as the file draws it in those of
    `dtau.load_mechanism`; `dtau.project` closes others.
    """

    model: Model
    contacts: Contacts
    q: NDArray[np.float64]
