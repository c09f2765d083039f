"""The laws find faults: libraries whose functions are wrong in one way break them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import adapter_law_cases
import adapter_laws as laws
import numpy as np
import pytest
from adapter_law_cases import NAMED

import dtau

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
ca = pytest.importorskip("casadi")

import casadi_modes  # noqa: E402
import jax_modes  # noqa: E402
import torch_modes  # noqa: E402

import dtau.casadi  # noqa: E402
import dtau.jax  # noqa: E402
import dtau.torch  # noqa: E402

LIBRARIES = {
    "torch": (dtau.torch, torch_modes.MODES, lambda x: x.detach()),
    "jax": (dtau.jax, jax_modes.MODES, jax.lax.stop_gradient),
    "casadi": (dtau.casadi, casadi_modes.MODES, None),
}


def constant(x: Any, library: str) -> Any:
    """The same number without its derivative."""
    stop = LIBRARIES[library][2]
    if stop is not None:
        return stop(x)
    s = ca.MX.sym("s", *x.shape)
    return ca.Function("constant", [s], [s], {"is_diff_in": [False], "never_inline": True})(x)


def faulty(library: str, row: str, plant: Callable[..., Any]) -> ModuleType:
    """A library with one function that is planted: ``plant(of, library, *args, **options)``."""
    module = LIBRARIES[library][0]
    other = ModuleType(f"faulty_{library}")
    of = getattr(module, row)

    @functools.wraps(of)
    def planted(*args: Any, **options: Any) -> Any:
        return plant(of, library, *args, **options)

    vars(other).update({row: planted, "__all__": [row]})
    return other


def no_derivative_by_dt(of: Any, library: str, *args: Any, dt: Any, **options: Any) -> Any:
    return of(*args, dt=constant(dt, library), **options)


def other_sign_along_the_world(
    of: Any, library: str, *args: Any, f_ext: Any = None, f_ext_axes: Any, **options: Any
) -> Any:
    if f_ext is not None and f_ext_axes == "world":
        f_ext = 2.0 * constant(f_ext, library) - f_ext
    return of(*args, f_ext=f_ext, f_ext_axes=f_ext_axes, **options)


def transposed_block(
    of: Any, library: str, model: Any, q: Any, v: Any, *args: Any, **options: Any
) -> Any:
    """The derivative of the bias torque by v, at the state of the case."""
    change = v - constant(v, library)
    wrong = _block().T - _block()
    matrix = {"torch": torch.from_numpy, "jax": jax.numpy.asarray, "casadi": ca.DM}[library](wrong)
    return of(model, q, v, *args, **options) + matrix @ change


@functools.cache
def _block() -> Any:
    case = adapter_law_cases.case(dtau.torch, "bias_torque", NAMED["plain"], 0)
    q, v = case.state(0)
    return dtau.inverse_dynamics_derivatives(case.model, q, v, np.zeros_like(v)).dtau_dv


FAULTS: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "no derivative by dt": ("step", "free step", no_derivative_by_dt),
    "another sign of f_ext along the world": (
        "inverse_dynamics",
        "off norm",
        other_sign_along_the_world,
    ),
    "a block is transposed": ("bias_torque", "plain", transposed_block),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, library: str) -> None:
    """By a gradient, a tangent and a Jacobian of one state."""
    row, switch, plant = FAULTS[fault]
    _module, modes, _ = LIBRARIES[library]
    other = faulty(library, row, plant)
    once = [mode for mode in modes.values() if not mode.batch]
    for kind in ("gradient", "tangent", "jacobian"):
        mode = next(mode for mode in once if mode.kind == kind)
        with pytest.raises(AssertionError, match=r" off, .* allowed"):
            laws.check(other, row, NAMED[switch], mode, 0)


@pytest.mark.parametrize("library", LIBRARIES)
def test_nothing_is_found_where_nothing_is_planted(library: str) -> None:
    _module, modes, _ = LIBRARIES[library]

    def plant(of: Any, library: str, *args: Any, **options: Any) -> Any:
        return of(*args, **options)

    other = faulty(library, "gravity_torque", plant)
    mode = next(mode for mode in modes.values() if mode.kind == "gradient" and not mode.batch)
    assert laws.check(other, "gravity_torque", NAMED["arm"], mode, 0) == 1
