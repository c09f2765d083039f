"""Packages that experiments can do without."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


def optional(name: str) -> Any:
    """The module of a package, or None where it is not installed.

    An installed package that cannot be imported is an error, as it is for whoever needs it.
    """
    return importlib.import_module(name) if importlib.util.find_spec(name) else None
