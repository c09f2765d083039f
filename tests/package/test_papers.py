"""docs/papers.md: all that it names exists, and it has a row for every figure, table and so on."""

from __future__ import annotations

import ast
import inspect
import re

import pytest
from files import ROOT

import dtau

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
CODE = sorted(set(re.findall(r"`([^`\n]+)`", PAGE)))
PATHS = [name for name in CODE if "/" in name]
OPTIONS = [name for name in CODE if name.endswith("=")]
NAMES = [name for name in CODE if re.fullmatch(r"(dtau\.)?[A-Za-z_]+(\.[A-Za-z_]+)*", name)]
# What else stands in typewriter: options of scripts, a field, variables of papers, slices.
OTHERS = {"d2tau_dadq", "a_grav"}

# How many a paper has.
COUNTS = {
    "[IDSVA]": {"Algorithm": 1, "Table": 3, "Figure": 7},
    "[IDSVA-SO]": {"Algorithm": 1, "Table": 1, "Figure": 4},
    "[Bos]": {"Proposition": 4, "Table": 9, "Figure": 5},
    "[HO-FBS]": {"Algorithm": 4, "Proposition": 1, "Lemma": 2, "Table": 5, "Figure": 4},
}
NUMERALS = ("0", "I", "II", "III")


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_is_named_exists(path: str) -> None:
    path, _, test = path.partition("::")
    assert (ROOT / path).is_file()
    if test:
        body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
        assert test in {item.name for item in body if isinstance(item, ast.FunctionDef)}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OTHERS])
def test_a_name_is_public(name: str) -> None:
    found: object = dtau
    for part in name.removeprefix("dtau.").split("."):
        if found is dtau and part not in dtau.__all__:
            found = dtau.conventions.Convention  # methods of it stand without its name
        found = getattr(found, part)


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_is_one_of_some_function(option: str) -> None:
    functions = (getattr(dtau, name) for name in dtau.__all__)
    parameters = (inspect.signature(f).parameters for f in functions if inspect.isroutine(f))
    assert any(option.removesuffix("=") in names for names in parameters)


@pytest.mark.parametrize("paper", COUNTS)
def test_every_result_has_a_row(paper: str) -> None:
    (section,) = re.findall(rf"^## {re.escape(paper)}: .*?(?=^## )", PAGE, flags=re.M | re.S)
    first = re.findall(r"^\| ([^|]*) \|", section, flags=re.M)
    for kind, count in COUNTS[paper].items():
        for n in range(1, count + 1):
            number = NUMERALS[n] if kind == "Table" and "IDSVA" in paper else n
            want = re.compile(rf"\b{kind} {number}(?![0-9I])")
            assert any(want.search(cell) for cell in first), f"{kind} {number}"


def test_other_pages_link_it() -> None:
    assert "(docs/papers.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
