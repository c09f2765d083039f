"""Linearize the knots that share their dynamics in one call: `Batch`."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Derivatives = tuple[Array, ...]  # leading axis: knots
Linearize = Callable[[Array, Array], Derivatives]


class Point(NamedTuple):
    """State, controls and joint torque of a knot, as bytes: quick to compare and to join."""

    x: bytes
    u: bytes
    tau: bytes


class Batch:
    """Knots of equal dynamics.

    A solver evaluates all knots before it asks for a derivative. The first knot that is asked for
    one therefore linearizes every knot whose point has changed.

    Parameters
    ----------
    linearize : callable
        Returns the derivatives at points (n, nx) and (n, nv).
    """

    def __init__(self, linearize: Linearize) -> None:
        self._linearize = linearize
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
        points = [knot.point for knot in changed if knot.point is not None]
        x = np.frombuffer(b"".join([point.x for point in points]))
        tau = np.frombuffer(b"".join([point.tau for point in points]))
        found = self._linearize(x.reshape(len(points), -1), tau.reshape(len(points), -1))
        for knot, *derivatives in zip(changed, *found, strict=True):
            knot.derivatives, knot.linearized = derivatives, knot.point


class Knot:
    """The part of a knot's data that a `Batch` reads and writes."""

    batch: Batch | None = None
    point: Point | None = None  # where the knot was last evaluated
    linearized: Point | None = None  # where its derivatives are
    derivatives: Any = ()

    def move(self, batch: Batch, x: Array, u: Array, tau: Array) -> None:
        """Note the point at which the knot is evaluated."""
        self.point = Point(_bytes(x), _bytes(u), _bytes(tau))
        if self.batch is not batch:
            self.linearized = None
            batch.add(self)

    def is_at(self, batch: Batch, x: Array, u: Array) -> bool:
        """Whether the knot was last evaluated with these dynamics, at this state and controls."""
        if self.batch is not batch or self.point is None:
            return False
        return self.point[:2] == (_bytes(x), _bytes(u))

    def linearization(self) -> Any:
        """Return the derivatives at the point, from the batch where they are not there yet."""
        if self.linearized is not self.point:
            assert self.batch is not None
            self.batch.update()
        return self.derivatives


def _bytes(x: Array) -> bytes:
    return np.asarray(x, dtype=np.float64).tobytes()
