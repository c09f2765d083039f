"""The extension that records, loaded where code is generated alone."""

from __future__ import annotations

import os
import threading
from typing import Any

_loading = threading.RLock()
if hasattr(os, "register_at_fork"):
    # A fork waits for the import: its child could never end what a thread began that it has not.
    os.register_at_fork(
        before=_loading.acquire,
        after_in_parent=_loading.release,
        after_in_child=_loading.release,
    )


def load_recorder() -> Any:
    """Return the module ``dtau._recorded``."""
    with _loading:
        from dtau import _recorded

    return _recorded
