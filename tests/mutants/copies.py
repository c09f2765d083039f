"""The copy of the repository that mutants are made in: written, compiled, checked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .mutant import ROOT, Mutant, MutantError

CHOICE = "DTAU_MUTANT"

# Included before every file of C++.
SWITCH = f"""\
#pragma once
#include <cstdlib>
#include <type_traits>
inline const int dtau_chosen_mutant = [] {{
    const char* number = std::getenv("{CHOICE}");
    return number ? std::atoi(number) : 0;
}}();
inline bool dtau_mutant(int number) {{ return number == dtau_chosen_mutant; }}
"""


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
        texts: dict[str, str] = {}
        for mutant in sorted(mutants, key=lambda x: -x.start):  # so that places before it stay
            if mutant.compiled:
                text = texts.get(mutant.file) or (ROOT / mutant.file).read_text(encoding="utf-8")
                texts[mutant.file] = mutant.changed(text)
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

    def compile(self, mutants: Sequence[Mutant]) -> list[Mutant]:
        """Build the extension modules into the copy's package; the mutants that compile."""
        while True:
            self.write(mutants)
            output = self._build()
            # The compiler shows the line of an error, and so the switches in it.
            shown = re.findall(r": error: .*\n *\d+ \|(.*)", output)
            numbers = {int(x) for line in shown for x in re.findall(r"dtau_mutant\((\d+)\)", line)}
            rest = [mutant for mutant in mutants if mutant.number not in numbers]
            if output and len(rest) == len(mutants):
                raise MutantError(output[-4000:])
            if not output:
                return rest
            mutants = rest

    def _build(self) -> str:
        """Errors of the build, or nothing."""
        command = [
            "cmake", "-G", "Ninja", "-S", str(self.folder), "-B", str(self.build),
            "-DCMAKE_BUILD_TYPE=Release", "-DDTAU_DEVELOP=ON",
            "-DDTAU_INSTRUCTION_SETS=native", f"-DPython_EXECUTABLE={sys.executable}",
            f"-DCMAKE_CXX_FLAGS=-include {self.folder / 'mutants.hpp'}",
        ]  # fmt: skip
        for step in (
            command,
            ["cmake", "--build", str(self.build), "--", "-k", "0"],
            ["cmake", "--install", str(self.build), "--prefix", str(self.folder / "python")],
        ):
            done = subprocess.run(step, capture_output=True, text=True)
            if done.returncode:
                return f"{' '.join(step)}:\n{done.stdout}{done.stderr}"
        return ""

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
