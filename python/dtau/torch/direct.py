"""Call functions on plain tensors without PyTorch's dispatcher: `direct`.

The dispatcher, the operators and the checks of arguments take several times as long as the dynamics
of one state. Nothing needs them where float64 tensors are only computed with, or recorded for
`backward`. All other calls go through `dtau.torch.primitives`: traced, transformed, in float32, and
calls that the core refuses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from dtau import _core
from dtau.model.model import Model
from dtau.torch.kernels import evaluate, written
from dtau.torch.models import text_of
from dtau.torch.primitives import Site, backward, like
from dtau.torch.pullbacks import PULLBACKS
from dtau.torch.transforms import goes_on, transforming

Tensors = tuple[Tensor | None, ...]
_Call = tuple[Model, str, Mapping[str, Any]]  # a function with its options

# The arrays that share the memory of tensors; None unless all are plain and hold float64.
_arrays = _core.TensorReader(
    torch.Tensor.__dlpack_c_exchange_api__, (Tensor, torch.nn.Parameter)
).arrays
_modes = torch._C._len_torch_dispatch_stack
_tracing = torch._C._get_tracing_state
_from_numpy = torch.from_numpy

_texts: dict[tuple[tuple[str, Any], ...], str] = {}


def text(options: Mapping[str, Any]) -> str:
    """Encode options as text, once."""
    key = tuple(options.items())
    found = _texts.get(key)
    if found is None:
        found = _texts[key] = written(options)
    return found


def direct(
    model: Model, function: str, inputs: Tensors, options: Mapping[str, Any]
) -> tuple[Tensor, ...] | None:
    """Return the results of a function; None if the call needs PyTorch's dispatcher, or fails."""
    if _modes() or transforming() or forward_ad._current_level >= 0 or _tracing():
        return None
    arrays = _arrays(inputs)
    if arrays is None:
        return None
    try:
        results = evaluate(model, function, options, arrays)
    except (TypeError, ValueError):  # the general way raises it in PyTorch's words
        return None
    if torch.is_grad_enabled():
        for x in inputs:
            if x is not None and x.requires_grad:
                call = model, function, options  # PyTorch keeps the model alive
                return _recorded(call, results, *inputs)  # type: ignore[no-any-return]
    return tuple([_from_numpy(x) for x in results])


class _Recorded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, call: _Call, results: Any, *inputs: Any) -> Any:
        ctx.call = call
        ctx.save_for_backward(*inputs)
        ctx.set_materialize_grads(False)
        return tuple([_from_numpy(x) for x in results])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        inputs, wanted = ctx.saved_tensors, ctx.needs_input_grad[2:]
        if not goes_on(inputs, cotangents):
            found = _products(ctx.call, inputs, cotangents, wanted)
            if found is not None:
                return None, None, *found
        model, function, options = ctx.call
        site = Site(text_of(model), function, text(options))
        return None, None, *backward(site, inputs, cotangents, wanted)


# As `_Recorded.apply`, which also unwraps tensors that transforms left behind; here are none.
_recorded = super(torch.autograd.Function, _Recorded).apply


def _products(
    call: _Call, inputs: Tensors, cotangents: Tensors, wanted: Sequence[bool]
) -> list[Tensor | None] | None:
    """Return the wanted gradients by a product of the core; None if this cannot give them."""
    model, function, options = call
    product = PULLBACKS.get(function)
    if product is None or _modes():
        return None
    arrays, lam = _arrays(inputs), _arrays(cotangents)
    if arrays is None or lam is None or all([g is None for g in lam]):
        return None
    gradients: list[Tensor | None] = []
    rows = zip(product(model, options, arrays, lam, wanted), arrays, inputs, wanted, strict=True)
    for g, array, x, needed in rows:
        if g is None or x is None or array is None or not needed:
            gradients.append(None)
        else:  # comparing shapes of tensors would take longer
            gradient = _from_numpy(g)
            gradients.append(gradient if g.shape == array.shape else like(gradient, x))
    return gradients
