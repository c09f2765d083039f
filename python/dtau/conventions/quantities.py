"""Say what the result of a function is: its arrays, and what their conversion needs: `quantity`.

The row of the function in `dtau.registry` has the names and axes of its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from dtau import registry, results
from dtau.conventions import arrays, derivatives
from dtau.support.checks import listing, plain, shown

# Classes of second derivatives, with the first derivatives that they need, and weights.
SECOND: Mapping[str, tuple[type, tuple[str, ...]]] = {
    "InverseDynamicsSecondDerivatives": (results.InverseDynamicsDerivatives, ()),
    "ForwardDynamicsSecondDerivatives": (results.ForwardDynamicsDerivatives, ()),
    "InverseDynamicsHessian": (results.InverseDynamicsDerivatives, ("lam",)),
    "ForwardDynamicsHessian": (results.ForwardDynamicsDerivatives, ("lam",)),
}

# Arguments of functions, and matrices that multiply velocities.
_ARGUMENTS = ("v", "a", "tau", "f_ext", "v_derivatives", "tau_derivatives", "f_ext_derivatives")
_GIVEN: Mapping[str, registry.Array] = {
    "J": registry.Array("J", ("any", "nv"), None, False),
    **{x.name: x for f in registry.FUNCTIONS.values() for x in f.inputs if x.name in _ARGUMENTS},
}

# Functions by the classes of their results: of two, the first, which returns no stacks.
_ROWS: Mapping[str, registry.Function] = {
    row.result_class: row for row in reversed(list(registry.FUNCTIONS.values())) if row.result_class
}

# Other names than the rows' names, where these do not tell how an array converts.
_NAMES = {"bias_torque": "bias", "bias_torque_time_derivatives": "bias"}
_FIXED = {"nq", "2 nv", "nbodies", "2 nv + ninputs"}  # axes without a rule
_STATES = (results.State, results.PartialState)


@dataclass(frozen=True)
class Quantity:
    """A result: its name in messages, its arrays by their names, and the values of a state.

    ``needs`` are the values beside q at which it converts, by their names in ``at``.
    """

    label: str
    arrays: Mapping[str, registry.Array]
    needs: tuple[str, ...]
    both_ways: bool = True

    @property
    def stacked(self) -> bool:
        """Whether it is a stack of time derivatives."""
        return any(x.rows is not None for x in self.arrays.values())


def quantity(result: Any, of: object) -> Quantity:
    """Describe a named tuple by its class, any other array by ``of``.

    Raises
    ------
    TypeError
        If there is no rule for it, or ``of`` is missing or superfluous.
    ValueError
        If ``of`` names no argument.
    """
    fields = getattr(result, "_fields", None)
    if fields is None:
        return _of_array(of)
    label = type(result).__name__
    if of is not None:
        raise TypeError(f"of: expected None, for {label} tells its function; got {shown(of)}")
    if label not in _ROWS:
        hint = "; from_dtau and to_dtau convert states" if isinstance(result, _STATES) else ""
        raise TypeError(f"result: expected what a function of the model returns, got {label}{hint}")
    names = (x.name for x in _arrays(_ROWS[label]))
    there = (x for x in names if x in fields or getattr(result, x, None) is not None)
    return _of_class(label, tuple(there))


def _of_array(of: object) -> Quantity:
    if isinstance(of, str):
        return _of_argument(str(plain(of)))
    name = getattr(of, "__name__", None)
    if name not in registry.FUNCTIONS:
        raise TypeError(
            "of: expected the function of dtau that returned the array, or the name of an "
            f"argument, got {shown(of)}"
        )
    return _of_function(name)


@cache
def _of_argument(name: str) -> Quantity:
    if name not in _GIVEN:
        known = listing(list(_GIVEN))
        raise ValueError(f"of: expected a function, or one of {known}, got {name!r:.80}")
    return _described(name, {name.removesuffix("_derivatives"): _GIVEN[name]})


@cache
def _of_function(name: str) -> Quantity:
    row = registry.FUNCTIONS[name]
    if row.result_class:
        raise TypeError(f"result: expected {row.result_class}, as {name} returns it")
    (array,) = row.results
    return _described(name, {_NAMES.get(name, array.name): array})


@cache
def _of_class(label: str, names: tuple[str, ...]) -> Quantity:
    known = {x.name: x for x in _arrays(_ROWS[label])}
    return _described(label, {name: known[name] for name in names})


def _arrays(row: registry.Function) -> tuple[registry.Array, ...]:
    return (*row.results, *row.force_results, *row.by_results)


def _described(label: str, found: Mapping[str, registry.Array]) -> Quantity:
    if label in SECOND:
        needs = ("v", "a", "tau", *SECOND[label][1], "d")
        return Quantity(label, found, needs, both_ways=False)
    if {"A", "B"} <= found.keys():
        if "A_stages" not in found and found["A"].rows is None:
            return Quantity(label, found, ("v", "inputs"), both_ways=False)
    elif all(map(_has_rule, found, found.values())):
        return Quantity(label, found, _needs(found))
    raise TypeError(f"result: there is no conversion of what {label} has: {', '.join(found)}")


def _has_rule(name: str, array: registry.Array) -> bool:
    roles, places = arrays.ROLES.get(name, ()), array.axes.count("nv")
    if pair := derivatives.parts(name):
        own = 2 if pair[0] in derivatives.CONVERTED else 1
        return array.rows is None and array.axes[-1] == "nv" and places == own
    return name == "f_ext" or (len(roles) == places and _FIXED.isdisjoint(array.axes))


def _needs(found: Mapping[str, registry.Array]) -> tuple[str, ...]:
    needs = derivatives.needs(found)
    if found.keys() & {"a", "C", "bias"}:
        needs |= {"v"}
    if found.keys() & {"C", "bias"}:
        needs |= {"M"}
    ordered = tuple(x for x in (*derivatives.CONVERTED, "M") if x in needs)
    if any(x.rows is not None for x in found.values()) and not found.keys() & {"v", "a"}:
        return tuple(f"{x}_derivatives" for x in ordered or ("v",))
    return ordered
