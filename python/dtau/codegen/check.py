"""Write PREFIX_check(), which compares results with the core's: `check_source`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dtau import _core
from dtau.codegen.payload import EXAMPLE
from dtau.codegen.recording import Written
from dtau.codegen.requests import GRAVITY, PAYLOAD, Argument, Request
from dtau.codegen.text import comment, paragraph
from dtau.functions.manifold_states import random_state
from dtau.model.contacts import Contacts
from dtau.model.links import Link
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.registry import arrays_of
from dtau.support.arrays import Array
from dtau.support.errors import without_model_warnings

_MOST = 64  # most numbers compared per result: chosen evenly among nonzeros
_STATES = 20  # states to try: in some, rows of contacts may depend on each other
_ROUNDINGS = 16  # rounded arguments and models, which show the effect of rounding
_MODELS = 4  # rounded models
_NOISE = 1e8  # a result this much smaller than its terms is rounding errors
_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Example:
    """Arguments of a function, the core's results for them, and the scales of the results.

    A scale is the largest number of a result, or of the terms that cancel in it. For example, the
    residual of a constraint is only rounding errors; with dependent rows, forces are such residuals
    divided by the regularization.
    """

    arguments: tuple[Array, ...]
    results: tuple[Array, ...]
    scales: tuple[float, ...]


def example(model: Model, function: Written, rounded: Sequence[Model]) -> Example:
    """Choose a state in which results are finite and not noise; the choice is reproducible.

    Raises
    ------
    ValueError
        If no state that is tried is suitable.
    """
    core, *others = (_of_core(x, function.request) for x in (model, *rounded))
    for attempt in range(_STATES):
        rng = np.random.default_rng(2 + attempt)
        given = _arguments(model, function, rng, all_active=2 * attempt < _STATES)
        results = core(given)
        if not all(np.isfinite(x).all() for x in results):
            continue
        largest = [max(float(np.abs(x).max(initial=0.0)), 1e-3) for x in results]
        scales = _scales(others, given, results, rng)
        if all(x <= _NOISE * y for x, y in zip(scales, largest, strict=True)):
            return Example(tuple(given.values()), results, tuple(map(max, scales, largest)))
    request = function.request
    said = f" with {request.said}" if request.said else ""
    raise ValueError(
        f"functions: {request.name!r}, dtau.{request.function}{said}, gives NaN or rounding errors "
        f"in each of {_STATES} random states. Where rows of contacts depend on each other in every "
        "state, leave some contacts out, or give regularization="
    )


def _arguments(
    model: Model, function: Written, rng: np.random.Generator, *, all_active: bool
) -> dict[str, Array]:
    q, v, a = random_state(model, rng)
    known = {"q": q, "v": v, "a": a, "q0": q, "q1": random_state(model, rng).q}
    known |= {"dt": np.array(0.01), "restitution": np.array(0.3), GRAVITY: model.gravity}
    known[PAYLOAD] = EXAMPLE

    def numbers(argument: Argument) -> Array:
        if argument.name == "active":
            held = np.ones(argument.shape)
            return held if all_active else held * rng.integers(0, 2, argument.shape)
        if argument.name in known:
            return known[argument.name]
        drawn = rng.standard_normal(argument.shape)
        if argument.name == "targets":
            drawn[..., 3:] /= np.linalg.norm(drawn[..., 3:], axis=-1, keepdims=True)
        return drawn

    return {argument.name: numbers(argument) for argument in function.arguments}


def _of_core(model: Model, request: Request) -> Callable[[Mapping[str, Array]], tuple[Array, ...]]:
    """Return the core's function of the arguments in C."""
    if request.payload:
        model = request.payload.on(model, EXAMPLE)
    request = replace(request, options={k: _of(model, x) for k, x in request.options.items()})

    def results(given: Mapping[str, Array]) -> tuple[Array, ...]:
        arrays = {
            name: given[name][None] if isinstance(x, Argument) else x
            for name, x in request.inputs.items()
        }
        found = request.call(_core, model, arrays)  # a batch, which may contain NaN
        return tuple(x[0] for x in arrays_of(found))

    return results


def _scales(
    functions: Sequence[Callable[[Mapping[str, Array]], tuple[Array, ...]]],
    given: Mapping[str, Array],
    results: Sequence[Array],
    rng: np.random.Generator,
) -> list[float]:
    """Return the scale of each result: a hundredth of its terms, whose rounding errors it has."""
    scales = [0.0] * len(results)
    for k in range(_ROUNDINGS):
        arguments = {
            name: x if name == "active" else x * (1 + _EPSILON * rng.uniform(-1, 1, x.shape))
            for name, x in given.items()
        }
        for i, moved in enumerate(functions[k % len(functions)](arguments)):
            change = float(np.abs(moved - results[i]).max(initial=0.0))
            if np.isfinite(change):
                scales[i] = max(scales[i], 0.01 * change / _EPSILON)
    return scales


def _rounded(model: Model, rng: np.random.Generator) -> Model:
    """Return the model with placements changed by roundings: no axes are exactly parallel."""

    def moved(link: Link) -> Link:
        turn = np.eye(3) + _EPSILON * rng.uniform(-1, 1, (3, 3))
        shift = _EPSILON * rng.uniform(-1, 1, 3)
        at = link.placement
        return replace(link, placement=Pose(at.rotation @ turn, at.translation + shift))

    with without_model_warnings():  # the model already warned
        return Model(model.name, map(moved, model.links), gravity=model.gravity)


def _of(model: Model, option: Any) -> Any:
    """Return an option for this model: contacts are made for it, other options are unchanged."""
    return Contacts(model, option) if isinstance(option, Contacts) else option


def examples(model: Model, written: Sequence[Written]) -> list[Example]:
    """Choose a state for each function."""
    rounded = [_rounded(model, np.random.default_rng(k)) for k in range(_MODELS)]
    return [example(model, function, rounded) for function in written]


def check_source(model: Model, written: Sequence[Written], prefix: str, scalar: str) -> str:
    """Return the C text of the check function and of its reference values."""
    single = scalar == "float"
    text = COMPARE.replace("TOLERANCE", tolerance(scalar))
    body = ""
    for k, (function, made) in enumerate(zip(written, examples(model, written), strict=True)):
        called = []
        block = ""
        for argument, numbers in zip(function.arguments, made.arguments, strict=True):
            block += array_text(f"static const real {argument.name}", numbers, single)
            called.append(argument.name)
        compared = ""
        for result, numbers, scale in zip(function.results, made.results, made.scales, strict=True):
            name = f"{result.name}_got"
            block += f"        static real {name}[{max(result.size, 1)}];\n"
            called.append(name)
            compared += comparison(result.name, np.ravel(numbers), scale, single)
        body += f"    {comment(function.request.name)}    {{\n{block}"
        body += f"        {function.name}({', '.join(called)});\n{compared}"
        body += f"        if (wrong) return {k + 1};\n    }}\n"
    return f"\n{text}\nint {prefix}check(void) {{\n    int wrong = 0;\n{body}    return 0;\n}}\n"


COMPARE = """\
static int differs(const real *got, const int *entry, const real *want, int count, real scale) {
    for (int k = 0; k < count; ++k) {
        const real error = got[entry[k]] - want[k];
        if (!(error <= TOLERANCE * scale && -error <= TOLERANCE * scale)) return 1;
    }
    return 0;
}
"""


def tolerance(scalar: str) -> str:
    """Return the largest error relative to the scale: sines and fused sums differ."""
    return "2e-4f" if scalar == "float" else "1e-11"


def comparison(name: str, numbers: Array, scale: float, single: bool) -> str:
    """Return lines that compare the result of a name with numbers."""
    entries = np.flatnonzero(numbers) if np.any(numbers) else np.arange(numbers.size)
    if entries.size == 0:
        return ""
    chosen = entries[np.unique(np.linspace(0, entries.size - 1, _MOST).astype(int))]
    listed = ", ".join(map(str, chosen))
    text = f"        static const int {name}_entry[{chosen.size}] = {{{listed}}};\n"
    text += array_text(f"static const real {name}_want", numbers[chosen], single)
    arrays = f"{name}_got, {name}_entry, {name}_want"
    return text + f"        wrong |= differs({arrays}, {chosen.size}, {_literal(scale, single)});\n"


def array_text(declared: str, numbers: Array, single: bool) -> str:
    """Return the definition of an array of constants."""
    flat = np.ravel(numbers)
    listed = ", ".join(_literal(x, single) for x in flat) or _literal(0.0, single)
    return f"        {declared}[{max(flat.size, 1)}] = {{{listed}}};\n"


def _literal(x: float, single: bool) -> str:
    text = f"{np.float32(x):.9g}" if single else repr(float(x))
    if not set(text) & set(".e"):
        text += ".0"
    return text + "f" if single else text


def check_prototype(prefix: str) -> str:
    """Return the declaration of the check function, with its comment."""
    said = paragraph(
        "0 if all functions give, for one state, the numbers that they gave when they were "
        "written; else the number of the first one that does not, counted from 1. It keeps "
        "results in static memory: for one thread at a time."
    )
    return comment(*said) + f"int {prefix}check(void);\n\n"
