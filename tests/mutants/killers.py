"""A plugin of pytest that writes which tests run and fail.

One line a test that begins, `> id`, and one a test that failed, `! id`: what is written last before
a crash is the test that crashed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPORT = "DTAU_KILLERS"
BEGINS, FAILED = "> ", "! "


class Killers:
    """Writes to a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _write(self, line: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write(BEGINS + nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed:
            self._write(FAILED + report.nodeid)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin to write."""
    session.config.pluginmanager.register(Killers(Path(os.environ[REPORT])))
