"""Build differentiable PyTorch functions from the operators and the shared rules: `differentiable`.

Each function has two forms. (Calls that PyTorch need not see take a shorter way, `direct`.)

- `_Eager`: reverse mode, when no transform of `torch.func` is at work.
- `_Transformed`: reverse and forward mode, for `torch.func` and `torch.autograd.forward_ad`.

`torch.compile` must not choose between them: Dynamo does not know which tensors a transform of
`torch.func` tracks (they have no `requires_grad`), and would leave derivatives out. So it puts the
whole call into its graph, and the choice is made when the graph runs.

First gradients that are not differentiated further come from the operator `pullback`, in O(N) if
the core has such products. All others are built from blocks or compositions, which are
differentiable. Inputs and results are float64 here.
"""

from __future__ import annotations

import atexit
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch._functorch import eager_transforms
from torch.autograd import forward_ad

from dtau.autodiff import manifold
from dtau.autodiff.functions import (
    composition,
    hessian,
    in_tangent_space,
    is_of_blocks,
    jacobians,
    link,
)
from dtau.autodiff.library import At
from dtau.autodiff.rows import FUNCTIONS, PARAMETERS
from dtau.torch import operators
from dtau.torch.kernels import KERNELS, decoded, result_shapes, written
from dtau.torch.models import text_of
from dtau.torch.pullbacks import PULLBACKS
from dtau.torch.transforms import alive, goes_on, is_batched, transforming, within_a_level

Tensors = Sequence[Tensor | None]
Gradients = list[Tensor | None]

# A backward pass that raises, for example for a third derivative, leaves nodes in PyTorch's queue.
# They hold NumPy arrays, which must not be freed after Python has ended. The oldest node leaves the
# queue last, and releases the remains of earlier passes.
_oldest = torch.zeros((), requires_grad=True) * 1.0
atexit.register(_oldest.backward)


class Site(NamedTuple):
    """A function of a model with its options, as arguments of the operators."""

    model: str
    function: str
    options: str


def differentiable(site: Site, *inputs: Tensor | None) -> tuple[Tensor, ...]:
    """Return the results of a function, differentiable by PyTorch."""
    if not torch.compiler.is_compiling():
        return _choose(*site, *inputs)
    # Compiled programs lose the tangents of `forward_ad.dual_level`, so a call inside of one runs
    # outside the program. Levels that `torch.func.jvp` opens itself are preserved.
    dual_level = forward_ad._current_level >= 0 and eager_transforms.JVP_NESTING == 0
    return tuple((_outside if dual_level else _in_graph)(*site, *inputs))


def _choose(model: str, function: str, options: str, *inputs: Tensor | None) -> tuple[Tensor, ...]:
    if torch.compiler.is_exporting() or within_a_level():  # `dtau.torch.programs` differentiates it
        return tuple(operators.call(model, function, options, inputs))
    if forward_ad._current_level >= 0 or transforming():
        return tuple(_Transformed.apply(model, function, options, *inputs))
    if torch.is_grad_enabled() and any([x is not None and x.requires_grad for x in inputs]):
        return tuple(_Eager.apply(model, function, options, *inputs))
    return operators.values(model, function, options, inputs)


_in_graph = torch.compiler.allow_in_graph(_choose)
_outside = torch.compiler.disable(_choose)


class TorchLibrary:
    """PyTorch's operations for the rules, see `dtau.autodiff.library.Library`."""

    xp = torch

    def constant(self, numbers: np.ndarray[Any, np.dtype[np.float64]]) -> Tensor:
        """Return numbers as a tensor."""
        return torch.from_numpy(np.array(numbers))

    def call(self, model: Any, name: str, inputs: Tensors, **options: Any) -> tuple[Tensor, ...]:
        """Return the results of a function of the tables."""
        kept = {k: v for k, v in options.items() if k in KERNELS[name].options}
        return differentiable(Site(text_of(model), name, written(kept)), *inputs)


_LIBRARY = TorchLibrary()
_LAST = ("_second_derivatives", "_hessian")
_NO_THIRD = ": functions have first and second derivatives, and no third"


def _at(site: Site, inputs: Tensors, which: Sequence[int]) -> At:
    names = KERNELS[site.function].inputs
    given = dict(zip(names, inputs, strict=True))
    model, options = decoded(site.model, site.options)
    return At(_LIBRARY, model, given, options, {names[k] for k in which})


def _rows(tensor: Tensor, rank: int) -> Tensor:
    """Flatten the axes of one state."""
    first = tensor.dim() - rank
    return tensor.reshape(*tensor.shape[:first], math.prod(tensor.shape[first:]))


def _block_rows(site: Site, x: At, name: str, tangent_rank: int) -> list[Tensor | None]:
    """Return the blocks by an input, one per result: (..., size of result, size of input)."""
    rule = jacobians(site.function, x.options)
    if rule is None:
        raise NotImplementedError(
            f"dtau.torch: {site.function} has no derivatives (by {name})"
            + (_NO_THIRD if site.function.endswith(_LAST) else "")
        )
    blocks = rule(x, name)
    shapes = result_shapes(x.model, site.function, site.options, tuple(x.inputs.values()))
    rows: list[Tensor | None] = []
    for block, shape in zip(blocks, shapes, strict=True):
        if block is not None:
            first = block.dim() - tangent_rank
            batch, columns = block.shape[: first - len(shape)], math.prod(block.shape[first:])
            block = block.reshape(*batch, math.prod(shape), columns)
        rows.append(block)
    return rows


def _composed(
    site: Site, inputs: Tensors, which: Sequence[int]
) -> Callable[..., tuple[Tensor, ...]] | None:
    """Return a composition as a function of some of its inputs; None if there are blocks."""
    compose = composition(site.function, decoded(site.model, site.options)[1])
    if compose is None or is_of_blocks(site.function):
        return None

    def of(*variables: Tensor) -> tuple[Tensor, ...]:
        every = list(inputs)
        for k, x in zip(which, variables, strict=True):
            every[k] = x
        return tuple(compose(_at(site, every, which)))

    return of


def gradients(
    site: Site, inputs: Tensors, cotangents: Tensors, wanted: Sequence[bool]
) -> Gradients:
    """Return differentiable gradients by the inputs."""
    which = [k for k, x in enumerate(inputs) if x is not None and wanted[k]]
    found: Gradients = [None] * len(inputs)
    if not which or all(g is None for g in cotangents):
        return found
    mapped = any(map(is_batched, cotangents))  # which no call can take
    if _has_hessian(site.function, inputs) and not mapped:
        return _by_product(site, inputs, cotangents, wanted)
    composed = _composed(site, inputs, which)
    if composed is not None:
        results, pull = torch.func.vjp(composed, *(inputs[k] for k in which))
        filled = [
            torch.zeros_like(r) if g is None else g
            for r, g in zip(results, cotangents, strict=True)
        ]
        for k, gradient in zip(which, pull(tuple(filled)), strict=True):
            found[k] = gradient
        return found
    x = _at(site, inputs, which)
    kernel = KERNELS[site.function]
    shapes = result_shapes(x.model, site.function, site.options, inputs)
    for k in which:
        variable = inputs[k]
        assert variable is not None
        total = None
        for block, g, shape in zip(
            _block_rows(site, x, kernel.inputs[k], kernel.ranks[k]), cotangents, shapes, strict=True
        ):
            if block is not None and g is not None:
                term = (_rows(g, len(shape))[..., None, :] @ block)[..., 0, :]
                total = term if total is None else total + term
        if total is None:
            continue
        if kernel.sizes[k] == ("nq",) and in_tangent_space(site.function):
            units = torch.eye(x.model.nq, dtype=variable.dtype)
            total = manifold.pulled_back(torch, x.model, variable, total, units)
        core = variable.shape[variable.dim() - kernel.ranks[k] :]
        total = total.reshape((*total.shape[:-1], *core))
        found[k] = like(total, variable)
    return found


def _has_hessian(function: str, inputs: Tensors) -> bool:
    """Whether the core differentiates the product of a function, at these inputs."""
    names = KERNELS[function].inputs
    apart = (PARAMETERS,) if function == "step" else ("f_ext", PARAMETERS)
    further = (x for name, x in zip(names, inputs, strict=True) if name in apart)
    plain = all(x is None for x in further)
    return plain and hessian(function) is not None


def _by_product(
    site: Site, inputs: Tensors, cotangents: Tensors, wanted: Sequence[bool]
) -> Gradients:
    """Return gradients as a product of the core, which its Hessian differentiates."""
    names, vjp = KERNELS[site.function].inputs, link(site.function, "vjp")
    given = dict(zip(names, inputs, strict=True))
    model, options = decoded(site.model, site.options)
    q = given["q"]
    assert q is not None
    shapes = result_shapes(model, site.function, site.options, inputs)
    weights = [x for x in KERNELS[vjp].inputs if x.startswith("lam")]
    for name, g, shape in zip(weights, cotangents, shapes, strict=False):  # none of a residual
        given[name] = q.new_zeros(shape) if g is None else g
    by_dt = "dt" in names and wanted[names.index("dt")]
    options = {**options, "coordinates": "numbers", "by": "dt" if by_dt else None}
    kept = {key: x for key, x in options.items() if key in KERNELS[vjp].options}
    products = Site(site.model, vjp, written(kept))
    found = differentiable(products, *(given[x] for x in KERNELS[vjp].inputs))
    by = [x.name.removeprefix("by_") for x in FUNCTIONS[vjp].results]
    by = [x for x in by if given.get(x) is not None] + ["dt"] * by_dt
    gradients = dict(zip(by, found, strict=True))
    pairs = ((gradients.get(name), x) for name, x in zip(names, inputs, strict=True))
    return [None if g is None or x is None else like(g, x) for g, x in pairs]


def tangents(site: Site, inputs: Tensors, variations: Tensors) -> tuple[Tensor, ...]:
    """Return differentiable variations of the results along variations of the inputs."""
    which = [
        k
        for k, (x, t) in enumerate(zip(inputs, variations, strict=True))
        if not (x is None or t is None)
    ]
    composed = _composed(site, inputs, which)
    if composed is not None:  # forward mode does not nest here: transpose twice
        results, pull = torch.func.vjp(composed, *(inputs[k] for k in which))
        _, push = torch.func.vjp(pull, tuple(torch.zeros_like(r) for r in results))
        (found,) = push(tuple(variations[k] for k in which))
        return tuple(found)
    x = _at(site, inputs, which)
    kernel = KERNELS[site.function]
    shapes = result_shapes(x.model, site.function, site.options, inputs)
    totals: list[Tensor | None] = [None] * len(shapes)
    for k in which:
        variable, change = inputs[k], variations[k]
        assert variable is not None
        assert change is not None
        if kernel.sizes[k] == ("nq",) and in_tangent_space(site.function):
            change = manifold.to_tangent(torch, x.model, variable, change)
        column = _rows(change, kernel.ranks[k])[..., :, None]
        blocks = _block_rows(site, x, kernel.inputs[k], kernel.ranks[k])
        for o, block in enumerate(blocks):
            if block is not None:
                term = (block @ column)[..., 0]
                total = totals[o]
                totals[o] = term if total is None else total + term
    batch = operators.batch_shape(site.function, inputs)
    like = next(t for t in variations if t is not None)
    return tuple(
        like.new_zeros((*batch, *shape)) if total is None else _spread(total, batch, shape)
        for total, shape in zip(totals, shapes, strict=True)
    )


def _spread(total: Tensor, batch: tuple[int, ...], shape: tuple[int, ...]) -> Tensor:
    return total.reshape((*total.shape[:-1], *shape)).expand((*batch, *shape))


def _fast_gradients(
    model: str,
    function: str,
    options: str,
    inputs: Tensors,
    cotangents: Tensors,
    wanted: Sequence[bool],
) -> Sequence[Tensor | None]:
    """Return the result of `pullback`: products of the core, if it has them."""
    product = PULLBACKS.get(function)
    if product is not None:
        arrays = [None if x is None else x.numpy() for x in inputs]
        lam = [None if g is None else g.numpy() for g in cotangents]
        found = product(*decoded(model, options), arrays, lam, wanted)
        return [
            None if g is None or x is None else like(torch.from_numpy(g), x)
            for g, x in zip(found, inputs, strict=True)
        ]
    return gradients(Site(model, function, options), inputs, cotangents, wanted)


def like(gradient: Tensor, x: Tensor) -> Tensor:
    """Sum a gradient over the batch axes along which its input was broadcast."""
    return gradient if gradient.shape == x.shape else gradient.sum_to_size(x.shape)


operators.set_gradients(_fast_gradients)


def backward(
    site: Site, inputs: Tensors, cotangents: Tensors, wanted: Sequence[bool]
) -> Sequence[Tensor | None]:
    """Return the gradients by the inputs for a backward pass of PyTorch."""
    if all(g is None for g in cotangents):
        return (None,) * len(inputs)
    inputs, cotangents = alive(inputs), alive(cotangents)
    if goes_on(inputs, cotangents):
        return gradients(site, inputs, cotangents, wanted)
    given = [x is not None and needed for x, needed in zip(inputs, wanted, strict=True)]
    found = iter(operators.pullback(*site, inputs, cotangents, given))
    return [next(found) if needed else None for needed in given]


class _Eager(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, model: str, function: str, options: str, *inputs: Any) -> Any:
        ctx.site = Site(model, function, options)
        ctx.living = decoded(model, options)  # which must live as long
        ctx.save_for_backward(*inputs)
        ctx.set_materialize_grads(False)
        return operators.values(model, function, options, inputs)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        found = backward(ctx.site, ctx.saved_tensors, cotangents, ctx.needs_input_grad[3:])
        return None, None, None, *found


def remember(ctx: Any, site: Site, inputs: Tensors) -> None:
    """Keep a call for its derivatives, in an autograd function with `jvp`."""
    ctx.site = site
    ctx.living = decoded(site.model, site.options)  # which must live as long
    ctx.save_for_backward(*inputs)
    ctx.save_for_forward(*inputs)
    ctx.set_materialize_grads(False)  # what does not vary is not asked for its derivative


def remembered_tangents(ctx: Any, variations: Tensors) -> tuple[Tensor, ...]:
    """Return `tangents` of a call that was kept."""
    inputs = ctx.saved_tensors
    if not transforming():
        return tangents(ctx.site, inputs, variations)
    # PyTorch switches forward mode off here, also for outer transforms, whose derivatives would
    # silently be zeros. So it is switched on, and the tangents of this level are removed.
    with forward_ad._set_fwd_grad_enabled(True):
        primals = [None if x is None else forward_ad.unpack_dual(x, level=0).primal for x in inputs]
        return tangents(ctx.site, primals, variations)


class _Transformed(torch.autograd.Function):
    @staticmethod
    def forward(model: str, function: str, options: str, *inputs: Any) -> Any:
        return operators.values(model, function, options, inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        remember(ctx, Site(*inputs[:3]), inputs[3:])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        found = backward(ctx.site, ctx.saved_tensors, cotangents, ctx.needs_input_grad[3:])
        return None, None, None, *found

    @staticmethod
    def jvp(ctx: Any, *variations: Any) -> Any:
        return remembered_tangents(ctx, variations[3:])

    @staticmethod
    def vmap(info: Any, dims: Any, model: str, function: str, options: str, *inputs: Any) -> Any:
        results = _Transformed.apply(model, function, options, *_mapped(function, inputs, dims))
        return results, (0,) * len(results)


def _mapped(function: str, inputs: Tensors, dims: Sequence[int | None]) -> Tensors:
    """Move the mapped axis to the front of the batch."""
    return operators.aligned(inputs, dims[3:], KERNELS[function].ranks)
