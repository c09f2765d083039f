"""Runs this machine's compilers: one that is missing leaves out, one that fails is a failure.

Whatever an experiment compiles goes through `run`. A caller says `UnavailableError` where no
compiler is here, and where another package's headers are not; a `CompilationError` is left to end
the experiment, and with it the exit status of `python -m benchmarks`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from benchmarks.checks import UnavailableError

# What compilers and linkers say where memory ends, by a limit or by the system.
MEMORY = re.compile(
    r"out of memory|memory exhausted|[Cc]annot allocate memory|bad_alloc|Killed signal"
)


class CompilationError(Exception):
    """A compiler that is here failed; the message is the first error that it reports."""


@cache
def cxx_compilers() -> dict[str, str]:
    """Where clang++ and g++ are, or the newest clang++-N and g++-N, and what they say they are."""
    newest = ["", *(f"-{version}" for version in range(99, 0, -1))]
    found: dict[str, str] = {}
    for name in ("clang++", "g++"):
        path = next(filter(None, (shutil.which(name + suffix) for suffix in newest)), None)
        # A stub in place of a compiler, as on macOS without Xcode, does not know its version.
        with contextlib.suppress(CompilationError, OSError):
            if path:
                found[path] = run([path, "--version"]).partition("\n")[0].strip()
    if len(found) == 2 and all("clang" in said for said in found.values()):  # as on macOS
        found.popitem()
    return found


def cxx_compiler(*names: str) -> str:
    """The first of these that is here, g++-13 for g++ too; raise `UnavailableError` if none is."""
    for name in names:
        for path in cxx_compilers():
            if Path(path).name.split("-")[0] == name:
                return path
    raise UnavailableError(f"there is no {' and no '.join(names)}")


def c_compiler() -> Sequence[str]:
    """The system's C compiler, or what the variable CC says; nothing where there is none."""
    words = shlex.split(os.environ.get("CC", "cc"))
    return words if words and shutil.which(words[0]) else ()


def run(command: Sequence[str], stdin: str = "", folder: Path | None = None) -> str:
    """What a compiler prints; raise `CompilationError` if it fails, `MemoryError` for memory."""
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, errors="replace", cwd=folder
    )
    if not done.returncode:
        return done.stdout
    lines = [line.strip() for line in done.stderr.splitlines()]
    name = Path(command[0]).name
    if memory := next(filter(MEMORY.search, lines), None):
        raise MemoryError(f"{name}: {memory}")
    first = next((line for line in lines if "error" in line), f"exit status {done.returncode}")
    raise CompilationError(f"{name} fails: {first}")


def kept(name: str, parts: Iterable[str], make: Callable[[Path], None], folder: Path) -> Path:
    """A library in a folder that `make` writes, unless it is there, made of the same parts."""
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    library = folder / f"{name}-{key}.so"
    if not library.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            make(Path(fresh) / library.name)
            (Path(fresh) / library.name).replace(library)
    return library
