"""Tests in processes of their own, which may crash, be interrupted or run out of memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PRELUDE = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})"
PRELUDE += """
import faulthandler, json, os, signal, threading, time
import numpy as np
import dtau
from dtau import _core

faulthandler.enable()
# Also where the tests themselves are a job in the background, which ignores interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

def chain(bodies):
    builder = dtau.ModelBuilder("chain")
    inertia = dtau.Inertia(1.0, (0.1, 0.0, 0.2), np.diag([0.06, 0.07, 0.05]))
    for i in range(bodies):
        builder.add(dtau.Revolute(((0, 0, 1), (0, 1, 0))[i % 2]), name=f"j{i}",
                    parent=f"j{i - 1}" if i else None,
                    placement=dtau.Pose(translation=(0.1, 0.0, 0.3)), inertia=inertia)
    return builder.build()

def spread(model, count):
    "One state, as a batch of so many."
    state = dtau.random_state(model, np.random.default_rng(0))
    return [np.broadcast_to(x, (count, x.size)) for x in state]
"""


def python(
    text: str,
    *arguments: object,
    flags: str = "",
    timeout: float = 300.0,
    **environment: str | None,
) -> subprocess.CompletedProcess[str]:
    """Run a Python process to its end; None takes a variable out of its environment."""
    command = [sys.executable, *flags.split(), "-c", text, *map(str, arguments)]
    variables = {key: x for key, x in (os.environ | environment).items() if x is not None}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, check=False, env=variables
    )


def process(text: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a Python process that begins with `PRELUDE` to its end."""
    return python(PRELUDE + text, *arguments, **options)


def script(text: str, *arguments: object, timeout: float = 300.0) -> Any:
    """Run a Python process that ends well, and read what it prints last as JSON."""
    done = process(text, *arguments, timeout=timeout)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout.splitlines()[-1])


def sanitized() -> bool:
    """Whether the core runs under the address sanitizer, which needs much address space."""
    return "asan" in os.environ.get("LD_PRELOAD", "")
