"""`dtau.torch`: values to the last bit; derivatives of PyTorch's machinery, and the package's."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import adapter_cases  # noqa: E402
from adapter_cases import ARGUMENTS, AXES, DIFFERENTIABLE, arrays, near, robot  # noqa: E402
from cases import serial  # noqa: E402
from torch.autograd import forward_ad, gradcheck, gradgradcheck  # noqa: E402
from torch.func import jacfwd, jacrev, jvp, vmap  # noqa: E402
from torch_cases import NESTED, each, function, leaves, tensors  # noqa: E402

import dtau  # noqa: E402
import dtau.torch  # noqa: E402
from dtau.autodiff.functions import Order, order_of  # noqa: E402
from dtau.autodiff.rows import FUNCTIONS  # noqa: E402
from dtau.torch.pullbacks import PULLBACKS  # noqa: E402

FIRST, SECOND = 1e-12, 1e-10
ROBOTS = ("panda", "hyq", "every joint", "joints that mimic others")

every_function = pytest.mark.parametrize("name", DIFFERENTIABLE)
on_robots = pytest.mark.parametrize("which", ROBOTS)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# ------------------------------------------------------------------ values


@every_function
@pytest.mark.parametrize("which", ["quadruped", "joints that mimic others"])
def test_values_have_the_bits_of_the_package(which: str, name: str) -> None:
    """In a batch, whose axes broadcast, and alone; mapped by vmap too."""
    model = robot(which)
    x = arrays(name, model, 3, (3, 4))
    if len(x) > 1:
        x[0] = x[0][:, :1]
    f, given = function(name, model), [torch.from_numpy(y) for y in x]
    plain = adapter_cases.function(name, model, dtau)
    values = each(f(*given))
    for got, expected in zip(values, each(plain(*x)), strict=True):
        assert got.dtype == torch.float64
        assert np.array_equal(got, expected)
    for got, expected in zip(each(f(*leaves(given))), values, strict=True):
        assert got.requires_grad
        assert torch.equal(got, expected)
    alone = each(f(*(y[2, min(1, y.shape[1] - 1)] for y in given)))
    for got, expected in zip(alone, values, strict=True):
        assert torch.equal(got, expected[2, 1])
    inner = [None, *[0] * (len(x) - 1)] if len(x) > 1 else [0]
    mapped = each(
        vmap(vmap(f, tuple(inner)), 0)(*(y[:, 0] if y.shape[1] == 1 else y for y in given))
    )
    for got, expected in zip(mapped, values, strict=True):
        assert torch.equal(got, expected)


@every_function
def test_float32_is_computed_in_float64(name: str) -> None:
    model = robot("quadruped")
    x = [y.float() for y in tensors(name, model, 1, (2,))]
    if name != "normalize":  # in float32 as near to 1 as the package wants it
        x[0] = dtau.torch.normalize(model, x[0])
    f = function(name, model)
    for got, expected in zip(each(f(*x)), each(f(*(y.double() for y in x))), strict=True):
        assert got.dtype == torch.float32
        assert torch.equal(got, expected.float())
    x = leaves(x)
    sum(result.sum() for result in each(f(*x))).backward()
    assert all(y.grad.dtype == torch.float32 for y in x)


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


@on_robots
def test_derivatives_of_dynamics_are_those_of_the_package(which: str) -> None:
    model = robot(which)
    for name, by_name in (("inverse_dynamics", "tau"), ("forward_dynamics", "a")):
        x = arrays(name, model, 5, (2,))
        T = dtau.tangent_map(model, x[0]).to_tangent
        d = getattr(dtau, f"{name}_derivatives")(model, *x, f_ext_axes=AXES)
        by_wrenches = getattr(dtau, f"{name}_wrench_derivatives")(model, x[0], f_ext_axes=AXES)
        expected = (d[0] @ T, d[1], d[2], by_wrenches)
        given = [torch.from_numpy(y) for y in x]
        f = function(name, model)
        for mode in (jacrev, jacfwd):
            J = vmap(mode(f, argnums=(0, 1, 2, 3)))(*given)
            for got, block in zip(J, expected, strict=True):
                near(got, block, FIRST)
        lam = np.random.default_rng(1).standard_normal((2, model.nv))
        given = leaves(given)
        f(*given).backward(torch.from_numpy(lam))
        for got, block in zip(given, expected, strict=True):
            rows = block.reshape(2, model.nv, -1)
            near(got.grad, (lam[:, None] @ rows).reshape(got.shape), FIRST)
        assert by_name in d._fields[0]


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "rk4"])
@pytest.mark.parametrize("which", ["panda", "every joint"])
def test_a_step_is_linearized_as_by_the_package(which: str, integrator: Any) -> None:
    model = robot(which)
    q, v, tau, dt, f_ext = tensors("step", model, 2)
    x = tuple(y.numpy() for y in (q, v, tau, dt))
    lin = dtau.linearize_discrete(model, *x, integrator, f_ext.numpy(), f_ext_axes=AXES)
    f = function("step", model, integrator=integrator)
    q_by, v_by = jacrev(f, argnums=(0, 1, 2))(q, v, tau, dt, f_ext)
    T = dtau.tangent_map(model, q.numpy()).to_tangent
    back = dtau.tangent_map(model, lin.q).to_tangent
    nv = model.nv
    near(back @ q_by[0].numpy(), lin.A[:nv, :nv] @ T, 1e-11)
    near(back @ q_by[1].numpy(), lin.A[:nv, nv:], 1e-11)
    near(back @ q_by[2].numpy(), lin.B[:nv], 1e-11)
    near(v_by[0], lin.A[nv:, :nv] @ T, 1e-11)
    near(v_by[1], lin.A[nv:, nv:], 1e-11)
    near(v_by[2], lin.B[nv:], 1e-11)


@every_function
@pytest.mark.parametrize("which", ["every joint", "joints that mimic others"])
def test_gradients_taken_once_are_those_that_go_on(which: str, name: str) -> None:
    """Products of the core against blocks and compositions; theirs have the bits of lone ones."""
    model = robot(which)
    f, x = function(name, model), tensors(name, model, 4, (3,))
    if len(x) > 1:
        x[1] = x[1][:1]
    given = leaves(x)
    results = each(f(*given))
    lam = [torch.randn_like(result) for result in results]
    once = torch.autograd.grad(results, given, lam, retain_graph=True)
    again = torch.autograd.grad(results, given, lam, create_graph=True)
    for got, expected in zip(once, again, strict=True):
        assert expected.requires_grad
        near(got, expected.detach(), 1e-11)
    alone = leaves([y[min(2, len(y) - 1)] for y in x])
    by = torch.autograd.grad(each(f(*alone)), alone, [g[2] for g in lam])
    for got, whole, y in zip(by, once, x, strict=True):
        if len(y) == 3:
            near(got, whole[2], 1e-13)
            assert name not in PULLBACKS or name == "step" or torch.equal(got, whole[2])


# ------------------------------------------------------------------ second derivatives


@on_robots
def test_second_derivatives_are_those_of_the_package(which: str) -> None:
    """By xi of q (+) xi and by v, at xi = 0: there the package's, symmetric in one joint."""
    model = robot(which)
    zero = torch.zeros(model.nv, dtype=torch.float64)
    for name in ("inverse_dynamics", "forward_dynamics"):
        q, v, x, f_ext = tensors(name, model, 6)
        f = function(name, model)
        second = getattr(dtau, f"{name}_second_derivatives")(
            model, *(y.numpy() for y in (q, v, x, f_ext)), symmetric=True, f_ext_axes=AXES
        )

        def of(
            xi: Any, v: Any, x: Any, f: Callable[..., Any] = f, q: Any = q, f_ext: Any = f_ext
        ) -> Any:
            return f(dtau.torch.integrate(model, q, xi), v, x, f_ext)

        for outer, inner in NESTED if which == "panda" else NESTED[:1]:
            H = outer(inner(of, argnums=(0, 1, 2)), argnums=(0, 1))(zero, v, x)
            near(H[0][0], second[0], SECOND)
            near(H[0][1], second[1], SECOND)
            near(H[1][1], second[2], SECOND)
            near(H[2][0], second[3], SECOND)


def test_forward_mode_over_forward_mode() -> None:
    """Which PyTorch switches off inside a function's own rule, so that zeros came."""
    model = robot("every joint")
    q, v, a, f_ext = tensors("inverse_dynamics", model)
    f = function("inverse_dynamics", model)

    def along(u: Any) -> Any:
        return jvp(lambda u: f(q, u, a, f_ext), (u,), (a,))[1]

    d2 = dtau.inverse_dynamics_second_derivatives(model, *(x.numpy() for x in (q, v, a))).d2tau_dvdv
    near(jvp(along, (v,), (v,))[1], np.einsum("ijk,j,k->i", d2, a, v), SECOND)


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


def test_checks_of_pytorch_number_by_number() -> None:
    model = serial("spherical", "revolute").model()
    f, x = function("inverse_dynamics", model), leaves(tensors("inverse_dynamics", model, 7))
    assert gradcheck(f, x, check_forward_ad=True)
    assert gradgradcheck(f, x, check_fwd_over_rev=True, check_rev_over_rev=True)


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


def test_dual_numbers() -> None:
    model = robot("quadruped")
    q, v, a, f_ext = tensors("inverse_dynamics", model)
    d = dtau.inverse_dynamics_derivatives(
        model, *(x.numpy() for x in (q, v, a, f_ext)), f_ext_axes=AXES
    )
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(v, a)
        tau = function("inverse_dynamics", model)(q, dual, a, f_ext)
        near(forward_ad.unpack_dual(tau).tangent, d.dtau_dv @ a.numpy(), FIRST)


def test_a_third_derivative_says_that_there_is_none() -> None:
    model = robot("few joints")
    q, v, a, _ = tensors("inverse_dynamics", model)

    def f(v: Any) -> Any:
        return dtau.torch.inverse_dynamics(model, q, v, a)

    for mode in (jacrev, jacfwd):
        with pytest.raises(NotImplementedError, match="first and second derivatives, and no third"):
            mode(jacrev(jacrev(f)))(v)
