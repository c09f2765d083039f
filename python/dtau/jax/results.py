"""Pytrees of results with attributes: `register`. Of other named tuples JAX keeps the fields."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
from jax.tree_util import GetAttrKey

from dtau import results
from dtau.results._attributes import WithAttributes


def register() -> None:
    """Register the classes, so that transformations keep the attributes that are there."""
    for kind in (getattr(results, name) for name in results.__all__):
        if issubclass(kind, WithAttributes):
            jax.tree_util.register_pytree_with_keys(kind, _flattened, partial(_made, kind))


def _flattened(result: Any) -> tuple[list[tuple[GetAttrKey, Any]], tuple[str, ...]]:
    arrays = result._asdict()
    return [(GetAttrKey(name), x) for name, x in arrays.items()], tuple(vars(result))


def _made(kind: Any, names: tuple[str, ...], leaves: Any) -> Any:
    fields = list(leaves)
    result = kind._make(fields[: len(kind._fields)])
    vars(result).update(zip(names, fields[len(kind._fields) :], strict=True))
    return result
