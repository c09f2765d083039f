"""Locks that are released in a child process after a fork: `fork_safe_lock`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any


def fork_safe_lock(clean_up: Callable[[], object] | None = None) -> Any:
    """Return a reentrant lock for ``with``.

    A fork copies the lock in its present state, but only the forking thread. So a child process
    releases the lock, unless that thread holds it, and calls `clean_up` for the data that the lock
    guards. The class is the interpreter's own: acquiring and releasing are one operation each,
    which Ctrl-C cannot interrupt.
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
