"""Functions of the core as primitives of JAX: `bound`, and what primitives share.

A primitive of its own, and not `jax.custom_jvp`, because JAX forgets the rules of that one where it
splits a loop into what is known and what is not: then the Hessian of a rollout fails.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from dtau.jax.calls import Call, prepare, results_of, run

Arrays = tuple[Any, ...]
Shapes = Sequence[tuple[int, ...]]


def ranks_of(call: Call) -> dict[str, int]:
    """Return the number of axes of each input for one state."""
    return {spec.name: len(spec.shape) for spec in prepare(call).inputs}


def bound(call: Call, inputs: Mapping[str, Any]) -> Arrays:
    """Return the results of a call, of which JAX knows the derivatives. Omitted inputs are None."""
    given = {name: x for name, x in inputs.items() if x is not None}
    arrays = varying_alike(list(given.values()), list(given.values()))
    return tuple(core_call.bind(*arrays, call=call, given=tuple(given)))


def varying_alike(arrays: list[Any], others: list[Any]) -> list[Any]:
    """Let arrays vary over a mesh, inside of shard_map, if one of the others does."""
    if jax.sharding.get_abstract_mesh().empty:
        return arrays
    zero = functools.reduce(jnp.add, [jnp.where(x == x, 0.0, 0.0).sum() for x in others])
    return [x + zero.astype(x.dtype) for x in arrays]


def batch_of(arrays: Sequence[Any], ranks: Sequence[int]) -> tuple[int, ...]:
    """Return the leading axes of arrays with these axes for one state, broadcast."""
    pairs = zip(arrays, ranks, strict=True)
    return jnp.broadcast_shapes(*(x.shape[: x.ndim - rank] for x, rank in pairs))


def types(avals: Sequence[Any], ranks: Sequence[int], shapes: Shapes) -> list[Any]:
    """Return the types of results, which are on no devices of their own."""
    batch, like, found = batch_of(avals, ranks), avals[0], []
    for shape in shapes:
        axes = PartitionSpec(*[None] * len(batch + shape))
        sharding = NamedSharding(like.sharding.mesh, axes)
        found.append(like.update(shape=batch + shape, sharding=sharding, weak_type=False))
    return found


def gathered(x: Any) -> Any:
    """Return an array whose type names no devices: types of `AxisType.Explicit` do."""
    if not any(jax.typeof(x).sharding.spec) or not hasattr(jax, "reshard"):  # in 0.6 it is not
        return x
    return jax.reshard(x, PartitionSpec(*[None] * x.ndim))


def mapped(
    arrays: Sequence[Any], axes: Sequence[int | None], ranks: Sequence[int]
) -> tuple[list[Any], int]:
    """Move a mapped axis to the front of each batch, and return it with its length."""
    size: int = next(x.shape[k] for x, k in zip(arrays, axes, strict=True) if k is not None)
    rows = list(zip(arrays, axes, ranks, strict=True))
    longest = max(x.ndim - rank - (k is not None) for x, k, rank in rows)
    found = []
    for x, k, rank in rows:
        if k is not None:
            x = jnp.moveaxis(x, k, 0)
            missing = longest - (x.ndim - 1 - rank)
            x = x.reshape((size, *[1] * missing, *x.shape[1:]))
        found.append(x)
    return found, size


def _evaluated(*arrays: Any, call: Call, given: tuple[str, ...]) -> Arrays:
    named = dict(zip(given, arrays, strict=True))
    return run(call, tuple(named.get(name) for name in ranks_of(call)))


def _types(*avals: Any, call: Call, given: tuple[str, ...]) -> list[Any]:
    ranks, results = ranks_of(call), results_of(call, list(given))
    return types(avals, [ranks[name] for name in given], [x.shape for x in results])


def _mapped(
    arrays: Sequence[Any], axes: Sequence[int | None], *, call: Call, given: tuple[str, ...]
) -> tuple[Arrays, list[int]]:
    ranks = ranks_of(call)
    longer, _ = mapped(arrays, axes, [ranks[name] for name in given])
    results: Arrays = tuple(core_call.bind(*longer, call=call, given=given))
    return results, [0] * len(results)


core_call = Primitive("dtau_function")
core_call.multiple_results = True
core_call.def_impl(_evaluated)
core_call.def_abstract_eval(_types)
batching.primitive_batchers[core_call] = _mapped
mlir.register_lowering(core_call, mlir.lower_fun(_evaluated, multiple_results=True))
