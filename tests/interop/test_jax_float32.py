"""`dtau.jax` in float32: types of results, and programs without `jax_enable_x64`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import adapter_cases  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from adapter_cases import robot  # noqa: E402
from cases import random_state  # noqa: E402
from jax_cases import enable_x64, near  # noqa: E402
from processes import python  # noqa: E402

import dtau  # noqa: E402
import dtau.jax  # noqa: E402

FIRST, SECOND = 3e-6, 3e-5  # of the largest element: some tens of roundings to float32


def singles(name: str, model: dtau.Model, shape: tuple[int, ...] = ()) -> list[Any]:
    return [x.astype(np.float32) for x in adapter_cases.arrays(name, model, 3, shape)]


def in_both(function: Any, *x: Any) -> tuple[list[Any], list[Any]]:
    """The results without x64 and with it, of the same float32 arrays."""
    found = []
    for wide in (False, True):
        jax.clear_caches()  # JAX 0.10 indexes with arrays that it keeps from the other mode
        with enable_x64(wide):
            found.append(jax.tree.leaves(jax.jit(function)(*x)))
    assert all(y.dtype == np.float32 for y in found[0])
    return found[0], found[1]


@pytest.mark.parametrize("name", ["forward_dynamics", "integrate"])
def test_forward_mode_without_x64(name: str) -> None:
    model = robot("free, spherical, planar")
    function, x = adapter_cases.function(name, model, dtau.jax), singles(name, model)
    for got, want in zip(*in_both(jax.jacfwd(function), *x), strict=True):
        near(got, want, FIRST)


@pytest.mark.parametrize("name", ["forward_dynamics", "mass_matrix"])
def test_second_derivatives_without_x64(name: str) -> None:
    model = robot("small")
    function, x = adapter_cases.function(name, model, dtau.jax), singles(name, model)

    def weighed(q: Any) -> Any:
        return sum(jnp.sum(jnp.sin(y)) for y in jax.tree.leaves(function(q, *x[1:])))

    for got, want in zip(*in_both(jax.hessian(weighed), x[0]), strict=True):
        near(got, want, SECOND)


def test_products_in_a_scan_without_x64() -> None:
    model = robot("small")
    q, v, tau = (random_state(model, 1)[key].astype(np.float32) for key in ("q", "v", "tau"))

    def end(tau: Any) -> Any:
        def move(state: Any, _: Any) -> Any:
            return tuple(dtau.jax.step(model, *state, tau, 1e-2)), None

        return jnp.sum(jax.lax.scan(move, (q, v), length=5)[0][1])

    for got, want in zip(*in_both(jax.grad(end), tau), strict=True):
        near(got, want, FIRST)


@pytest.mark.parametrize(
    ("types", "narrow", "wide"),
    [
        (("float64", "float64"), "float32", "float64"),
        (("float32", "float64"), "float32", "float64"),
        (("float32", "float32"), "float32", "float32"),
        (("float32", "int32"), "float32", "float32"),
        (("float32", "bfloat16"), "float32", "float32"),
        (("bfloat16", "int32"), "bfloat16", "bfloat16"),
        (("bfloat16", "float16"), "float32", "float32"),
        (("int32", "int32"), "float32", "float64"),
        (("bool", "int8"), "float32", "float64"),
    ],
)
def test_types_are_promoted_as_by_jax(types: tuple[str, str], narrow: str, wide: str) -> None:
    model = dtau.robots.chain(3)
    q, v = (np.ones(3, jnp.dtype(x)) for x in types)
    for x64, expected in ((False, narrow), (True, wide)):
        with enable_x64(x64):
            assert dtau.jax.bias_torque(model, q, v).dtype == expected
            assert jax.jit(lambda q, v: dtau.jax.bias_torque(model, q, v))(q, v).dtype == expected
            assert (1.0 * jnp.asarray(q) + jnp.asarray(v)).dtype == expected


def test_plain_numbers_do_not_widen_results() -> None:
    model = robot("small")
    x = [y.astype(np.float32) for y in singles("forward_dynamics", model)[:3]]
    step = jax.jit(lambda q, v, tau, dt: dtau.jax.step(model, q, v, tau, dt).v)
    for dt in (0.01, 1, jnp.float32(0.01)):
        assert dtau.jax.step(model, *x, dt).v.dtype == jnp.float32
        assert step(*x, dt).dtype == jnp.float32
    assert step(*x, np.float64(0.01)).dtype == jnp.float64
    a = dtau.jax.forward_dynamics(model, *x)
    doubles = [y.astype(np.float64) for y in x]  # computed in float64
    assert np.array_equal(a, dtau.jax.forward_dynamics(model, *doubles).astype(jnp.float32))
    assert dtau.jax.forward_dynamics(model, x[0], *doubles[1:]).dtype == jnp.float64


def test_empty_batches_without_x64() -> None:
    model = robot("small")
    with enable_x64(False):
        q = jnp.zeros((0, model.nq))
        assert dtau.jax.gravity_torque(model, q).shape == (0, model.nv)


@pytest.mark.jit
def test_exported_programs_without_x64(tmp_path: Path) -> None:
    """JAX's refusal tells what to pass; with it, another process runs value and gradient."""
    pytest.importorskip("flatbuffers")
    pytest.importorskip("jax.export")  # of JAX 0.6.1 only where absl is
    program = """
import sys, pathlib, jax, jax.export, numpy as np, dtau, dtau.jax
model = dtau.robots.quadruped()
q = dtau.neutral(model).astype(np.float32)
height = lambda q: dtau.jax.inverse_dynamics(model, q, np.zeros(18), np.ones(18)).sum()
file = pathlib.Path(sys.argv[1])
"""
    write = """
try:
    jax.export.export(jax.jit(height))(q)
except ValueError as error:
    assert "pass disabled_checks=[jax.export.DisabledSafetyCheck.custom_call(" in str(error)
check = jax.export.DisabledSafetyCheck.custom_call("dtau_call")
exported = jax.export.export(jax.jit(height), disabled_checks=[check])(q)
file.write_bytes(exported.serialize(vjp_order=1))
"""
    read = """
call = jax.export.deserialize(bytearray(file.read_bytes())).call
value, gradient = jax.value_and_grad(height)(q)
assert value == call(q) and gradient.dtype == np.float32
assert np.allclose(jax.grad(call)(q), gradient, rtol=1e-5, atol=1e-4)
print("the same")
"""
    for code, printed in ((write, ""), (read, "the same\n")):
        done = python(program + code, tmp_path / "program", flags="-W error")
        assert (done.stdout, done.stderr) == (printed, "")
