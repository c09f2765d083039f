"""A plugin of pytest that writes which tests run and fail, and stops when enough is known.

One line a test that begins, `> id`, and one a test that failed, `! id`: what is written last before
a crash is the test that crashed.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

REPORT, SECONDS = "DTAU_KILLERS", "DTAU_KILLERS_SECONDS"
BEGINS, FAILED = "> ", "! "


class Killers:
    """Writes to a file; after `seconds`, one failure is enough."""

    def __init__(self, session: pytest.Session, path: Path, seconds: float) -> None:
        self._session, self._path, self._seconds = session, path, seconds
        self._start, self._failed = time.monotonic(), False

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
            self._failed = True
            self._write(FAILED + report.nodeid)
        if self._failed and time.monotonic() - self._start > self._seconds:
            self._session.shouldfail = "enough is known"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin to write."""
    path, seconds = Path(os.environ[REPORT]), float(os.environ[SECONDS])
    session.config.pluginmanager.register(Killers(session, path, seconds))
