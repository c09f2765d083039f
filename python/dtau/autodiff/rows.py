"""Rows of the registry as the array libraries have them: `FUNCTIONS`.

They leave out ``positions``, where contacts are held: the core has no derivatives by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dtau import registry
from dtau.registry import Function

LEFT_OUT = "positions"


def _row(row: Function) -> Function:
    return replace(row, arguments=tuple(x for x in row.arguments if x.name != LEFT_OUT))


FUNCTIONS: Mapping[str, Function] = {name: _row(row) for name, row in registry.FUNCTIONS.items()}
