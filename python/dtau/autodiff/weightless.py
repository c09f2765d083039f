"""Remove gravity and springs from a model: `weightless`."""

from __future__ import annotations

import functools

from dtau.errors import without_model_warnings
from dtau.model.model import Model


@functools.lru_cache(maxsize=64)
def weightless(model: Model) -> Model:
    """Return the model without gravity and springs: at rest, torques M a and nothing else."""
    with without_model_warnings():
        return model.replace(gravity=(0.0, 0.0, 0.0), stiffness=0.0)
