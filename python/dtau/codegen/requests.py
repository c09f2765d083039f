"""Read the arguments of `dtau.generate`: functions with options and arrays: `requests`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dtau.codegen.payload import Payload, payload_on
from dtau.functions.dynamics import prescribed_mask
from dtau.model.contacts import Contacts
from dtau.model.control_inputs import require_motors_of
from dtau.model.model import Model
from dtau.registry import FUNCTIONS, Axes, Function
from dtau.support.arrays import Array
from dtau.support.checks import integer, real_numbers, require, shown, tuple_of, unknown_name

Functions: TypeAlias = str | Sequence[str] | Mapping[str, str | tuple[str, Mapping[str, Any]]]

GRAVITY, PAYLOAD = "gravity", "payload"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ARRAYS = {
    **dict.fromkeys(("f_ext", "df_ext", "f_ext_derivatives", "df_ext_derivatives"), "f_ext"),
    **{name: name for name in ("active", "positions")},
}
# Functions that the core does not have.
_IN_PYTHON = {
    "frame_jacobians_rate": "NumPy takes it from frame_jacobians_time_derivatives: write that one",
    "equilibrium": "it solves least squares by NumPy's singular values",
    "lqr": "it takes no model",
    "transfer_state": "it takes two models",
    "project": "it is an iteration in Python, whose steps depend on the state",
    "wrench_at_frame_derivatives": (
        "NumPy makes it of wrench_at_frame and frame_jacobians, which can be written"
    ),
    **dict.fromkeys(
        ("kinetic_energy_regressor", "momentum_regressor"),
        "NumPy makes it of frame_velocities and forward_kinematics, which can be written",
    ),
    **dict.fromkeys(
        ("potential_energy_regressor", "subtree_centers_of_mass"),
        "NumPy makes it of forward_kinematics, which can be written",
    ),
    **dict.fromkeys(
        ("configuration", "neutral", "pattern", "random_state"), "it is not a function of one state"
    ),
}


@dataclass(frozen=True)
class Argument:
    """An array of a function: its name in C and its shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of its entries."""
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class Request:
    """A function of the core for one model, with its arguments and results.

    ``inputs`` has an entry for every array of the function: an `Argument`, an array of constants,
    or None. ``results`` has the names in C.
    """

    name: str  # in C, without the prefix
    function: str
    said: str  # the given options, as text
    options: Mapping[str, Any]  # for the core; others have their defaults
    inputs: Mapping[str, Argument | Array | None]
    results: tuple[str, ...]
    gravity: bool  # whether gravity is an argument
    payload: Payload | None  # the payload that is an argument

    @property
    def arguments(self) -> list[Argument]:
        """Return the arguments of the function in C."""
        taken = [x for x in self.inputs.values() if isinstance(x, Argument)]
        return [*taken, *self.constants]

    def call(self, functions: Any, model: Model, arrays: Mapping[str, Array | None]) -> Any:
        """Call the function in a compiled module with arrays in place of the inputs."""
        given = {name: x for name, x in arrays.items() if x is not None}
        return getattr(functions, self.function)(model, **given, **self.options)

    @property
    def constants(self) -> list[Argument]:
        """Return arguments that are otherwise constants of the model."""
        gravity = [Argument(GRAVITY, (3,))] if self.gravity else []
        return [*gravity, Argument(PAYLOAD, (10,))] if self.payload else gravity


def requests(model: Model, functions: Functions, parameters: Sequence[str]) -> list[Request]:
    """Read the functions and parameters of `dtau.generate`."""
    if isinstance(functions, str):
        functions = (functions,)
    if not isinstance(functions, Mapping):
        names = tuple_of("functions", functions, str, "names, or a mapping of names in C")
        functions = {name: name for name in names}
    parameters = tuple_of("parameters", parameters, str, "names")
    given = dict(x.partition("=")[::2] for x in parameters)
    if len(given) < len(parameters):
        raise ValueError(f"parameters: expected each of them once, got {list(parameters)}")
    payload = payload_on(model, given[PAYLOAD]) if given.get(PAYLOAD) else None
    made = [_request(model, name, what, given, payload) for name, what in functions.items()]
    if not made:
        raise ValueError("functions: expected at least one, got none")
    known = {GRAVITY, PAYLOAD, *_ARRAYS.values()}
    for parameter, where in given.items():
        if parameter not in known:
            raise ValueError(f"parameters: {unknown_name('array', parameter, known)}")
        if bool(where) != (parameter == PAYLOAD):
            raise ValueError(
                "parameters: expected 'payload=LINK', and names alone of others, got "
                f"{shown(parameter)}" + (f" of {where!r}" if where else "")
            )
        if not any(parameter in _parameters_of(request) for request in made):
            asked = ", ".join(request.function for request in made)
            raise ValueError(f"parameters: {shown(parameter)} is taken by none of {asked}")
    return made


def _parameters_of(request: Request) -> set[str]:
    names = {argument.name for argument in request.arguments}
    return {_ARRAYS.get(name, name) for name in names}


def _request(
    model: Model, name: str, what: Any, parameters: Mapping[str, str], payload: Payload | None
) -> Request:
    function, options = what if isinstance(what, tuple) and len(what) == 2 else (what, {})
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(f"functions: expected a name in C, got {shown(name)}")
    if not isinstance(function, str) or not isinstance(options, Mapping):
        raise TypeError(
            f"functions: expected the name of a function, or (name, options), got {shown(what)}"
        )
    if function in _IN_PYTHON:
        raise ValueError(f"functions: {function} cannot be written as C: {_IN_PYTHON[function]}")
    if function not in FUNCTIONS:
        raise ValueError(f"functions: {unknown_name('function', function, sorted(FUNCTIONS))}")
    if "parameters" in options:
        raise ValueError(
            f"functions: {function} cannot be written as C for the inertias of many models: write "
            "the model that has them, or keep a load as an argument: parameters=['payload=LINK']"
        )
    row = FUNCTIONS[function]
    public = {x.name: x for x in row.arguments}
    contacts = options.get("contacts") is not None
    for option in options:
        if option not in public:
            raise ValueError(f"functions: {function} takes no option {shown(option)}")
        if (
            option in ("active", "positions", "regularization")
            and not contacts
            and not public["contacts"].required
        ):
            raise ValueError(f"functions: {function} takes {shown(option)} with contacts alone")
    given, sizes = _options(model, row, options)
    inputs: dict[str, Argument | Array | None] = {}
    for array in row.inputs:
        if array.axes == ("nv", "ninputs"):
            inputs[array.name] = _inputs(model, options.get(array.name))
            continue
        axes = array.axes_of(options.get("coordinates"))
        argument = Argument(array.name, _shape(axes, array.rows, sizes))
        if array.name in options:
            inputs[array.name] = _known(array.name, options[array.name], argument.shape)
        elif not (array.optional and array.axes) or _ARRAYS.get(array.name) in parameters:
            there = array.axes[:1] != ("ncontacts",) or "ncontacts" in sizes
            inputs[array.name] = argument if there else None
        else:
            inputs[array.name] = None
    taken = {x.name for x in inputs.values() if isinstance(x, Argument)}
    results = row.results
    wrenches = not {"f_ext", "f_ext_derivatives"}.isdisjoint(taken)
    if results[-1].optional and not (contacts if "nrows" in results[-1].axes else wrenches):
        results = results[:-1]
    by = options.get("by") or ()
    asked = {"forces"} if options.get("forces") else set()
    asked |= {by} if isinstance(by, str) else set(by)
    results += tuple(x for x in (*row.force_results, *row.by_results) if asked.issuperset(x.asked))
    said = [f"{option}={_short(value)}" for option, value in options.items()]
    if payload:
        said.append(f"payload on {payload.link}")
    return Request(
        name,
        function,
        ", ".join(said),
        given,
        inputs,
        tuple(f"{x.name}_out" if x.name in taken else x.name for x in results),
        GRAVITY in parameters,
        payload,
    )


_MOST_ORDER = 100  # highest order of time derivatives, as in the core
_YES_OR_NO = ("symmetric", "joint_parameters", "forces")


def _options(
    model: Model, row: Function, options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str | int, int]]:
    """Return options for the core, and the sizes of axes."""
    sizes: dict[str | int, int] = {"nq": model.nq, "nv": model.nv, "2 nv": 2 * model.nv}
    sizes |= {"nbodies": model.nbodies, "nparameters": 10 * model.nbodies}
    given = {}
    for name, option in row.options.items():
        if name not in options and not option.required and name != "order":
            continue
        value: Any = options.get(name)
        if value is None and (option.required or name == "order"):
            raise ValueError(f"functions: {row.name} needs the option {name!r}")
        if value is None and option.default is None:
            continue
        if name == "prescribed":
            value = prescribed_mask(model, value)
        elif name == "frames" and isinstance(value, Iterable) and not isinstance(value, str):
            value = list(value)
            sizes["nframes"] = len(value)
        elif name == "contacts":
            require(name, value, Contacts)
            if not vars(value):
                raise TypeError("contacts: expected a Contacts that was made by its constructor")
            sizes |= {"ncontacts": len(value), "nrows": value.nrows}
        elif name == "order":
            sizes["order"] = value = integer(name, value, 0, _MOST_ORDER)
            sizes |= {"r + 1": value + 1, "r + 2": value + 2}
        elif name in _YES_OR_NO:
            require(name, value, bool)
            sizes["nparameters"] += 4 * model.nv if name == "joint_parameters" and value else 0
        given[name] = value
    return given, sizes


def _shape(axes: Axes, rows: int | None, sizes: Mapping[str | int, int]) -> tuple[int, ...]:
    """Return the sizes of a stack's axis and of one state's axes; a single frame has no axis."""
    stack = () if rows is None else (sizes["order"] + rows,)
    axes = tuple(x for x in axes if x != "nframes" or x in sizes)
    return (*stack, *(sizes.get(x, x if isinstance(x, int) else 0) for x in axes))


def _inputs(model: Model, given: Any) -> Array | None:
    """Read `inputs`: a mask, or one matrix; the core refuses other values."""
    if given is None:
        return None
    require_motors_of(model, given)
    numbers = real_numbers("inputs", given)
    if numbers.dtype != bool and numbers.ndim > 2:
        raise ValueError(f"inputs: expected (nv, nu), got shape {numbers.shape}")
    return numbers if numbers.dtype == bool else np.ascontiguousarray(numbers, dtype=np.float64)


def _known(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    array = real_numbers(name, value).astype(np.float64)
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    return array


def _short(value: Any) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else text[:57] + "..."
