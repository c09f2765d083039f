"""What an experiment is, and what it finds: tables, curves and claims, which go into a JSON file.

A module of `benchmarks.experiments` defines one `EXPERIMENT`; the folder is the list. Running it
checks every result that it times: one that differs (`checks.WrongResultError`) is all that fails a
run. Times decide claims, which the report states as they came out.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Table:
    """Cells as they are printed; the first `left` columns are words, the others numbers."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1


@dataclass(frozen=True)
class Curve:
    """One line of a plot; `low` and `high`: quartiles, or empty."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    dashed: bool = False


@dataclass(frozen=True)
class Plot:
    """Curves over common axes; the name is that of its file.

    `ticks`: words at x = 0, 1, 2, ..., such as robots; the points of a curve are not joined then.
    """

    name: str
    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    logarithmic: tuple[bool, bool] = (True, True)
    ticks: Sequence[str] = ()


@dataclass(frozen=True)
class Claim:
    """What a paper or an issue says, and what came out here."""

    text: str
    asked: str
    measured: str
    holds: bool | None  # None: not decided here, the text says why
    why: str = ""  # the reason of a result that differs, where it is known


@dataclass(frozen=True)
class Findings:
    """All that an experiment found."""

    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()  # sentences: peers that are missing, limits that were met
    data: dict[str, Any] = field(default_factory=dict)  # numbers for those who compute with them

    def to_json(self) -> dict[str, Any]:
        """As lists, dictionaries, words and numbers."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(found: dict[str, Any]) -> Findings:
        """What `to_json` gave, again."""
        plots = (
            p | {"curves": [Curve(**c) for c in p["curves"]], "logarithmic": (*p["logarithmic"],)}
            for p in found["plots"]
        )
        return Findings(
            [Table(**table) for table in found["tables"]],
            [Plot(**plot) for plot in plots],
            [Claim(**claim) for claim in found["claims"]],
            found["notes"],
            found["data"],
        )


class Watch(Protocol):
    """What shows how far an experiment is."""

    def expect(self, steps: int, label: str = "") -> None:
        """Say that so many steps are to come, beside those said before."""

    def step(self, label: str = "") -> None:
        """Say that one of them is done."""


@dataclass(frozen=True)
class Experiment:
    """One experiment, by its name on the command line.

    `run(quick, watch)` measures; quick: some seconds, rough, with the same checks. It raises
    `UnavailableError` where nothing can be measured for want of a package.
    """

    name: str
    title: str
    source: str  # "[IDSVA] figures 2 to 7", or what it compares
    run: Callable[[bool, Watch], Findings]


def experiments() -> Iterator[Experiment]:
    """All of `benchmarks.experiments`, in the order of their modules' names."""
    package = importlib.import_module("benchmarks.experiments")
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        found = importlib.import_module(f"benchmarks.experiments.{module}")
        if hasattr(found, "EXPERIMENT"):
            yield found.EXPERIMENT
