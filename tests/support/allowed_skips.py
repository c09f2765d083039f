"""Fails a run on skips and expected failures that a list does not have.

A plugin for pytest, registered by tests/conftest.py where the environment variable CI is set. Under
pytest-xdist it sees the reports of all workers, in the process that they report to.

The list is tests/allowed_skips.txt, or the file that CI_SKIPS names: tests/user_skips.txt, whose
lines must all accept a skip where the whole core selection runs. CI_SKIPPED names a file for the
tests and modules that were skipped, one a line, which pytest takes back as ``@FILE``.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

_EXPECTED = "expected to fail: "


class Allowed(NamedTuple):
    """One line of the list: patterns of a test and of its reason, and why that is accepted.

    A line that begins with ``?`` is for a skip that depends on the machine.
    """

    test: str
    reason: str
    why: str
    everywhere: bool = True

    def accepts(self, test: str, reason: str) -> bool:
        """Whether a skip is one of these."""
        return _fits(self.test, test) and _fits(self.reason, reason)


class Skip(NamedTuple):
    """A test or a module that did not run, or a test that was allowed to fail."""

    test: str
    reason: str


def read(path: Path) -> list[Allowed]:
    """Read the list; raise ValueError for a line that does not have its three parts."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        everywhere = not line.startswith("?")
        parts = [part.strip() for part in line.removeprefix("?").split(" | ")]
        if len(parts) != 3 or not all(parts):
            raise ValueError(f"{path.name}, line {number}: expected test | reason | why: {line!r}")
        found.append(Allowed(*parts, everywhere))
    return found


def _fits(pattern: str, text: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), text, flags=re.DOTALL) is not None


class StrictSkips:
    """Collects what was skipped, prints it, and fails the run if the list lacks some of it.

    With ``exact`` the run also fails if a line accepts nothing that the run skipped.
    """

    def __init__(self, path: Path, exact: bool, record: Path | None) -> None:
        self.name, self.allowed, self.exact = f"tests/{path.name}", read(path), exact
        self.record = record
        self.skips: list[Skip] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that is skipped, or expected to fail, whatever came of it."""
        expected = getattr(report, "wasxfail", None)
        if expected is not None:
            self._note(report.nodeid, f"{_EXPECTED}{expected.removeprefix('reason: ')}")
        elif report.skipped:
            self._note(report.nodeid, _reason(report.longrepr))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a module that is skipped as a whole."""
        if report.skipped:
            self._note(report.nodeid, _reason(report.longrepr))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run that would have passed; write what was skipped."""
        if self.record is not None:
            skipped = {x.test for x in self.skips if not x.reason.startswith(_EXPECTED)}
            self.record.write_text("".join(f"{x}\n" for x in sorted(skipped)), encoding="utf-8")
        if (self.refused() or self.unused()) and session.exitstatus in (
            pytest.ExitCode.OK,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print every reason with its number of tests, and reasons that nothing accepts."""
        write = terminalreporter.write_line
        if self.skips:
            terminalreporter.section("skips")
        for (test, reason, why), count in sorted(self.accepted().items()):
            write(f"{count} x {test}: {reason}: accepted: {why}")
        for skip in self.refused():
            write(f"FAILED {skip.test}: skipped: {skip.reason}: not in {self.name}")
        for line in self.unused():
            write(f"FAILED {self.name}: no test was skipped for {line.test} | {line.reason}")

    def accepted(self) -> Counter[tuple[str, str, str]]:
        """How many skips of a file, for a reason, a line of the list accepts."""
        found: Counter[tuple[str, str, str]] = Counter()
        for skip in self.skips:
            if line := self._line(skip):
                found[skip.test.partition("::")[0], skip.reason, line.why] += 1
        return found

    def refused(self) -> list[Skip]:
        """The skips that no line of the list accepts."""
        return sorted(skip for skip in self.skips if not self._line(skip))

    def unused(self) -> list[Allowed]:
        """The lines that accept no skip, of a list that is exact."""
        lines = [line for line in self.allowed if self.exact and line.everywhere]
        return [line for line in lines if not any(line.accepts(*skip) for skip in self.skips)]

    def _line(self, skip: Skip) -> Allowed | None:
        return next((line for line in self.allowed if line.accepts(*skip)), None)

    def _note(self, test: str, reason: str) -> None:
        skip = Skip(test, reason)
        if skip not in self.skips:  # every worker of pytest-xdist collects every module
            self.skips.append(skip)


def _reason(longrepr: object) -> str:
    """The words of a skip, out of (file, line, "Skipped: words")."""
    said = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    return str(said).removeprefix("Skipped: ")
