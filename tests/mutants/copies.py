"""The copy of the repository that mutants are made in: written, compiled, checked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from .mutant import Mutant

ROOT = Path(__file__).parents[2]
CHOICE = "DTAU_MUTANT"

# Included before every file of C++.
SWITCH = f"""\
#pragma once
#include <cstdlib>
inline const int dtau_chosen_mutant = [] {{
    const char* number = std::getenv("{CHOICE}");
    return number ? std::atoi(number) : 0;
}}();
inline bool dtau_mutant(int number) {{ return number == dtau_chosen_mutant; }}
"""


class MutantError(Exception):
    """A mutant that does not fit the sources, or a copy that cannot be tested."""


def replaced(text: str, mutant: Mutant, new: str) -> str:
    """The text of its file, with `new` in place of `old`."""
    count = text.count(mutant.old)
    if count != 1:
        raise MutantError(
            f"{mutant.name}: expected its old text once in {mutant.file}, found it {count} times; "
            "write the mutant anew"
        )
    return text.replace(mutant.old, new)


def check(mutants: Iterable[Mutant]) -> None:
    """Require that every mutant changes one place of its file, by a switch, and has tests."""
    problems = []
    numbers: set[int] = set()
    for mutant in mutants:
        if mutant.number in numbers:
            problems.append(f"{mutant.name}: two mutants have this name, or this number")
        numbers.add(mutant.number)
        try:
            replaced((ROOT / mutant.file).read_text(encoding="utf-8"), mutant, mutant.new)
        except (MutantError, FileNotFoundError) as problem:
            problems.append(str(problem))
        if mutant.compiled and not mutant.statement and ";" in mutant.old + mutant.new:
            problems.append(f"{mutant.name}: expected an expression, got a statement")
        for tests in mutant.tests:
            file, _, name = tests.partition("[")[0].partition("::")
            path = ROOT / file
            if not path.exists() or (name and f"def {name}(" not in path.read_text("utf-8")):
                problems.append(f"{mutant.name}: there are no tests {tests}; name others")
    if problems:
        raise MutantError("\n".join(problems))


class Copy:
    """The files of the repository in a folder of their own, with the switches of all mutants."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.build = folder.with_name("build")

    def write(self, mutants: Iterable[Mutant]) -> None:
        """Copy what git tracks or would track; files that are the same stay untouched."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        )  # fmt: skip
        wanted = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
        texts = self._switched(mutants)
        for name in wanted:
            content = texts[name].encode() if name in texts else (ROOT / name).read_bytes()
            self._write(name, content, (ROOT / name).stat().st_mode)
        self._write("mutants.hpp", SWITCH.encode())
        for path in [*self.folder.glob("tests/**/*.py"), *self.folder.glob("python/**/*.py")]:
            if str(path.relative_to(self.folder)) not in wanted:
                path.unlink()

    def _write(self, name: str, content: bytes, mode: int | None = None) -> None:
        path = self.folder / name
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if mode is not None:
            path.chmod(mode)

    @staticmethod
    def _switched(mutants: Iterable[Mutant]) -> dict[str, str]:
        texts: dict[str, str] = {}
        for mutant in mutants:
            if not mutant.compiled:
                continue
            text = texts.get(mutant.file) or (ROOT / mutant.file).read_text()
            texts[mutant.file] = replaced(text, mutant, mutant.switched)
        return texts

    def compile(self) -> None:
        """Build the extension modules into the copy's package."""
        command = [
            "cmake", "-G", "Ninja", "-S", str(self.folder), "-B", str(self.build),
            "-DCMAKE_BUILD_TYPE=Release", "-DDTAU_DEVELOP=ON",
            "-DDTAU_INSTRUCTION_SETS=native", f"-DPython_EXECUTABLE={sys.executable}",
            f"-DCMAKE_CXX_FLAGS=-include {self.folder / 'mutants.hpp'}",
        ]  # fmt: skip
        for step in (
            command,
            ["cmake", "--build", str(self.build)],
            ["cmake", "--install", str(self.build), "--prefix", str(self.folder / "python")],
        ):
            done = subprocess.run(step, capture_output=True, text=True)
            if done.returncode:
                raise MutantError(f"{' '.join(step)}:\n{(done.stdout + done.stderr)[-4000:]}")

    def environment(self, choice: int = 0) -> Mapping[str, str]:
        """The environment in which Python finds the copy, with a switch chosen."""
        return {
            **os.environ,
            CHOICE: str(choice),
            "PYTHONPATH": str(self.folder / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def require(self) -> None:
        """Require that Python finds the copy, and not an installed package."""
        found = subprocess.run(
            [sys.executable, "-c", "import dtau; print(dtau.__file__)"],
            cwd=self.folder, env=self.environment(), capture_output=True, text=True,
        )  # fmt: skip
        if not found.stdout.startswith(str(self.folder)):
            raise MutantError(
                f"import dtau: expected the copy in {self.folder}, got "
                f"{found.stdout.strip() or found.stderr.strip()}; "
                "run in an environment where dtau is not installed, but what its tests need is"
            )
