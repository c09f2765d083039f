"""Rows of the registry as the array libraries have them: `FUNCTIONS`.

They leave out ``positions``, where contacts are held, because the core has no derivatives by them,
and ``layout``: derivatives are those of dense results. The inertias of many models are arrays too,
``parameters``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dtau import registry
from dtau.registry import Function

PARAMETERS = "parameters"
_LEFT_OUT = ("positions", "layout")


def _row(row: Function) -> Function:
    return replace(row, arguments=tuple(x for x in row.arguments if x.name not in _LEFT_OUT))


FUNCTIONS: Mapping[str, Function] = {name: _row(row) for name, row in registry.FUNCTIONS.items()}
