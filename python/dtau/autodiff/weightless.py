"""Remove gravity and springs from a model, and from given parameters: `weightless`."""

from __future__ import annotations

import functools

import numpy as np

from dtau.model.model import Model
from dtau.support.arrays import Array
from dtau.support.errors import without_model_warnings


@functools.lru_cache(maxsize=64)
def weightless(model: Model) -> Model:
    """Return the model without gravity and springs: at rest, torques M a and nothing else."""
    with without_model_warnings():
        return model.replace(gravity=(0.0, 0.0, 0.0), stiffness=0.0)


def has_inertia(model: Model) -> Array:
    """Return 1 for each parameter that is in the mass matrix, and 0 for others of joints."""
    return np.repeat([1.0, 0.0], [10 * model.nbodies + model.nv, 3 * model.nv])
