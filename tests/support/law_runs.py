"""Run cases of the law that a batch is its states in processes that may crash: `run`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

WORKER = Path(__file__).with_name("law_worker.py")
COMMAND = "tests/support/law_worker.py"
MOST_CRASHES = 40  # then the rest is left


@dataclass
class Report:
    """What came of cases: each failure in a line that says how to repeat it."""

    failures: list[str] = field(default_factory=list)
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)  # by function
    given: dict[str, set[str]] = field(default_factory=dict)  # arguments, by function
    left: int = 0  # cases that were not tried, after too many crashes

    def note(self, case: str, outcome: str) -> None:
        self.outcomes.setdefault(case.rpartition(":")[0], Counter())[outcome] += 1


def run(
    chosen: str, cases: Sequence[str], *, every: bool = False, timeout: float = 600.0
) -> Report:
    """Check cases ``FUNCTION:SEED`` in an instruction set; after a crash go on with the next."""
    report, rest, crashes = Report(), list(cases), 0
    while rest and crashes < MOST_CRASHES:
        command = [sys.executable, str(WORKER), chosen, *["--every"] * every, *rest]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        ended = [line for line in lines if "ended" in line]
        for line in ended:
            report.note(line["ended"], line["outcome"])
            report.given.setdefault(line["ended"].rpartition(":")[0], set()).update(line["given"])
            if line["failure"]:
                report.failures.append(_again(chosen, line["ended"], line["failure"]))
        rest = rest[len(ended) :]
        if done.returncode:
            if not rest or lines[-1].get("begins") != rest[0]:
                raise AssertionError(f"the worker ended with {done.returncode}\n{done.stderr}")
            crashes += 1
            report.note(rest[0], "crashed")
            why = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
            report.failures.append(_again(chosen, rest.pop(0), why[0]))
    report.left = len(rest)
    return report


def _again(chosen: str, case: str, why: str) -> str:
    return f"{case}: {why}; again: python {COMMAND} {chosen} {case}"
