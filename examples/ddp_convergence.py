"""How iLQR and exact DDP converge in ddp.py: numbers, and a plot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import ddp_tasks as tasks
import numpy as np
import program

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None

METHODS = {False: "iLQR", True: "exact DDP"}
NEAR = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)  # parts of the lowest cost


@dataclass
class Record:
    """A method's way: cost, largest gradient and seconds by iteration; how many were exact.

    Inputs are those at its end.
    """

    cost: list[float] = field(default_factory=list)
    gradient: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    exact: int = 0
    inputs: np.ndarray = field(default_factory=lambda: np.zeros(0))


def progress(limit: int, label: str) -> Iterable[int]:
    """Count iterations; on a terminal a bar after two seconds, if tqdm is installed."""
    if tqdm is None:
        return range(limit)
    return tqdm(range(limit), label, leave=False, delay=2.0, disable=None)


def report(task: tasks.Task, records: dict[bool, Record]) -> None:
    """Print how long each method takes to come near the lowest cost, and how it converges."""
    lowest = min(min(record.cost) for record in records.values())
    first = records[False].cost[0]
    print(f"\n{task.title}: {len(task.guess)} steps, cost {first:.6g} -> {lowest:.6g}\n")
    print(f"{'above the lowest cost by':>24}", *(f"{part:>15.0e}" for part in NEAR))
    for exact, record in records.items():
        there = [np.flatnonzero(np.array(record.cost) <= lowest * (1 + part)) for part in NEAR]
        cells = (f"{i[0]} in {record.seconds[i[0]]:5.2f} s" if len(i) else "-" for i in there)
        print(f"{METHODS[exact]:>24}", *(f"{cell:>15}" for cell in cells))
    print("  (iterations, seconds)\n\n  largest entry of the gradient, the last iterations:")
    for exact, record in records.items():
        tail = " ".join(f"{g:.0e}" for g in record.gradient[-8:])
        print(f"{METHODS[exact]:>24}  {tail}  ({len(record.cost) - 1} iterations)")
    print(f"{'':>24}  second derivatives used in {records[True].exact} iterations")


def plot(runs: list[tuple[tasks.Task, dict[bool, Record]]], path: Path) -> None:
    """Draw the cost above the lowest, over iterations and over time."""
    plt = program.pyplot()
    figure, rows = plt.subplots(
        *(len(runs), 2), squeeze=False, sharey="row", figsize=(9, 3.2 * len(runs))
    )
    for (task, records), (by_iteration, by_time) in zip(runs, rows, strict=True):
        lowest = min(min(record.cost) for record in records.values())
        for exact, record in records.items():
            above = np.array(record.cost) - lowest
            shown = above > 1e-12 * lowest  # the rest is rounding
            style = {"color": "C3" if exact else "C0", "marker": ".", "label": METHODS[exact]}
            by_iteration.semilogy(np.flatnonzero(shown), above[shown], **style)
            by_time.semilogy(np.array(record.seconds)[shown], above[shown], **style)
        by_iteration.set(title=task.title, ylabel="cost above the lowest")
        for axes, label in ((by_iteration, "iteration"), (by_time, "time (s)")):
            axes.set_xlabel(label)
        by_time.legend()
    program.save(figure, path)
