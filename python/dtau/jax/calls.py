"""Call functions of the core from XLA programs: `prepare`, `run`.

One handler runs all calls. A program holds the number of its call: a digest of the model, the
function and its options. So a program works in every process that knows an equal model.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dtau import _core
from dtau.autodiff.rows import FUNCTIONS, PARAMETERS
from dtau.model.contacts import Contacts
from dtau.model.model import Model

_TARGET = "dtau_call"
jax.ffi.register_ffi_target(_TARGET, _core.xla_handler(), platform="cpu")
for _platform in ("CUDA", "ROCM"):
    jax.ffi.register_ffi_target(_TARGET, _core.xla_refusal(), platform=_platform)


# jax.export refuses custom calls and prints their attributes: this one tells what to pass.
_EXPORT = (
    "pass disabled_checks=[jax.export.DisabledSafetyCheck.custom_call('dtau_call')] to "
    "jax.export.export"
)


class Call(NamedTuple):
    """A function of a model with its options: hashable."""

    model: Model
    name: str
    options: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, model: Model, name: str, **options: Any) -> Call:
        """Make a call with the options that the function has."""
        known = FUNCTIONS[name].options if name in FUNCTIONS else {}
        given = {key: options.get(key, option.default) for key, option in known.items()}
        return cls(model, name, tuple(given.items()))


class Array(NamedTuple):
    """An input or result: its shape for one state, and whether it is optional."""

    name: str
    shape: tuple[int, ...]
    optional: bool


class Prepared(NamedTuple):
    """A call that the handler knows by its number until the process ends.

    problem: why it is refused without ``parameters``; empty if it is not. places: where its
    inputs are among the core's.
    """

    number: int
    problem: str
    inputs: tuple[Array, ...]
    places: tuple[int, ...]
    results: tuple[Array, ...]


@functools.cache
def prepare(call: Call) -> Prepared:
    """Register a call permanently, because compiled programs hold only its number."""
    raw = _core.prepare_call(call.model, call.name, **dict(call.options))
    options = [(key, x.contacts if isinstance(x, Contacts) else x) for key, x in call.options]
    content = pickle.dumps((call.model, call.name, options))  # once: contacts hold a model too
    digest = hashlib.blake2b(content, digest_size=8).digest()
    number = int.from_bytes(digest, "little", signed=True)
    _core.hold_call(number, raw)
    results = tuple(Array(*result) for result in raw.results)
    taken = {x.name for x in FUNCTIONS[call.name].inputs}
    places = [k for k, (name, _, _) in enumerate(raw.inputs) if name in taken]
    inputs = tuple(Array(*raw.inputs[k]) for k in places)
    return Prepared(number, raw.problem, inputs, tuple(places), results)


def run(call: Call, inputs: tuple[jax.Array | None, ...]) -> tuple[jax.Array, ...]:
    """Return the results of a call, without derivatives. Leading axes of the inputs broadcast."""
    prepared = prepare(call)
    pairs = list(zip(inputs, prepared.inputs, strict=True))
    given = [(x, spec) for x, spec in pairs if x is not None]
    if prepared.problem and PARAMETERS not in [spec.name for _, spec in given]:
        raise ValueError(f"{call.name}: {prepared.problem}")
    batch = jnp.broadcast_shapes(*(x.shape[: x.ndim - len(spec.shape)] for x, spec in given))
    arrays = [  # of as many axes each, as the handler reads them
        jnp.reshape(x, (1,) * (len(batch) + len(spec.shape) - x.ndim) + x.shape)
        for x, spec in given
    ]
    results = results_of(call, [spec.name for _, spec in given])
    struct: Any = jax.ShapeDtypeStruct
    types = [struct(batch + x.shape, arrays[0].dtype) for x in results]
    which = sum(1 << k for k, x in zip(prepared.places, inputs, strict=True) if x is not None)
    handler = jax.ffi.ffi_call(_TARGET, types)  # primitives map it
    attributes = {"call": np.int64(prepared.number), "given": np.int64(which), "name": call.name}
    return tuple(handler(*arrays, **attributes, export=_EXPORT))


def results_of(call: Call, given: list[str]) -> list[Array]:
    """Return the results of a call to which inputs of these names are given."""
    has_all = _has_optional(call, given)
    return [result for result in prepare(call).results if has_all or not result.optional]


def _has_optional(call: Call, given: list[str]) -> bool:
    """Whether a call has its optional result: by wrenches, or the residual of contacts."""
    if "residual" in FUNCTIONS[call.name].results[-1].name:
        return dict(call.options).get("contacts") is not None
    return not {"f_ext", "f_ext_derivatives"}.isdisjoint(given)
