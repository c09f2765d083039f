"""Renews what a page says of some experiments, and keeps the rest: `renew`.

The page is one that `report.write` wrote: below its marker the machine, all claims, then a section
an experiment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks import report
from benchmarks.records import Record, Setting


def renew(
    path: Path, head: str, figures: Path, setting: Setting, records: Sequence[Record]
) -> None:
    """Write sections, claims and figures of these experiments anew, below a head.

    The machine that the page names is that of the others: each of these sections names its own.
    """
    _, _, below = path.read_text(encoding="utf-8").partition(report.MARKER)
    parts = [part.strip() for part in re.split(r"^(?=## )", below, flags=re.M) if part.strip()]
    machine, claims, *sections = parts
    for record in records:
        old = [text for text in sections if f"\n`{record.experiment}`; " in text]
        for figure in re.findall(rf"\]\({figures.name}/(.*?)\)", "".join(old)):
            (figures / figure).unlink(missing_ok=True)
        fresh = _section(record, figures, setting)
        sections = [fresh if text in old else text for text in sections] + [fresh] * (not old)
    report.draw(figures, records)
    body = "\n\n".join([machine, _claims(claims, records), *sections])
    path.write_text(f"{head}\n\n{report.MARKER}\n\n{body}\n", encoding="utf-8")


def _section(record: Record, figures: Path, setting: Setting) -> str:
    title, measured, *rest = report.section(record, f"{figures.name}/")
    where = "; ".join(f"{name}: {said}" for name, said in report.machine(setting).items())
    return "\n\n".join([title, measured, f"Measured on its own ({where}).", *rest])


def _claims(old: str, records: Sequence[Record]) -> str:
    """The section of claims, those of these experiments in the place of their old ones."""
    names = {record.experiment for record in records}
    failed = dict(re.findall(r"^- \*\*FAILED: (\w+)\*\*: (.*)$", old, flags=re.M))
    failed = {name: why for name, why in failed.items() if name not in names}
    table = [line for line in old.splitlines() if line.startswith("| ")]
    rows = [_cells(line) for line in table[2:]]
    own = [i for i, row in enumerate(rows) if row[0] in names]
    place = own[0] if own else len(rows)
    before, after = (
        [row for row in some if row[0] not in names] for some in (rows[:place], rows[place:])
    )
    rows = [*before, *report.claims(records), *after]
    return "\n\n".join(report.claims_section(failed | report.failures(records), rows))


def _cells(line: str) -> list[str]:
    """The cells of a row of a table in Markdown."""
    cells = re.split(r"(?<!\\)\|", line)[1:-1]
    return [cell.strip().replace("\\|", "|") for cell in cells]
