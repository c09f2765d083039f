"""Rows of the registry as the array libraries have them: `FUNCTIONS`.

They leave out ``positions``, where contacts are held, because the core has no derivatives by them,
and ``layout``: derivatives are those of dense results. Only inverse and forward dynamics have
``parameters``, the inertias of many models, with derivatives by these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dtau import registry
from dtau.registry import Function

PARAMETERS = "parameters"
_LEFT_OUT = ("positions", "layout")
_PROBLEMS = ("inverse_dynamics", "forward_dynamics")


def _row(row: Function) -> Function:
    many_models = row.name.startswith(_PROBLEMS)
    left_out = _LEFT_OUT if many_models else (*_LEFT_OUT, PARAMETERS)
    return replace(row, arguments=tuple(x for x in row.arguments if x.name not in left_out))


FUNCTIONS: Mapping[str, Function] = {name: _row(row) for name, row in registry.FUNCTIONS.items()}
