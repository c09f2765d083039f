"""Linearize the knots that share their dynamics in one call: `Batch`."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Point = tuple[bytes, bytes]  # a state and a joint torque
Derivatives = tuple[Array, ...]  # leading axis: knots
Linearize = Callable[[Array, Array], Derivatives]


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
        x, tau = (np.frombuffer(b"".join(part)) for part in zip(*points, strict=True))
        found = self._linearize(x.reshape(len(points), -1), tau.reshape(len(points), -1))
        for knot, *derivatives in zip(changed, *found, strict=True):
            knot.derivatives, knot.linearized = derivatives, knot.point


class Knot:
    """The part of a knot's data that a `Batch` reads and writes."""

    batch: Batch | None = None
    point: Point | None = None  # where the knot was last evaluated
    linearized: Point | None = None  # where its derivatives are
    derivatives: Any = ()

    def move(self, batch: Batch, x: Array, tau: Array) -> None:
        """Note the point at which the knot is evaluated."""
        self.point = x.tobytes(), tau.tobytes()
        if self.batch is not batch:
            self.linearized = None
            batch.add(self)

    def is_at(self, x: Array) -> bool:
        """Whether the knot was last evaluated at this state."""
        return self.point is not None and self.point[0] == x.tobytes()

    def linearization(self) -> Any:
        """Return the derivatives at the point, from the batch where they are not there yet."""
        if self.linearized is not self.point:
            assert self.batch is not None
            self.batch.update()
        return self.derivatives
