"""Put functions into the slots of the extension: `in_a_slot`.

CasADi finds a slot's symbols by name.
"""

from __future__ import annotations

import gc
from typing import Any

import casadi as ca

from dtau import _core
from dtau.casadi.table import Slot

_ATTEMPTS = 8


def in_a_slot(slot: Slot, **options: Any) -> Any:
    """Put a function into a slot, and return the CasADi function of its name with these options.

    The slot is freed with the function.

    Raises
    ------
    RuntimeError
        If all slots are taken, or functions loaded from files have found them.
    """
    for _ in range(_ATTEMPTS):
        function = _of_a_slot(slot, options)
        if not is_lost(function):
            return function
    raise RuntimeError(
        f"dtau.casadi: {_ATTEMPTS} slots in a row were found by functions from files, which other "
        "threads are loading: make those anew, from their models"
    )


def _of_a_slot(description: Slot, options: dict[str, Any]) -> Any:
    # Without the plan of second derivatives, CasADi shall know that there are none.
    prefix = "dtau_slot" if len(description[2]) > 3 else "dtau_first_order_slot"
    slot = _core.fill_casadi_slot(*description)
    if slot < 0:
        gc.collect()
        slot = _core.fill_casadi_slot(*description)
    if slot < 0:
        raise RuntimeError(
            f"dtau.casadi: all {_core.casadi_slots} slots for functions are in use. A function of "
            "dtau's takes one for as long as it, or anything that is made with it, lives: let go "
            "of those that are not needed, and share one model instead of making it again"
        )
    try:  # this thread claims the slot; other threads are refused
        return ca.external(f"{prefix}{slot}", _core.__file__, options)
    finally:
        _core.release_casadi_slot(slot)


def is_lost(function: Any) -> bool:
    """Whether a function lost its slot because something else found it."""
    return _core.casadi_slot_is_lost(int(function.name().rpartition("slot")[2]))
