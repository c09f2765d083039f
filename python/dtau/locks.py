"""Locks that a child process finds open after a fork: `fork_safe_lock`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any


def fork_safe_lock(clean_up: Callable[[], object] | None = None) -> Any:
    """Return a reentrant lock for ``with``.

    A fork copies the lock as it is, but of the threads only the one that forks. So a child process
    opens the lock, unless that thread holds it, and calls `clean_up` for what the lock guards. It
    is the interpreter's own class: entering and leaving it are one operation each, between which no
    Ctrl-C can fall.
    """
    lock: Any = threading.RLock()

    def open_in_child() -> None:
        if lock._is_owned():
            return
        lock._at_fork_reinit()
        if clean_up is not None:
            clean_up()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=open_in_child)
    return lock
