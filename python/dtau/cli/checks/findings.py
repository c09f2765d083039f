"""Findings of the checks: severity, joints or links, and the way out: `Finding`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
ORDER: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """An error or a suspicious value.

    Attributes
    ----------
    severity : {"error", "warning", "note"}
        Error: functions fail or are not reliable. Warning: probably not as intended. Note: good to
        know.
    code : str
        Identifier of this kind of finding.
    message : str
        Description, in a sentence.
    where : dict of str to str
        The affected joints or links, each with its numbers.
    way_out : str
        Suggestion how to correct it.
    """

    severity: Severity
    code: str
    message: str
    where: dict[str, str] = field(default_factory=dict)
    way_out: str = ""

    def as_data(self) -> dict[str, Any]:
        """Return the finding as data for JSON."""
        return {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "where": self.where,
            "way_out": self.way_out,
        }


def worst(findings: Iterable[Finding]) -> Severity | None:
    """Return the highest severity among findings; None if there are none."""
    met = {finding.severity for finding in findings}
    return next((severity for severity in ORDER if severity in met), None)
