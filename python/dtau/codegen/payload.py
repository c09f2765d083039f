"""A link's payload as an argument of generated code: `Payload`, ten inertial parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dtau.model.model import Model
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array
from dtau.support.errors import without_model_warnings

_TENSOR = ([0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2])  # order of `Model.parameters`
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
    columns = [_parameters(moved @ _pseudo_inertia(x) @ moved.T) for x in np.eye(10)]
    return Payload(link, frame.body, np.array(columns).T)


def _pseudo_inertia(parameters: Array) -> Array:
    """Return the pseudo-inertia: the integral of x x^T over the mass, x = (r, 1)."""
    tensor = np.zeros((3, 3))
    tensor[_TENSOR] = parameters[4:]
    tensor = tensor + np.triu(tensor, 1).T
    first = parameters[1:4, None]
    second = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    return np.block([[second, first], [first.T, parameters[:1, None]]])


def _parameters(pseudo: Array) -> Array:
    second = pseudo[:3, :3]
    tensor = np.trace(second) * np.eye(3) - second
    return np.concatenate([pseudo[3:, 3], pseudo[:3, 3], tensor[_TENSOR]])
