"""Refuse sub-interpreters, before anything compiled is imported."""

from __future__ import annotations

import importlib


def _is_main() -> bool:
    """Whether this is the main interpreter, as far as Python can tell without NumPy."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # since Python 3.13; before
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        current = module.get_current()
        main = module.get_main()
        return bool(current == main)
    return True  # the core checks again


if not _is_main():
    raise ImportError(
        "dtau cannot be imported in a sub-interpreter, as its compiled modules belong to the main "
        "one: use a thread of the main interpreter, or a process"
    )
