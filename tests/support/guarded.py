"""Arrays between pages of memory that nobody may touch: what reads beside them crashes."""

from __future__ import annotations

import ctypes
import math
import mmap
import sys

import numpy as np
from trees import Array

_PAGE = mmap.PAGESIZE
_FORBIDDEN = 0  # PROT_NONE
AVAILABLE = sys.platform.startswith("linux")


def guarded(shape: tuple[int, ...], fill: float, *, at_end: bool) -> Array:
    """An array that ends where forbidden memory begins, or begins where such memory ends."""
    size = 8 * math.prod(shape)
    if not AVAILABLE or not size:
        return np.full(shape, fill)
    room = -(-size // _PAGE) * _PAGE
    pages = mmap.mmap(-1, room + 2 * _PAGE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    libc = ctypes.CDLL(None, use_errno=True)
    for page in (begin, begin + _PAGE + room):
        if libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(_PAGE), _FORBIDDEN):
            raise OSError(ctypes.get_errno(), "mprotect")
    first = _PAGE + (room - size if at_end else 0)
    array = np.frombuffer(pages, np.float64, size // 8, first).reshape(shape)
    array[...] = fill
    return array


def guarded_copy(x: Array, *, at_end: bool) -> Array:
    copy = guarded(x.shape, 0.0, at_end=at_end)
    copy[...] = x
    return copy
