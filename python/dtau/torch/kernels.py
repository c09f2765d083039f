"""Evaluate functions on NumPy's arrays, for the operators: `evaluate`.

The registry defines inputs and options.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dtau import _core, registry
from dtau.autodiff.arguments import parameter_count
from dtau.autodiff.rows import FUNCTIONS
from dtau.model.model import Model
from dtau.registry import Axes
from dtau.support.arrays import Array
from dtau.torch.models import contacts_of, model_of, text_of

Inputs = Sequence[Any]  # arrays, or None for omitted inputs


_ROWS = ("r", "r + 1", "r + 2")  # axis of a stack, by its number of rows minus the order


class Kernel(NamedTuple):
    """A function: its options, and its inputs by name with symbolic sizes for one state."""

    options: tuple[str, ...]
    inputs: tuple[str, ...]
    sizes: tuple[Axes, ...]  # ("nq",), ("nv",), ("nbodies", 6), ("r + 2", "nv"), ()

    @property
    def ranks(self) -> tuple[int, ...]:
        """The number of axes of each input for one state."""
        return tuple(len(sizes) for sizes in self.sizes)


def _all() -> Mapping[str, Kernel]:
    found = {}
    for name, row in FUNCTIONS.items():
        names = tuple(x.name for x in row.inputs)
        sizes = tuple((*([] if x.rows is None else [_ROWS[x.rows]]), *x.axes) for x in row.inputs)
        found[name] = Kernel(tuple(row.options), names, sizes)
    return found


KERNELS = _all()


def core_shape(
    model: Model, sizes: Axes, order: int = 0, of_joints: bool = False
) -> tuple[int, ...]:
    """Return the sizes of an input for one state of this model; not of a mask of contacts."""
    known = {"r": order, "r + 1": order + 1, "r + 2": order + 2}
    known["10 nbodies"] = parameter_count(model, of_joints=of_joints)
    return tuple(
        [x if isinstance(x, int) else known[x] if x in known else getattr(model, x) for x in sizes]
    )


def written(options: Mapping[str, Any]) -> str:
    """Encode options as text, for an operator's argument; contacts become their text."""
    return json.dumps(dict(sorted(options.items())), default=text_of)


def decoded(model: str, text: str) -> tuple[Model, Mapping[str, Any]]:
    """Decode an operator's arguments: a model, and its options."""
    found = model_of(model)
    return found, _options(found, text)


def _options(model: Model, text: str) -> Mapping[str, Any]:
    options = _decoded(text)
    contacts = options.get("contacts")
    return options if contacts is None else {**options, "contacts": contacts_of(contacts, model)}


@lru_cache(maxsize=1024)
def _decoded(text: str) -> Mapping[str, Any]:
    words = json.loads(text)
    return {k: tuple(v) if isinstance(v, list) else v for k, v in words.items()}


def evaluate(
    model: Model, name: str, options: Mapping[str, Any], inputs: Inputs
) -> Sequence[Array]:
    """Return the results of a function at q, with normalized quaternions, attributes too."""
    one_body = isinstance(model, Model) and model.nbodies == 1
    if one_body and any([x is not None and x.shape[-2:] == (1, 10) for x in inputs]):
        return _evaluate_flat(model, name, options, inputs)
    if name == "tangent_map":  # the core's result depends on the norm, which may be off by 1e-6
        inputs = [_unit(model, inputs[0])]
    try:
        result = _called(model, name, options, inputs)
    except ValueError as error:
        if "dtau.normalize" not in str(error):
            raise
        rows = zip(inputs, KERNELS[name].sizes, strict=True)
        inputs = [_core.normalize(model, x) if n == ("nq",) else x for x, n in rows]
        result = _called(model, name, options, inputs)
    if type(result) is np.ndarray:
        return (result,)
    further = getattr(result, "__dict__", None)
    return (*result, *further.values()) if further else tuple(result)


def _evaluate_flat(
    model: Model, name: str, options: Mapping[str, Any], inputs: Inputs
) -> Sequence[Array]:
    """Evaluate with at most one batch axis: parameters (..., 1, 10) of one body could be rows."""
    cores = [
        () if x is None else x.shape[x.ndim - rank :]
        for x, rank in zip(inputs, KERNELS[name].ranks, strict=True)
    ]
    given = [(x, core) for x, core in zip(inputs, cores, strict=True) if x is not None]
    batch = np.broadcast_shapes(*(x.shape[: x.ndim - len(core)] for x, core in given))
    axes = () if math.prod(batch) == 1 else (math.prod(batch),)
    flat = [
        None if x is None else np.broadcast_to(x, batch + core).reshape(axes + core)
        for x, core in zip(inputs, cores, strict=True)
    ]
    results = evaluate(model, name, options, flat)
    return [x if x is None else x.reshape(batch + x.shape[len(axes) :]) for x in results]


class _Place(NamedTuple):
    """A function of the core: its options, how many inputs come before these, and the others."""

    function: Any
    options: frozenset[str]
    first: int
    others: tuple[tuple[int, str], ...]


def _place(name: str) -> _Place:
    kernel = KERNELS[name]
    order = [x.name for x in registry.FUNCTIONS[name].arguments]  # the core's, with the layout
    others = tuple((k, x) for k, x in enumerate(kernel.inputs) if order[k] != x)
    first = len(kernel.inputs) - len(others)
    known = frozenset(kernel.options) & registry.FUNCTIONS[name].options.keys()
    return _Place(getattr(_core, name), known, first, others)


_PLACES = {name: _place(name) for name in FUNCTIONS}


def _called(model: Model, name: str, options: Mapping[str, Any], inputs: Inputs) -> Any:
    function, known, first, others = _PLACES[name]
    if not options.keys() <= known:
        options = {option: x for option, x in options.items() if option in known}
    for k, x in others:
        if inputs[k] is not None:
            options = {**options, x: inputs[k]}
    return function(model, *inputs[:first], **options)


def _unit(model: Model, q: Any) -> Array:
    """Normalize q; quaternions that have unit norm up to rounding keep their bits."""
    unit: Array = _core.normalize(model, q)
    return np.where(np.abs(unit - q) <= 8.0 * np.finfo(float).eps, q, unit)


def result_shapes(
    model: Model, name: str, text: str, inputs: Inputs
) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the results for one state; of results that a call with inputs has."""
    shapes = _all_shapes(model, name, text)
    results = FUNCTIONS[name].results if name in FUNCTIONS else ()
    if not results or not (last := results[-1]).optional:
        return shapes
    given = zip(KERNELS[name].inputs, inputs, strict=True)
    wrenches = any(x is not None for key, x in given if key.startswith("f_ext"))
    there = _decoded(text).get("contacts") is not None if last.name == "residual" else wrenches
    place = len(results) - 1  # results of `by` follow it
    return shapes if there else (*shapes[:place], *shapes[place + 1 :])


@lru_cache(maxsize=256)
def _all_shapes(model: Model, name: str, text: str) -> tuple[tuple[int, ...], ...]:
    call = _core.prepare_call(model, name, **_options(model, text))
    return tuple(shape for _, shape, _ in call.results)
