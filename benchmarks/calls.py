"""Calls of the package's functions, to be timed: alone, and a batch into given arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import dtau
from benchmarks.harness import Array, Contender, Effort, interleaved, loop
from dtau.registry import arrays_of

LONE_STATES = 64  # lone calls go round so many states


def alone(
    f: Callable[..., Any],
    model: dtau.Model,
    arrays: Sequence[Array],
    states: int = LONE_STATES,
    **options: Any,
) -> Contender:
    """The first states, one call each, into fresh arrays."""
    names = [f"x{i}" for i in range(len(arrays))]
    rows = ([row.copy() for row in array[:states]] for array in arrays)
    points = list(zip(*rows, strict=True))
    words = ", ".join(["model", *names, *(f"{name}={name}" for name in options)])
    statement = f"for {', '.join(names)}{',' * (len(names) == 1)} in points: f({words})"
    return Contender(loop(statement, f=f, model=model, points=points, **options), len(points))


def batch(
    f: Callable[..., Any], model: dtau.Model, arrays: Sequence[Array], **options: Any
) -> Contender:
    """All states in one call of one thread, into given arrays."""
    given = {f"x{i}": array for i, array in enumerate(arrays)}
    options = options | {"threads": 1, "out": f(model, *arrays, **options)}
    words = ", ".join(["model", *given, *(f"{name}={name}" for name in options)])
    run = loop(f"f({words})", f=f, model=model, **given, **options)
    return Contender(run, len(arrays[0]))


def together(results: Any) -> tuple[Array, ...]:
    """The arrays of a result, one or several, as a tuple."""
    return arrays_of(results)


def medians(
    contenders: dict[Any, Contender], effort: Effort, tick: Callable[[], None]
) -> dict[Any, float]:
    """Microseconds a state."""
    return median_of(interleaved(contenders, effort, tick))


def median_of(seconds: dict[Any, Array]) -> dict[Any, float]:
    """Microseconds a state, of the seconds that `interleaved` gives."""
    return {name: 1e6 * float(np.median(s)) for name, s in seconds.items()}


def exponent(x: Iterable[float], y: Iterable[float]) -> float:
    """The slope of the logarithm of y over that of x."""
    return float(np.polyfit(np.log(list(x)), np.log(list(y)), 1)[0])
