"""Functions of the core as calls of XLA.

One handler runs them all. A program holds the number of the call that it makes: a digest of the
model, the function and its options, so that a program serves in every process that knows an equal
model.
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
from dtau.model.model import Model
from dtau.registry import FUNCTIONS

_TARGET = "dtau_call"
jax.ffi.register_ffi_target(_TARGET, _core.xla_handler(), platform="cpu")
for _platform in ("CUDA", "ROCM"):
    jax.ffi.register_ffi_target(_TARGET, _core.xla_refusal(), platform=_platform)


class Call(NamedTuple):
    """A function of a model with its options: hashable."""

    model: Model
    name: str
    options: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, model: Model, name: str, **options: Any) -> Call:
        """Make one of the options that the function has."""
        known = FUNCTIONS[name].options if name in FUNCTIONS else {}
        given = {key: options.get(key, option.default) for key, option in known.items()}
        return cls(model, name, tuple(given.items()))


class Array(NamedTuple):
    """An input or result: its shape for one state, and whether it may be left out."""

    name: str
    shape: tuple[int, ...]
    optional: bool


class Prepared(NamedTuple):
    """A call that the handler knows by its number, for as long as the process lives."""

    number: int
    inputs: tuple[Array, ...]
    results: tuple[Array, ...]


@functools.cache
def prepare(call: Call) -> Prepared:
    """Make a call known: compiled programs hold its number and no reference, so it stays."""
    raw = _core.prepare_call(call.model, call.name, **dict(call.options))
    content = pickle.dumps((call.model, call.name, call.options))
    digest = hashlib.blake2b(content, digest_size=8).digest()
    number = int.from_bytes(digest, "little", signed=True)
    _core.hold_call(number, raw)
    results = tuple(Array(*result) for result in raw.results)
    inputs = [Array(*given) for given in raw.inputs]
    free = [x for x in inputs if x.name != "active"]  # the last one, which goes with contacts
    return Prepared(number, tuple(free), results)


def run(call: Call, inputs: tuple[jax.Array | None, ...]) -> tuple[jax.Array, ...]:
    """Results of a call, without derivatives. Leading axes of the inputs broadcast."""
    prepared = prepare(call)
    pairs = list(zip(inputs, prepared.inputs, strict=True))
    given = [(x, spec) for x, spec in pairs if x is not None]
    batch = np.broadcast_shapes(*(x.shape[: x.ndim - len(spec.shape)] for x, spec in given))
    # As many axes each, so that axes that vmap puts before them belong together.
    arrays = [
        jnp.reshape(x, (1,) * (len(batch) + len(spec.shape) - x.ndim) + x.shape)
        for x, spec in given
    ]
    results = prepared.results
    if results[-1].optional and inputs[-1] is None:
        results = results[:-1]
    on_mesh = not jax.sharding.get_abstract_mesh().empty  # inside shard_map
    types = _types([batch + result.shape for result in results], arrays, on_mesh)
    which = sum(1 << k for k, (x, _) in enumerate(pairs) if x is not None)
    handler = jax.ffi.ffi_call(_TARGET, types, vmap_method="expand_dims")
    attributes = {"call": np.int64(prepared.number), "given": np.int64(which), "name": call.name}
    made = handler(*arrays, **attributes)
    return tuple(x * 1.0 if on_mesh else x for x in made)  # JAX 0.6 forgets the mesh


def _types(
    shapes: list[tuple[int, ...]], arrays: list[jax.Array], on_mesh: bool
) -> list[jax.Array | jax.ShapeDtypeStruct]:
    """What XLA is to make of results: float64, varying over a mesh as the inputs do.

    Versions of JAX say the second by different words; an array that is made of the inputs has it,
    and is never computed.
    """
    if not on_mesh:
        struct: Any = jax.ShapeDtypeStruct
        return [struct(shape, np.float64) for shape in shapes]
    like = functools.reduce(jnp.add, [jnp.sum(x) for x in arrays])
    return [jnp.broadcast_to(like, shape) for shape in shapes]
