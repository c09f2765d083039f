"""Time derivatives of the dynamics in JAX, PyTorch and CasADi: stacks, their errors, zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from adapter_cases import AXES, arrays, robot
from trees import Array

import dtau

INVERSE, FORWARD = "inverse_dynamics_time_derivatives", "forward_dynamics_time_derivatives"


@pytest.mark.parametrize("name", [INVERSE, FORWARD])
def test_in_casadi_no_order_depends_on_rows_of_higher_orders(name: str) -> None:
    """Values have the bits of the package; Jacobians have the zeros."""
    ca = pytest.importorskip("casadi")
    from through_casadi import dense, symbols

    import dtau.casadi as dc

    model = robot("few joints with mimics")
    x = arrays(name, model, 3)
    rows = [y.reshape(-1, y.shape[-1]) if y.ndim > 1 else y for y in x]
    s = symbols(tuple(rows))
    y = getattr(dc, name)(model, *s, f_ext_axes=AXES)
    want = getattr(dtau, name)(model, *x, f_ext_axes=AXES)
    assert np.array_equal(dense(ca.Function("f", s, [y])(*rows)), want)
    J = ca.jacobian(y, s[-2])
    assert J.nnz() < 0.8 * J.numel()


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
