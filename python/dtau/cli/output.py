"""Print the output of commands: text and tables that fit the terminal, progress, JSON."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

_UNBROKEN = 10_000  # columns, for lines that programs read
_GAP = 2  # spaces between columns
_PATIENCE = 1.0  # seconds before progress is shown

FAINT = "dim"
SEVERITIES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def console(file: TextIO | None = None) -> Console:
    """Make a console for standard output or another stream; only terminals get colors."""
    stream = sys.stdout if file is None else file
    narrow = stream.isatty() or "COLUMNS" in os.environ
    return Console(file=stream, width=None if narrow else _UNBROKEN, highlight=False)


def printable(text: str) -> str:
    """Escape control characters, which terminals obey, as Python does: ESC is backslash x1b."""
    return "".join(x if x.isprintable() else repr(x)[1:-1] for x in text)


def say(text: str = "", style: str = "") -> None:
    """Print a line of plain text, wrapped at words."""
    hanging(Text(), [Text(text, style)], 0)


def complain(message: str) -> None:
    """Print an error message to standard error."""
    _to_errors("Error: ", "bold red", message)


def warn(message: str) -> None:
    """Print a warning to standard error."""
    _to_errors("Warning: ", "yellow", message)


def _to_errors(kind: str, style: str, message: str) -> None:
    with suppress(OSError):  # standard error is closed
        console(sys.stderr).print(Text.assemble((kind, style), printable(message)))


def print_json(content: Any) -> None:
    """Print data as JSON."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    print("".join(x if x.isprintable() or x == "\n" else json.dumps(x)[1:-1] for x in text))


def finite(value: float) -> float | None:
    """Return a number for JSON: None if it is not finite."""
    return float(value) if math.isfinite(value) else None


def plural(count: int, word: str, words: str = "") -> str:
    """Return a count with its noun."""
    return f"{count} {word if count == 1 else words or f'{word}s'}"


def names(all_names: Sequence[str], most: int = 8) -> str:
    """Join names; of many only the first few, and the number of the others."""
    if len(all_names) <= most + 1:
        return ", ".join(all_names)
    return f"{', '.join(all_names[:most])} and {len(all_names) - most} more"


@dataclass
class Column:
    """A column of a table."""

    header: str
    cells: list[str]
    numbers: bool = False

    def __post_init__(self) -> None:
        self.cells = list(map(printable, self.cells))

    @property
    def width(self) -> int:
        """The width of its widest cell."""
        return max(cell_len(cell) for cell in (self.header, *self.cells))


def fits(columns: Sequence[Column]) -> bool:
    """Whether the columns fit side by side on the terminal."""
    return sum(x.width + _GAP for x in columns if any(x.cells)) - _GAP <= console().width


def print_table(columns: Sequence[Column]) -> None:
    """Print the columns that are not empty."""
    kept = [column for column in columns if any(column.cells)]
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for column in kept:
        justify: Literal["left", "right"] = "right" if column.numbers else "left"
        table.add_column(Text(column.header), justify=justify, overflow="fold")
    for row in zip(*(column.cells for column in kept), strict=True):
        table.add_row(*map(Text, row))
    target = console()
    if target.is_terminal:
        target.print(table)
        return
    with target.capture() as text:
        target.print(table)
    print("\n".join(line.rstrip() for line in text.get().splitlines()))


def hanging(head: Text, lines: Sequence[Text], indent: int) -> None:
    """Print a head and, beside and below it, lines that are wrapped at words."""
    target = console()
    first = head
    first.pad_right(max(indent - first.cell_len, 0))
    for line in lines:
        parts = [(printable(part), style or "") for part, style, _ in line.render(target)]
        whole = Text.assemble(*parts, style=line.style)
        for piece in whole.wrap(target, target.width - indent):
            piece.rstrip()
            target.print(Text.assemble(first, piece), overflow="ignore", no_wrap=True, crop=False)
            first = Text(" " * indent)


def guides(console_: Console) -> tuple[str, str, str, str]:
    """Return the strings that draw a tree: a branch, the last branch, a passing line, blank."""
    if console_.encoding.lower().startswith("utf"):
        return "├─ ", "└─ ", "│  ", "   "
    return "|- ", "`- ", "|  ", "   "


class Ticks:
    """Count finished steps; a terminal shows a progress bar if they take longer than a second."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._done, self._start = 0, time.monotonic()
        self._bar: Progress | None = None

    def tick(self, what: str = "") -> None:
        """Count one more step; `what` names the next one."""
        self._done += 1
        if self._bar is None and time.monotonic() - self._start > _PATIENCE:
            target = console(sys.stderr)
            if not target.is_terminal:
                return
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed}/{task.total}"),
                TimeRemainingColumn(),
                console=target,
                transient=True,
            )
            self._bar.add_task(self._what, total=self._total)
            self._bar.start()
        if self._bar is not None:
            described = f"{self._what}: {what}" if what else self._what
            self._bar.update(self._bar.task_ids[0], completed=self._done, description=described)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def progress(what: str, total: int) -> Iterator[Ticks]:
    """Show the progress of a task."""
    ticks = Ticks(what, total)
    try:
        yield ticks
    finally:
        ticks.close()
