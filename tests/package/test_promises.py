"""docs/promises.md: every test that it names exists, and every promise in bold names one."""

from __future__ import annotations

import ast
import re

import pytest
from files import ROOT

PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"`((?:benchmarks/)?tests/[^`]+::[^`]+)`", PAGE)))
# What a test cannot hold the package to: what users must not do.
WITHOUT_A_TEST = ("Never unpickle what comes from", "Arrays must not be written by another")


@pytest.mark.parametrize("name", TESTS)
def test_a_test_that_is_named_exists(name: str) -> None:
    path, *parts = name.split("::")
    found: list[ast.stmt] = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    for part in parts:
        inside = [
            item.body
            for item in found
            if isinstance(item, ast.ClassDef | ast.FunctionDef) and item.name == part
        ]
        assert len(inside) == 1, f"{part!r} is there {len(inside)} times"
        (found,) = inside


def test_every_promise_names_its_test() -> None:
    promises = re.split(r"^- ", PAGE, flags=re.M)[1:]
    bold = [promise for promise in promises if promise.startswith("**")]
    assert len(bold) >= 20
    for promise in bold:
        text = " ".join(promise.removeprefix("**").split())
        assert re.search(r"`(benchmarks/)?tests/", text) or text.startswith(WITHOUT_A_TEST), text


def test_the_readme_links_the_page() -> None:
    assert "(docs/promises.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
