"""Calls of the package measured otherwise than by time: by a fill, and by their operations."""

from __future__ import annotations

from dtau import _testing
from dtau.timing import Call, Contender, loop


def fill(call: Call) -> Contender:
    """A contender that fills the results of all states with a constant."""
    return Contender(loop("for x in out: x.fill(1.0)", out=call()), call.count)


def operations(call: Call) -> tuple[int, int, int]:
    """Multiplications, additions and divisions of the first state."""
    first = call.part(0)
    _testing.counting.take()
    getattr(_testing.counting, call.name)(call.model, *first.arrays.values(), **call.options)
    multiplications, additions, divisions = _testing.counting.take()
    return int(multiplications), int(additions), int(divisions)


def fitting(call: Call, states: int, most: int) -> Call:
    """The same at so many states, or fewer: as have results of at most so many bytes."""
    size = sum(result.nbytes for result in call.part(0)())
    return call.part(slice(max(1, min(states, most // size))))
