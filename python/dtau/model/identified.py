"""Inertias of links from identified parameters of whole bodies: `link_inertias`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.base import ModelBase
from dtau.model.parameters import from_parameters
from dtau.model.spatial import Inertia
from dtau.support.checks import real_array
from dtau.support.errors import warn_of_model


def link_inertias(
    model: ModelBase, parameters: ArrayLike, stacklevel: int
) -> Mapping[str, Inertia]:
    """Return inertias of links with which bodies have these parameters ``(nbodies, 10)``.

    Moving links get all of the inertia, and links that are fixed to them get none. If a row equals
    the model's own, the result has the inertia that the row was computed from, to the last bit.

    Raises
    ------
    ValueError, TypeError
        If the shape is wrong, a number is not finite or not real, or no rigid body can have such a
        row.

    Warns
    -----
    ModelWarning
        If new rows break the triangle inequality; `stacklevel` as seen from the caller.
    """
    rows = real_array("parameters", parameters, (model.nbodies, 10))
    inertias = {name: Inertia() for name in model.frames if model.frame(name).body >= 0}
    problems = []
    for i, body in enumerate(model.bodies):
        if np.array_equal(rows[i], model.parameters[i]):
            inertias[body] = model.inertias[i]
            continue
        try:
            inertias[body] = Inertia._unchecked(*from_parameters(rows[i]))
            problem = inertias[body]._problem()
        except ValueError as error:
            raise ValueError(f"parameters of body {body!r}: {error}") from None
        if problem:
            problems.append(f"parameters of body {body!r}: {problem}")
    if problems:
        warn_of_model("; ".join(problems), stacklevel=stacklevel + 1)
    return inertias
