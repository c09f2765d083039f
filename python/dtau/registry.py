"""The registry: arguments and results of each compiled function.

The rows are written once, in ``src/functions/``; adapters of array libraries, code generation, the
stubs, tests and benchmarks read them here. Functions that differentiate a function are its
attributes, `inverse_dynamics.vjp`: `link` gives them by the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from dtau import _core

F = TypeVar("F", bound=Callable[..., Any])
Axes: TypeAlias = tuple[str | int, ...]  # symbols ("nq", "nv", "2 nv", "nbodies", ...) or numbers


@dataclass(frozen=True)
class Array:
    """An input or a result of a function.

    ``axes`` are the axes for one state. ``rows`` is, for a stack of time derivatives, its number of
    rows minus the order; None: not a stack. An optional result is present if the last input of its
    kind is. ``asked``: a result that is there if all of these ask for it, "forces" or words of
    ``by``. ``numbers``: an input whose axis of length nv has nq numbers in a call by numbers.
    """

    name: str
    axes: Axes
    rows: int | None
    optional: bool
    asked: tuple[str, ...] = ()
    numbers: bool = False

    def axes_of(self, coordinates: object) -> Axes:
        """Return the axes of a call with this argument ``coordinates``."""
        return ("nq",) if self.numbers and coordinates == "numbers" else self.axes


@dataclass(frozen=True)
class Argument:
    """An argument at its public position: an input, or an option (``array`` is None)."""

    name: str
    required: bool
    default: Any
    array: Array | None


@dataclass(frozen=True)
class Function:
    """A row of the registry: arguments in public order, results, and the class of the results.

    ``force_results`` follow the ``results`` where the option ``forces`` asks for them, and then
    the ``by_results`` for which the option ``by`` asks. These, and an optional result, are
    attributes of the class beside its tuple.
    """

    name: str
    arguments: tuple[Argument, ...]
    results: tuple[Array, ...]
    force_results: tuple[Array, ...]
    by_results: tuple[Array, ...]
    result_class: str  # in `dtau.results`; empty for a single result
    links: Mapping[
        str, str
    ]  # functions that differentiate this one: derivatives, vjp, hessian, ...
    solves: bool  # solves with the mass matrix: joints without inertia are refused

    @property
    def inputs(self) -> tuple[Array, ...]:
        """The input arrays."""
        return tuple(x.array for x in self.arguments if x.array is not None)

    @property
    def options(self) -> dict[str, Argument]:
        """The arguments that are not arrays, by name."""
        return {x.name: x for x in self.arguments if x.array is None}


def _array(row: Mapping[str, Any]) -> Array:
    return Array(**{key: row[key] for key in Array.__dataclass_fields__})


def _argument(row: Mapping[str, Any]) -> Argument:
    array = None if row["option"] else _array(row)
    return Argument(row["name"], row["required"], row["default"], array)


def _function(row: Mapping[str, Any]) -> Function:
    return Function(
        row["name"],
        tuple(_argument(x) for x in row["arguments"]),
        tuple(_array(x) for x in row["results"]),
        tuple(_array(x) for x in row["force_results"]),
        tuple(_array(x) for x in row["by_results"]),
        row["result_class"],
        row["links"],
        row["solves"],
    )


def arrays_of(results: Any) -> tuple[Any, ...]:
    """Return the arrays that a function returned: the tuple's arrays, and its attributes.

    A `PartialState` has None, which is left out.
    """
    if not isinstance(results, tuple):
        return (results,)
    further = getattr(results, "__dict__", {})
    return tuple(x for x in (*results, *further.values()) if x is not None)


FUNCTIONS: Mapping[str, Function] = {row["name"]: _function(row) for row in _core.functions()}

# Functions of poses and rotations, which take no model.
POSE_FUNCTIONS: Mapping[str, Function] = {
    row["name"]: _function(row) for row in _core.pose_functions()
}


def old_name(new: str) -> Callable[[F], F]:
    """Decorate a function that is kept under its old name."""

    def mark(function: F) -> F:
        function.new_name = new  # type: ignore[attr-defined]
        return function

    return mark


def link(names: Mapping[str, Any]) -> frozenset[str]:
    """Give functions their attributes; return the names that these make redundant.

    Such a name is the family's name, an underscore and the attribute: `inverse_dynamics_vjp`; or
    it is an old one. Rows of the registry say what differentiates a function. For functions without
    a row, and for regressors, the names do.
    """
    for name, row in FUNCTIONS.items():
        for kind, linked in row.links.items():
            setattr(names[name], kind, names[linked])
    kinds = {kind for row in FUNCTIONS.values() for kind in row.links}
    redundant = set()
    for name, function in names.items():
        for kind in (*kinds, "regressor"):
            family = name.removesuffix(f"_{kind}")
            if family != name and family in names:
                setattr(names[family], kind, function)
                if kind == "regressor":  # of what is linear in the inertial parameters
                    names[family].parameter_derivatives = function
                redundant.add(name)
        if hasattr(function, "new_name"):
            redundant.add(name)
    return frozenset(redundant)
