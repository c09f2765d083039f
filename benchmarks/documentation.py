"""Writes results into the documentation: `write`.

Git keeps a page with the machine, a row an experiment and all claims, below what is written by
hand. Tables and figures go into a folder of the page's name, which git ignores, a file an
experiment. The site has them if they are there (`docs/conf.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks import report
from benchmarks.experiment import Table
from benchmarks.records import Record, Setting

MARKER = "<!-- All below is written by `python -m benchmarks --docs`. -->"
COLUMNS = ("experiment", "title", "source or peers", "measured")
APART = "Measured on their own, with another machine or later:"

Rows = list[list[str]]


def head(page: Path) -> str:
    """Return the part of a page that people write, above `MARKER`; a title if there is no page.

    Raises ValueError if the page has no such line: nothing of it is overwritten then.
    """
    if not page.exists():
        return report.TITLE
    above, marker, _ = page.read_text(encoding="utf-8").partition(MARKER)
    if not marker:
        raise ValueError(f"{page} has no line {MARKER!r}, below which the report goes")
    return above.rstrip()


def write(
    page: Path, head: str, setting: Setting, records: Sequence[Record], *, keep: bool
) -> None:
    """Write the page below its head, and a file for each of these experiments.

    keep: what the page says of other experiments stays, and the machine is theirs. These
    experiments get a line with their own.
    """
    rows, claims = [_row(record) for record in records], report.claims(records)
    failed, apart = report.failures(records), dict[str, str]()
    machine = "\n\n".join(report.where(setting, records))
    if keep and page.exists():
        _, _, below = page.read_text(encoding="utf-8").partition(MARKER)
        machine, experiments, said = re.split(r"\n\n(?=## )", below.strip())
        names = [record.experiment for record in records]
        rows = _merged(_cells(experiments), rows, names)
        claims = _merged(_cells(said), claims, names)
        apart = dict(re.findall(r"^- `(\w+)`: (.*)$", experiments, flags=re.M))
        apart |= dict.fromkeys(names, _machine(setting))
        others = re.findall(r"^- \*\*FAILED: (\w+)\*\*: (.*)$", said, flags=re.M)
        failed = {name: why for name, why in others if name not in names} | failed
    parts = [head, MARKER, machine, "## Experiments", report.markdown(Table("", COLUMNS, rows, 4))]
    if apart:
        parts += [APART, "\n".join(f"- `{name}`: {where}" for name, where in apart.items())]
    parts += report.claims_section(failed, claims)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    _write_tables(page.with_suffix(""), setting, records, keep)


def _write_tables(folder: Path, setting: Setting, records: Sequence[Record], keep: bool) -> None:
    """Write a file an experiment, and its figures beside it."""
    for old in () if keep else [*folder.glob("*.md"), *folder.glob("*.png")]:
        old.unlink()
    for record in records:
        for plot in record.findings.plots if record.findings else ():
            (folder / f"{plot.name}.png").unlink(missing_ok=True)
        measured, *rest = report.section(record)
        parts = [f"# {record.title}", measured, f"Machine: {_machine(setting)}.", *rest]
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{record.experiment}.md"
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    report.draw(folder, records)


def _machine(setting: Setting) -> str:
    return "; ".join(f"{name}: {said}" for name, said in report.machine(setting).items())


def _row(record: Record) -> list[str]:
    """What the page says of an experiment."""
    measured = f"{record.date[:10]}, {record.seconds:.0f} s"
    if record.busy:
        measured += f"; other work was running: {record.busy}"
    if record.unavailable:
        measured = f"left out: {record.unavailable}"
    return [f"`{record.experiment}`", record.title, record.source, measured]


def _merged(old: Rows, new: Rows, names: Sequence[str]) -> Rows:
    """Rows of a table, with the new ones of each experiment in the place of its old ones."""
    for name in names:
        own = [i for i, row in enumerate(old) if row[0].strip("`") == name]
        place = own[0] if own else len(old)
        fresh = [row for row in new if row[0].strip("`") == name]
        old = [*old[:place], *fresh, *(row for row in old[place:] if row[0].strip("`") != name)]
    return old


def _cells(section: str) -> Rows:
    """The rows of the table of a section in Markdown."""
    lines = [line for line in section.splitlines() if line.startswith("| ")][2:]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in rows]
