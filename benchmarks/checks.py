"""Results are compared before anything is timed: by the bits of a batch, by others' results.

One that is wrong is a `WrongResultError`, which fails the run; `UnavailableError` says what is not
here, and leaves out what needs it.
"""

from __future__ import annotations

import numpy as np

import dtau
from dtau.cli.timing import Array, Call, given

CONDITION = 5e-16  # what solves may err by more, for each unit of the mass matrix's condition


class WrongResultError(Exception):
    """A result that was about to be timed differs from another way to it."""


class UnavailableError(Exception):
    """Something optional is not here: a package, a compiler, a file; the message says which."""


def require_close(got: Array, want: Array, tolerance: float, what: str, floor: float = 0.0) -> None:
    """Raise `WrongResultError` where an element differs by more than this part of the largest."""
    size = max(floor, float(np.abs(want).max(initial=0.0)))
    error = float(np.abs(got - want).max(initial=0.0))
    if got.shape != want.shape or not error <= tolerance * size:
        raise WrongResultError(f"{what}: differs by {error:.1e}, where {size:.1e} is the largest")


def same_bits(call: Call, what: str, lone: int) -> tuple[Array, ...]:
    """The results of all states, in arrays that were full of NaN.

    Raises `WrongResultError` unless new arrays, and the first states alone, have the same bits.
    """
    out = tuple(np.full_like(x, np.nan) for x in call())
    call(out=given(out), threads=1)
    if not all(map(np.array_equal, call(threads=1), out)):
        raise WrongResultError(f"{what}: new arrays have other bits than those that are given")
    for i in range(min(lone, call.count)):
        if not all(np.array_equal(x, y[i]) for x, y in zip(call.part(i)(), out, strict=True)):
            raise WrongResultError(f"{what}: one state gives other bits than many")
    return out


def solved(tolerance: float, model: dtau.Model, q: Array) -> float:
    """A tolerance for what solves with the mass matrix at these configurations."""
    return tolerance + CONDITION * float(np.linalg.cond(dtau.mass_matrix(model, q)).max())


def require_packed(
    model: dtau.Model, packed: tuple[Array, ...], dense: tuple[Array, ...], what: str
) -> None:
    """Raise `WrongResultError` unless packed tensors hold all entries that are not zero."""
    i, j, k = dtau.pattern(model, "inverse_dynamics_second_derivatives").coordinates
    for x, y in zip(packed, dense, strict=True):
        scattered = np.zeros_like(y)
        scattered[..., i, j, k] = x
        require_close(scattered, y, 0.0, f"{what}: packed tensors")
