"""Linearize the knots that share their dynamics in one call: `Batch`."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from dtau.support.arrays import Array

Derivatives = tuple[Array, ...]  # leading axis: knots
Linearize = Callable[[Array, Array], Derivatives]


class Batch:
    """Knots of equal dynamics.

    A solver evaluates all knots before it asks for a derivative. The first knot that is asked for
    one therefore linearizes every knot whose point has changed.

    Parameters
    ----------
    linearize : callable
        Returns the derivatives at states (n, nx) and joint torques (n, nv).
    nx, nv : int
    """

    def __init__(self, linearize: Linearize, nx: int, nv: int) -> None:
        self._linearize, self._nx, self._nv = linearize, nx, nv
        self._knots: list[weakref.ref[Knot]] = []

    def add(self, knot: Knot) -> None:
        """Count a knot in."""
        self._knots.append(weakref.ref(knot))
        knot.batch = self

    def update(self) -> None:
        """Linearize all knots whose point is not the one of their derivatives."""
        knots = [knot for x in self._knots if (knot := x()) is not None and knot.batch is self]
        if len(knots) < len(self._knots):
            self._knots = [weakref.ref(knot) for knot in knots]
        changed = [knot for knot in knots if knot.linearized is not knot.point]
        points = np.frombuffer(b"".join([knot.point for knot in changed if knot.point is not None]))
        points = points.reshape(len(changed), -1)
        found = self._linearize(points[:, : self._nx], points[:, -self._nv :])
        for knot, *derivatives in zip(changed, *found, strict=True):
            knot.derivatives, knot.linearized = derivatives, knot.point


class Knot:
    """The part of a knot's data that a `Batch` reads and writes."""

    batch: Batch | None = None
    # State, controls and joint torque where the knot was last evaluated, and where its derivatives
    # are. Bytes are quick to compare and to join, and the garbage collector leaves them alone.
    point: bytes | None = None
    linearized: bytes | None = None
    derivatives: Any = ()

    def move(self, batch: Batch, x: Array, u: Array, tau: Array) -> None:
        """Note the point at which the knot is evaluated."""
        self.point = _bytes(x) + _bytes(u) + _bytes(tau)
        if self.batch is not batch:
            self.linearized = None
            batch.add(self)

    def is_at(self, batch: Batch, x: Array, u: Array) -> bool:
        """Whether the knot was last evaluated with these dynamics, at this state and controls."""
        return (
            self.batch is batch
            and self.point is not None
            and self.point.startswith(_bytes(x) + _bytes(u))
        )

    def linearization(self) -> Any:
        """Return the derivatives at the point, from the batch where they are not there yet."""
        if self.linearized is not self.point:
            assert self.batch is not None
            self.batch.update()
        return self.derivatives


def _bytes(x: Array) -> bytes:
    return np.asarray(x, dtype=np.float64).tobytes()
