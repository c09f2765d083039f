"""Convert the result of a function: read it with the state where it was taken, and apply its rule.

    second derivatives, Hessians        `second_derivatives`
    linearizations                      `linearizations`
    first derivatives                   `derivatives`
    other arrays                        `arrays`, by their axes

`quantities` says what a result is and which values of the state it needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dtau import registry
from dtau.conventions import arrays, derivatives, linearizations, second_derivatives
from dtau.conventions.maps import Maps, quiet
from dtau.conventions.quantities import SECOND, Quantity, quantity
from dtau.conventions.series import length
from dtau.results import PartialState, State
from dtau.support.arrays import Array
from dtau.support.checks import class_name, listing, real_numbers, require

At: TypeAlias = Mapping[str, Any] | State | PartialState
_Sizes: TypeAlias = dict[str, tuple[ArrayLike, tuple[int, ...]]]

_MOST_WRENCHES = 101  # most rows of a stack, as in the functions that take them


@quiet
def convert(maps: Maps, result: Any, of: object, at: At, to_dtau: bool) -> Any:
    """Return the result in the convention; with ``to_dtau``, the convention's in dtau's."""
    what = quantity(result, of)
    if to_dtau and not what.both_ways:
        raise ValueError(f"to_dtau: expected False, for {what.label} convert from dtau alone")
    given = _needed(at, what)
    state = _state(maps, what, given)
    parts = _parts(maps, what, result, {"q": (given["q"], (0,)), **state}, to_dtau)
    if what.stacked:
        _require_rows(what, state, parts)
    batch, q, read = maps.read(given["q"], state | parts, to_dtau=to_dtau)
    values = dict(zip(state, read, strict=False))
    found = dict(zip(what.arrays, read[len(state) :], strict=True))
    if what.label in SECOND:
        first = [values.pop(name) for name in list(values) if name.startswith("d.")]
        inverse = what.label.startswith("Inverse")
        second = list(found.values())
        converted = second_derivatives.convert(maps, inverse, q, values, first, second)
        out = dict(zip(found, converted, strict=True))
    elif "B" in found:
        out = linearizations.convert(maps, q, values["v"], given["inputs"], found)
    else:
        out = _by_names(maps, what, q, values, found, to_dtau)
    unchanged = {name: x.copy() for name, x in found.items() if name not in out}
    return _like(result, {name: batch.array(x) for name, x in (out | unchanged).items()})


def _needed(at: At, what: Quantity) -> dict[str, Any]:
    """Return the values that a conversion needs."""
    if isinstance(at, (State, PartialState)):
        at = {name: x for name, x in at._asdict().items() if x is not None}
    if not isinstance(at, Mapping):
        raise TypeError(f"at: expected State or a dict of values by name, got {class_name(at)}")
    needs = ("q", *what.needs)
    missing = [name for name in needs if name not in at]
    if missing:
        raise TypeError(
            f"at: expected {listing(needs)} to convert {what.label}, got no {listing(missing)}"
        )
    return {name: at[name] for name in needs}


def _state(maps: Maps, what: Quantity, given: Mapping[str, Any]) -> _Sizes:
    """Return the values beside q with the sizes of their last axes, except for `inputs`."""
    nv, out = maps.nv, _Sizes()
    for name in what.needs:
        x = given[name]
        if name == "d":
            require("d", x, SECOND[what.label][0])
            out |= {f"d.{part}": (y, (nv, nv)) for part, y in x._asdict().items()}
        elif name != "inputs":
            core = (nv, nv) if name.startswith("M") else (nv,)
            rows = (length(name, x, core),) if name.endswith("_derivatives") else ()
            out[name] = (x, (*rows, *core))
    return out


def _parts(maps: Maps, what: Quantity, result: Any, state: _Sizes, to_dtau: bool) -> _Sizes:
    """Return the arrays of the result with the sizes of their last axes."""
    out = _Sizes()
    for name, array in what.arrays.items():
        plain = not hasattr(result, "_fields")
        label, x = ("result", result) if plain else (f"result.{name}", getattr(result, name))
        core = _core(maps, label, array, x, state, to_dtau)
        if array.rows is not None:
            most = _MOST_WRENCHES if name == "f_ext" else None
            core = (length(label, x, core, most=most), *core)
        out[label] = (x, core)
    return out


def _core(
    maps: Maps, label: str, array: registry.Array, x: ArrayLike, state: _Sizes, to_dtau: bool
) -> tuple[int, ...]:
    """Return the sizes of an array's axes; those without a size of the model are as they come."""
    model, axes, shape = maps.model, array.axes, real_numbers(label, x).shape
    if axes[:1] == ("nframes",):
        batch = max(real_numbers(name, y).ndim - len(core) for name, (y, core) in state.items())
        if len(shape) - len(axes) < batch:  # of a single frame
            axes = axes[1:]
    bodies = maps.wrenches.nrows if to_dtau else model.nbodies
    sizes = {"nq": model.nq, "nv": model.nv, "2 nv": 2 * model.nv, "nbodies": bodies}
    if len(shape) < len(axes):
        expected = ", ".join(str(sizes.get(str(axis), axis)) for axis in ("...", *axes))
        raise ValueError(f"{label} has shape {shape}, expected ({expected})")
    last = shape[len(shape) - len(axes) :]
    return tuple(
        axis if isinstance(axis, int) else sizes.get(axis, size)
        for axis, size in zip(axes, last, strict=True)
    )


def _require_rows(what: Quantity, state: _Sizes, parts: _Sizes) -> None:
    """Raise ValueError if stacks of the state are shorter than the result's stack needs."""
    rows = min(core[0] for _, core in parts.values())
    fewer = 0 if "M_derivatives" in what.needs else 1
    for name, (x, core) in state.items():
        if name.endswith("_derivatives"):
            less = fewer if name == "v_derivatives" else 0
            length(name, x, core[1:], max(1, rows - less))


def _by_names(
    maps: Maps,
    what: Quantity,
    q: Array,
    values: Mapping[str, Array],
    found: Mapping[str, Array],
    to_dtau: bool,
) -> dict[str, Array]:
    """Convert first derivatives together, and other arrays one by one; leave out what stays."""
    out = {}
    first = {
        name: x.reshape(len(q), prod(x.shape[1:-1]), maps.nv)
        for name, x in found.items()
        if derivatives.parts(name)
    }
    if first:
        for name, x in derivatives.convert(maps, q, values, first, to_dtau).items():
            out[name] = x.reshape(found[name].shape)
    # Every other array is a stack, of one row if it has no time derivatives.
    stacks = {
        name.removesuffix("_derivatives"): x if name.endswith("_derivatives") else x[:, np.newaxis]
        for name, x in values.items()
    }
    for name, array in what.arrays.items():
        if name in arrays.ROLES or name == "f_ext":
            x = found[name] if what.stacked else found[name][:, np.newaxis]
            axes = [k - len(array.axes) for k, axis in enumerate(array.axes) if axis == "nv"]
            x = arrays.convert(maps, name, axes, q, stacks, x, to_dtau)
            out[name] = x if what.stacked else x[:, 0]
    return out


def _like(result: Any, converted: dict[str, Array]) -> Any:
    """Return an array for an array, and a named tuple with its attributes for such a one."""
    if not hasattr(result, "_fields"):
        return converted.popitem()[1]
    out = type(result)(*(converted.pop(name, None) for name in result._fields))
    for name, x in converted.items():
        setattr(out, name, x)
    return out
