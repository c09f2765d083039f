"""`dtau.torch`: bits and memory of calls, PyTorch's own checks, third derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from adapter_cases import ARGUMENTS, robot  # noqa: E402
from cases import random_state, serial  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402
from torch.func import hessian, jacfwd, jacrev, vmap  # noqa: E402
from torch_cases import each, function, leaves, one_thread, tensors  # noqa: E402, F401

import dtau  # noqa: E402
import dtau.torch  # noqa: E402
from dtau.torch.pullbacks import PULLBACKS  # noqa: E402


def test_tensors_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    from dtau.torch import direct, operators

    seen: list[Any] = []
    computed = operators.evaluate

    def watched(model: Any, name: str, options: Any, inputs: Any) -> Any:
        results = computed(model, name, options, inputs)
        seen.extend(x for x in (*inputs, *results) if x is not None)
        return results

    for module in (direct, operators):
        monkeypatch.setattr(module, "evaluate", watched)
    model = robot("quadruped")
    x = tensors("inverse_dynamics", model, 0, (8,))
    for given in (x, leaves(x)):
        seen.clear()
        tau = function("inverse_dynamics", model)(*given)
        for one, other in zip((*given, tau), seen, strict=True):
            assert np.shares_memory(one.detach().numpy(), other)
    seen.clear()
    vmap(function("inverse_dynamics", model))(*x)
    for one, other in zip(x, seen, strict=False):
        assert np.shares_memory(one.numpy(), other)


def test_batches_without_states() -> None:
    model = robot("quadruped")
    q, v, a = (
        torch.from_numpy(x) for x in dtau.random_state(model, np.random.default_rng(0), (0,))
    )
    v.requires_grad_()
    tau = dtau.torch.inverse_dynamics(model, q, v, a)
    assert tau.shape == (0, model.nv)
    (grad,) = torch.autograd.grad(tau.sum(), v, create_graph=True)
    grad.sum().backward()
    assert grad.shape == v.grad.shape == v.shape


@pytest.mark.parametrize("name", sorted((PULLBACKS.keys() & ARGUMENTS.keys()) - {"step"}))
@pytest.mark.parametrize("which", ["every joint", "joints that mimic others"])
def test_products_have_the_bits_of_lone_ones(which: str, name: str) -> None:
    """Gradients of a batch by products of the core, of which one input serves all states."""
    model = robot(which)
    f, x = function(name, model), tensors(name, model, 4, (3,))
    if len(x) > 1:
        x[1] = x[1][:1]
    given, alone = leaves(x), leaves([y[min(2, len(y) - 1)] for y in x])
    results = each(f(*given))
    lam = [torch.cos(torch.arange(y.numel()).double()).reshape(y.shape) for y in results]
    together = torch.autograd.grad(results, given, lam)
    by = torch.autograd.grad(each(f(*alone)), alone, [g[2] for g in lam])
    for got, whole in zip(by, together, strict=True):
        if len(whole) == 3:
            assert torch.equal(got, whole[2])


def test_checks_of_pytorch_number_by_number() -> None:
    model = serial("spherical", "revolute").model()
    f, x = function("inverse_dynamics", model), leaves(tensors("inverse_dynamics", model, 7))
    assert gradcheck(f, x, check_forward_ad=True)
    assert gradgradcheck(f, x, check_fwd_over_rev=True, check_rev_over_rev=True)


def test_a_third_derivative_says_that_there_is_none() -> None:
    model = robot("few joints")
    q, v, a, _ = tensors("inverse_dynamics", model)

    def f(v: Any) -> Any:
        return dtau.torch.inverse_dynamics(model, q, v, a)

    for mode in (jacrev, jacfwd):
        with pytest.raises(NotImplementedError, match="first and second derivatives, and no third"):
            mode(jacrev(jacrev(f)))(v)


def test_a_step_has_no_third_derivative() -> None:
    model = robot("small")
    q, v, tau = (torch.from_numpy(random_state(model, 3)[key]) for key in ("q", "v", "tau"))
    second = hessian(lambda v: dtau.torch.step(model, q, v, tau, 0.02).v.sum())
    assert second(v).abs().max() > 0.0
    with pytest.raises(NotImplementedError, match="first and second derivatives, and no third"):
        jacrev(second)(v)
