"""Calls of the package measured otherwise than by time: by a fill, and by their operations."""

from __future__ import annotations

from tests.support.replay import Counters

from dtau import _core
from dtau.cli.timing import Call, Contender, loop
from dtau.registry import FUNCTIONS


def fill(call: Call) -> Contender:
    """A contender that fills the results of all states with a constant."""
    return Contender(loop("for x in out: x.fill(1.0)", out=call()), call.count)


def operations(call: Call) -> tuple[int, int, int]:
    """Multiplications, additions and divisions of a state."""
    counters = Counters()
    inputs = [x.name for x in FUNCTIONS[call.name].inputs]
    first = call.part(0).arrays.values()
    arrays = {x: y for x, y in zip(inputs, first, strict=False) if y is not None}
    getattr(counters, call.name)(call.model, **arrays, **call.options)
    return counters.take()


def fitting(call: Call, states: int, most: int) -> Call:
    """The same at so many states, or fewer: as have results of at most so many bytes."""
    size = sum(result.nbytes for result in call.part(0)())
    return call.part(slice(max(1, min(states, most // size))))


def peaks() -> dict[str, float]:
    """Multiply-adds a second that the core can do, by lone numbers and by vectors."""
    alone, batch = zip(*(_core.peak_rate() for _ in range(3)), strict=True)
    return {"alone": max(alone), "batch": max(batch)}
