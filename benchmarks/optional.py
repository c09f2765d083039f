"""Packages that experiments can do without, and the programs of examples/."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"


def optional(name: str) -> Any:
    """The module of a package, or None where it is not installed.

    An installed package that cannot be imported is an error, as it is for whoever needs it.
    """
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


@contextlib.contextmanager
def examples() -> Iterator[None]:
    """Find the examples, which belong to no package, here and in processes that start."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        yield
    finally:
        sys.path.remove(str(EXAMPLES))
