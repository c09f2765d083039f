"""Rows of the registry as the array libraries have them: `FUNCTIONS`.

They leave out ``positions``, where contacts are held, because the core has no derivatives by them,
and ``layout``: derivatives are of dense results. ``parameters`` of many models are arrays
too; whether they are of joints too, which their length tells, is an option of calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dtau import registry
from dtau.registry import Argument, Function

PARAMETERS, OF_JOINTS = "parameters", "joint_parameters"
_LEFT_OUT = ("positions", "layout")


def _row(row: Function) -> Function:
    kept = [x for x in row.arguments if x.name not in _LEFT_OUT]
    names = [x.name for x in kept]
    if PARAMETERS in names and OF_JOINTS not in names:
        kept.append(Argument(OF_JOINTS, False, False, None))
    return replace(row, arguments=tuple(kept))


FUNCTIONS: Mapping[str, Function] = {name: _row(row) for name, row in registry.FUNCTIONS.items()}
