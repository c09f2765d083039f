"""Functions of `dtau.casadi` and what they take, for the tests of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from cases import robot
from trees import Array

import dtau

ca = pytest.importorskip("casadi")

SECOND = 1e-10  # what second derivatives may be off by
ROBOTS = ("panda", "hyq", "every joint in a chain", "forest", "joints that mimic others")
on_robots = pytest.mark.parametrize("name", ROBOTS)
DYNAMICS = ("inverse_dynamics", "forward_dynamics")
TERMS = ("bias_torque", "gravity_torque", "mass_matrix", "mass_matrix_inverse")
FILES = {
    "panda": ("panda_description/panda.urdf", "fixed"),
    "hyq": ("hyq_description/hyq_no_sensors.urdf", "free"),
}


@cache
def model_of(name: str) -> dtau.Model:
    if name not in FILES:
        return robot(name)
    pytest.importorskip("pinocchio")
    from pinocchio_pair import pair

    return pair(*FILES[name]).model


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
    taken = {"bias_torque": (q, v), "inverse_dynamics": (q, v, a), "forward_dynamics": (q, v, a)}
    return *taken.get(name, (q,)), *((f_ext,) if wrenches else ())


def symbols(given: tuple[Array, ...]) -> list[Any]:
    return [ca.MX.sym(f"x{k}", *np.shape(x)) for k, x in enumerate(given)]


def numbers(given: tuple[Array, ...]) -> list[Any]:
    return [ca.DM(x) for x in given]
