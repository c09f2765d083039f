"""Families: functions that differentiate a function are its attributes, `inverse_dynamics.vjp`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dtau.registry import FUNCTIONS

F = TypeVar("F", bound=Callable[..., Any])


def old_name(new: str) -> Callable[[F], F]:
    """Decorate a function that is kept under its old name."""

    def mark(function: F) -> F:
        function.new_name = new  # type: ignore[attr-defined]
        return function

    return mark


def link(names: Mapping[str, Any]) -> frozenset[str]:
    """Give functions their attributes; return the names that these make redundant.

    Such a name is the family's name, an underscore and the attribute: `inverse_dynamics_vjp`; or
    it is an old one. Rows of the registry say what differentiates a function. For functions without
    a row, and for regressors, the names do.
    """
    for name, row in FUNCTIONS.items():
        for kind, linked in row.links.items():
            setattr(names[name], kind, names[linked])
    kinds = {kind for row in FUNCTIONS.values() for kind in row.links}
    redundant = set()
    for name, function in names.items():
        for kind in (*kinds, "regressor"):
            family = name.removesuffix(f"_{kind}")
            if family != name and family in names:
                setattr(names[family], kind, function)
                if kind == "regressor":  # of what is linear in the inertial parameters
                    names[family].parameter_derivatives = function
                redundant.add(name)
        if hasattr(function, "new_name"):
            redundant.add(name)
    return frozenset(redundant)
