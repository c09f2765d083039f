"""The ways of PyTorch to differentiate a function: `MODES`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from adapter_laws import Call
from shared_modes import Library, blocks, refused_stack, shared_by
from torch import Tensor
from torch.autograd import forward_ad
from torch.func import grad, jacfwd, jacrev, jvp, vjp, vmap

TORCH = Library(
    *(lambda x: torch.from_numpy(np.array(x)), vmap, vjp, jvp, jacfwd, jacrev),
    repeated=lambda x, n: x.repeat_interleave(n, 1),
    compiled=lambda f: f,
    every_input=True,
)
MODES = shared_by(TORCH)


def tensors(arrays: Sequence[Any]) -> list[Tensor]:
    return [torch.from_numpy(np.array(x)) for x in arrays]


def leaves(call: Call, x: Sequence[Any] | None = None) -> list[Tensor]:
    """The inputs, of which the wanted ones require gradients."""
    found = tensors(call.x if x is None else x)
    for k in call.wanted:
        found[k].requires_grad_()
    return found


def filled(gradients: Sequence[Tensor | None], like: Sequence[Tensor]) -> list[Tensor]:
    """PyTorch's None is a zero, and so compared with what it should be."""
    pairs = zip(gradients, like, strict=True)
    return [torch.zeros_like(x) if g is None else g.detach() for g, x in pairs]


def weighted(results: Sequence[Tensor], weights: Sequence[Any]) -> Tensor:
    pairs = zip(results, tensors(weights), strict=True)
    return sum((y * w).sum() for y, w in pairs)


def _backward(call: Call, **more: Any) -> list[Tensor]:
    x = leaves(call)
    kept = [(y, w) for y, w in zip(call.f(*x), call.weights, strict=True) if w is not None]
    by, weights = [x[k] for k in call.wanted], tensors([w for _, w in kept])
    found = torch.autograd.grad([y for y, _ in kept], by, weights, allow_unused=True, **more)
    return filled(found, by)


@MODES.add("gradient", batch=True)
def backward_of_two_axes(call: Call) -> Sequence[Any]:
    x = TORCH.with_second_axis(
        call, call.wanted[::2]
    )  # their gradients are sums over the second axis
    by = [x[k].requires_grad_() for k in call.wanted]
    pairs = zip(call.f(*x), tensors(call.weights), strict=True)
    cost = sum((y * w[:, None]).sum() / y.shape[1] for y, w in pairs)
    return [g.sum(1) for g in filled(torch.autograd.grad(cost, by, allow_unused=True), by)]


@MODES.add("gradient", batch=True, each_result=True)
def backward(call: Call) -> Sequence[Any]:
    return _backward(call)


@MODES.add("gradient", each_result=True)
def backward_alone(call: Call) -> Sequence[Any]:
    return _backward(call)


@MODES.add("gradient", batch=True, each_result=True)
def backward_that_goes_on(call: Call) -> Sequence[Any]:
    return _backward(call, create_graph=True)


@MODES.add("gradient")
def batched_gradients(call: Call) -> Sequence[Any]:
    x = leaves(call)
    by = [x[k] for k in call.wanted]
    weights = [torch.stack([w, 2.0 * w]) for w in tensors(call.weights)]
    found = torch.autograd.grad(call.f(*x), by, weights, allow_unused=True, is_grads_batched=True)
    found = filled(found, [torch.stack([y, y]) for y in by])
    for g in found:
        assert torch.allclose(2.0 * g[0], g[1], rtol=1e-12)
    return [g[0] for g in found]


def _dual(call: Call, x: list[Tensor]) -> list[Tensor]:
    dual = list(x)
    for k, d in zip(call.wanted, TORCH.along(call), strict=True):
        dual[k] = forward_ad.make_dual(x[k], d)
    return dual


def _tangents(results: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [None if y is None else forward_ad.unpack_dual(y).tangent for y in results]


@MODES.add("tangent", batch=True)
def forward(call: Call) -> Sequence[Any]:
    with forward_ad.dual_level():
        results = call.f(*_dual(call, tensors(call.x)))
        return filled(_tangents(results), results)


@MODES.add("tangent")
def forward_alone(call: Call) -> Sequence[Any]:
    return forward(call)


@MODES.add("curvature")
def forward_through_a_gradient(call: Call) -> Sequence[Any]:
    return _forward_over_backward(call, create_graph=False)


@MODES.add("curvature")
def forward_through_a_gradient_that_goes_on(call: Call) -> Sequence[Any]:
    return _forward_over_backward(call, create_graph=True)


def _forward_over_backward(call: Call, *, create_graph: bool) -> Sequence[Any]:
    x = leaves(call)
    with forward_ad.dual_level():
        dual = _dual(call, x)
        by = [dual[k] for k in call.wanted]
        found = torch.autograd.grad(
            weighted(call.f(*dual), call.weights), by, allow_unused=True, create_graph=create_graph
        )
        return filled(_tangents(found), by)


@MODES.add("curvature")
def backward_through_a_tangent(call: Call) -> Sequence[Any]:
    x = leaves(call)
    with forward_ad.dual_level():
        changes = _tangents(call.f(*_dual(call, x)))
        kept = [(t, w) for t, w in zip(changes, call.weights, strict=True) if t is not None]
        cost = weighted([t for t, _ in kept], [w for _, w in kept])
    # Inside of the level it would ask for the third derivative.
    return _second(cost, [x[k] for k in call.wanted])


def _second(cost: Any, by: list[Tensor]) -> list[Tensor]:
    if not isinstance(cost, Tensor) or not cost.requires_grad:  # linear in what is wanted
        return filled([None] * len(by), by)
    return filled(torch.autograd.grad(cost, by, allow_unused=True), by)


@MODES.add("curvature", each_result=False)
def double_backward(call: Call) -> Sequence[Any]:
    x = leaves(call)
    by = [x[k] for k in call.wanted]
    first = torch.autograd.grad(
        call.f(*x), by, tensors(call.weights), allow_unused=True, create_graph=True
    )
    cost = sum(
        (g * d).sum() for g, d in zip(first, TORCH.along(call), strict=True) if g is not None
    )
    return _second(cost, by)


@MODES.add("tangent", twice=True)
def double_backward_by_weights(call: Call) -> Sequence[Any]:
    """Gradients are linear in the weights of the results."""
    x, weights = leaves(call), [w.requires_grad_() for w in tensors(call.weights)]
    by = [x[k] for k in call.wanted]
    first = torch.autograd.grad(call.f(*x), by, weights, allow_unused=True, create_graph=True)
    cost = sum(
        (g * d).sum() for g, d in zip(first, TORCH.along(call), strict=True) if g is not None
    )
    return _second(cost, weights)


@MODES.add("jacobian")
def reverse_jacobian(call: Call) -> Sequence[Any]:
    f, x = TORCH.of_wanted(call)
    return blocks(jacrev(f, tuple(range(len(x))))(*x))


@MODES.add("jacobian", batch=True)
def mapped_forward_jacobian(call: Call) -> Sequence[Any]:
    every = tuple(range(len(call.x)))
    rows = vmap(jacfwd(call.f, every))(*tensors(call.x))
    return [row[k] for row in rows for k in call.wanted]


@MODES.add("gradient", batch=True)
def gradient_of_mapped(call: Call) -> Sequence[Any]:
    def cost(*x: Tensor) -> Tensor:
        return weighted(vmap(call.f)(*x), call.weights)

    return grad(cost, call.wanted)(*tensors(call.x))


def _hessian(outer: Any, inner: Any) -> Callable[[Call], list[Tensor]]:
    def run(call: Call) -> list[Tensor]:
        f, x = TORCH.of_wanted(call)
        every, d = tuple(range(len(x))), TORCH.along(call)
        blocks = outer(inner(lambda *x: weighted(f(*x), call.weights), every), every)(*x)
        return [
            sum(torch.tensordot(block, y, y.dim()) for block, y in zip(row, d, strict=True))
            for row in blocks
        ]

    return run


for _name, _outer, _inner in (
    ("hessian_forward_reverse", jacfwd, jacrev),
    ("hessian_reverse_reverse", jacrev, jacrev),
    ("hessian_reverse_forward", jacrev, jacfwd),
    ("hessian_forward_forward", jacfwd, jacfwd),
):
    _run = _hessian(_outer, _inner)
    _run.__name__ = _name
    MODES.add("curvature")(_run)


@MODES.add("curvature")
def mapped_product_of_hessian(call: Call) -> Sequence[Any]:
    """Forward mode over a gradient, mapped over two directions."""
    f, x = TORCH.of_wanted(call)
    slope = grad(lambda *x: weighted(f(*x), call.weights), tuple(range(len(x))))
    two = tuple(torch.stack([d, -3.0 * d]) for d in TORCH.along(call))
    found = vmap(lambda *d: jvp(slope, tuple(x), d)[1])(*two)
    for g in found:
        assert torch.allclose(-3.0 * g[0], g[1], rtol=1e-9, atol=1e-9)
    return [g[0] for g in found]


# ------------------------------------------------------------------ compiled

_ROLES = {  # a function of each kind, as compilations take seconds
    "rows": ("frame_placements", "constrained_dynamics", "step"),
    "switches": ("mimics",),
    "every_input": False,
}


@MODES.add("bits", batch=True, **_ROLES)
def compiled_value(call: Call) -> Sequence[Any]:
    return _compiled(call.f)(*tensors(call.x))


@MODES.add("gradient", batch=True, **_ROLES)
def compiled_backward(call: Call) -> Sequence[Any]:
    x = leaves(call)
    by = [x[k] for k in call.wanted]
    cost = weighted(_compiled(call.f)(*x), call.weights)
    return filled(torch.autograd.grad(cost, by, allow_unused=True), by)


@MODES.add("gradient", batch=True, **_ROLES)
def compiled_gradient_of_mapped(call: Call) -> Sequence[Any]:
    weights = tensors(call.weights)

    def cost(*x: Tensor) -> Tensor:
        pairs = zip(vmap(call.f)(*x), weights, strict=True)
        return sum((y * w).sum() for y, w in pairs)

    return _compiled(grad(cost, call.wanted))(*tensors(call.x))


@MODES.add("jacobian", **_ROLES)
def compiled_forward_jacobian(call: Call) -> Sequence[Any]:
    f, x = TORCH.of_wanted(call)
    return blocks(_compiled(jacfwd(f, tuple(range(len(x)))))(*x))


def _compiled(f: Callable[..., Any]) -> Callable[..., Any]:
    torch.compiler.reset()
    return torch.compile(f, backend="aot_eager", fullgraph=True)


# ------------------------------------------------------------------ relations


@MODES.add("same", batch=True)
def one_input_broadcast(call: Call) -> Sequence[Any]:
    """The gradient of an input that all states share is the sum of theirs."""
    pairs: list[tuple[Any, Any]] = []
    for k in call.wanted:
        gradients = []
        for spread in (False, True):
            x = tensors(call.x)
            shared = x[k][0].clone().requires_grad_()
            x[k] = shared.expand(x[k].shape) if spread else shared
            try:
                cost = weighted(call.f(*x), call.weights)
            except ValueError as error:  # a stack that could be a batch is refused
                return refused_stack(error)
            found = torch.autograd.grad(cost, shared, allow_unused=True)
            gradients += filled(found, [shared])
        pairs.append((*gradients,))
    return pairs


@MODES.add("same", batch=True)
def single_precision(call: Call) -> Sequence[Any]:
    """Values and gradients are float64's, rounded."""
    rounded = [np.asarray(x).astype(np.float32) for x in call.x]
    found = []
    for dtype in (torch.float32, torch.float64):
        x = [torch.from_numpy(y).to(dtype) for y in rounded]
        for k in call.wanted:
            x[k].requires_grad_()
        results, by = call.f(*x), [x[k] for k in call.wanted]
        assert all(y.dtype == dtype for y in results)
        weights = [torch.from_numpy(w).float().to(dtype) for w in call.weights]
        gradients = torch.autograd.grad(results, by, weights, allow_unused=True)
        assert all(g is None or g.dtype == dtype for g in gradients)
        found.append([*(y.detach() for y in results), *filled(gradients, by)])
    return [(one, other, 2e-7) for one, other in zip(*found, strict=True)]


@MODES.add("same", batch=True)
def a_number_that_is_not_finite(call: Call) -> Sequence[Any]:
    """It stays in its state: values and gradients of the other state are the same."""
    pairs: list[tuple[Any, Any]] = []
    for k in call.wanted:
        if call.case.names[k] == "active":  # which is checked
            continue
        broken = call.case.broken(k)
        found = []
        for given in (broken, call.x):
            x = leaves(call, given)
            results, by = call.f(*x), [x[j] for j in call.wanted]
            gradients = torch.autograd.grad(results, by, tensors(call.weights), allow_unused=True)
            found.append(
                [*(y.detach()[1] for y in results), *(g[1] for g in filled(gradients, by))]
            )
            if given is broken:
                first = torch.cat([y.detach()[0].flatten() for y in results])
                assert first.isnan().any(), call.case.names[k]
        pairs += zip(*found, strict=True)
    return pairs
