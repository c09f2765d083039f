"""What PyTorch does with tensors beside computing: `goes_on`, `alive`."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.autograd import forward_ad

Tensors = Sequence[Tensor | None]

transforming = torch._C._are_functorch_transforms_active
_unwrapped_if_dead = torch._C._functorch.unwrap_if_dead


def goes_on(inputs: Tensors, cotangents: Tensors) -> bool:
    """Whether PyTorch differentiates or maps the gradients."""
    return (
        torch.is_grad_enabled()
        or transforming()
        or any(map(is_batched, cotangents))
        or any_dual((*inputs, *cotangents))
    )


def alive(tensors: Tensors) -> Tensors:
    """Take tensors out of the wrappers of transforms that have ended.

    `torch.func.vjp` ends before its pullback is called. Inside of `vmap`, PyTorch 2.13 does not see
    through such a wrapper that a tensor is mapped, and asserts.
    """
    if not transforming():
        return tensors
    return [None if x is None else _unwrapped_if_dead(x) for x in tensors]


def within_a_level() -> bool:
    """Whether a transform of `torch.func` evaluates an operator, on its level alone."""
    front = torch._C.DispatchKey.FuncTorchDynamicLayerFrontMode
    excluded: bool = torch._C._dispatch_tls_is_dispatch_key_excluded(front)
    return transforming() and excluded


def any_dual(tensors: Tensors) -> bool:
    """Whether a tensor has a tangent of `forward_ad`, also where no gradients are recorded."""
    if forward_ad._current_level < 0:
        return False
    return any(x is not None and forward_ad.unpack_dual(x).tangent is not None for x in tensors)


def is_batched(x: Tensor | None) -> bool:
    """Whether ``torch.autograd.grad(..., is_grads_batched=True)`` maps a tensor."""
    return x is not None and torch._C._functorch.is_legacy_batchedtensor(x)
