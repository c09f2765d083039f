"""The function that compares with recorded numbers: whether a compiler and a machine do right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dtau
from dtau import _core
from dtau.c_code.payload import EXAMPLE
from dtau.c_code.recording import Written
from dtau.c_code.requests import GRAVITY, PAYLOAD, Argument, Array
from dtau.model.model import Model

_MOST = 64  # numbers of a result that are compared: evenly chosen among those that are not zero


@dataclass(frozen=True)
class Example:
    """Arguments of a function, and what the core gives for them."""

    arguments: tuple[Array, ...]
    results: tuple[Array, ...]


def example(model: Model, function: Written) -> Example:
    """A state that is the same at every time."""
    rng = np.random.default_rng(2)
    q, v, a = dtau.random_state(model, rng)
    known = {"q": q, "v": v, "a": a, "q0": q, "q1": dtau.random_state(model, rng).q}
    known |= {"dt": np.array(0.01), "restitution": np.array(0.3), GRAVITY: model.gravity}
    known[PAYLOAD] = EXAMPLE

    def numbers(argument: Argument) -> Array:
        if argument.name == "active":
            return np.ones(argument.shape)
        if argument.name in known:
            return known[argument.name]
        return rng.standard_normal(argument.shape)

    given = {argument.name: numbers(argument) for argument in function.arguments}
    request = function.request
    options = request.given
    if request.payload:
        model = request.payload.on(model, EXAMPLE)
        options = tuple(_of(model, x) for x in options)
    arrays = [given[x.name] if isinstance(x, Argument) else x for x in request.inputs]
    found: Any = getattr(_core, request.core)(model, *options, *arrays)
    results = found if isinstance(found, tuple) else (found,)
    return Example(tuple(given.values()), results)


def _of(model: Model, option: Any) -> Any:
    """The same contacts of this model, where an option is contacts."""
    return dtau.Contacts(model, option) if isinstance(option, dtau.Contacts) else option


def check_source(model: Model, written: Sequence[Written], prefix: str, scalar: str) -> str:
    """The text of the check function and of what it compares."""
    single = scalar == "float"
    tolerance = "2e-4f" if single else "1e-11"  # of the largest number: other sines, no fused sums
    text = _COMPARE.replace("TOLERANCE", tolerance)
    body = ""
    for k, function in enumerate(written):
        made = example(model, function)
        called = []
        block = ""
        for argument, numbers in zip(function.arguments, made.arguments, strict=True):
            block += _array(f"static const real {argument.name}", numbers, single)
            called.append(argument.name)
        compared = ""
        for result, numbers in zip(function.results, made.results, strict=True):
            name = f"{result.name}_got"
            block += f"        static real {name}[{max(result.size, 1)}];\n"
            called.append(name)
            compared += _compared(result.name, np.ravel(numbers), single)
        body += f"    {{ /* {function.request.name} */\n{block}"
        body += f"        {function.name}({', '.join(called)});\n{compared}"
        body += f"        if (wrong) return {k + 1};\n    }}\n"
    return f"\n{text}\nint {prefix}check(void) {{\n    int wrong = 0;\n{body}    return 0;\n}}\n"


_COMPARE = """\
static int differs(const real *got, const int *entry, const real *want, int count, real largest) {
    for (int k = 0; k < count; ++k) {
        const real error = got[entry[k]] - want[k];
        if (!(error <= TOLERANCE * largest && -error <= TOLERANCE * largest)) return 1;
    }
    return 0;
}
"""


def _compared(name: str, numbers: Array, single: bool) -> str:
    entries = np.flatnonzero(numbers) if np.any(numbers) else np.arange(numbers.size)
    if entries.size == 0:
        return ""
    chosen = entries[np.unique(np.linspace(0, entries.size - 1, _MOST).astype(int))]
    largest = _literal(max(float(np.abs(numbers).max()), 1e-3), single)
    listed = ", ".join(map(str, chosen))
    text = f"        static const int {name}_entry[{chosen.size}] = {{{listed}}};\n"
    text += _array(f"static const real {name}_want", numbers[chosen], single)
    arrays = f"{name}_got, {name}_entry, {name}_want"
    return text + f"        wrong |= differs({arrays}, {chosen.size}, {largest});\n"


def _array(declared: str, numbers: Array, single: bool) -> str:
    flat = np.ravel(numbers)
    listed = ", ".join(_literal(x, single) for x in flat) or _literal(0.0, single)
    return f"        {declared}[{max(flat.size, 1)}] = {{{listed}}};\n"


def _literal(x: float, single: bool) -> str:
    text = f"{np.float32(x):.9g}" if single else repr(float(x))
    if not set(text) & set(".e"):
        text += ".0"
    return text + "f" if single else text


def check_prototype(prefix: str) -> str:
    """The declaration of the check function, with what it says."""
    return (
        "/* 0 if all functions give, for one state, the numbers that they gave when they were\n"
        "   written; else the number of the first one that does not, counted from 1. It keeps\n"
        "   results in static memory: for one thread at a time. */\n"
        f"int {prefix}check(void);\n\n"
    )
