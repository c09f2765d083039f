"""The cases of `dtau.jax`, `dtau.torch` and `dtau.casadi`: arguments from the rows, and robots."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from functools import cache
from typing import Any

import cases
import numpy as np
import pytest
from trees import MOVING, Array, grow

import dtau
from dtau.autodiff.functions import CONSTRAINED, PUBLIC
from dtau.autodiff.rows import FUNCTIONS, PARAMETERS

# The arrays that a function takes after the model, but for the mask of contacts and the inertias of
# many models, which the laws have.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    name: tuple(x.name for x in FUNCTIONS[name].inputs if x.name not in ("active", PARAMETERS))
    for name in PUBLIC
}
AXES = "mixed"  # of external wrenches: these also turn with q
FILES = {"panda": ("panda.urdf", "fixed"), "hyq": ("hyq_no_sensors.urdf", "free")}


@cache
def robot(name: str) -> dtau.Model:
    if name in FILES:
        return _loaded(*FILES[name])
    if name == "every joint":
        return cases.serial(*MOVING, seed=5).model()
    if name == "small":  # for what does not depend on the robot: programs compile sooner
        return cases.serial("spherical", "revolute", seed=3).model()
    if name == "free, spherical, planar":  # whose displacements do not add
        return cases.serial("free", "spherical", "planar", seed=3).model()
    if name == "few joints":
        return grow(["free", "universal", "planar"], [-1, 0, 0], seed=3).model()
    if name == "few joints with mimics":
        tree = grow(["revolute", "spherical", "universal", "helical", "prismatic"], range(-1, 4), 5)
        names = [body.name for body in tree.bodies]
        follows = {3: dtau.Mimic(names[0], -1.5, 0.2), 4: dtau.Mimic(names[0], 0.5)}
        return tree.model({names[k]: mimic for k, mimic in follows.items()})
    return cases.robot(name)


def _loaded(file: str, root: Any) -> dtau.Model:
    try:
        listed = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        listed = []
    found = [path for path in listed if path.name == file]
    if not found:
        pytest.skip("the robot comes with example-robot-data")
    return dtau.load(str(found[0].locate()), root=root)


def options(name: str, model: dtau.Model) -> dict[str, Any]:
    """Options of a function, none of which has its default value; a step has no contacts here."""
    values: dict[str, Any] = {
        "f_ext_axes": AXES,
        "frames": (model.bodies[-1], model.bodies[0]),
        "axes": "world",
        "kind": "classical",
        "integrator": "rk4",
    }
    if name in CONSTRAINED and name != "step":  # of few joints, rows depend on each other
        held = dtau.PointContact(model.bodies[-1], axes="mixed", kd=2.0)
        values.update(contacts=dtau.Contacts(model, [held]), regularization=1e-4)
    return {x: values[x] for x in FUNCTIONS[name].options if x in values}


def function(name: str, model: dtau.Model, module: Any, **more: Any) -> Callable[..., Any]:
    """The function of its arrays alone."""
    of, words = getattr(module, name), {**options(name, model), **more}
    return lambda *x: of(model, **dict(zip(ARGUMENTS[name], x, strict=True)), **words)


def arrays(name: str, model: dtau.Model, seed: int, shape: tuple[int, ...] = ()) -> list[Array]:
    state = cases.random_state(model, seed, shape)
    return [state[key] for key in ARGUMENTS[name]]


def near(x: Any, expected: Any, tolerance: float) -> None:
    """Compare relative to the largest element."""
    x, expected = np.asarray(x), np.asarray(expected)
    assert x.shape == expected.shape
    size = max(float(np.abs(expected).max(initial=0.0)), 1e-2)
    assert float(np.abs(x - expected).max(initial=0.0)) <= tolerance * size
