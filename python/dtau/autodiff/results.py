"""Results of several arrays: the named tuples of `dtau.results`, of any library's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

__all__ = ["NextState", "Placements", "TangentMap"]

Array = TypeVar("Array")

if TYPE_CHECKING:  # the same with the type of array said: Python 3.10 has no such tuples

    class NextState(NamedTuple, Generic[Array]):
        """`dtau.results.NextState`."""

        q: Array
        v: Array

    class Placements(NamedTuple, Generic[Array]):
        """`dtau.results.Placements`."""

        rotation: Array
        translation: Array

    class TangentMap(NamedTuple, Generic[Array]):
        """`dtau.results.TangentMap`."""

        from_tangent: Array
        to_tangent: Array

else:
    from dtau.results import NextState, Placements, TangentMap
