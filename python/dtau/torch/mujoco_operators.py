"""Make operators of PyTorch of MuJoCo's steps, with products of their derivatives: `step_of`.

Programs hold the number of a step function, as they cannot hold objects.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._functorch import eager_transforms
from torch.autograd import forward_ad

from dtau.torch.operators import library
from dtau.torch.transforms import transforming

# Step functions, and those with parameters among the controls
living: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def function_of(number: int) -> Any:
    """Return the step function of this number."""
    found = living.get(number)
    if found is None:
        raise RuntimeError(
            "dtau.torch: a program calls a StepFunction which no longer lives in this process: "
            "keep it as long as the program"
        )
    return found


def _several(weights: Tensor, after: Tensor) -> int:
    """Return how many leading axes several weights for the same states have."""
    return len(weights.shape) - len(after.shape)


def _values(number: int, state: Tensor, ctrl: Tensor, keep: bool) -> Tensor:
    step, x, u = function_of(number), state.numpy(force=True), ctrl.numpy(force=True)
    return _tensor(step.rollout(x, u) if u.ndim > x.ndim else step(x, u, keep=keep))


def _pulled_back(
    number: int, state: Tensor, ctrl: Tensor, after: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    x, u, y, w = (part.numpy(force=True) for part in (state, ctrl, after, weights))
    step = function_of(number)
    product = step.rollout_vjp if u.ndim > x.ndim else step.vjp
    by_state, by_ctrl = product(x, u, w, after=y)
    return _tensor(by_state), _tensor(by_ctrl)


def _pushed(
    number: int, state: Tensor, ctrl: Tensor, after: Tensor, dstate: Tensor, dctrl: Tensor
) -> Tensor:
    x, u, y, dx, du = (part.numpy(force=True) for part in (state, ctrl, after, dstate, dctrl))
    step = function_of(number)
    product = step.rollout_jvp if u.ndim > x.ndim else step.jvp
    return _tensor(product(x, u, dx, du, after=y))


def _tensor(x: Any) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(x))  # as programs expect it


def _values_shape(number: int, state: Tensor, ctrl: Tensor, keep: bool) -> Tensor:
    return state.new_empty((*ctrl.shape[:-1], state.shape[-1]))


def _pulled_back_shapes(
    number: int, state: Tensor, ctrl: Tensor, after: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    more = weights.shape[: _several(weights, after)]
    return state.new_empty((*more, *state.shape)), ctrl.new_empty((*more, *ctrl.shape))


def _pushed_shape(
    number: int, state: Tensor, ctrl: Tensor, after: Tensor, dstate: Tensor, dctrl: Tensor
) -> Tensor:
    return after.new_empty((*dstate.shape[: _several(dstate, state)], *after.shape))


library.define("mujoco(int step, Tensor state, Tensor ctrl, bool keep) -> Tensor")
library.define(
    "mujoco_vjp(int step, Tensor state, Tensor ctrl, Tensor after, Tensor weights) "
    "-> (Tensor, Tensor)"
)
library.define(
    "mujoco_jvp(int step, Tensor state, Tensor ctrl, Tensor after, Tensor dstate, Tensor dctrl) "
    "-> Tensor"
)
for _name, _value, _shapes in (
    ("mujoco", _values, _values_shape),
    ("mujoco_vjp", _pulled_back, _pulled_back_shapes),
    ("mujoco_jvp", _pushed, _pushed_shape),
):
    library.impl(_name, _value, "CPU")
    torch.library.register_fake(f"dtau::{_name}", _shapes, lib=library)


def _below_autograd(operator: Any, *arguments: Any) -> Any:
    with torch._C._AutoDispatchBelowAutograd():
        return operator(*arguments)


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(number: int, keep: bool, state: Any, ctrl: Any) -> Any:
        return _below_autograd(torch.ops.dtau.mujoco.default, number, state, ctrl, keep)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.number = inputs[0]
        ctx.step = living.get(inputs[0])  # which must live as long
        ctx.save_for_backward(*inputs[2:], output)
        ctx.save_for_forward(*inputs[2:], output)

    @staticmethod
    def backward(ctx: Any, weights: Any) -> Any:
        return None, None, *_applied(_Pullback, ctx.number, *ctx.saved_tensors, weights)

    @staticmethod
    def jvp(ctx: Any, _: Any, keep: Any, dstate: Any, dctrl: Any) -> Any:
        state, ctrl, after = ctx.saved_tensors
        dstate = torch.zeros_like(state) if dstate is None else dstate
        dctrl = torch.zeros_like(ctrl) if dctrl is None else dctrl
        return _Pushforward.apply(ctx.number, state, ctrl, after, dstate, dctrl)

    @staticmethod
    def vmap(info: Any, dims: Any, number: int, keep: bool, *inputs: Any) -> Any:
        return _Step.apply(number, keep, *_spread(inputs, dims[2:], info.batch_size)), 0


class _Product(torch.autograd.Function):
    """A product of derivatives, which has no derivatives."""

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *weights: Any) -> Any:
        raise _no_second()

    @staticmethod
    def jvp(ctx: Any, *variations: Any) -> Any:
        raise _no_second()


class _Pullback(_Product):
    @staticmethod
    def forward(number: int, *tensors: Any) -> Any:
        return _below_autograd(torch.ops.dtau.mujoco_vjp.default, number, *tensors)

    @staticmethod
    def vmap(info: Any, dims: Any, number: int, *tensors: Any) -> Any:
        found = _Pullback.apply(number, *_mapped(tensors, dims[1:], 2, info.batch_size))
        return found, _places(tensors, dims[1:], 2)


class _Pushforward(_Product):
    @staticmethod
    def forward(number: int, *tensors: Any) -> Any:
        return _below_autograd(torch.ops.dtau.mujoco_jvp.default, number, *tensors)

    @staticmethod
    def vmap(info: Any, dims: Any, number: int, *tensors: Any) -> Any:
        found = _Pushforward.apply(number, *_mapped(tensors, dims[1:], 0, info.batch_size))
        return found, _places(tensors, dims[1:], 0)[0]


def _no_second() -> NotImplementedError:
    return NotImplementedError(
        "dtau.torch: MuJoCo's step has first derivatives alone, and this asks for the second"
    )


def _spread(tensors: Sequence[Tensor], dims: Sequence[int | None], size: int) -> list[Tensor]:
    """Move a mapped axis to the front; repeat what has none."""
    return [
        x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)
        for x, dim in zip(tensors, dims, strict=True)
    ]


def _further(tensors: Sequence[Tensor], dims: Sequence[int | None], like: int) -> int:
    """Return how many axes of several vectors come before those of the states."""
    own = [len(x.shape) - (dim is not None) for x, dim in zip(tensors, dims, strict=True)]
    return own[3] - own[like]


def _mapped(
    tensors: Sequence[Tensor], dims: Sequence[int | None], like: int, size: int
) -> list[Tensor]:
    """Map a product: a mapped axis of vectors alone makes more vectors for the same states.

    The vectors come after three tensors of states; tensor `like` has as many axes as the first.
    """
    vectors = _spread(tensors[3:], dims[3:], size)
    if dims[:3] == (None, None, None):
        return [*tensors[:3], *vectors]
    further = _further(tensors, dims, like)
    return [*_spread(tensors[:3], dims[:3], size), *(x.movedim(0, further) for x in vectors)]


def _places(tensors: Sequence[Tensor], dims: Sequence[int | None], like: int) -> tuple[int, int]:
    place = 0 if dims[:3] == (None, None, None) else _further(tensors, dims, like)
    return place, place


def step_of(number: int, state: Tensor, ctrl: Tensor) -> Tensor:
    """Return the states after the step or rollout of this number, differentiable."""
    if not torch.compiler.is_compiling():
        return _apply(number, state, ctrl)
    # Programs lose the tangents of `dual_level`: see dtau.torch.primitives
    dual_level = forward_ad._current_level >= 0 and eager_transforms.JVP_NESTING == 0
    found: Tensor = (_outside if dual_level else _in_graph)(number, state, ctrl)
    return found


def _apply(number: int, state: Tensor, ctrl: Tensor) -> Tensor:
    wanted = state.requires_grad or ctrl.requires_grad or transforming()
    keep = torch.is_grad_enabled() and wanted
    found: Tensor = _applied(_Step, number, keep, state, ctrl)
    return found


def _applied(function: Any, *arguments: Any) -> Any:
    """Apply an autograd function: PyTorch's own way is only needed while something traces."""
    if transforming() or torch._C._len_torch_dispatch_stack():
        return function.apply(*arguments)
    return super(torch.autograd.Function, function).apply(*arguments)


_in_graph = torch.compiler.allow_in_graph(_apply)
_outside = torch.compiler.disable(_apply)
