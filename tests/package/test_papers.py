"""docs/papers.md: all that it names exists, and it has a row for every figure, table and so on."""

from __future__ import annotations

import ast
import inspect
import re

import pytest
from benchmarks.experiment import experiments
from files import ROOT

import dtau

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
CODE = sorted(set(re.findall(r"`([^`\n]+)`", PAGE)))
PATHS = [name for name in CODE if "/" in name]
OPTIONS = [name for name in CODE if name.endswith("=")]
NAMES = [name for name in CODE if re.fullmatch(r"(dtau\.)?[A-Za-z_]+(\.[A-Za-z_]+)*", name)]
# What else stands in typewriter: options and functions of scripts, fields, variables, slices.
OTHERS = {"d2tau_dadq", "a_grav", "printed", "inputs"}

# How many a paper has.
COUNTS = {
    "[IDSVA]": {"Algorithm": 1, "Table": 3, "Figure": 7},
    "[IDSVA-SO]": {"Algorithm": 1, "Table": 1, "Figure": 4},
    "[Bos]": {"Proposition": 4, "Table": 9, "Figure": 5},
    "[HO-FBS]": {"Algorithm": 4, "Proposition": 1, "Lemma": 2, "Table": 5, "Figure": 4},
}
NUMERALS = ("0", "I", "II", "III")
# The last equation of a paper, and its identities by letter.
EQUATIONS = {"[IDSVA]": 132, "[IDSVA-SO]": 25, "[Bos]": 91, "[HO-FBS]": 70}
IDENTITIES = {"[IDSVA]": {"J": 9, "P": 7}, "[IDSVA-SO]": {"K": 16, "M": 19}}
# How many sentences of a paper on future work have a row; [IDSVA] has none.
FUTURE = {"[IDSVA]": 0, "[IDSVA-SO]": 3, "[Bos]": 5, "[HO-FBS]": 5}
# What came of a figure, a table and so on: the third cell of its row opens with it.
MEASURED = re.compile(
    r"\b(Figure|Table|Section|Claim|Remark|Algorithm|Proposition|Lemma|Definition|Appendix|Future)\b"
)
OUTCOMES = (
    *("Reproduced", "Partly", "Different", "Not needed", "Nothing to compute"),
    *("Here", "Later", "Not here"),  # of future work
)


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


def rows(paper: str) -> list[list[str]]:
    """The cells of the rows of a paper's table."""
    (section,) = re.findall(rf"^## {re.escape(paper)}: .*?(?=^## )", PAGE, flags=re.M | re.S)
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in re.split(r" \| ", line.strip("| "))] for line in lines]


def numbers(text: str) -> set[int]:
    """The numbers of "3, 5 and 8 to 10"."""
    spans = re.findall(r"(\d+)(?: to (\d+))?", text)
    return {n for first, last in spans for n in range(int(first), int(last or first) + 1)}


@pytest.mark.parametrize("paper", EQUATIONS)
def test_every_equation_has_a_row(paper: str) -> None:
    listed = "[\\d, ;]|and |to |prove it|proves it"
    found: set[int] = set()
    for cell, *_ in rows(paper):
        for part in re.findall(rf"\b[Ee]qs?\. ((?:{listed})+)", cell):
            found |= numbers(part)
    assert found == set(range(1, EQUATIONS[paper] + 1))
    for letter, last in IDENTITIES.get(paper, {}).items():
        cells = " ".join(cell for cell, *_ in rows(paper))
        assert f"{letter}1 to {letter}{last}" in cells


@pytest.mark.parametrize("paper", EQUATIONS)
def test_every_outcome_is_said(paper: str) -> None:
    for name, _, outcome in rows(paper):
        if MEASURED.search(name):
            assert outcome.startswith(OUTCOMES), name
    future = [name for name, *_ in rows(paper) if name.startswith("Future work")]
    assert len(future) == FUTURE[paper]


def test_experiments_name_their_figures_and_tables() -> None:
    page = PAGE.replace("`", "")
    for experiment in experiments():
        if experiment.name.startswith("paper_"):
            assert f"benchmarks/experiments/{experiment.name}.py" in page


@pytest.mark.parametrize("paper", COUNTS)
def test_every_result_has_a_row(paper: str) -> None:
    first = [cell for cell, *_ in rows(paper)]
    for kind, count in COUNTS[paper].items():
        for n in range(1, count + 1):
            number = NUMERALS[n] if kind == "Table" and "IDSVA" in paper else n
            want = re.compile(rf"\b{kind} {number}(?![0-9I])")
            assert any(want.search(cell) for cell in first), f"{kind} {number}"


def test_other_pages_link_it() -> None:
    assert "(docs/papers.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
