"""Read models of other packages, which may be incomplete or damaged: `ForeignModel`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from dtau.support.arrays import Array
from dtau.support.checks import class_name

T = TypeVar("T")


class ForeignModel:
    """A model of another package; every part is checked when it is read.

    Parameters
    ----------
    argument : str
        Name in messages.
    value : object
    expected : str
        Its class, with the package.
    attributes : iterable of str
        Attributes that will be read.

    Raises
    ------
    TypeError
        If it lacks one of these attributes. Methods raise ValueError.
    """

    def __init__(
        self, argument: str, value: object, expected: str, attributes: Iterable[str]
    ) -> None:
        self._argument = argument
        self._parts: dict[str, Any] = {}
        for name in attributes:
            try:
                self._parts[name] = getattr(value, name)
            except Exception:  # foreign attributes may raise anything
                raise TypeError(
                    f"{argument}: expected a {expected}, got {class_name(value)}, which has no "
                    f"{name!r}"
                ) from None

    def error(self, name: str, expected: str, got: object) -> ValueError:
        """Make the error for a part that is wrong."""
        return ValueError(f"{self._argument}.{name}: expected {expected}, got {got!s:.80}")

    def read(self, name: str, expected: str, reader: Callable[[Any], T]) -> T:
        """Return a part, converted by `reader`."""
        try:
            return reader(self._parts[name])
        except Exception as error:  # foreign objects may raise anything
            raise self.error(name, expected, f"{type(error).__name__}: {error}") from None

    def integer(self, name: str) -> int:
        """Return an integer of at least 0."""
        value = self.read(name, "an integer", operator.index)
        if value < 0:
            raise self.error(name, "an integer of at least 0", value)
        return value

    def integers(
        self, name: str, count: int, most: int | None = None, *, skip: int = 0
    ) -> list[int]:
        """Return `count` integers from 0 to `most`, after skipping some."""
        values = self.read(name, "integers", lambda x: [operator.index(i) for i in list(x)[skip:]])
        if len(values) != count:
            raise self.error(name, f"{count + skip} integers", len(values) + skip)
        for value in values:
            if value < 0 or (most is not None and value > most):
                raise self.error(
                    name, "integers of at least 0" if most is None else f"0 to {most}", value
                )
        return values

    def numbers(self, name: str, shape: tuple[int, ...], *, finite: bool = True) -> Array:
        """Return numbers of this shape, finite if so requested."""
        array = self.read(name, "numbers", lambda x: np.array(x, dtype=np.float64))
        if array.shape != shape:
            raise self.error(name, f"shape {shape}", array.shape)
        if finite and not np.isfinite(array).all():
            raise self.error(name, "finite numbers", array[~np.isfinite(array)][0])
        return array

    def names(self, name: str, reader: Callable[[Any], Iterable[object]]) -> list[str]:
        """Return a part as strings, converted by `reader`."""
        values = self.read(name, "names", lambda x: list(reader(x)))
        for value in values:
            if not isinstance(value, str):
                raise self.error(name, "names", type(value).__name__)
        return [str(value) for value in values]

    def require_places(
        self, name: str, starts: Sequence[int], sizes: Sequence[int], total: int
    ) -> None:
        """Raise unless joints fill all places without gaps, in some order."""
        end = 0
        for start, size in sorted(zip(starts, sizes, strict=True)):
            if size and start != end:
                raise self.error(name, f"a joint whose numbers begin at {end}", start)
            end += size
        if end != total:
            raise self.error(name, f"joints with {total} numbers in all", end)
