"""Times of the C++ reference implementation of [HO-FBS], which are not measured here.

Microseconds a call, on other machines. Printed: in the caption of figure 3, on an Intel i7-12700H,
by order. Built: the published code with -O3 -march=native, timed once on one machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks.declare import Row, Shown
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


WAYS = {"alone": "one state", "batch": "a batch"}
COLUMNS: list[Shown] = [
    *(("dynamics", "function"), "order", "alone", "batch", "printed", "built", "better"),
    *(("alone", "alone times"), ("batch", "batch times")),
]


def beside(bodies: int, function: str, order: int, alone: float, batch: float) -> Row:
    """Microseconds a state, those quoted if there are any, and how many times the better ones."""
    by_order = PRINTED.get((function, bodies), ())
    built = BUILT.get((function, bodies, order))
    both = {"printed": by_order[order] if order < len(by_order) else None, "built": built}
    row = {"bodies": bodies, "function": function, "order": order, "alone": alone, "batch": batch}
    row |= {name: f"{x:g}" for name, x in both.items() if x is not None}
    known = {name: x for name, x in both.items() if x is not None}
    if not known:
        return row
    better = row["better"] = min(known, key=lambda name: known[name])
    times = {"alone times": known[better] / alone, "batch times": known[better] / batch}
    return row | {name: f"{x:.1f}x" for name, x in times.items()}


def claims(rows: Iterable[Row]) -> Iterator[Claim]:
    """How many times less than built is asked for, and what came out."""
    for row in rows:
        bodies, function, order = row["bodies"], row["function"], row["order"]
        goals, built = GOALS.get((bodies, order)), BUILT.get((function, bodies, order))
        for (way, states), (least, aim) in zip(WAYS.items(), goals or (), strict=bool(goals)):
            if built is None:
                continue
            ratio = built / row[way]
            aimed = f" (aim: {aim:g}x)" if aim > least else ""
            text = (
                f"{function} dynamics, {bodies} bodies, order {order}, {states}: less time than "
                f"the {built:g} us of the published code, built on another machine"
            )
            measured = f"{ratio:.1f}x, {number(row[way])} us"
            yield Claim(text, f"at least {least:g}x{aimed}", measured, ratio >= least)
