"""Let Python call the core without running the body of a public function: `direct`."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

from dtau import _core

F = TypeVar("F", bound=Callable[..., Any])


def direct(core: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate a function whose body only passes its arguments on to a function of the core.

    The callable in its place has the same name, signature and docstring, and pickles by its name.
    It calls the core itself, so that a call takes 0.1 microseconds less.
    """

    def replace(function: F) -> F:
        found = _core.public_function(core, function, function.__code__.co_argcount)
        update_wrapper(found, function)
        found.__annotations__ = function.__annotations__  # Python 3.14 copies another form of them
        return found  # type: ignore[no-any-return]

    return replace
