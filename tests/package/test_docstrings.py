"""Docstrings name what a signature has, in its order: a call that follows one is a right call."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

MODULES = (
    "dtau",
    "dtau.conventions",
    "dtau.distances",
    "dtau.identification",
    "dtau.poses",
    "dtau.rotations",
    "dtau.robots",
    "dtau.viewer",
    "dtau.casadi",
    "dtau.jax",
    "dtau.torch",
)
STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def named(item: object, section: str) -> list[str]:
    """The names that a section of a docstring describes, in its order."""
    text = inspect.getdoc(item) or ""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\S[^\n]*\n-{{3,}}$|\Z)", text, re.S | re.M)
    lines = found[1].splitlines() if found else []
    heads = [line for line in lines if line and not line[0].isspace()]
    return [name.strip() for line in heads for name in line.partition(" : ")[0].split(",")]


def taken(item: Callable[..., Any]) -> list[str]:
    """The parameters of a function or method."""
    parameters = inspect.signature(item).parameters.values()
    names = [STARS.get(parameter.kind, "") + parameter.name for parameter in parameters]
    return [name for name in names if name not in ("self", "cls")]


def members(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods that a class defines itself."""
    for name, value in vars(kind).items():
        if isinstance(value, classmethod | staticmethod):
            value = getattr(kind, name)
        if inspect.isroutine(value) and not name.startswith("_"):
            yield name, value


def differences(module: str) -> Iterator[str]:
    """What the docstrings of a module's public names and its signatures do not have in common."""
    whole = importlib.import_module(module)
    for name in whole.__all__:
        item = getattr(whole, name)
        if inspect.ismodule(item) or not callable(item) or issubclass_of_error(item):
            continue
        checked = {name: item}
        if inspect.isclass(item):
            checked |= {f"{name}.{method}": function for method, function in members(item)}
            fields = list(getattr(item, "_fields", []))  # results are unpacked in their order
            if fields and named(item, "Attributes") not in ([], fields):
                yield f"{module}.{name}: {named(item, 'Attributes')}, has {fields}"
            if not named(item, "Parameters"):  # made by the package alone
                del checked[name]
        for label, function in checked.items():
            if named(function, "Parameters") != taken(function):
                yield f"{module}.{label}: {named(function, 'Parameters')}, takes {taken(function)}"


def issubclass_of_error(item: Any) -> bool:
    return inspect.isclass(item) and issubclass(item, Exception | Warning)


@pytest.mark.parametrize("module", MODULES)
def test_parameters_are_those_of_the_signature_in_its_order(module: str) -> None:
    library = module.removeprefix("dtau.")
    if library in ("casadi", "distances", "jax", "torch"):
        pytest.importorskip({"distances": "coal"}.get(library, library))
    assert list(differences(module)) == []


def test_all_kinds_of_names_are_compared() -> None:
    """The comparison reads lines of several names, defaults, methods and stars."""

    class Arm:
        def move(self, q: float, *rest: float, quick: bool = False) -> None:
            """Move.

            Parameters
            ----------
            q : float
                Where to.
            *rest
                More.
            quick : bool

            Raises
            ------
            ValueError
            """

    (label, move), *more = members(Arm)
    assert (label, more) == ("move", [])
    assert named(move, "Parameters") == taken(move) == ["q", "*rest", "quick"]
    assert named(move, "Raises") == ["ValueError"]
