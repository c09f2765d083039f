"""States and matrices of the tests of `dtau.casadi`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adapter_cases import ARGUMENTS
from trees import Array

import dtau

ca = pytest.importorskip("casadi")

SECOND = 1e-10  # what second derivatives may be off by
ROBOTS = ("panda", "hyq", "every joint in a chain", "forest", "joints that mimic others")
on_robots = pytest.mark.parametrize("name", ROBOTS)
DYNAMICS = ("inverse_dynamics", "forward_dynamics")
TERMS = ("bias_torque", "gravity_torque", "mass_matrix", "mass_matrix_inverse")


def state(model: dtau.Model, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    return *dtau.random_state(model, rng), rng.standard_normal((model.nbodies, 6))


def dense(matrix: Any) -> Array:
    return np.array(ca.densify(ca.DM(matrix)))


def vector(matrix: Any) -> Array:
    """The numbers as CasADi counts them, column by column."""
    return dense(matrix).ravel(order="F")


def arguments(name: str, given: Any, wrenches: bool) -> tuple[Array, ...]:
    q, v, a, f_ext = given
    arrays = {"q": q, "v": v, "a": a, "tau": a, "f_ext": f_ext}
    return tuple(arrays[x] for x in ARGUMENTS[name] if x != "f_ext" or wrenches)


def symbols(given: tuple[Array, ...]) -> list[Any]:
    return [ca.MX.sym(f"x{k}", *np.shape(x)) for k, x in enumerate(given)]


def numbers(given: tuple[Array, ...]) -> list[Any]:
    return [ca.DM(x) for x in given]
