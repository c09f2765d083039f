"""Keywords that were renamed: a call with the former name says the new one.

A function takes them as ``**former``, which its signature does not show.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

FORMER = {"damping": "regularization"}


def hides_former(function: F) -> F:
    """Leave ``**former`` out of the signature that ``help()`` and editors show."""
    signature = inspect.signature(function)
    shown = [x for x in signature.parameters.values() if x.kind is not x.VAR_KEYWORD]
    function.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return function


def refuse(function: str, former: Mapping[str, object]) -> NoReturn:
    """Raise the TypeError for a keyword that a function does not have."""
    name = next(iter(former))
    hint = f"; it is called {FORMER[name]} now" if name in FORMER else ""
    raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
