"""A link's payload as an argument of generated code: `Payload`, ten inertial parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dtau.model.model import Model
from dtau.model.parameters import of_pseudo_inertias, pseudo_inertias
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array
from dtau.support.errors import without_model_warnings

EXAMPLE = Inertia(1.2, (0.05, -0.02, 0.1), np.diag([0.01, 0.012, 0.008])).parameters


@dataclass(frozen=True)
class Payload:
    """A payload on a moving body: it adds ``by`` times its parameters to the body's."""

    link: str
    body: int
    by: Array  # (10, 10)

    def on(self, model: Model, parameters: Array) -> Model:
        """Return the model with this payload."""
        changed = model.parameters.copy()
        changed[self.body] += self.by @ parameters
        with without_model_warnings():  # the model already warned
            return model.replace(parameters=changed)


def payload_on(model: Model, link: str) -> Payload:
    """Return a payload with parameters about the origin of a link's frame, along its axes."""
    try:
        frame = model.frame(link)
    except ValueError as error:
        raise ValueError(f"parameters: payload: {error}") from None
    if frame.body < 0:
        raise ValueError(f"parameters: payload: {link!r} is fixed to the world")
    moved = np.eye(4)
    moved[:3, :3], moved[:3, 3] = frame.placement.rotation, frame.placement.translation
    rows = of_pseudo_inertias(moved @ pseudo_inertias(np.eye(10)) @ moved.T)
    return Payload(link, frame.body, rows.T)
