"""Findings of the checks: severity, joints or links, and the way out: `Finding`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "note"]
ORDER: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """An error or a suspicious value."""

    severity: Severity  # error: functions fail; warning: probably not intended; note: good to know
    code: str  # identifier of this kind of finding
    message: str  # in a sentence
    where: dict[str, str] = field(default_factory=dict)  # joints or links, each with its numbers
    way_out: str = ""  # how to correct it


def worst(findings: Iterable[Finding]) -> Severity | None:
    """Return the highest severity among findings; None if there are none."""
    met = {finding.severity for finding in findings}
    return next((severity for severity in ORDER if severity in met), None)
