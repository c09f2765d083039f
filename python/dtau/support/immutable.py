"""Base classes of immutable objects, with checks when they are unpickled: `Immutable`, `Record`.

Unpickling and copying give an object that a constructor could have made, with the same bits, or
raise TypeError or ValueError. This detects damaged pickles. It does not make pickles from untrusted
sources safe, because pickles can run any code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from types import NoneType, UnionType
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

T = TypeVar("T")


class Trusting:
    """A second constructor, for attributes that are known to be right."""

    @classmethod
    def _trusted(cls: type[T], **attributes: Any) -> T:
        """Make an object of all its attributes, which are not checked again; arrays are read-only.

        The caller has checked them, or they come from objects of the package.
        """
        made = cls.__new__(cls)
        vars(made).update(attributes)
        return made


class Immutable(Trusting):
    """Base of immutable classes: the constructor sets all attributes; arrays are read-only."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot set {name!r}: {_immutable(self)}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete {name!r}: {_immutable(self)}")

    def _require_new(self) -> None:
        """Raise if attributes are set already: a constructor can be called a second time."""
        if vars(self):
            _require_new(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._require_new()
        with checking(state, _hints(type(self))):
            require_kinds(type(self), state)
            for value in state.values():
                if isinstance(value, np.ndarray):
                    value.flags.writeable = False  # NumPy does not keep this flag in a pickle
        vars(self).update(state)


class Record(Trusting):
    """Base of frozen dataclasses, which are unpickled by their constructor."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        _require_new(self)
        with checking(state, _names(type(self))):
            require_kinds(type(self), state)
            made = type(self)(**state)
        vars(self).update(vars(made))


def _require_new(value: object) -> None:
    if vars(value):
        raise AttributeError(f"cannot construct it again: {_immutable(value)}")


def _immutable(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name} is immutable"


@contextmanager
def checking(state: object, names: Collection[str]) -> Iterator[None]:
    """Raise TypeError unless a state has these names; turn other exceptions into ValueErrors."""
    if not isinstance(state, dict) or set(state) != set(names):
        got = list(state) if isinstance(state, dict) else type(state).__name__
        raise TypeError(f"state: expected {', '.join(sorted(names)) or 'nothing'}, got {got!r:.80}")
    try:
        yield
    except (TypeError, ValueError):
        raise
    except Exception as error:  # the contents may raise anything
        raise ValueError(f"state: {type(error).__name__}: {error!s:.80}") from None


def require_kinds(cls: type, state: dict[str, Any]) -> None:
    """Raise TypeError unless values have the types that the class annotates."""
    hints = _hints(cls)
    for name, value in state.items():
        if name in hints and not _fits(value, hints[name]):
            raise TypeError(
                f"state: expected {name} to be {hints[name]!s:.80}, got {type(value).__name__}"
            )


def _hints(cls: type) -> dict[str, Any]:
    if cls not in _known:
        _known[cls] = get_type_hints(cls)
    return _known[cls]


_known: dict[type, dict[str, Any]] = {}  # cached: evaluating annotations takes long


def _names(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value fits an annotation; True for annotations that are not understood."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if hint in (None, NoneType):
        return value is None
    if kind is np.ndarray:
        (number,) = get_args(parts[1])
        return type(value) is np.ndarray and value.dtype == np.dtype(number)
    if kind is tuple:
        if not isinstance(value, tuple):
            return False
        each = parts[:1] * len(value) if parts[-1] is ... else parts
        return len(value) == len(each) and all(map(_fits, value, each))
    if hint in (int, float):
        return isinstance(value, hint) and not isinstance(value, bool)
    return not isinstance(hint, type) or (isinstance(value, hint) and is_complete(value))


def is_complete(value: Any) -> bool:
    """Whether an object of the package has its attributes; unpickling can leave it empty."""
    if isinstance(value, Immutable):
        return bool(vars(value))
    return not isinstance(value, Record) or vars(value).keys() >= set(_names(type(value)))
