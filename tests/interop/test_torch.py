"""`dtau.torch`: values to the last bit; derivatives of PyTorch's machinery, and the package's."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from adapter_cases import ARGUMENTS, DIFFERENTIABLE, near, robot  # noqa: E402
from torch.autograd import forward_ad, gradcheck, gradgradcheck  # noqa: E402
from torch.func import jacfwd, jacrev, jvp, vmap  # noqa: E402
from torch_cases import each, function, leaves, tensors  # noqa: E402

import dtau  # noqa: E402
import dtau.torch  # noqa: E402
from dtau.autodiff.functions import Order, order_of  # noqa: E402
from dtau.autodiff.rows import FUNCTIONS  # noqa: E402

FIRST, SECOND = 1e-12, 1e-10
ROBOTS = ("panda", "hyq", "every joint", "joints that mimic others")

every_function = pytest.mark.parametrize("name", DIFFERENTIABLE)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# ------------------------------------------------------------------ values


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


def test_odd_batches() -> None:
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
    q, v, a = (
        torch.from_numpy(x) for x in dtau.random_state(model, np.random.default_rng(0), (2,))
    )
    v[0, 3] = torch.nan
    tau = dtau.torch.inverse_dynamics(model, q, v, a)
    assert tau[0].isnan().all()
    assert tau[1].isfinite().all()


# ------------------------------------------------------------------ first derivatives


# ------------------------------------------------------------------ second derivatives


@every_function
@pytest.mark.parametrize("which", ["few joints", "few joints with mimics"])
def test_checks_of_pytorch(which: str, name: str) -> None:
    """First derivatives, and second ones if there are any, by the numbers of q: all modes."""
    model = robot(which)
    f = function(name, model)
    if name == "step":
        f = function(name, model, integrator="semi_implicit")
    x = leaves(tensors(name, model, 7))
    assert gradcheck(f, x, check_forward_ad=True, check_batched_grad=True, fast_mode=True)
    mimics = which == "few joints with mimics"
    if order_of(name) is Order.first:
        return
    if mimics or name != "step":  # there as slow as it is thorough
        assert gradgradcheck(f, x, check_fwd_over_rev=mimics, fast_mode=True)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_gradients_of_a_step_of_fixed_length(integrator: str) -> None:
    """A product of the core gives them; with a gradient by the length, Jacobians do."""
    model = robot("every joint")
    f = function("step", model, integrator=integrator)
    q, v, tau, dt, f_ext = leaves(tensors("step", model, 7, (3,)))

    def weighted(length: Any) -> Any:
        q_next, v_next = f(q, v, tau, length, f_ext)
        return torch.cos(q_next).sum() + v_next.sum()

    fixed = torch.autograd.grad(weighted(dt.detach()), (q, v, tau, f_ext))
    *free, by_length = torch.autograd.grad(weighted(dt), (q, v, tau, f_ext, dt))
    for got, want in zip(fixed, free, strict=True):
        near(got, want, FIRST)
    near(by_length.sum(), jvp(weighted, (dt.detach(),), (torch.ones_like(dt),))[1].detach(), FIRST)


def cosines(x: Any) -> Any:
    return torch.cos(torch.arange(x.numel()).double()).reshape(x.shape)


def step_rules(name: str) -> tuple[dict[str, Any], ...]:
    """Options of each way to integrate a step; one way of any other function."""
    rules = ("euler", "semi_implicit", "rk4")
    return tuple({"integrator": rule} for rule in rules) if name == "step" else ({},)


@every_function
@pytest.mark.parametrize("omitted", [False, True])
def test_gradients_by_each_input_alone(name: str, omitted: bool) -> None:
    """Against forward mode, by one input and by all of them; optional inputs may be omitted."""
    model = robot("few joints")
    optional = {x.name for x in FUNCTIONS[name].inputs if x.optional}
    x = [
        None if omitted and key in optional else y
        for key, y in zip(ARGUMENTS[name], tensors(name, model, 8, (2,)), strict=True)
    ]
    which = [k for k, y in enumerate(x) if y is not None]
    for rule, by in itertools.product(step_rules(name), (*([k] for k in which), which)):
        f, y = function(name, model, **rule), list(x)
        with forward_ad.dual_level():
            for k in by:
                y[k] = forward_ad.make_dual(x[k], cosines(x[k]))
            rates = [forward_ad.unpack_dual(result).tangent for result in each(f(*y))]
        for k in by:
            y[k] = x[k].clone().requires_grad_()
        results = each(f(*y))
        weights = [cosines(result) for result in results]
        gradients = torch.autograd.grad(results, [y[k] for k in by], weights)
        got = [g * cosines(x[k]) for g, k in zip(gradients, by, strict=True)]
        want = sum((w * rate).sum() for w, rate in zip(weights, rates, strict=True))
        size = max(float(abs(terms).sum()) for terms in got)
        assert abs(float(want)) > 1e-6  # a gradient that is left out cannot pass
        assert abs(float(sum(terms.sum() for terms in got) - want)) <= FIRST * size


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("name", [x for x in DIFFERENTIABLE if order_of(x) is not Order.first])
def test_tangents_of_gradients(name: str, graph: bool) -> None:
    """Of dual numbers, along all inputs at once, whether a graph is recorded or not."""
    model = robot("few joints")
    f, x = function(name, model), tensors(name, model, 9)
    if name == "step":
        x[4] = None  # a product of the core gives gradients without wrenches
    which = [k for k, y in enumerate(x) if y is not None]
    along = tuple(cosines(x[k]) for k in which)

    def weighted(*variables: Any) -> Any:
        y = list(x)
        for k, variable in zip(which, variables, strict=True):
            y[k] = variable
        return sum((cosines(result) * result).sum() for result in each(f(*y)))

    primals = tuple(x[k] for k in which)
    gradient = torch.func.grad(weighted, argnums=tuple(range(len(which))))
    want = jvp(gradient, primals, along)[1]
    with forward_ad.dual_level():
        duals = [
            forward_ad.make_dual(y.clone().requires_grad_(), t)
            for y, t in zip(primals, along, strict=True)
        ]
        for got, by in zip(
            torch.autograd.grad(weighted(*duals), duals, create_graph=graph), want, strict=True
        ):
            near(forward_ad.unpack_dual(got).tangent.detach(), by, SECOND)


def test_a_third_derivative_says_that_there_is_none() -> None:
    model = robot("few joints")
    q, v, a, _ = tensors("inverse_dynamics", model)

    def f(v: Any) -> Any:
        return dtau.torch.inverse_dynamics(model, q, v, a)

    for mode in (jacrev, jacfwd):
        with pytest.raises(NotImplementedError, match="first and second derivatives, and no third"):
            mode(jacrev(jacrev(f)))(v)
