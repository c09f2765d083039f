"""Divide large batches into blocks of states: `blocks`."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK = 1024  # states: no function of NumPy, which no signal interrupts, takes long


def blocks(count: int) -> Iterator[slice]:
    """Yield the slices of blocks, of at most `BLOCK` states."""
    for start in range(0, count, BLOCK):
        yield slice(start, min(count, start + BLOCK))
