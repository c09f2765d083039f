"""`dtau.torch` inside torch.compile: every transform gives what it gives without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cases import serial

torch = pytest.importorskip("torch")

from adapter_cases import near, robot  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.func import (  # noqa: E402
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    vjp,
    vmap,
)
from torch.utils import _pytree as trees  # noqa: E402
from torch_cases import each, function, one_thread, tensors  # noqa: E402, F401

import dtau  # noqa: E402
import dtau.torch  # noqa: E402

pytestmark = pytest.mark.jit

Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def _no_programs() -> None:
    torch.compiler.reset()


def scalar(f: Function) -> Function:
    return lambda *x: sum((y.sin() * y).sum() for y in each(f(*x)))


def pulled(f: Function) -> Function:
    def of(*x: Any) -> Any:
        results, pull = vjp(lambda *x: each(f(*x)), *x)
        return pull(tuple(torch.cos(y) for y in results))

    return of


def along(f: Function) -> Function:
    return lambda *x: jvp(f, x, tuple(torch.sin(y) for y in x))


def twice(f: Function) -> Function:
    return grad(lambda *x: grad(scalar(f))(*x).sin().sum())


# The last ones take a batch.
TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "grad": lambda f: grad(scalar(f), argnums=(0, 1)),
    "grad_and_value": lambda f: grad_and_value(scalar(f)),
    "vjp": pulled,
    "jvp": along,
    "jacrev": jacrev,
    "jacfwd": jacfwd,
    "hessian": lambda f: hessian(scalar(f), argnums=(0, 1)),
    "jacrev(jacrev)": lambda f: jacrev(jacrev(scalar(f))),
    "jacrev(jacfwd)": lambda f: jacrev(jacfwd(scalar(f))),
    "jacfwd(jacfwd)": lambda f: jacfwd(jacfwd(scalar(f))),
    "grad(grad)": twice,
    "vmap": vmap,
    "vmap(grad)": lambda f: vmap(grad(scalar(f))),
    "grad(vmap)": lambda f: grad(scalar(vmap(f))),
    "vmap(jacrev)": lambda f: vmap(jacrev(f)),
    "vmap(jacfwd)": lambda f: vmap(jacfwd(f)),
    "vmap(jvp)": lambda f: vmap(along(f)),
    "vmap(jacrev(jacrev))": lambda f: vmap(jacrev(jacrev(scalar(f)))),
}


def is_as_without(f: Function, x: Any, backend: str) -> None:
    """Compare every number; of the derivatives some must not vanish."""
    want = trees.tree_leaves(f(*x))
    got = trees.tree_leaves(torch.compile(f, backend=backend, fullgraph=True)(*x))
    assert any(y.abs().max() > 0.1 for y in want)
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        near(one, other, 1e-14)


@pytest.mark.parametrize(
    ("backend", "transform"),
    [
        *(("eager", name) for name in TRANSFORMS),
        *(("aot_eager", name) for name in ("grad", "jvp", "hessian", "vmap(jacrev)")),
    ],
)
def test_a_compiled_transform_is_as_without(backend: str, transform: str) -> None:
    x = tensors("inverse_dynamics", robot("few joints"), 3, (2,) if "vmap" in transform else ())
    f = function("inverse_dynamics", robot("few joints"))
    is_as_without(TRANSFORMS[transform](f), x, backend)


def test_numbers_among_options_are_constants_of_dynamic_programs() -> None:
    """A regularization, an argument of the program or a default, and the order of a stack."""
    model = robot("few joints")
    contacts = dtau.Contacts(model, [dtau.PointContact(model.bodies[-1])])

    def f(q: Any, v: Any, stack: Any, r: float) -> Any:
        a = dtau.torch.constrained_dynamics(model, q, v, v, contacts, regularization=r).a
        rates = dtau.torch.inverse_dynamics_time_derivatives(model, q, stack)
        return a, dtau.torch.step(model, q, v, a, 0.01).v, rates

    compiled = torch.compile(f, backend="eager", fullgraph=True, dynamic=True)
    q, v, _ = (torch.from_numpy(x) for x in dtau.random_state(model, np.random.default_rng(0), 2))
    for states, rows, r in ((2, 3, 1e-3), (1, 2, 0.1)):
        x = q[:states], v[:states], v[:states, None].repeat(1, rows, 1), r
        for got, want in zip(compiled(*x), f(*x), strict=True):
            assert torch.equal(got, want)


@pytest.mark.parametrize(
    "name",
    [
        *("forward_dynamics", "mass_matrix", "momentum", "integrate", "step"),
        "inverse_dynamics_time_derivatives",
    ],
)
def test_compiled_transforms_of_other_functions(name: str) -> None:
    """With products of the core, with blocks, of compositions."""
    model = serial("spherical", "revolute").model()
    f = function(name, model, **({"integrator": "euler"} if name == "step" else {}))
    x = tensors(name, model, 3)
    is_as_without(lambda *x: (grad(scalar(f))(*x), along(f)(*x)), x, "eager")


def test_a_network_inside_a_compiled_gradient() -> None:
    model = robot("few joints")
    q, v, tau, _ = tensors("forward_dynamics", model)
    torch.manual_seed(0)
    network = torch.nn.Linear(model.nv, model.nv, dtype=torch.float64)
    weights = {name: x.detach() for name, x in network.named_parameters()}

    def loss(weights: Any) -> Any:
        torque = functional_call(network, weights, (tau,))
        return dtau.torch.forward_dynamics(model, q, v, torque).square().sum()

    is_as_without(grad(loss), (weights,), "aot_eager")


@pytest.mark.parametrize("transform", [jacrev, lambda f: vmap(f, out_dims=1)])
def test_transforms_of_compiled_functions(transform: Callable[[Function], Function]) -> None:
    """PyTorch runs these as they are, and once gave zeros for them."""
    model = robot("few joints")
    q, v, a, _ = tensors("inverse_dynamics", model, 2, (2,))
    f = lambda q: dtau.torch.inverse_dynamics(model, q, v[0], a[0])  # noqa: E731
    compiled = torch.compile(f, backend="eager")
    assert torch.equal(transform(compiled)(q), transform(f)(q))


def test_batches_of_any_size() -> None:
    model = robot("few joints")
    f = vmap(grad(scalar(function("inverse_dynamics", model))))
    compiled = torch.compile(f, backend="aot_eager", fullgraph=True, dynamic=True)
    for count in (2, 5, 7):
        x = tensors("inverse_dynamics", model, count, (count,))
        near(compiled(*x), f(*x), 1e-14)


def test_a_third_derivative_says_that_there_is_none() -> None:
    model = robot("few joints")
    q, v, a, _ = tensors("inverse_dynamics", model)
    third = jacrev(jacrev(jacrev(lambda v: dtau.torch.inverse_dynamics(model, q, v, a))))
    with pytest.raises(NotImplementedError, match="first and second derivatives, and no third"):
        torch.compile(third, backend="aot_eager")(v)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("outside", [False, True])
def test_dual_numbers_run_beside_the_program(backend: str, outside: bool) -> None:
    model = dtau.robots.chain(3)
    q, v, _ = (torch.from_numpy(x) for x in dtau.random_state(model, np.random.default_rng(0)))

    def torque(q: Any) -> Any:
        return dtau.torch.bias_torque(model, q, v)

    def tangent(f: Function, q: Any) -> Any:
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(f(forward_ad.make_dual(q, q.sin()))).tangent

    def whole(fullgraph: bool) -> Any:
        if outside:
            compiled = torch.compile(torque, backend=backend, fullgraph=fullgraph)
            assert torch.equal(compiled(q), torque(q))  # a program for this does not serve
            return tangent(compiled, q)
        compiled = torch.compile(lambda q: tangent(torque, q), backend=backend, fullgraph=fullgraph)
        return compiled(q)

    near(whole(False), tangent(torque, q), 1e-14)
    torch.compiler.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported, match="Skip calling"):
        whole(True)


# ------------------------------------------------------------------ values and backward


def test_a_compiled_program_is_of_one_model() -> None:
    models = [dtau.robots.chain(3), dtau.robots.chain(3).replace(damping=1.0)]
    compiled = torch.compile(dtau.torch.bias_torque, backend="eager", fullgraph=True)
    for model in (*models, *models):
        q, v, _ = (torch.from_numpy(x) for x in dtau.random_state(model, np.random.default_rng(0)))
        assert torch.equal(compiled(model, q, v), dtau.torch.bias_torque(model, q, v))
