"""Assemble docstrings: `documented` for functions, `complete` for source texts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from dtau.docstrings.entries import Entries, entries, merged, shared
from dtau.docstrings.errors import errors
from dtau.docstrings.glossary import ARGUMENTS, RESULTS

F = TypeVar("F", bound=Callable[..., Any])

_INDENTATION = "\n    "
_PARAMETERS = "\n\nParameters\n----------\n"
_RETURNS = "\n\nReturns\n-------\n"
_RAISES = "\n\nRaises\n------\n"
_NOTES = "\n\nNotes\n-----\n"
_EXAMPLES = "\n\nExamples\n--------\n"
_BEGINNING = ">>> import dtau{}\n>>> model = dtau.robots.quadruped()\n"
_STATE = ">>> q, v, {} = dtau.random_state(model, np.random.default_rng(0))\n"
_STATE_BY_RNG = ">>> rng = np.random.default_rng(0)\n>>> q, v, {} = dtau.random_state(model, rng)\n"
_ARGUMENTS = entries(ARGUMENTS)
_FAMILIES = {
    key: text.removeprefix(f"{key.rpartition('*.')[0]}*.")
    for key, text in _ARGUMENTS.items()
    if "*." in key
}
_RESULTS = entries(RESULTS)


def documented(function: F) -> F:
    """Complete the docstring of a function."""
    text = function.__doc__
    if text is None:  # python -OO
        return function
    if text.endswith(_INDENTATION):  # the compiler of Python 3.13 removes it
        text = text.replace(_INDENTATION, "\n")
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = function.__globals__
    returned = function.__annotations__["return"].split(" | ")
    classes = {name: known[name] for name in returned if name in known}
    fields = {name: _names(x) for name, x in classes.items() if hasattr(x, "_fields")}
    function.__doc__ = complete(function.__name__, text.strip(), names, fields)
    return function


def _names(of: type) -> list[str]:
    """Return the fields of a named tuple, and the attributes that it has beside them."""
    parts = (*of.__mro__[1:], of)
    return list(dict.fromkeys(name for x in parts for name in inspect.get_annotations(x)))


def complete(
    function: str, text: str, arguments: Sequence[str], fields: Mapping[str, Sequence[str]]
) -> str:
    """Return the docstring of a function with parameters, results, errors and a whole example.

    ``text`` is the docstring in the source, without its indentation. ``fields`` has the names of
    the results for each class that the function returns; it is empty for a single array.
    """
    text, examples_head, examples = text.partition(_EXAMPLES)
    if ">>> import" not in examples and ">>> from" not in examples:
        examples = examples.replace(">>> ", _beginning(arguments, examples) + ">>> ", 1)
    text, notes_head, notes = text.partition(_NOTES)
    text, _, raises = text.partition(_RAISES)
    text, _, returns = text.partition(_RETURNS)
    summary, _, parameters = text.partition(_PARAMETERS)
    results = _results(entries(returns), fields)
    described = _parameters(shared(function, _FAMILIES) | entries(parameters), arguments)
    if "out" in described:
        described["out"] = _out(results, bool(fields))
    return "".join(
        (
            *(summary, _PARAMETERS, "\n".join(described.values())),
            *(_RETURNS, "\n".join(results.values())),
            *(_RAISES, "\n".join(errors(function, arguments, entries(raises)).values())),
            *(notes_head, notes, examples_head, examples),
        )
    )


def _beginning(arguments: Sequence[str], examples: str) -> str:
    """Return the first lines of an example: imports, and the model and the state that it takes."""
    state = "q" in arguments and "(model, q" in examples and ">>> q" not in examples
    numpy = state or "np." in examples
    if "model" not in arguments:
        package = "rotations" if "rotations." in examples else "poses"
        return f">>> from dtau import {package}\n" + numpy * ">>> import numpy as np\n"
    text = _BEGINNING.format(", numpy as np" if numpy else "")
    if state:
        third = next((x for x in ("tau", "a") if x in arguments), "_")
        text += _STATE_BY_RNG.format(third) if "rng" in examples else _STATE.format(third)
    return text


def _parameters(own: Entries, arguments: Sequence[str]) -> Entries:
    """Return an entry for each argument, in the order of the signature."""
    if not own:
        return {name: _ARGUMENTS[name] for name in arguments}
    return {name: merged(name, own, _ARGUMENTS) for name in arguments}


def _out(results: Entries, several: bool) -> str:
    """Return the entry of the argument ``out``; for a single result, with its shape."""
    if several:
        return _ARGUMENTS["outs"].replace("outs", "out", 1)
    (result,) = results.values()
    kind = result.partition("\n")[0].partition(" : ")[2]
    return _ARGUMENTS["out"].replace("ndarray", kind, 1)


def _results(own: Entries, fields: Mapping[str, Sequence[str]]) -> Entries:
    """Return an entry for each result, or for each class and the fields that it adds."""
    if not fields:
        return {name: merged(name, own, _RESULTS) for name in own}
    found: Entries = {}
    described: set[str] = set()
    for name, of_class in fields.items():
        text = own.get(name, name)
        text += "\n" if "\n" in text else ""
        for field in of_class:
            if field not in described:
                text += _INDENTATION + _field(name, field, own).replace("\n", _INDENTATION)
        described.update(of_class)
        found[name] = text
    return found


def _field(name: str, field: str, own: Entries) -> str:
    """Return the entry of a field of a class."""
    if field in own:
        return own[field]
    qualified = f"{name}.{field}"
    if qualified in _RESULTS:
        return _RESULTS[qualified].removeprefix(f"{name}.")
    return _RESULTS[field]
