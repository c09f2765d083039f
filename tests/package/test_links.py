"""Rows name the functions that differentiate a function, and functions have these as attributes."""

from __future__ import annotations

import re

import pytest
from files import ROOT

import dtau
from dtau.registry import FUNCTIONS

KINDS = (
    "derivatives", "second_derivatives", "hessian", "jvp", "vjp", "time_derivatives",
    "parameter_derivatives", "parameter_jvp", "parameter_vjp", "wrench_derivatives",
)  # fmt: skip


def attributes(name: str) -> dict[str, str]:
    """Return the names of the functions that are attributes of one, by attribute."""
    function = getattr(dtau, name)
    kinds = (*KINDS, "regressor") if callable(function) else ()
    return {x: getattr(function, x).__name__ for x in kinds if hasattr(function, x)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_attributes_are_the_functions_that_a_row_names(name: str) -> None:
    links = FUNCTIONS[name].links
    named = {kind: other for kind, other in attributes(name).items() if other in FUNCTIONS}
    assert {kind: other for kind, other in named.items() if kind != "regressor"} == links
    function = getattr(dtau, name)
    assert all(getattr(function, kind) is getattr(dtau, other) for kind, other in links.items())


def test_a_function_whose_name_says_so_is_linked() -> None:
    for name in dtau.__all__:
        for kind in (*KINDS, "regressor"):
            whole, found, rest = name.rpartition(f"_{kind}")
            if found and not rest and whole in dtau.__all__:
                assert attributes(whole)[kind] == name
                assert name not in FUNCTIONS or name in FUNCTIONS[whole].links.values()


def test_both_families_have_derivatives_by_parameters_under_one_name() -> None:
    for name in ("inverse_dynamics", "kinetic_energy", "potential_energy", "momentum"):
        family = getattr(dtau, name)
        assert family.parameter_derivatives is family.regressor
        assert family.regressor is getattr(dtau, f"{name}_regressor")
    ours, theirs = attributes("inverse_dynamics"), attributes("forward_dynamics")
    assert list(ours) == [*theirs, "regressor"]
    series = dtau.inverse_dynamics_time_derivatives_jvp
    assert dtau.inverse_dynamics.time_derivatives.jvp is series  # type: ignore[attr-defined]


def test_listed_names_are_those_that_are_no_attribute_of_a_family() -> None:
    spelled = {f"{x}_{kind}": f for x in dtau.__all__ for kind, f in attributes(x).items()}
    hidden = set(dtau.__all__) & set(spelled)
    assert {name: spelled[name] for name in hidden} == {name: name for name in hidden}
    old = {x: getattr(getattr(dtau, x), "new_name", "") for x in dtau.__all__}
    hidden |= {name for name in old if old[name]}
    assert dir(dtau) == sorted(set(dtau.__all__) - hidden)
    assert 80 < len(dir(dtau)) < 100


def test_attributes_with_other_long_names_are_in_the_table_of_the_page() -> None:
    other = {
        f"{x}.{kind}": f
        for x in dtau.__all__
        for kind, f in attributes(x).items()
        if f != f"{x}_{kind}"
    }
    page = (ROOT / "docs/functions.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `(\w+\.\w+)` \| `(\w+)` \|$", page, flags=re.M)) == other


def test_old_names_say_what_they_are_now() -> None:
    old = {x: y for x in dtau.__all__ if (y := getattr(getattr(dtau, x), "new_name", ""))}
    assert "frame_jacobians_rate" in old
    for name, new in old.items():
        assert new in dtau.__all__
        assert re.search(rf"\balias for [^.]*`{new}`", getattr(dtau, name).__doc__), name


def test_every_name_is_imported_by_a_star() -> None:
    names: dict[str, object] = {}
    exec("from dtau import *", names)
    assert set(dtau.__all__) <= set(names)


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
