"""The operators `torch.ops.dtau.call` and `torch.ops.dtau.pullback`.

Two operators serve all functions. The function's name and options are arguments, like the text of
the model. `dtau.torch.primitives` builds differentiable functions from them; `dtau.torch.programs`
differentiates the operator `call` in exported programs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from dtau.torch.kernels import KERNELS, decoded, evaluate, result_shapes
from dtau.torch.models import model_of

Inputs = Sequence[Tensor | None]

library = torch.library.Library("dtau", "DEF")
library.define("call(str model, str function, str options, Tensor?[] inputs) -> Tensor[]")
library.define(
    "pullback(str model, str function, str options, Tensor?[] inputs, Tensor?[] cotangents, "
    "bool[] wanted) -> Tensor[]"
)
call = torch.ops.dtau.call.default
pullback = torch.ops.dtau.pullback.default


def values(model: str, function: str, options: str, inputs: Inputs) -> tuple[Tensor, ...]:
    """Return the results of `call`, which PyTorch does not record."""
    with torch._C._AutoDispatchBelowAutograd():
        return tuple(call(model, function, options, inputs))


def batch_shape(function: str, inputs: Inputs) -> tuple[int, ...]:
    """Return the batch shape: the leading axes of all inputs, broadcast."""
    ranks = KERNELS[function].ranks
    given = [(x, rank) for x, rank in zip(inputs, ranks, strict=True) if x is not None]
    return tuple(torch.broadcast_shapes(*(x.shape[: x.dim() - rank] for x, rank in given)))


def _call(model: str, function: str, options: str, inputs: Inputs) -> list[Tensor]:
    arrays = [None if x is None else x.numpy(force=True) for x in inputs]
    found, words = decoded(model, options)
    results = evaluate(found, function, words, arrays)
    return [torch.from_numpy(result) for result in results if result is not None]


def _call_shapes(model: str, function: str, options: str, inputs: Inputs) -> list[Tensor]:
    batch = batch_shape(function, inputs)
    like = next(x for x in inputs if x is not None)
    shapes = result_shapes(model_of(model), function, options, inputs)
    return [like.new_empty((*batch, *shape)) for shape in shapes]


def aligned(
    tensors: Inputs, dims: Sequence[int | None], ranks: Sequence[int]
) -> list[Tensor | None]:
    """Move the mapped axis to the front, and pad batch axes to the longest batch."""
    rows = [row for row in zip(tensors, dims, ranks, strict=True) if row[0] is not None]
    longest = max(x.dim() - rank - (dim is not None) for x, dim, rank in rows if x is not None)
    found: list[Tensor | None] = []
    for x, dim, rank in zip(tensors, dims, ranks, strict=True):
        if x is not None and dim is not None:
            x = x.movedim(dim, 0)
            missing = longest - (x.dim() - 1 - rank)
            x = x.reshape(x.shape[0], *(1,) * missing, *x.shape[1:])
        found.append(x)
    return found


def _call_mapped(
    info: Any, dims: Any, model: str, function: str, options: str, inputs: Inputs
) -> tuple[list[Tensor], list[int]]:
    mapped = aligned(inputs, dims[3], KERNELS[function].ranks)
    results = call(model, function, options, mapped)
    return results, [0] * len(results)


def _pullback(
    model: str,
    function: str,
    options: str,
    inputs: Inputs,
    cotangents: Inputs,
    wanted: Sequence[bool],
) -> list[Tensor]:
    inputs = [None if x is None else x.detach() for x in inputs]
    with torch.no_grad():
        found = _gradients(model, function, options, inputs, cotangents, wanted)
    gradients = [
        x.new_zeros(x.shape) if gradient is None else gradient
        for x, gradient, needed in zip(inputs, found, wanted, strict=True)
        if x is not None and needed
    ]
    kept = {x.data_ptr() for x in (*inputs, *cotangents) if x is not None}
    return [x.clone() if x.data_ptr() in kept else x for x in gradients]


def _pullback_shapes(
    model: str,
    function: str,
    options: str,
    inputs: Inputs,
    cotangents: Inputs,
    wanted: Sequence[bool],
) -> list[Tensor]:
    rows = zip(inputs, wanted, strict=True)
    return [x.new_empty(x.shape) for x, needed in rows if needed and x is not None]


def _pullback_mapped(
    info: Any,
    dims: Any,
    model: str,
    function: str,
    options: str,
    inputs: Inputs,
    cotangents: Inputs,
    wanted: Sequence[bool],
) -> tuple[list[Tensor], list[int]]:
    # A gradient has the shape of its input: map all inputs, because their gradients can differ.
    size = info.batch_size
    spread = [
        x if x is None else x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)
        for x, dim in zip(inputs, dims[3], strict=True)
    ]
    mapped = [None if x is None else 0 for x in spread]
    shapes = result_shapes(model_of(model), function, options, inputs)
    ranks = [*KERNELS[function].ranks, *map(len, shapes)]
    every = aligned([*spread, *cotangents], [*mapped, *dims[4]], ranks)
    count = len(spread)
    results = pullback(model, function, options, every[:count], every[count:], wanted)
    rows = [x for x, needed in zip(spread, wanted, strict=True) if needed and x is not None]
    return [g.reshape(x.shape) for g, x in zip(results, rows, strict=True)], [0] * len(rows)


_gradients: Callable[..., Sequence[Tensor | None]]


def set_gradients(gradients: Callable[..., Sequence[Tensor | None]]) -> None:
    """Set the function that computes gradients; it is built from these operators itself."""
    global _gradients
    _gradients = gradients


for _name, _value, _shapes, _mapped in (
    ("call", _call, _call_shapes, _call_mapped),
    ("pullback", _pullback, _pullback_shapes, _pullback_mapped),
):
    library.impl(_name, _value, "CPU")
    torch.library.register_fake(f"dtau::{_name}", _shapes, lib=library)
    torch.library.register_vmap(f"dtau::{_name}", _mapped, lib=library)
