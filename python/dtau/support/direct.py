"""Make public functions of the core's: `direct`."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

from dtau import _core

F = TypeVar("F", bound=Callable[..., Any])

_PREFIXES = {"poses": "pose_", "rotations": "rotation_"}  # of the core's names, by package


def of_core(function: F) -> F:
    """Decorate a signature: the function of the core with its name and these arguments runs.

    They have the names, defaults and places of the core's (`tests/package/test_direct.py`). The
    callable has the name of the decorated function, and pickles by it. A Python function that calls
    the core takes 0.1 microseconds more.
    """
    prefix = _PREFIXES.get(function.__module__.split(".")[1], "")
    core = getattr(_core, prefix + function.__name__)
    found = _core.public_function(core, function, function.__code__.co_argcount)
    update_wrapper(found, function)
    found.__annotations__ = function.__annotations__  # Python 3.14 copies another form of them
    return found  # type: ignore[no-any-return]


def direct(function: F) -> F:
    """Decorate a signature and a docstring, which is completed: `of_core` and `documented`."""
    from dtau.docstrings import documented  # not in a wheel, whose modules are complete

    return of_core(documented(function))
