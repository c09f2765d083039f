"""The report: what was measured where, all claims, and a section an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks import plots
from benchmarks.experiment import Claim, Findings, Table
from benchmarks.records import Record, Setting

TITLE = "# Benchmarks"
CLAIMS = ("experiment", "claim", "asked", "measured", "")
OUTCOMES = {True: "holds", False: "differs", None: "not decided"}  # in the terminal
VERDICTS = {True: "holds", False: "**does not hold**", None: "not decided"}


def write(path: Path, setting: Setting, records: Sequence[Record]) -> None:
    """Write the report, and the figures that are not beside it yet."""
    draw(path.parent, records)
    parts = [TITLE, *where(setting, records), *claims_section(failures(records), claims(records))]
    for record in records:
        parts += [f"## {record.title}", *section(record)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def draw(figures: Path, records: Sequence[Record]) -> None:
    """Draw the figures that are not in their folder yet."""
    for record in records:
        for plot in record.findings.plots if record.findings else ():
            if plots.available() and not (file := figures / f"{plot.name}.png").is_file():
                figures.mkdir(parents=True, exist_ok=True)
                plots.draw(plot, file)


def where(setting: Setting, records: Sequence[Record]) -> Iterable[str]:
    """What was measured on which machine."""
    yield "## The machine"
    if setting.quick:
        yield "**A quick run: all results are checked, all times are rough.**"
    if disturbed := [record.experiment for record in records if record.busy]:
        yield f"**Other work kept the machine busy: do not trust the times of {_list(disturbed)}.**"
    rows = machine(setting)
    if setting.robot:
        rows["robot of --urdf"] = setting.robot
    if records:
        days = sorted({record.date[:10] for record in records})
        minutes = sum(record.seconds for record in records) / 60.0
        rows["measured"] = f"{' to '.join(dict.fromkeys((days[0], days[-1])))}, {minutes:.1f} min"
    yield "\n".join(f"- {name}: {_cell(said)}" for name, said in rows.items())
    yield (
        "A time is the median over many rounds, in which the contenders take turns; a ratio is the "
        "median of the ratios within a round, with its quartiles. Every result is compared with "
        "another way to it before it is timed."
    )


def machine(setting: Setting) -> dict[str, str]:
    """The machine and the versions, in words."""
    found = setting.environment
    compilers = ", ".join(f"{name} ({said})" for name, said in found["compilers"].items())
    return {
        "processor": f"{found['processor']}, {found['cores']}",
        "system": found["system"],
        "dtau's core": f"{found['core']}; instruction set {found['instruction set']}",
        "compilers at hand": compilers or "none",
        "versions": ", ".join(f"{name} {said}" for name, said in found["versions"].items()),
    }


def failures(records: Sequence[Record]) -> dict[str, str]:
    """Why experiments failed, by their names."""
    return {record.experiment: record.failed for record in records if record.failed}


def claims(records: Sequence[Record]) -> list[list[str]]:
    """The rows of the table of claims: the experiment first, the verdict last."""
    return [
        [record.experiment, claim.text, claim.asked, _measured(claim), VERDICTS[claim.holds]]
        for record in records
        for claim in (record.findings.claims if record.findings else ())
    ]


def outcomes(records: Sequence[Record]) -> Iterable[str]:
    """Each claim in a line for the terminal: what came of it, and why it differs."""
    for record in records:
        if record.findings is None:
            yield f"{'left out':<12}{record.source}: {record.failed or record.unavailable}"
            continue
        for claim in record.findings.claims:
            said = f"asked {claim.asked}; measured {_measured(claim)}"
            yield f"{OUTCOMES[claim.holds]:<12}{record.source}: {claim.text}: {said}"


def _measured(claim: Claim) -> str:
    """What came out, and the reason where it differs."""
    return "; ".join(said for said in (claim.measured, claim.why) if said)


def claims_section(failed: Mapping[str, str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """All claims in one table, and what is wrong."""
    yield "## Claims"
    if failed:
        yield "\n".join(f"- **FAILED: {name}**: {why}" for name, why in failed.items())
    if not rows:
        yield "None."
        return
    yield f"{tally([row[-1] for row in rows])}."
    yield markdown(Table("", CLAIMS, rows, left=len(CLAIMS)))


def tally(verdicts: Sequence[str]) -> str:
    """How many claims hold."""
    held, open_ = (verdicts.count(VERDICTS[x]) for x in (True, None))
    said = f"{held} of {len(verdicts)} claim{'s' * (len(verdicts) != 1)} hold{'s' * (held == 1)}"
    return said + (f", {open_} not decided" if open_ else "")


def section(record: Record) -> Iterable[str]:
    """One experiment, below its title; its figures lie beside the file."""
    yield f"`{record.experiment}`; {record.source}; {record.seconds:.0f} s, {record.date}"
    if record.busy:
        yield f"**Other work was running: {record.busy}.**"
    if record.failed:
        yield f"**FAILED:** {record.failed}"
    if record.unavailable:
        yield f"Left out: {record.unavailable}"
    found = record.findings or Findings()
    for plot in found.plots:
        if plots.available():
            yield f"![{plot.title}]({plot.name}.png)"
        else:
            yield f"(figure: {plot.title}: needs matplotlib: python -m pip install matplotlib)"
    for table in found.tables:
        yield f"**{' '.join(table.title.split())}**"
        yield markdown(table)
    if found.notes:
        yield "\n".join(f"- {' '.join(note.split())}" for note in found.notes)


def markdown(table: Table) -> str:
    """A table, its numbers to the right."""
    rule = ["---" if i < table.left else "---:" for i in range(len(table.header))]
    rows = [[_cell(cell) for cell in row] for row in (table.header, *table.rows)]
    rows.insert(1, rule)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _list(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _cell(said: str) -> str:
    return said.replace("|", "\\|").replace("\n", " ")
