"""The same numbers, otherwise in memory."""

from __future__ import annotations

import numpy as np
from trees import Array


def read_only(x: Array) -> Array:
    copy = x.copy()
    copy.flags.writeable = False
    return copy


def misaligned(x: Array) -> Array:
    """At an address that is no multiple of 8."""
    if not x.size:
        return x.copy()
    raw = np.zeros(x.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64).reshape(x.shape)
    view[...] = x
    return view


def every_other(x: Array) -> Array:
    """With gaps between all numbers."""
    wide = np.full(tuple(2 * n for n in x.shape), np.nan)
    view = wide[(..., *(slice(None, None, 2) for _ in x.shape))]
    view[...] = x
    return view
