"""Ways of results out of vector lanes: same bits in all of them, and the environment variable."""

from __future__ import annotations

import subprocess
from typing import Any

import numpy as np
import pytest
from cases import robot
from core import stores, using_stores
from processes import python
from trees import Array

import dtau
from dtau.registry import FUNCTIONS

WAYS = ("blocks", "lines", "blocks:0")
SHIFTS = (0, 1, 5, 7)  # numbers between the beginning of a cache line and a result
CASES = [
    (name, options)
    for name in (
        *("inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives", "linearize"),
        *("forward_dynamics_derivatives", "inverse_dynamics_second_derivatives"),
        *("inverse_dynamics_regressor", "difference_jacobians"),
    )
    for options in ({}, {"layout": "pattern"})
    if options.keys() <= {x.name for x in FUNCTIONS[name].arguments}
]


def shifted(like: Array, shift: int) -> Array:
    """An array full of NaN that begins so far from the beginning of a cache line."""
    room = np.full(like.size + 16, np.nan)
    begin = -(room.ctypes.data // 8) % 8 + shift
    return room[begin : begin + like.size].reshape(like.shape)


@pytest.mark.parametrize("count", [8, 21])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_same_bits_in_all_ways(name: str, options: dict[str, Any], count: int) -> None:
    function, model = getattr(dtau, name), robot("quadruped")
    random = np.random.default_rng(3)
    q, v, a = dtau.random_state(model, random, shape=(count,))
    arrays = {"q": q, "v": v, "a": a, "tau": a, "q0": q, "q1": q[::-1]}
    inputs = [arrays[x.name] for x in FUNCTIONS[name].inputs if x.name in arrays]
    lone = [function(model, *(x[k] for x in inputs), **options) for k in range(count)]
    several = isinstance(lone[0], tuple)
    states = zip(*lone, strict=True) if several else [lone]
    expected = [np.stack(x) for x in states]
    for way in WAYS:
        for shift in SHIFTS:
            out = [shifted(x, shift) for x in expected]
            with using_stores(way):
                function(model, *inputs, **options, out=out if several else out[0])
            for x, y in zip(out, expected, strict=True):
                np.testing.assert_array_equal(x, y, err_msg=f"{way}, shift {shift}")


# The choice


def test_words_are_read_back() -> None:
    for text in (*WAYS, "lines:1234567"):
        with using_stores(text):
            assert stores() == text


def with_environment(value: str | None) -> subprocess.CompletedProcess[str]:
    return python("from dtau import _core; print(_core.stores())", DTAU_STORES=value)


@pytest.mark.parametrize("value", ["lines", "blocks:100"])
def test_environment_variable(value: str) -> None:
    assert with_environment(value).stdout.split() == [value]


def test_no_environment_variable() -> None:
    found = {with_environment(value).stdout for value in (None, "")}
    assert found <= {"blocks:4194304\n", "lines:4194304\n"}
    assert len(found) == 1


@pytest.mark.parametrize(
    "wrong", ["streamed", "lines:", "lines:-1", "blocks:4M", "lines:1e6", ":1"]
)
def test_wrong_environment_variable(wrong: str) -> None:
    done = with_environment(wrong)
    assert done.returncode != 0
    assert "ImportError: DTAU_STORES: expected 'blocks' or 'lines'" in done.stderr
    assert f"got '{wrong}'" in done.stderr
