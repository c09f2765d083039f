"""Attributes of results beside their tuple: `WithAttributes`."""

from __future__ import annotations

import inspect
from typing import Any, Self


class WithAttributes:
    """Base of named tuples with attributes, which they have if options of the call ask for them.

    A subclass annotates the attributes. Each is an array where it is there; reading another one
    raises AttributeError, which names the option.
    """

    def __init_subclass__(cls) -> None:
        for name in inspect.get_annotations(cls):
            setattr(cls, name, _NotAsked(cls.__name__, name))

    def _asdict(self) -> dict[str, Any]:
        """Return the fields of the tuple and the attributes that are there, by name."""
        return {**super()._asdict(), **vars(self)}  # type: ignore[misc]

    def _replace(self, **changes: Any) -> Self:
        """Return the same with other fields or attributes."""
        known = [x for x in changes if isinstance(getattr(type(self), x, None), _NotAsked)]
        more = {name: changes.pop(name) for name in known}
        result: Self = super()._replace(**changes)  # type: ignore[misc]
        vars(result).update({**vars(self), **more})
        return result

    __replace__ = _replace  # copy.replace

    def __repr__(self) -> str:
        parts = (f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({', '.join(parts)})"


class _NotAsked:
    """Stands in a class for an attribute, which arrays of an instance hide."""

    def __init__(self, kind: str, name: str) -> None:
        self._kind, self._name = kind, name

    def __get__(self, result: object, kind: type) -> _NotAsked:
        if result is None:
            return self
        message = f"{self._name}: {_advice(self._kind, self._name)}"
        raise AttributeError(message, name=self._name, obj=result)


def _advice(kind: str, name: str) -> str:
    """Return the options that ask for an attribute of a class, from the row of its function."""
    from dtau.registry import FUNCTIONS  # which imports the core, and the core these classes

    row = next(x for x in FUNCTIONS.values() if x.result_class == kind)
    array = next(x for x in (*row.results, *row.force_results, *row.by_results) if x.name == name)
    options = ["forces=True"] if "forces" in array.asked else []
    options += [f'by="{word}"' for word in array.asked if word != "forces"]
    if array.optional:
        given = name.removeprefix("by_")
        options.append(f"{given}=" if given in [x.name for x in row.inputs] else "contacts=")
    return f"give {' and '.join(options)} to dtau.{row.name}"
