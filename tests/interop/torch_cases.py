"""Robots, arguments and comparisons of the tests of `dtau.torch`."""

from __future__ import annotations

import importlib.metadata
import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import cases
import numpy as np
import pytest
import torch
from torch import Tensor
from trees import MOVING, grow

import dtau
import dtau.torch

AXES = "mixed"  # of external wrenches: these also turn with q

# What a function takes after the model.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("q", "v", "a", "f_ext"),
    "forward_dynamics": ("q", "v", "tau", "f_ext"),
    "bias_torque": ("q", "v", "f_ext"),
    "gravity_torque": ("q",),
    "mass_matrix": ("q",),
    "mass_matrix_inverse": ("q",),
    "frame_placements": ("q",),
    "frame_jacobians": ("q",),
    "frame_velocities": ("q", "v"),
    "center_of_mass": ("q",),
    "center_of_mass_velocity": ("q", "v"),
    "momentum": ("q", "v"),
    "centroidal_momentum": ("q", "v"),
    "step": ("q", "v", "tau", "dt", "f_ext"),
    "integrate": ("q", "dq"),
    "difference": ("q0", "q1"),
    "normalize": ("q",),
    "tangent_map": ("q",),
}


@cache
def robot(name: str) -> dtau.Model:
    if name == "every joint":
        return cases.serial(*MOVING, seed=5).model()
    if name == "few joints":
        kinds = ["free", "universal", "planar"]
        return grow(kinds, [-1, 0, 0], seed=3).model()
    if name == "few joints with mimics":
        tree = grow(["revolute", "spherical", "universal", "helical", "prismatic"], range(-1, 4), 5)
        names = [body.name for body in tree.bodies]
        follows = {3: dtau.Mimic(names[0], -1.5, 0.2), 4: dtau.Mimic(names[0], 0.5)}
        return tree.model({names[k]: mimic for k, mimic in follows.items()})
    if name in ("panda", "hyq"):
        try:
            listed = importlib.metadata.files("example-robot-data") or []
        except importlib.metadata.PackageNotFoundError:
            listed = []
        files = {"panda": "panda.urdf", "hyq": "hyq_no_sensors.urdf"}
        found = [file for file in listed if file.name == files[name]]
        if not found:
            pytest.skip("the robot comes with example-robot-data")
        return dtau.load(str(found[0].locate()), root="free" if name == "hyq" else "fixed")
    return cases.robot(name)


def options(name: str, model: dtau.Model) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "f_ext" in ARGUMENTS[name]:
        found["f_ext_axes"] = AXES
    if name.startswith("frame_"):
        found["frames"] = (model.bodies[-1], model.bodies[0])
        if name != "frame_placements":
            found["axes"] = "world"
    if name == "step":
        found["integrator"] = "rk4"
    return found


def function(
    name: str, model: dtau.Model, module: Any = dtau.torch, **more: Any
) -> Callable[..., Any]:
    """The function of its arrays alone."""
    of, words = getattr(module, name), {**options(name, model), **more}
    return lambda *x: of(model, **dict(zip(ARGUMENTS[name], x, strict=True)), **words)


def arrays(name: str, model: dtau.Model, seed: int = 0, shape: tuple[int, ...] = ()) -> list[Any]:
    state = cases.random_state(model, seed, shape)
    return [state[key] for key in ARGUMENTS[name]]


def tensors(
    name: str, model: dtau.Model, seed: int = 0, shape: tuple[int, ...] = ()
) -> list[Tensor]:
    return [torch.from_numpy(x) for x in arrays(name, model, seed, shape)]


def leaves(x: list[Tensor]) -> list[Tensor]:
    return [y.clone().requires_grad_() for y in x]


def each(results: Any) -> tuple[Any, ...]:
    """The results of a function, one or several, as a tuple."""
    return tuple(results) if isinstance(results, tuple) else (results,)


def near(x: Any, expected: Any, tolerance: float) -> None:
    """Compare relative to the largest element."""
    x, expected = np.asarray(x), np.asarray(expected)
    assert x.shape == expected.shape
    size = max(float(np.abs(expected).max(initial=0.0)), 1e-2)
    assert float(np.abs(x - expected).max(initial=0.0)) <= tolerance * size


NESTED = tuple(itertools.product((torch.func.jacrev, torch.func.jacfwd), repeat=2))
