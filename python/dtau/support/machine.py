"""What this machine is: its cores, whether they are busy, and its processor."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def busy() -> str:
    """Describe the load if other work kept the cores busy in the last minute; else nothing."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return f"load {load:.1f} on {cores()} cores" if load > cores() + 0.5 else ""


def processor() -> str:
    """Return the processor's name, as its maker writes it if the system knows it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
