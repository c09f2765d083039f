"""Runs tests of the copy with a mutant, and says which of them fails: `Trial.killer`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .copies import Copy
from .killers import BEGINS, FAILED, REPORT
from .mutant import Mutant, MutantError

_HANGS = 120.0  # seconds without a new test
IMPORT = "an import, before any test"


class Trial:
    """Tries mutants one after the other in a copy."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy
        self._failing: set[str] = set()  # tests, without a mutant

    def killer(self, mutant: Mutant, tests: Sequence[str]) -> str:
        """The first of the tests that fails with the mutant, or nothing.

        One run for each: in one, pytest puts a test in the order of a folder that has it too.
        """
        with self._chosen(mutant) as choice:
            for test in tests:
                try:
                    failures = self._failures([test], choice, 1)
                except MutantError:
                    return IMPORT
                if failures:
                    return failures[0]
        return ""

    def failing(self, tests: Sequence[str]) -> set[str]:
        """Tests that fail without a mutant too; they are left out from then on."""
        failing = set(self._failures(tests, 0, len(tests))) if tests else set[str]()
        self._failing |= failing
        return failing

    @contextmanager
    def _chosen(self, mutant: Mutant) -> Iterator[int]:
        """Choose the mutant's switch, or write its text for as long as it is tried."""
        if mutant.compiled:
            yield mutant.number
            return
        path = self._copy.folder / mutant.file
        text = path.read_text(encoding="utf-8")
        try:
            path.write_text(mutant.changed(text), encoding="utf-8")
            yield 0
        finally:
            path.write_text(text, encoding="utf-8")

    def _failures(self, tests: Sequence[str], choice: int, most: int) -> list[str]:
        """Tests, at most so many, that fail with this choice of a mutant."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder, "report")
            report.touch()
            chosen = Path(folder, "tests")
            left_out = [f"--deselect={test}" for test in sorted(self._failing)]
            chosen.write_text("\n".join([*tests, *left_out]), encoding="utf-8")
            command = [
                sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=no", "-p",
                "no:cacheprovider", "-p", "tests.mutants.killers", f"--maxfail={most}",
                f"@{chosen}",
            ]  # fmt: skip
            environment = {**self._copy.environment(choice), REPORT: str(report)}
            return _watched(command, self._copy.folder, environment, report)


def _watched(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], report: Path
) -> list[str]:
    """Run pytest; the tests that failed, crashed or did not end."""
    output = report.with_name("output")
    with output.open("wb") as written:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=written, stderr=subprocess.STDOUT,
        )  # fmt: skip
    ended = False
    try:
        while not ended:
            try:
                process.wait(timeout=5.0)
                ended = True
            except subprocess.TimeoutExpired:
                if time.time() - report.stat().st_mtime > _HANGS:
                    break
    finally:
        if not ended:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    lines = report.read_text(encoding="utf-8").splitlines()
    if process.returncode in (3, 4) or (process.returncode < 0 and not lines):  # it ran nothing
        raise MutantError(output.read_text(errors="replace")[-2000:])
    failed = [line.removeprefix(FAILED) for line in lines if line.startswith(FAILED)]
    if (not ended or process.returncode < 0) and lines and lines[-1].startswith(BEGINS):
        failed.append(lines[-1].removeprefix(BEGINS))
    return list(dict.fromkeys(failed))
