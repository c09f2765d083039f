"""What is found: how bad, in which joints or links, and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
ORDER: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """Something wrong or suspicious.

    Attributes
    ----------
    severity : {"error", "warning", "note"}
        What cannot be computed or must not be trusted; what is probably not meant so; what is good
        to know.
    code : str
        A word for it, the same in every robot.
    message : str
        What is so, in a sentence.
    where : dict of str to str
        The joints or links, each with its numbers.
    way_out : str
        What to do about it.
    """

    severity: Severity
    code: str
    message: str
    where: dict[str, str] = field(default_factory=dict)
    way_out: str = ""

    def as_data(self) -> dict[str, Any]:
        """Return it for JSON."""
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
