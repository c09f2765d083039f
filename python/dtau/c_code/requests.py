"""What is asked for: functions of the core with their options, and the arrays that they take."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import dtau
from dtau import _core
from dtau.c_code.payload import Payload, payload_on
from dtau.c_code.recorder import load_recorder
from dtau.checks import integer, require, tuple_of, unknown_name
from dtau.functions.control_inputs import checked_inputs
from dtau.functions.hybrid import _mask
from dtau.model.model import Model

Array: TypeAlias = NDArray[np.float64]
Functions: TypeAlias = str | Sequence[str] | Mapping[str, str | tuple[str, Mapping[str, Any]]]

GRAVITY, PAYLOAD = "gravity", "payload"
SIGNATURES: dict[str, dict[str, Any]] = {f["name"]: f for f in _core.functions()}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PUBLIC = {"driven": "inputs"}  # options of the core by the arguments of the public functions
_ARRAYS = {"f_ext": "f_ext", "f_ext_derivatives": "f_ext", "df_ext": "f_ext", "active": "active"}
# Functions that are not the core's.
_IN_PYTHON = {
    "equilibrium": "it solves least squares by NumPy's singular values",
    "project": "it is an iteration in Python, whose steps depend on the state",
    "wrench_at_frame_derivatives": (
        "NumPy makes it of wrench_at_frame and frame_jacobians, which can be written"
    ),
}


@dataclass(frozen=True)
class Argument:
    """An array of a function: its name in C and its shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class Request:
    """A function of the core for one model: what it takes and gives.

    ``given`` are the core's options, in its order. ``inputs`` has an entry for every array of the
    core: an `Argument`, numbers that are known, or None. ``results`` are the names in C.
    """

    name: str  # in C, without the prefix
    function: str
    core: str  # what the core calls it
    said: str  # the options that were given, in words
    given: tuple[Any, ...]
    inputs: tuple[Argument | Array | None, ...]
    results: tuple[str, ...]
    gravity: bool  # is an argument
    payload: Payload | None  # the same

    @property
    def arguments(self) -> list[Argument]:
        """What the function in C takes."""
        taken = [x for x in self.inputs if isinstance(x, Argument)]
        return [*taken, *self.constants]

    @property
    def constants(self) -> list[Argument]:
        """Those that are of the model elsewhere."""
        gravity = [Argument(GRAVITY, (3,))] if self.gravity else []
        return [*gravity, Argument(PAYLOAD, (10,))] if self.payload else gravity


def requests(model: Model, functions: Functions, parameters: Sequence[str]) -> list[Request]:
    """Read what `dtau.generate` is asked for."""
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
                f"parameters: expected 'payload=LINK', and names alone of others, got {parameter!r}"
                + (f" of {where!r}" if where else "")
            )
        if not any(parameter in _parameters_of(request) for request in made):
            asked = ", ".join(request.function for request in made)
            raise ValueError(f"parameters: {parameter!r} is taken by none of {asked}")
    return made


def _parameters_of(request: Request) -> set[str]:
    names = {argument.name for argument in request.arguments}
    return {_ARRAYS.get(name, name) for name in names}


def _request(
    model: Model, name: str, what: Any, parameters: Mapping[str, str], payload: Payload | None
) -> Request:
    function, options = what if isinstance(what, tuple) and len(what) == 2 else (what, {})
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(f"functions: expected a name in C, got {name!r}")
    if not isinstance(function, str) or not isinstance(options, Mapping):
        raise TypeError(
            f"functions: expected the name of a function, or (name, options), got {what!r}"
        )
    known = SIGNATURES.keys() & set(dtau.__all__)
    if function not in known and callable(getattr(dtau, function, None)):
        why = _IN_PYTHON.get(function, "it is no function of one state")
        raise ValueError(f"functions: {function} cannot be written as C: {why}")
    if function not in known:
        raise ValueError(f"functions: {unknown_name('function', function, sorted(known))}")
    core = _core_name(function, options)
    signature = SIGNATURES[core]
    arrays = {x[0] for x in signature["inputs"]}
    public = inspect.signature(getattr(dtau, function)).parameters
    for option in options:
        if option not in public or option in ("model", "out", "threads"):
            raise ValueError(f"functions: {function} takes no option {option!r}")
        if option in ("active", "damping") and option not in arrays | {*signature["options"]}:
            raise ValueError(f"functions: {function} takes {option!r} with contacts alone")
    given, sizes, driven = _options(model, function, core, options, public)
    inputs: list[Argument | Array | None] = []
    rows = _rows_of_inputs(core)
    for (array, words, optional, _), beyond in zip(signature["inputs"], rows, strict=True):
        argument = _argument(array, words, beyond, sizes)
        if array == "inputs":
            inputs.append(driven)
        elif array in options:
            inputs.append(_known(array, options[array], argument.shape))
        elif not optional or _ARRAYS[array] in parameters:
            inputs.append(argument)
        else:
            inputs.append(None)
    taken = {x.name for x in inputs if isinstance(x, Argument)}
    results = signature["results"]
    if results[-1][2] and "f_ext" not in taken:
        results = results[:-1]
    said = [f"{option}={_short(value)}" for option, value in options.items()]
    if payload:
        said.append(f"payload on {payload.link}")
    return Request(
        name,
        function,
        core,
        ", ".join(said),
        given,
        tuple(inputs),
        tuple(f"{x[0]}_out" if x[0] in taken else x[0] for x in results),
        GRAVITY in parameters,
        payload,
    )


def _core_name(function: str, options: Mapping[str, Any]) -> str:
    """The function of the core: one of its own where contacts are an option and given."""
    with_contacts = f"constrained_{function}"
    given = options.get("contacts") is not None
    return with_contacts if given and with_contacts in SIGNATURES else function


_MOST_ORDER = 100  # of time derivatives, as in the core
_YES_OR_NO = ("packed", "symmetric", "joint_parameters")


def _options(
    model: Model,
    function: str,
    core: str,
    options: Mapping[str, Any],
    public: Mapping[str, Any],
) -> tuple[tuple[Any, ...], dict[str, int], Array | None]:
    """Options as the core takes them, sizes of arrays, and the map of inputs if there is one."""
    given = []
    sizes = {"nq": model.nq, "nv": model.nv, "nbodies": model.nbodies}
    driven = None
    for option in SIGNATURES[core]["options"]:
        name = _PUBLIC.get(option, option)
        if name == "frames" and "frame" in public:
            name = "frame"
        value = options.get(name, public[name].default)
        if value is inspect.Parameter.empty or (name == "order" and value is None):
            raise ValueError(f"functions: {function} needs the option {name!r}")
        if option == "prescribed":
            value = _mask(model, value)
        elif option == "driven":
            value, numbers = checked_inputs(model, value)
            if numbers is not None:
                driven = np.ascontiguousarray(numbers, dtype=np.float64)
                if driven.ndim != 2:
                    raise ValueError(f"inputs: expected (nv, nu), got shape {driven.shape}")
        elif option == "contacts":
            require(name, value, dtau.Contacts)
            if not vars(value):
                raise TypeError("contacts: expected a Contacts that was made by its constructor")
            sizes |= {"ncontacts": len(value), "nrows": value.nrows}
        elif option == "order":
            sizes["order"] = value = integer(name, value, 0, _MOST_ORDER)
        elif option in _YES_OR_NO:
            require(name, value, bool)
            sizes["joint"] = 2 * model.nv if option == "joint_parameters" and value else 0
        given.append(value)
    return tuple(given), sizes, driven


def _rows_of_inputs(function: str) -> list[int | None]:
    rows: list[int | None] = load_recorder().rows_of_inputs(function)
    return rows


def _argument(name: str, words: str, beyond: int | None, sizes: Mapping[str, int]) -> Argument:
    """An array of the shape that the core says in words, such as (nv, 10 nbodies)."""
    shape = [] if beyond is None else [sizes["order"] + beyond]
    for axis in filter(None, words.strip("()").replace(" ", "*").split(",*")):
        factors = [int(x) if x.isdigit() else sizes.get(x, 0) for x in axis.strip(",").split("*")]
        length = int(np.prod(factors))
        shape.append(length + (sizes.get("joint", 0) if "10" in axis else 0))
    return Argument(name, tuple(shape))


def _known(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    return array


def _short(value: Any) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else text[:57] + "..."
