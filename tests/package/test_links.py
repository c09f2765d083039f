"""Rows name the functions that differentiate a function, and functions have these as attributes."""

from __future__ import annotations

import pytest

import dtau
from dtau.registry import FUNCTIONS

SUFFIXES = (
    "derivatives", "second_derivatives", "hessian", "jvp", "vjp", "time_derivatives",
)  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_attributes_are_the_functions_that_a_row_names(name: str) -> None:
    links = FUNCTIONS[name].links
    function = getattr(dtau, name)
    assert {x: getattr(function, x).__name__ for x in SUFFIXES if hasattr(function, x)} == links
    assert all(getattr(function, kind) is getattr(dtau, other) for kind, other in links.items())


def test_a_function_whose_name_says_so_is_linked() -> None:
    for name in FUNCTIONS:
        for kind in SUFFIXES:
            whole, found, rest = name.rpartition(f"_{kind}")
            if found and not rest and whole in FUNCTIONS:
                assert FUNCTIONS[whole].links[kind] == name


def test_arrays_of_products_are_named_after_inputs() -> None:
    """So rules need no table of which array belongs to which input."""
    for name, row in FUNCTIONS.items():
        inputs = {x.name for x in row.inputs}
        if "jvp" in row.links:
            varied = {x.name for x in FUNCTIONS[row.links["jvp"]].inputs} - inputs
            assert varied == {f"d{x}" for x in inputs} & varied, name
            assert {"dq", "dv" if "v" in inputs else "dv_derivatives"} <= varied, name
        if "vjp" in row.links:
            gradients = {x.name for x in FUNCTIONS[row.links["vjp"]].results}
            assert gradients <= {f"by_{x}" for x in inputs}, name
