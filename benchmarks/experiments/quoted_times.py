"""Times of the C++ reference implementation of [HO-FBS], which are not measured here.

Microseconds a call, on other machines. Printed: in the caption of figure 3, on an Intel i7-12700H,
by order. Built: the published code with -O3 -march=native, timed once on one machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.experiment import Claim
from benchmarks.harness import number

PRINTED = {
    ("inverse", 7): (2.326, 3.078, 2.867, 4.355, 5.960, 8.171),
    ("forward", 7): (4.106, 4.802, 6.486, 6.461, 8.589, 11.085),
}
BUILT = {
    ("inverse", 7, 0): 1.8,
    ("inverse", 7, 5): 15.1,
    ("inverse", 101, 5): 222.0,
    ("forward", 7, 0): 2.5,
    ("forward", 7, 5): 23.5,
    ("forward", 101, 5): 342.0,
}
# How many times less than built is asked for (and aimed at), one state and in a batch: by bodies
# and order.
GOALS = {(7, 5): ((6.0, 10.0), (20.0, 30.0)), (101, 5): ((8.0, 8.0), (20.0, 20.0))}


@dataclass(frozen=True)
class Row:
    """Microseconds a state, and those quoted if there are any."""

    bodies: int
    function: str
    order: int
    alone: float
    batch: float

    @property
    def printed(self) -> float | None:
        """The figure of the paper."""
        by_order = PRINTED.get((self.function, self.bodies))
        return by_order[self.order] if by_order and self.order < len(by_order) else None

    @property
    def built(self) -> float | None:
        """What the published code took where it was built."""
        return BUILT.get((self.function, self.bodies, self.order))

    @property
    def better(self) -> tuple[str, float] | None:
        """The faster one of the two, by name."""
        both = {"printed": self.printed, "built": self.built}
        return min(
            ((name, micro) for name, micro in both.items() if micro is not None),
            key=lambda quoted: quoted[1],
            default=None,
        )

    def cells(self) -> list[str]:
        """The times, those quoted, and how many times less than the better one it is here."""
        cells = [self.function, str(self.order), number(self.alone), number(self.batch)]
        cells += ["" if x is None else f"{x:g}" for x in (self.printed, self.built)]
        if self.better is None:
            return [*cells, "", "", ""]
        name, least = self.better
        return [*cells, name, f"{least / self.alone:.1f}x", f"{least / self.batch:.1f}x"]

    def claims(self) -> list[Claim]:
        """How many times less than built is asked for, and what came out."""
        goals = GOALS.get((self.bodies, self.order))
        if goals is None or self.built is None:
            return []
        found = []
        for way, micro, (least, aim) in zip(
            ("one state", "a batch"), (self.alone, self.batch), goals, strict=True
        ):
            ratio = self.built / micro
            aimed = f" (aim: {aim:g}x)" if aim > least else ""
            text = (
                f"{self.function} dynamics, {self.bodies} bodies, order {self.order}, {way}: less "
                f"time than the {self.built:g} us of the published code, built on another machine"
            )
            measured = f"{ratio:.1f}x, {number(micro)} us"
            found.append(Claim(text, f"at least {least:g}x{aimed}", measured, ratio >= least))
        return found


HEADER = ["dynamics", "order", "alone", "batch", "printed", "built", "better", "alone", "batch"]
