"""Differentiate the operators where an exported program calls them.

Such a program has no other trace of the functions: neither the autograd functions of
`dtau.torch.primitives` nor what chooses between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad

from dtau.autodiff.functions import composition, is_of_blocks
from dtau.torch import operators
from dtau.torch.primitives import Site, backward, remember, remembered_tangents
from dtau.torch.transforms import any_dual, transforming

Inputs = Sequence[Tensor | None]


class _Call(torch.autograd.Function):
    """The operator `call` on one level of transforms, which lowers itself to the next one."""

    @staticmethod
    def forward(state: Any, model: str, function: str, options: str, *inputs: Any) -> Any:
        keys, backwards, forwards = state  # PyTorch switches both off, also for outer transforms
        with (
            torch.set_grad_enabled(backwards),
            forward_ad._set_fwd_grad_enabled(forwards),
            torch._C._AutoDispatchBelowAutograd(),
        ):
            return tuple(operators.call.redispatch(keys, model, function, options, inputs))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        remember(ctx, Site(*inputs[1:4]), inputs[4:])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        found = backward(ctx.site, ctx.saved_tensors, cotangents, ctx.needs_input_grad[4:])
        return None, None, None, None, *found

    @staticmethod
    def jvp(ctx: Any, *variations: Any) -> Any:
        function, (_, options) = ctx.site.function, ctx.living
        composed = composition(function, options) is not None and not is_of_blocks(function)
        if transforming() and composed:
            raise NotImplementedError(
                f"dtau.torch: forward mode of torch.func (jvp, jacfwd, hessian) has no derivatives "
                f"of {function} in an exported program: use reverse mode (vjp, jacrev, and "
                "jacrev(jacrev(f)) for a Hessian) or torch.autograd.forward_ad"
            )
        return remembered_tangents(ctx, variations[4:])


# As `_Call.apply`, which would begin with the first level again.
_recorded = super(torch.autograd.Function, _Call).apply


def _varies(inputs: Inputs) -> bool:
    by_backward = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in inputs)
    return by_backward or any_dual(inputs)


def _call(keys: Any, model: str, function: str, options: str, inputs: Inputs) -> list[Tensor]:
    keys &= torch._C._after_autograd_keyset
    if _varies(inputs):
        with enable_single_level_autograd_function():
            state = keys, torch.is_grad_enabled(), torch._C._is_fwd_grad_enabled()
            return list(_recorded(state, model, function, options, *inputs))
    with torch._C._AutoDispatchBelowAutograd():
        found: list[Tensor] = operators.call.redispatch(keys, model, function, options, inputs)
    return found


def _pullback(
    keys: Any,
    model: str,
    function: str,
    options: str,
    inputs: Inputs,
    cotangents: Inputs,
    wanted: Sequence[bool],
) -> list[Tensor]:
    if _varies((*inputs, *cotangents)):
        raise NotImplementedError(
            f"dtau.torch: this program has gradients of {function} inside, which cannot be "
            "differentiated again: export the function itself, and take both derivatives of the "
            "loaded program"
        )
    keys &= torch._C._after_autograd_keyset
    site = model, function, options
    with torch._C._AutoDispatchBelowAutograd():
        found: list[Tensor] = operators.pullback.redispatch(keys, *site, inputs, cotangents, wanted)
    return found


operators.library.impl("call", _call, "Autograd", with_keyset=True)
operators.library.impl("pullback", _pullback, "Autograd", with_keyset=True)
