"""Refuse keywords that were renamed, with an error that names the new one: `refuse`.

A function takes former keywords as ``**former``, which its signature does not show.
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
    """Raise the TypeError for an unknown keyword, naming its new name if it was renamed."""
    name = next(iter(former))
    hint = f"; it is called {FORMER[name]} now" if name in FORMER else ""
    raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
