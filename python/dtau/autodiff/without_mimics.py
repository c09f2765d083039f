"""Remove mimics from a model: `without_mimics`."""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np

from dtau.model.model import Model
from dtau.support.arrays import Array, Indices
from dtau.support.errors import without_model_warnings


class WithoutMimics(NamedTuple):
    """A model without mimics: its q is ``scale * q[source] + offset``, its v ``velocities @ v``."""

    model: Model
    source: Indices
    scale: Array
    offset: Array
    velocities: Array


@functools.lru_cache(maxsize=64)
def without_mimics(model: Model) -> WithoutMimics | None:
    """Return the model without mimics; None if it has none."""
    if all(joint.mimic is None for joint in model.joints):
        return None
    links = [dataclasses.replace(link, mimic=None) for link in model.links]
    with without_model_warnings():  # joints that are massless on their own
        free = Model(model.name, links, gravity=model.gravity)
    source = np.zeros(free.nq, np.intp)
    scale, offset = np.ones(free.nq), np.zeros(free.nq)
    velocities = np.zeros((free.nv, model.nv))
    for joint in free.joints:
        original = model.joint(joint.name)
        source[joint.q] = np.arange(original.q.start, original.q.stop)
        velocities[joint.v, original.v] = np.eye(joint.type.nv)
        if original.mimic is not None:
            scale[joint.q] = original.mimic.multiplier
            offset[joint.q] = original.mimic.offset
            velocities[joint.v, original.v] *= original.mimic.multiplier
    return WithoutMimics(free, source, scale, offset, velocities)
