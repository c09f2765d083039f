"""Work in a child process that has a limit of time and of memory."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

try:
    import resource
except ImportError:  # Windows, where only the time is limited
    resource = None  # type: ignore[assignment]


NO_MEMORY = 127  # glibc's exit status where thread-local data find no memory
STARTING = 60.0  # seconds, at most: the limit begins after what is imported


@dataclass(frozen=True)
class Limit:
    """Of one child process, and of each process that it starts."""

    seconds: float
    gigabytes: float = math.inf

    def __str__(self) -> str:
        memory = f" and {self.gigabytes:g} GB" if math.isfinite(self.gigabytes) else ""
        return f"{self.seconds:g} s{memory}"


def within(
    limit: Limit, make: Callable[..., Iterator[Any]], *arguments: Any
) -> tuple[list[Any], str]:
    """What an iterator yields in a process of its own, and what ended it: "", or the limit."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, limit, make, arguments), daemon=True)
    process.start()
    sender.close()
    deadline = perf_counter() + STARTING
    items: list[Any] = []
    try:
        while receiver.poll(max(0.0, deadline - perf_counter())):
            try:
                kind, item = receiver.recv()
            except EOFError:
                process.join()
                short = process.exitcode == NO_MEMORY and math.isfinite(limit.gigabytes)
                if not short and (not process.exitcode or process.exitcode > 0):
                    raise RuntimeError(f"the process ended with {process.exitcode}") from None
                # by a signal, as systems do for memory, or by the loader
                return items, f"{limit.gigabytes:g} GB"
            if kind == "error":
                raise item
            if kind == "start":
                deadline = perf_counter() + limit.seconds
                continue
            if kind == "end":
                return items, item
            items.append(item)
        return items, f"{limit.seconds:g} s"
    finally:
        _kill(process)
        receiver.close()


def _send(
    sender: Connection, limit: Limit, make: Callable[..., Iterator[Any]], arguments: tuple[Any, ...]
) -> None:
    """Send items, and what ended them: the child's own function."""
    if hasattr(os, "setsid"):
        os.setsid()  # compilers that it starts are killed with it
    if resource and math.isfinite(limit.gigabytes):
        size = int(limit.gigabytes * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    sender.send(("start", None))
    try:
        for item in make(*arguments):
            sender.send(("item", item))
        sender.send(("end", ""))
    except MemoryError:
        sender.send(("end", f"{limit.gigabytes:g} GB"))
    except Exception as error:
        memory = "bad_alloc" in str(error)  # CasADi's
        sender.send(("end", f"{limit.gigabytes:g} GB") if memory else ("error", error))


def _kill(process: Any) -> None:
    """End the child and what it started."""
    if hasattr(os, "killpg") and process.is_alive():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()
