"""Contacts, loops and impacts in `dtau.jax`, `dtau.torch` and `dtau.casadi`."""

from __future__ import annotations

import ctypes
import gc
import importlib
import weakref
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from adapter_cases import AXES, near
from cases import random_state, robot
from messages import has_words, message
from trees import Array

import dtau
from dtau import _core

FIRST, SECOND = 1e-12, 1e-10
NAMES = ["jax", "torch", "casadi"]


class Case(NamedTuple):
    """A robot with contacts, at one state, or at several with masks."""

    model: dtau.Model
    contacts: dtau.Contacts
    regularization: float = 0.0


@cache
def case(name: str) -> Case:
    """Points with gains and a loop of two feet; a loop alone; rows that depend on each other."""
    if name == "four-bar":
        model, contacts, _ = dtau.robots.four_bar(kp=9.0, kd=6.0)
        return Case(model, contacts)
    model, feet = robot("quadruped"), dtau.robots.QUADRUPED_FEET
    if name == "feet":
        held: list[Any] = [
            dtau.PointContact(feet[0], kp=40.0, kd=8.0),
            dtau.PointContact(feet[1], axes="mixed", kd=2.0),
            dtau.Loop(feet[2], feet[3], 5, "y", kp=30.0, kd=9.0),
        ]
        return Case(model, dtau.Contacts(model, held, at=dtau.neutral(model)))
    twice = [dtau.PointContact(feet[0], kd=2.0, name=f"foot {k}") for k in range(2)]
    return Case(model, dtau.Contacts(model, twice), 1e-5)


on_cases = pytest.mark.parametrize("which", ["feet", "four-bar"])


class Library(NamedTuple):
    """How the tests use an adapter: on NumPy's arrays, for one state."""

    module: Any
    values: Callable[..., list[Array]]
    jacobians: Callable[..., list[list[Array]]]  # of each result by each input
    hessian: Callable[..., Array]  # of a weighted sum of the results, by all inputs


def weighted(results: Sequence[Any], weights: Sequence[Array], dot: Any) -> Any:
    total = 0.0
    for x, w in zip(results, weights, strict=True):
        total = total + dot(x, w)
    return total


def _jax() -> Library:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_disable_most_optimizations", True)  # most of the time is compilation

    def values(f: Any, *x: Array) -> list[Array]:
        return [np.asarray(y) for y in jax.jit(lambda *x: tuple(f(*x)))(*x)]

    def jacobians(f: Any, *x: Array) -> list[list[Array]]:
        found = jax.jit(jax.jacrev(lambda *x: tuple(f(*x)), argnums=tuple(range(len(x)))))(*x)
        return [[np.asarray(block) for block in row] for row in found]

    def hessian(f: Any, weights: Any, *x: Array) -> Array:
        sizes = np.cumsum([y.size for y in x])[:-1]

        def of(z: Any) -> Any:
            return weighted(f(*jnp.split(z, sizes)), weights, jnp.vdot)

        return np.asarray(jax.jit(jax.hessian(of))(np.concatenate(x)))

    return Library(importlib.import_module("dtau.jax"), values, jacobians, hessian)


def _torch() -> Library:
    import torch

    def tensors(x: Sequence[Array]) -> list[Any]:
        return [torch.from_numpy(np.array(y)) for y in x]

    def values(f: Any, *x: Array) -> list[Array]:
        return [y.numpy() for y in f(*tensors(x))]

    def jacobians(f: Any, *x: Array) -> list[list[Array]]:
        mode = torch.func.jacrev(lambda *x: tuple(f(*x)), argnums=tuple(range(len(x))))
        return [[block.numpy() for block in row] for row in mode(*tensors(x))]

    def hessian(f: Any, weights: Any, *x: Array) -> Array:
        sizes = [y.size for y in x]

        def of(z: Any) -> Any:
            return weighted(f(*torch.split(z, sizes)), tensors(weights), torch.dot)

        (z,) = tensors([np.concatenate(x)])
        return torch.func.jacrev(torch.func.grad(of))(z).numpy()  # type: ignore[no-any-return]

    return Library(importlib.import_module("dtau.torch"), values, jacobians, hessian)


def _casadi() -> Library:
    import casadi as ca

    def dense(x: Any) -> Array:
        return np.array(ca.densify(ca.DM(x)))

    def made(x: Sequence[Array], of: Callable[..., list[Any]]) -> list[Array]:
        s = [ca.MX.sym(f"x{k}", *np.shape(y)) for k, y in enumerate(x)]
        f = ca.Function("f", s, of(s))
        return [dense(y) for y in f.call([ca.DM(np.array(y, float)) for y in x])]

    def values(f: Any, *x: Array) -> list[Array]:
        return [y[:, 0] for y in made(x, lambda s: list(f(*s)))]

    def jacobians(f: Any, *x: Array) -> list[list[Array]]:
        flat = made(x, lambda s: [ca.jacobian(y, z) for y in f(*s) for z in s])
        rows = [flat[k : k + len(x)] for k in range(0, len(flat), len(x))]
        for row in rows:  # the numbers of a matrix are counted column by column
            for k, y in enumerate(x):
                if y.ndim == 2:
                    columns = row[k].reshape(-1, *y.shape[::-1])
                    row[k] = columns.transpose(0, 2, 1)
        return rows

    def hessian(f: Any, weights: Any, *x: Array) -> Array:
        sizes = np.cumsum([0, *(y.size for y in x)]).tolist()

        def of(s: Any) -> Any:
            results = f(*ca.vertsplit(s[0], sizes))
            return [ca.hessian(weighted(results, [ca.DM(w) for w in weights], ca.dot), s[0])[0]]

        return made([np.concatenate(x)], of)[0]

    return Library(importlib.import_module("dtau.casadi"), values, jacobians, hessian)


@pytest.fixture(params=NAMES)
def library(request: pytest.FixtureRequest) -> Library:
    pytest.importorskip(request.param)
    return {"jax": _jax, "torch": _torch, "casadi": _casadi}[request.param]()


def state(model: dtau.Model, contacts: dtau.Contacts) -> Any:
    s = random_state(model, 3)
    mask = np.ones(len(contacts))
    mask[1:2] = 0.0
    return s["q"], s["v"], s["tau"], s["f_ext"], mask


# ------------------------------------------------------------------ values and derivatives


@pytest.mark.parametrize("which", ["feet", "four-bar", "twice"])
def test_constrained_dynamics(library: Library, which: str) -> None:
    """Values and Jacobians are the package's, by q times the tangent map."""
    model, contacts, regularization = case(which)
    q, v, tau, f_ext, active = state(model, contacts)
    options = {"regularization": regularization, "f_ext_axes": AXES}

    def of(module: Any) -> Callable[..., Any]:
        return lambda q, v, tau, f_ext: module.constrained_dynamics(
            model, q, v, tau, contacts, f_ext, active=mask, **options
        )

    mask = active
    want = of(dtau)(q, v, tau, f_ext)
    d = dtau.constrained_dynamics_derivatives(
        model, q, v, tau, contacts, f_ext, active=active, **options
    )
    if library.module.__name__ == "dtau.torch":
        mask = importlib.import_module("torch").from_numpy(active > 0.5)
    a, forces, residual = library.values(of(library.module), q, v, tau, f_ext)
    near(a, want.a, FIRST)
    near(forces, want.forces, FIRST)
    assert np.abs(residual - want.residual).max() <= FIRST * np.abs(want.a).max()
    T = dtau.tangent_map(model, q).to_tangent
    spared = dtau.inverse_dynamics_wrench_derivatives(model, q, f_ext_axes=AXES)
    found = library.jacobians(of(library.module), q, v, tau, f_ext)
    for row, by_q, by_v, by_tau in ((found[0], *d[:3]), (found[1], *d[3:6])):
        by_wrench = -np.einsum("ij,jbc->ibc", by_tau, spared)
        for got, x in zip(row, (by_q @ T, by_v, by_tau, by_wrench), strict=True):
            near(got, x, 1e-11)
    assert not any(block.any() for block in found[2])  # of the residual


@on_cases
def test_hessians_of_constrained_dynamics(library: Library, which: str) -> None:
    """By xi of q (+) xi, v and tau: the package's, symmetric in one joint."""
    model, contacts, regularization = case(which)
    q, v, tau, f_ext, _ = state(model, contacts)
    rng = np.random.default_rng(2)
    lam, lam_forces = rng.standard_normal(model.nv), rng.standard_normal(contacts.nrows)
    options = {"regularization": regularization}
    h = dtau.constrained_dynamics_hessian(
        model, q, v, tau, lam, lam_forces, contacts, f_ext, symmetric=True, **options
    )
    zero = np.zeros((model.nv, model.nv))
    want = np.block(
        [[h.dqdq, h.dqdv, h.dtaudq.T], [h.dqdv.T, h.dvdv, zero], [h.dtaudq, zero, zero]]
    )
    module, wrenches = library.module, f_ext
    if module.__name__ == "dtau.torch":
        torch = importlib.import_module("torch")
        q, wrenches = torch.from_numpy(q), torch.from_numpy(f_ext)

    def of(xi: Any, v: Any, tau: Any) -> Any:
        moved = module.integrate(model, q, xi)
        return module.constrained_dynamics(model, moved, v, tau, contacts, wrenches, **options)[:2]

    near(library.hessian(of, (lam, lam_forces), np.zeros(model.nv), v, tau), want, SECOND)


@on_cases
def test_impulse_dynamics(library: Library, which: str) -> None:
    """Values, Jacobians by q, v and restitution, and Hessians by xi and v."""
    model, contacts, regularization = case(which)
    q, v, *_ = state(model, contacts)
    options: dict[str, Any] = {"regularization": regularization}
    e = np.array([0.3])

    def of(q: Any, v: Any, e: Any, module: Any = library.module) -> Any:
        return module.impulse_dynamics(model, q, v, contacts, e[0], **options)

    want = of(q, v, e, dtau)
    for got, x in zip(library.values(of, q, v, e), want, strict=True):
        near(got, x, FIRST)
    d = dtau.impulse_dynamics_derivatives(model, q, v, contacts, e[0], **options)
    T = dtau.tangent_map(model, q).to_tangent
    more, less = (of(q, v, [x], dtau) for x in (1.0, 0.0))
    found = library.jacobians(of, q, v, e)
    for row, by_q, by_v, one, none in zip(found, d[::2], d[1::2], more, less, strict=True):
        blocks = (by_q @ T, by_v, (one - none)[:, None])
        for got, x in zip(row, blocks, strict=True):
            near(got, x, 1e-11)
    rng = np.random.default_rng(2)
    lam, lam_impulses = rng.standard_normal(model.nv), rng.standard_normal(contacts.nrows)
    given = (model, q, v, lam, lam_impulses, contacts, e[0])
    h = dtau.impulse_dynamics_hessian(*given, symmetric=True, **options)
    start = importlib.import_module("torch").from_numpy(q) if "torch" in str(library.module) else q

    def moved(xi: Any, v: Any) -> Any:
        return of(library.module.integrate(model, start, xi), v, e)

    whole = np.block([[h.dqdq, h.dqdv], [h.dqdv.T, np.zeros((model.nv, model.nv))]])
    near(library.hessian(moved, (lam, lam_impulses), np.zeros(model.nv), v), whole, SECOND)


@pytest.mark.parametrize(
    ("which", "integrator"),
    [
        ("feet", "semi_implicit"),
        pytest.param("four-bar", "rk4", marks=pytest.mark.jit),
        ("twice", "euler"),
    ],
)
def test_steps_with_contacts(library: Library, which: str, integrator: Any) -> None:
    """In the charts of the states before and after: the package's linearization and Hessian."""
    model, contacts, regularization = case(which)
    q, v, tau, *_ = state(model, contacts)
    n, options = model.nv, {"contacts": contacts, "regularization": regularization}
    lin = dtau.linearize_discrete(
        model, q, v, tau, 0.01, integrator, inputs=np.ones(n, bool), **options
    )
    module, start, end = library.module, q, lin.q
    if module.__name__ == "dtau.torch":
        torch = importlib.import_module("torch")
        start, end = torch.from_numpy(q), torch.from_numpy(end)

    def of(xi: Any, v: Any, tau: Any) -> Any:
        moved = module.integrate(model, start, xi)
        after = module.step(model, moved, v, tau, 0.01, integrator, **options)
        return module.difference(model, end, after.q), after.v

    zero = np.zeros(n)
    near(library.values(of, zero, v, tau)[1], lin.v, FIRST)
    found = np.block(library.jacobians(of, zero, v, tau))
    near(found, np.hstack([lin.A, lin.B]), 1e-10)
    weights = np.split(np.random.default_rng(2).standard_normal(2 * n), 2)
    h = dtau.step_hessian(
        model, q, v, tau, 0.01, *weights, integrator, inputs=np.ones(n, bool), **options
    )
    near(library.hessian(of, weights, zero, v, tau), h, SECOND)


# ------------------------------------------------------------------ batches


def test_batches_of_jax_have_the_bits_of_the_package() -> None:
    jax = pytest.importorskip("jax")
    module, (model, contacts, _) = _jax().module, case("feet")
    s = random_state(model, 5, (3, 4))
    active = np.random.default_rng(1).integers(0, 2, (4, 3)).astype(bool)
    for dynamics in (True, False):

        def of(q: Any, v: Any, tau: Any, active: Any, m: Any, dynamics: bool = dynamics) -> Any:
            if dynamics:
                return m.constrained_dynamics(model, q, v, tau, contacts, active=active)
            return m.step(model, q, v, tau, 0.01, "rk4", contacts=contacts, active=active)

        x = s["q"], s["v"][:, :1], s["tau"], active
        want = of(*x, dtau)
        got = jax.jit(lambda *x: of(*x, module))(*x)
        mapped = jax.jit(jax.vmap(lambda *x: of(*x, module), (1, None, 1, 0), 1))
        for one, two, expected in zip(got, mapped(x[0], x[1][:, 0], *x[2:]), want, strict=True):
            assert np.array_equal(one, expected)
            assert np.array_equal(two, expected)


@pytest.mark.parametrize("name", ["constrained_dynamics", "step"])
def test_products_of_jax_are_the_gradients_without_them(name: str) -> None:
    jax = pytest.importorskip("jax")
    module, (model, contacts, _) = _jax().module, case("feet")
    s = random_state(model, 9, (2, 3))
    x = s["q"][:, :1], s["v"], s["tau"], s["f_ext"][0, 0]
    active = np.array([[True, False, True], [True, True, True]])[:, None]

    def weighed(x: Any, products: bool) -> Any:
        q, v, tau, f_ext = x
        dt = () if name == "constrained_dynamics" else (0.01,)
        results = getattr(module, name)(
            *(model, q, v, tau, *dt),
            contacts=contacts,
            f_ext=f_ext,
            f_ext_axes=AXES,
            active=active,
            products=products,
        )
        return weighted(results[:2], [np.cos(np.arange(y.size)) for y in results[:2]], _vdot)

    gradient = jax.jit(jax.grad(weighed), static_argnums=1)
    for got, want in zip(gradient(x, True), gradient(x, False), strict=True):
        near(got, want, FIRST)


@pytest.mark.jit
@pytest.mark.parametrize("name", ["constrained_dynamics", "impulse_dynamics"])
def test_checks_of_jax(name: str) -> None:
    """First and second derivatives in both modes, against differences."""
    jax = pytest.importorskip("jax")
    from jax.test_util import check_grads

    module, (model, contacts, _) = _jax().module, case("four-bar")
    q, v, tau, *_ = state(model, contacts)
    x = (q, v, tau) if name == "constrained_dynamics" else (q, v)

    @jax.jit
    def of(*x: Any) -> Any:
        return getattr(module, name)(model, *x, contacts)[:2]

    check_grads(of, x, order=2, rtol=1e-4)


def _vdot(x: Any, w: Any) -> Any:
    return x.ravel() @ w


def test_batches_of_pytorch() -> None:
    """Bits of the package alone, mapped and compiled; gradients of all kinds agree."""
    torch = pytest.importorskip("torch")
    module, (model, contacts, _) = _torch().module, case("feet")
    s = random_state(model, 5, (4,))
    x = [torch.from_numpy(s[name]).requires_grad_() for name in ("q", "v", "tau")]
    active = torch.from_numpy(np.random.default_rng(1).integers(0, 2, (4, 3)) > 0)

    def of(q: Any, v: Any, tau: Any, active: Any, m: Any = module) -> Any:
        after = m.step(model, q, v, tau, 0.01, contacts=contacts, active=active)
        return *m.constrained_dynamics(model, q, v, tau, contacts, active=active)[:2], after.v

    results = of(*x, active)
    want = of(*(y.detach().numpy() for y in x), active.numpy(), dtau)
    mapped = torch.func.vmap(of)(*x, active)
    compiled = torch.compile(of, fullgraph=True, backend="eager")(*x, active)
    for one, two, three, expected in zip(results, mapped, compiled, want, strict=True):
        for got in (one, two, three):
            assert np.array_equal(got.detach(), expected)
    lam = [torch.randn_like(y) for y in results]
    once = torch.autograd.grad(results, x, lam, retain_graph=True)
    again = torch.autograd.grad(results, x, lam, create_graph=True)
    for got, expected in zip(once, again, strict=True):
        near(got, expected.detach(), 1e-11)


def test_columns_of_casadi_have_the_bits_of_lone_calls() -> None:
    ca = pytest.importorskip("casadi")
    module, (model, contacts, _) = _casadi().module, case("feet")
    s = random_state(model, 5, (6,))
    active = np.random.default_rng(1).integers(0, 2, (3, 6))
    x = s["q"].T, s["v"].T, s["tau"].T
    got = module.constrained_dynamics(model, *x, contacts, active=active)
    want = dtau.constrained_dynamics(
        model, s["q"], s["v"], s["tau"], contacts, active=active.T.astype(float)
    )
    for one, expected in zip(got, want, strict=True):
        assert np.array_equal(np.array(ca.densify(one)).T, expected)
    f = module.function(model, "constrained_dynamics", contacts=contacts).jacobian()
    inputs = [*map(ca.DM, x), *(ca.DM(f.sparsity_in(k), 0.0) for k in range(3, 6))]
    together = f.map(6, "thread", 3)(*inputs[:3], *(ca.repmat(y, 1, 6) for y in inputs[3:]))
    for k, y in enumerate(f(*(z[:, 2] for z in inputs[:3]), *inputs[3:])):
        columns = f.size2_out(k)
        one = together[k][:, 2 * columns : 3 * columns]
        assert np.array_equal(np.array(ca.densify(one)), np.array(ca.densify(y)))


@pytest.mark.parametrize("name", ["constrained_dynamics", "impulse_dynamics"])
def test_casadi_calls_keep_to_the_memory_that_they_ask_for(name: str) -> None:
    """With marks behind the memory and the results; the same bits for each result alone."""
    pytest.importorskip("casadi")
    from dtau.casadi.slots import constrained_function

    model, contacts, _ = case("feet")
    q, v, tau, _, active = state(model, contacts)
    f = constrained_function(model, name, contacts, active=True, regularization=0.0)
    given = [q, v, *([tau] if name == "constrained_dynamics" else []), active]
    library = ctypes.CDLL(_core.__file__)
    for prefix, derived in (
        ("", f),
        ("jac_", f.jacobian()),
        ("adj1_", f.reverse(1)),
        ("jac_adj1_", f.reverse(1).jacobian()),
        ("jac_jac_", f.jacobian().jacobian()),
    ):
        sizes = [ctypes.c_longlong() for _ in range(4)]
        getattr(library, f"{prefix}{f.name()}_work")(*map(ctypes.byref, sizes))
        work = np.full(sizes[3].value + 64, 7.25)
        ins = [*given, *(np.ones(derived.nnz_in(k)) for k in range(len(given), derived.n_in()))]
        whole = [np.full(derived.nnz_out(k) + 8, 7.25) for k in range(derived.n_out())]
        for asked in (range(derived.n_out()), *([k] for k in range(derived.n_out()))):
            outs = [x if k in asked and x.size > 8 else None for k, x in enumerate(whole)]
            before = [x.copy() for x in whole]
            call, memory = getattr(library, prefix + f.name()), ctypes.c_void_p(work.ctypes.data)
            assert call(addresses(ins), addresses(outs), None, memory, 0) == 0
            assert (work[-64:] == 7.25).all()
            for got, mark in zip(whole, before, strict=True):
                assert (got[-8:] == 7.25).all()
                assert len(asked) == len(whole) or np.array_equal(got, mark)


def addresses(arrays: Sequence[Array | None]) -> Any:
    found = [None if x is None or not x.size else x.ctypes.data for x in arrays]
    return (ctypes.c_void_p * len(found))(*found)


def test_casadi_knows_what_contacts_connect() -> None:
    """Trees that a loop connects depend on each other, and others do not."""
    pytest.importorskip("casadi")
    module, model = _casadi().module, robot("forest")
    first, last = model.bodies[0], model.bodies[-1]
    apart = dtau.Contacts(model, [dtau.PointContact(first), dtau.PointContact(last)])
    joined = dtau.Contacts(model, [dtau.Loop(first, last, 3)])
    entries = [
        module.function(model, "constrained_dynamics", contacts=x, regularization=1e-6)
        .jacobian()
        .sparsity_out(1)
        .nnz()
        for x in (apart, joined)
    ]
    assert entries[0] < entries[1] <= model.nv**2


# ------------------------------------------------------------------ lifetimes and errors


@pytest.mark.parametrize("name", ["torch", "casadi"])
def test_contacts_are_let_go(name: str) -> None:
    """As soon as neither the caller nor a graph holds them."""
    pytest.importorskip(name)
    library = {"torch": _torch, "casadi": _casadi}[name]()
    model = dtau.robots.quadruped()
    contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    q, v = dtau.neutral(model), np.zeros(model.nv)
    library.values(partial(library.module.constrained_dynamics, model, contacts=contacts), q, v, v)
    held = weakref.ref(contacts)
    del contacts
    gc.collect()
    assert held() is None


def test_a_graph_of_pytorch_keeps_its_contacts() -> None:
    torch = pytest.importorskip("torch")
    model, module = dtau.robots.quadruped(), _torch().module
    q, v = torch.from_numpy(dtau.neutral(model)), torch.zeros(model.nv, dtype=torch.float64)
    v.requires_grad_()
    held = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    a = module.constrained_dynamics(model, q, v, v, held).a
    numbers = q.numpy(), v.detach().numpy(), v.detach().numpy()
    d = dtau.constrained_dynamics_derivatives(model, *numbers, held)
    del held, model
    gc.collect()
    a.sum().backward()
    near(v.grad, (d.da_dv + d.da_dtau).sum(axis=0), FIRST)


def test_contacts_that_do_not_fit(library: Library) -> None:
    module, (model, contacts, _) = library.module, case("feet")
    other = dtau.robots.chain(3)
    q, v = dtau.neutral(model), np.zeros(model.nv)
    if module.__name__ == "dtau.torch":
        q, v = map(importlib.import_module("torch").from_numpy, (q, v))
    dynamics, step = module.constrained_dynamics, module.step
    elsewhere = dtau.Contacts(other, [dtau.PointContact(other.bodies[-1])])
    say = message(ValueError, dynamics, model, q, v, v, elsewhere)
    has_words(say, "contacts: expected those of this model")
    has_words(
        message(ValueError, step, model, q, v, v, 0.1, active=v), "active: goes with contacts"
    )
    for wrong in (None, [dtau.PointContact("LF_FOOT")]):
        has_words(message(TypeError, dynamics, model, q, v, v, wrong), "contacts: expected")
    has_words(message(ValueError, dynamics, model, q, v, v, contacts, active=v), "active: expected")
    say = message(ValueError, dynamics, model, q, v, v, contacts, regularization=-1.0)
    has_words(say, "regularization: expected")


def test_a_third_derivative_is_refused() -> None:
    jax = pytest.importorskip("jax")
    module, (model, contacts, _) = _jax().module, case("four-bar")
    q, v = dtau.neutral(model), np.zeros(model.nv)

    def of(q: Any) -> Any:
        return module.constrained_dynamics(model, q, v, v, contacts).a[0]

    with pytest.raises(NotImplementedError, match=r"constrained_dynamics, and .* second order"):
        jax.jacfwd(jax.jacfwd(jax.grad(of)))(q)


def test_rows_that_depend_on_each_other_give_nan_in_jax() -> None:
    pytest.importorskip("jax")
    module, (model, contacts, _) = _jax().module, case("twice")
    q, v = dtau.neutral(model), np.zeros(model.nv)
    assert np.isnan(module.constrained_dynamics(model, q, v, v, contacts).forces).any()
