"""Run the C compiler, and stop it if the call is interrupted: `Compiler`."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

_FLAGS = (
    *("-std=gnu99", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    *("-fPIC", "-shared"),
)
_OF_GCC = ("-fschedule-insns", "-fsched-pressure")  # shorter chains of dependent operations


@dataclass(frozen=True)
class Compiler:
    """A compiler with its options; ``version`` is its own description."""

    command: tuple[str, ...]
    version: bytes

    def key(self, sources: Mapping[str, str]) -> str:
        """Return a hash, of 32 characters, of everything that the compiled code depends on."""
        text = "\0".join([*self.command, *sources.values()])
        return hashlib.sha256(text.encode() + self.version).hexdigest()[:32]

    def library(self, sources: Mapping[str, str], work: Path) -> bytes:
        """Compile C files to a shared library, in an empty folder."""
        made, files = work / "robot.so", [work / name for name in sources]
        for file, text in zip(files, sources.values(), strict=True):
            file.write_text(text, encoding="ascii")
        _run([*self.command, *map(str, files), "-o", str(made), "-lm"], TMPDIR=str(work))
        return made.read_bytes()


def compiler_of(command: Sequence[str], machine: str) -> Compiler:
    """Return a compiler with options for the core's instruction set."""
    version = _run([*command, "--version"])
    is_gcc = b"Free Software Foundation" in version
    set_of_machine = [f"-march={machine}"] if machine.startswith("x86-64") else []
    options = [*_FLAGS, *(_OF_GCC if is_gcc else ()), *set_of_machine]
    return Compiler((*command, *options), version)


def _run(command: Sequence[str], **environment: str) -> bytes:
    """Run a program to its end, and return its output.

    The program has its own process group, because the driver of a compiler starts other processes.
    The group is killed if a signal ends the call.
    """
    process = None
    try:
        with _handlers_later():  # else a signal could leave it running unnoticed
            process = subprocess.Popen(
                command,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        output, errors = process.communicate()
    except BaseException:
        if process is not None:
            _kill(process)
        raise
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command, output, errors)
    return output


@contextlib.contextmanager
def _handlers_later() -> Iterator[None]:
    """Defer Python's signal handlers, which may raise, to the end; only on the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    handlers = {int(x): y for x in signal.valid_signals() if callable(y := signal.getsignal(x))}
    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: came.append((number, frame)))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for arrived, frame in came:
            handlers[arrived](arrived, frame)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has already ended
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()
