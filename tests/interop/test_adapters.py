"""Common ground of `dtau.jax`, `dtau.torch` and `dtau.casadi`, and what their page says of it."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import pytest
from files import ROOT

import dtau

PAGE = (ROOT / "docs/array_libraries.md").read_text(encoding="utf-8")
TYPES = {"NextState", "Placements", "TangentMap"}
CONTACTS = {"contacts", "active", "damping"}  # arguments of dtau.step that no adapter has


@pytest.fixture(params=["jax", "torch", "casadi"])
def adapter(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(request.param)
    return importlib.import_module(f"dtau.{request.param}")


def test_an_adapter_lists_its_functions_alone(adapter: Any) -> None:
    assert dir(adapter) == sorted(adapter.__all__)


def test_the_page_names_the_functions(adapter: Any) -> None:
    paragraph = PAGE.split("## Functions in all three libraries")[1].split("\n\n")[1]
    named = set(re.findall(r"`(\w+)`", paragraph)) - {
        "dtau",
        "out",
        "threads",
        "f_ext",
        "f_ext_axes",
    }
    assert named == set(adapter.__all__) - TYPES - {"function"}


def test_arguments_are_those_of_the_package(adapter: Any) -> None:
    for name in set(adapter.__all__) - TYPES - {"function"}:
        have = inspect.signature(getattr(adapter, name)).parameters
        want = inspect.signature(getattr(dtau, name)).parameters
        left_out = {"out", "threads"} | (CONTACTS if name == "step" else set())
        assert [x for x in have if x != "products"] == [x for x in want if x not in left_out], name
