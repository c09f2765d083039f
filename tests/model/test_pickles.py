"""Unpickling checks what it finds: a right object, or TypeError or ValueError that says what."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import warnings
from typing import Any

import numpy as np
import pytest
from odd_values import EXTREMES
from pickles import EXAMPLES, damaged_state, is_ours, restored, state_of

import dtau
from dtau.support.immutable import Immutable

# Modules of dtau that need the package of their name.
NEEDED = ("jax", "torch", "casadi", "crocoddyl", "mujoco")
each_example = pytest.mark.parametrize("name", EXAMPLES)


def same(x: Any, y: Any) -> bool:
    """Whether two objects have the same contents, to the last bit."""
    if type(x) is not type(y):
        return False
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    if isinstance(x, tuple | list):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, dict):
        return [*x] == [*y] and all(map(same, x.values(), y.values()))
    if is_ours(x):
        return same(state_of(x), state_of(y))
    return bool(x == y) or repr(x) == repr(y)


@each_example
def test_unpickled_objects_equal_the_pickled_ones(name: str) -> None:
    value = EXAMPLES[name]()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = pickle.loads(pickle.dumps(value, protocol))
        assert type(again) is type(value)
        assert same(again, value)
        if isinstance(value, Immutable):
            with pytest.raises(AttributeError, match="immutable"):
                again.name = "other"
        own = (state_of(again) or {}).values()
        assert not any(x.flags.writeable for x in own if isinstance(x, np.ndarray))
    for other in (copy.copy(value), copy.deepcopy(value)):
        assert same(other, value)


@each_example
def test_no_state_at_all(name: str) -> None:
    cls = type(EXAMPLES[name]())
    for state in EXTREMES:
        if state is not None and not (isinstance(state, dict) and set(state) == set()):
            with pytest.raises((TypeError, ValueError), match=r"\bstate\b"):
                restored(cls, state)


@pytest.mark.parametrize("name", ["Pose", "Inertia"])
def test_an_object_takes_no_second_state(name: str) -> None:
    value: Any = getattr(dtau, name)()
    with pytest.raises((AttributeError, ValueError), match="cannot construct it again"):
        value.__setstate__(state_of(value))


@each_example
def test_names_that_are_missing_or_too_many(name: str) -> None:
    value = EXAMPLES[name]()
    state = state_of(value) or {}
    cls = type(value)
    for wrong in [
        {**state, "more": 3},
        *({k: x for k, x in state.items() if k != key} for key in state),
    ]:
        with pytest.raises(TypeError, match=r"state: expected "):
            restored(cls, wrong)


@each_example
def test_damaged_pickles_give_a_valid_object_or_an_error(name: str) -> None:
    value = EXAMPLES[name]()
    state = state_of(value)
    refused = 0
    for seed in range(300 if len(state or ()) else 10):
        rng = np.random.default_rng(seed)
        wrong = damaged_state(rng, state or {})
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                made = restored(type(value), wrong)
        except (TypeError, ValueError):
            refused += 1
        else:
            repr(made)
            assert set(vars(made)) == set(vars(value)), (seed, wrong)
    assert refused


@pytest.mark.parametrize("package", [None, *NEEDED])
def test_no_class_is_left_out(package: str | None) -> None:
    """Of those whose objects a pickle can have: immutable ones, dataclasses, and the builder."""
    if package is not None:
        pytest.importorskip(package)
    tried = {type(make()) for make in EXAMPLES.values()}
    private = {"At", "Batch", "CoreBody", "Element", "Immutable"}  # in no public object
    private |= {"Argument", "Array", "Derivatives", "Quantity", "Function"}  # rows of tables
    results = {
        "Pattern",
        "Places",
        "BaseParameters",
        "FourierMotion",
        "LeastSquares",
        "Fit",
    }  # plain data
    for module in pkgutil.walk_packages(dtau.__path__, "dtau."):
        part = module.name.split(".")
        needs = part[1] if part[1] in NEEDED else None
        if part[-1].startswith("_") or needs != package:
            continue
        made_by_programs = ("codegen", "cli", "timing", "viewer")  # nobody pickles it
        if part[1] in (*made_by_programs, "distances"):  # whose shapes hold coal's geometries
            continue
        for name, cls in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            ours = cls.__module__.startswith("dtau.") and not inspect.isabstract(cls)
            if ours and (issubclass(cls, Immutable) or dataclasses.is_dataclass(cls)):
                assert cls in tried or name in private | results or name.startswith("_"), name
