"""Import the extension that records the core's operations, only when code is generated."""

from __future__ import annotations

import importlib
import os
import threading
from typing import Any

_loading = threading.RLock()
if hasattr(os, "register_at_fork"):
    # A fork waits for the import: a child without the importing thread could never finish it.
    os.register_at_fork(
        before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release
    )

# Python and NumPy import these at their first use, which generation makes.
_LAZY = ("encodings.ascii", "numpy.ma", "numpy.random")

# Errors of loaders that lack memory: glibc's, musl's and macOS', and Windows'.
_NO_MEMORY = (
    "failed to map segment",
    "cannot map",
    "cannot allocate memory",
    "out of memory",
    "errno=12",
    "not enough memory",
    "paging file is too small",
)
_NOT_THESE = "static tls"  # glibc: too many libraries, not too little memory


def load_recorder() -> Any:
    """Return the module ``dtau._recorder``.

    Raises
    ------
    MemoryError
        If there is no memory, or no address space, for it.
    """
    with _loading:
        try:
            for name in _LAZY:
                importlib.import_module(name)
            from dtau import _recorder
        except (ImportError, MemoryError) as error:
            text = str(error).lower()
            lacking = any(words in text for words in _NO_MEMORY) and _NOT_THESE not in text
            if not lacking and not isinstance(error, MemoryError):
                raise
            raise MemoryError(
                "dtau.generate: no memory to load the extension that records functions, "
                f"dtau._recorder ({error})"
            ) from error
    return _recorder
