"""Inertial parameters as arrays of JAX and PyTorch: shapes that are refused, massless joints."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from cases import robot

import dtau

PROBLEMS = ("inverse_dynamics", "forward_dynamics")
each_library = pytest.mark.parametrize("library", ["jax", "torch"])


def adapter(library: str) -> tuple[Any, Callable[[Any], Any]]:
    """The functions of a library, and how its arrays are made."""
    found = pytest.importorskip(library)
    if library == "jax":
        import_module("jax_cases")  # float64
    return import_module(f"dtau.{library}"), getattr(found, "from_numpy", np.asarray)


@pytest.mark.parametrize("problem", PROBLEMS)
@each_library
def test_errors(problem: str, library: str) -> None:
    model, (module, convert) = robot("quadruped"), adapter(library)
    given = [convert(x) for x in dtau.random_state(model, np.random.default_rng(1))]
    expected = r"parameters: expected shape \(..., 130\), got .*parameters\.ravel\(\)"
    with pytest.raises(ValueError, match=expected):
        getattr(module, problem)(model, *given, parameters=convert(np.zeros((13, 10))))


@each_library
def test_parameters_give_inertia_to_joints_without(library: str) -> None:
    module, convert = adapter(library)
    builder = dtau.ModelBuilder("massless")
    builder.add(dtau.Revolute((0, 0, 1)), name="link")
    with pytest.warns(dtau.ModelWarning):
        model = builder.build()
    disk = dtau.Inertia(1.0, (0, 0, 0), np.diag([0.25, 0.25, 0.5])).parameters
    given = [convert(np.array([x])) for x in (0.0, 0.0, 3.0)]
    with pytest.raises(ValueError, match="every joint has inertia to accelerate"):
        module.forward_dynamics(model, *given)
    got = module.forward_dynamics(model, *given, parameters=convert(disk.copy()))
    assert np.asarray(got).tolist() == [6.0]
