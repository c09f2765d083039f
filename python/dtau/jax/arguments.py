"""Check the arguments of JAX functions and convert their results: `call`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from dtau.autodiff.arguments import check_contacts, constant, expected_shape, has_rows, is_long
from dtau.autodiff.rows import OF_JOINTS, PARAMETERS
from dtau.autodiff.stacks import cuts, order_of_stacks
from dtau.jax.calls import Call, prepare
from dtau.jax.derivatives import apply
from dtau.jax.limits import bounded, require_cpu, widest_float
from dtau.model.model import Model
from dtau.support.checks import class_name, common_batch


def call(name: str, model: Model, inputs: dict[str, Any], **options: Any) -> tuple[jax.Array, ...]:
    """Return the results of a function, in the type that JAX promotes the arrays to."""
    if not isinstance(model, Model):
        raise TypeError(
            f"model: expected a dtau.Model, got {class_name(model)}"
            + (
                "; models are no arrays: close over them, or name their place in static_argnums"
                if isinstance(model, jax.Array)
                else ""
            )
        )
    if "contacts" in options:
        check_contacts(options["contacts"], inputs["active"])
        options["regularization"] = constant("regularization", options["regularization"])
    arrays = {key: None if x is None else real_array(key, x) for key, x in inputs.items()}
    bodies = arrays.get(PARAMETERS)
    if bodies is not None:
        options[OF_JOINTS] = is_long(bodies.shape, model)
        if has_rows(bodies.shape, model.nbodies):
            arrays[PARAMETERS] = bodies.reshape((*bodies.shape[:-2], -1))
    require_cpu(arrays.values())
    if "order" in options:
        options["order"] = _take_rows(name, arrays, options["order"])
    made = Call.of(model, name, **options)
    _check_shapes(made, arrays)
    # Lists and plain numbers have no type, so they do not widen the results; nor do masks.
    typed = [arrays[key] for key, x in inputs.items() if hasattr(x, "dtype") and key != "active"]
    result = jnp.result_type(float, *typed)
    widest = widest_float()
    wide = tuple(None if x is None else x.astype(widest) for x in arrays.values())
    return tuple(bounded(r).astype(result) for r in apply(made, wide))


def _take_rows(name: str, arrays: dict[str, jax.Array | None], order: Any) -> int:
    """Cut stacks to the order of time derivatives, and return it."""
    shapes = {key: x.shape for key, x in arrays.items() if x is not None}
    highest = order_of_stacks(name, shapes, order)
    for key, (axis, rows) in cuts(name, shapes, order).items():
        x = arrays[key]
        assert x is not None
        arrays[key] = jax.lax.slice_in_dim(x, 0, rows, axis=axis)
    return highest


def real_array(name: str, given: Any) -> jax.Array:
    """Return an argument as an array of real numbers."""
    try:
        x = jnp.asarray(given)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name}: expected an array of real numbers, got {type(given).__name__} ({error})"
        ) from None
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise TypeError(f"{name}: expected an array of real numbers, got {x.dtype}")
    return x


def _check_shapes(made: Call, arrays: dict[str, jax.Array | None]) -> None:
    batches = {}
    for spec in prepare(made).inputs:
        x = arrays[spec.name]
        if x is None:
            if spec.optional:
                continue
            raise TypeError(f"{spec.name}: expected an array, got None")
        batch = x.ndim - len(spec.shape)
        if batch < 0 or x.shape[batch:] != spec.shape:
            expected = expected_shape(spec.name, spec.shape, made.model)
            raise ValueError(f"{spec.name}: expected shape {expected}, got {x.shape}")
        batches[spec.name] = x.shape[:batch]
    if all(isinstance(n, int) for shape in batches.values() for n in shape):
        common_batch(batches)  # symbolic sizes of jax.export are left to JAX
