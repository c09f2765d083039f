"""Time derivatives of the dynamics in JAX, PyTorch and CasADi: Jacobians, stacks and their errors.

The tests that are the same for all functions (bits of values, float32, `gradcheck`) have them too.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from adapter_cases import ARGUMENTS, AXES, arrays, function, near, robot
from trees import Array

import dtau

INVERSE, FORWARD = "inverse_dynamics_time_derivatives", "forward_dynamics_time_derivatives"
FIRST = 1e-12
on_cases = pytest.mark.parametrize(
    ("which", "name"),
    [
        ("every joint", INVERSE),
        ("few joints", FORWARD),
        ("few joints with mimics", INVERSE),
        ("few joints with mimics", FORWARD),
    ],
)


def blocks(name: str, model: dtau.Model, x: list[Array]) -> list[Array]:
    """The Jacobians by every input: axes of the result, then those of the input."""
    by_q, *between, by_stack = getattr(dtau, f"{name}_derivatives")(model, *x, f_ext_axes=AXES)
    units = np.eye(x[-1].size).reshape(-1, *x[-1].shape)
    given = dict(zip(ARGUMENTS[name], x, strict=True))
    still = {f"d{key}": np.zeros_like(y) for key, y in given.items() if key != "q"}
    still |= {"dq": np.zeros(model.nv), "df_ext_derivatives": units}
    by_wrench = getattr(dtau, f"{name}_jvp")(model, **given, **still, f_ext_axes=AXES)
    return [
        by_q @ dtau.tangent_map(model, x[0]).to_tangent,
        *between,
        np.moveaxis(by_stack, -3, -2),
        np.moveaxis(by_wrench, 0, -1).reshape(*by_q.shape[:2], *x[-1].shape),
    ]


@pytest.mark.jit
@on_cases
def test_jacobians_in_jax(which: str, name: str) -> None:
    """Forward and reverse mode, the core's products, and a batch mapped by vmap."""
    jax = pytest.importorskip("jax")
    import jax_cases  # noqa: F401  (float64)

    import dtau.jax

    model = robot(which)
    x = arrays(name, model, 3, (2,))
    every = tuple(range(len(x)))
    f = function(name, model, dtau.jax)
    by_products = jax.jacrev(function(name, model, dtau.jax, products=True), argnums=every)
    ways = [jax.vmap(way(f, argnums=every)) for way in (jax.jacfwd, jax.jacrev)]
    ways.append(lambda *x: jax.vmap(by_products)(*x))
    found = jax.jit(lambda *x: [way(*x) for way in ways])(*x)
    for state in range(2):
        want = blocks(name, model, [y[state] for y in x])
        for way in found:
            for got, expected in zip(way, want, strict=True):
                near(got[state], expected, 1e-11)


@on_cases
def test_jacobians_in_pytorch(which: str, name: str) -> None:
    """Forward and reverse mode, and gradients by the core's products."""
    torch = pytest.importorskip("torch")
    import dtau.torch

    model = robot(which)
    x = arrays(name, model, 3)
    want = blocks(name, model, x)
    f, given = function(name, model, dtau.torch), [torch.from_numpy(y) for y in x]
    for mode in (torch.func.jacrev, torch.func.jacfwd):
        for got, expected in zip(mode(f, argnums=tuple(range(len(x))))(*given), want, strict=True):
            near(got, expected, FIRST)
    leaves = [y.clone().requires_grad_() for y in given]
    lam = np.random.default_rng(1).standard_normal(want[0].shape[:2])
    f(*leaves).backward(torch.from_numpy(lam))
    for got, expected in zip(leaves, want, strict=True):
        near(got.grad, np.einsum("ki,ki...->...", lam, expected), 1e-11)


@pytest.mark.parametrize("axes", [AXES, "world"])
@on_cases
def test_jacobians_in_casadi(which: str, name: str, axes: Any) -> None:
    """Whole, by products with covectors and directions, and with the zeros that the tree has."""
    ca = pytest.importorskip("casadi")
    from through_casadi import dense, symbols, vector

    import dtau.casadi as dc

    model = robot(which)
    x = arrays(name, model, 3)
    d = getattr(dtau, f"{name}_derivatives")(model, *x, f_ext_axes=axes)
    rows = [y.reshape(-1, y.shape[-1]) if y.ndim > 1 else y for y in x]
    s = symbols(tuple(rows))
    y = getattr(dc, name)(model, *s, f_ext_axes=axes)
    want = getattr(dtau, name)(model, *x, f_ext_axes=axes)
    assert np.array_equal(dense(ca.Function("f", s, [y])(*rows)), want)
    lam = np.random.default_rng(1).standard_normal(want.shape)
    *others, wrench = x
    by = getattr(dtau, f"{name}_vjp")(model, *others, lam, wrench, f_ext_axes=axes)
    gradients = [by[0] @ dtau.tangent_map(model, x[0]).to_tangent, *by[1:]]
    for k, gradient in enumerate(gradients):
        J = ca.Function("J", s, [ca.jacobian(y, s[k])])(*rows)
        size = float(np.abs(gradient).max())
        expected = vector(gradient.reshape(rows[k].shape)) / size
        near(vector(lam) @ dense(J) / size, expected, 1e-11)
        got = ca.Function("g", s, [ca.gradient(ca.dot(ca.DM(lam), y), s[k])])(*rows)
        near(vector(got) / size, expected, 1e-11)
        if rows[k].ndim == 2 and k == len(x) - 2:  # no order depends on rows of higher orders
            assert J.nnz() < 0.8 * J.numel()
            entries = np.moveaxis(d[-1], (0, 1, 2, 3), (1, 3, 0, 2))
            near(dense(J), entries.reshape(J.shape), FIRST)


on_kinematics = pytest.mark.parametrize(
    "name", ["frame_kinematics_time_derivatives", "frame_jacobians_time_derivatives"]
)


@on_kinematics
def test_kinematics_in_pytorch(name: str) -> None:
    """Values alone; the tests of JAX have JAX's."""
    torch = pytest.importorskip("torch")
    module, model = importlib.import_module("dtau.torch"), robot("few joints with mimics")
    x = arrays(name, model, 3, (2,))
    found = function(name, model, module)(*map(torch.from_numpy, x))
    for got, expected in zip(each(found), each(function(name, model, dtau)(*x)), strict=True):
        assert np.array_equal(got, expected)


@on_kinematics
def test_kinematics_in_casadi(name: str) -> None:
    """CasADi differentiates its own: along the motion, row 0 has the rate that row 1 is."""
    ca = pytest.importorskip("casadi")
    from through_casadi import dense

    module, model = importlib.import_module("dtau.casadi"), robot("few joints with mimics")
    q, v = arrays(name, model, 3)
    want = each(function(name, model, dtau)(q, v))
    f = function(name, model, module)
    for got, expected in zip(each(f(q, v)), want, strict=True):
        near(dense(got), expected.reshape(-1, expected.shape[-1]), FIRST)
    s = ca.SX.sym("q", model.nq)
    first = ca.densify(each(f(s, v))[0])
    along = dtau.tangent_map(model, q).from_tangent @ v[0]
    moved = ca.jtimes(ca.vec(first), s, ca.DM(along))
    rates = dense(ca.Function("f", [s], [ca.reshape(moved, *first.shape)])(q))
    rates = rates.reshape(want[0].shape)
    near(rates[0], want[0][1], FIRST)


def each(results: Any) -> tuple[Any, ...]:
    return tuple(results) if isinstance(results, tuple) else (results,)


# ------------------------------------------------------------------ stacks


def in_jax(model: dtau.Model, *x: Array, **options: Any) -> Any:
    pytest.importorskip("jax")
    import jax_cases  # noqa: F401  (float64)

    import dtau.jax

    return dtau.jax.inverse_dynamics_time_derivatives(model, *x, **options)


def in_torch(model: dtau.Model, *x: Array, **options: Any) -> Any:
    torch = pytest.importorskip("torch")
    import dtau.torch

    given = map(torch.from_numpy, x)
    return dtau.torch.inverse_dynamics_time_derivatives(model, *given, **options)


def in_casadi(model: dtau.Model, *x: Array, **options: Any) -> Any:
    pytest.importorskip("casadi")
    import dtau.casadi

    given = [y if y.ndim < 3 else y.reshape(-1, 6) for y in x]
    found = dtau.casadi.inverse_dynamics_time_derivatives(model, *given, **options)
    return found.full()


LIBRARIES = pytest.mark.parametrize("call", [in_jax, in_torch, in_casadi])


@LIBRARIES
def test_longer_stacks_serve_lower_orders(call: Callable[..., Any]) -> None:
    model = robot("small")
    x = arrays(INVERSE, model, 3)
    got = call(model, *x, order=1)
    assert np.array_equal(got, dtau.inverse_dynamics_time_derivatives(model, *x, order=1))


@LIBRARIES
@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (slice(1), {}, "v_derivatives has shape .* n = 2 or more"),
        (slice(3), {}, "f_ext_derivatives: expected"),  # wrenches have a row too many
        (slice(2), {"order": 1}, "v_derivatives: expected"),
        (slice(4), {"order": -1}, "order: expected an integer of 0 to 100, got -1"),
        ([0] * 30, {}, "at most 22 unless order= is given"),
    ],
)
def test_stacks_of_wrong_lengths(
    call: Callable[..., Any], rows: Any, options: dict[str, Any], message: str
) -> None:
    model = robot("small")
    q, v, f_ext = arrays(INVERSE, model, 3)
    with pytest.raises(ValueError, match=message):
        call(model, q, v[rows], f_ext, **options)


@pytest.mark.parametrize("call", [in_jax, in_torch])
def test_a_batch_in_place_of_a_stack(call: Callable[..., Any]) -> None:
    model = robot("small")
    q, v, _ = arrays(INVERSE, model, 3, (4,))
    with pytest.raises(ValueError, match=r"a batch of v has this shape, too.*v\[:, None\]"):
        call(model, q, v[:, 0])
    assert np.array_equal(
        call(model, q, v[0, :3][None]),
        dtau.inverse_dynamics_time_derivatives(model, q, v[0, :3][None]),
    )


@pytest.mark.parametrize("library", ["jax", "torch", "casadi"])
def test_a_second_derivative_does_not_exist(library: str) -> None:
    pytest.importorskip(library)
    module, model = importlib.import_module(f"dtau.{library}"), robot("small")
    x = arrays(FORWARD, model, 3)
    if library == "casadi":
        import casadi as ca

        q = ca.MX.sym("q", model.nq)
        y = module.forward_dynamics_time_derivatives(model, q, *x[1:3])
        with pytest.raises(RuntimeError, match="Derivatives cannot be calculated for adj1_dtau_fi"):
            ca.Function("f", [q], [ca.hessian(ca.sumsqr(y), q)[0]])(x[0])
        with pytest.raises(TypeError, match="order: expected an integer, got None"):
            module.function(model, FORWARD)
        return
    f = function(FORWARD, model, module)
    if library == "jax":
        import jax
        import jax_cases  # noqa: F401  (float64)

        outer, inner = jax.jacfwd, jax.jacrev
    else:
        import torch

        outer, inner = torch.func.jacrev, torch.func.jacrev
        x = [torch.from_numpy(y) for y in x]
    with pytest.raises(NotImplementedError, match=f"of {FORWARD}_derivatives|{FORWARD}_deriv.* no"):
        outer(inner(f))(*x)
