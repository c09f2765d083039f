"""docs/algorithms.md names the files and functions of the textbook's and the fast algorithms.

tests/core/unit/textbook.cpp compares the numbers.
"""

from __future__ import annotations

import re
from pathlib import Path

TEXTBOOK = ["aba", "crba", "idsva", "idsva_so", "rnea"]


def test_the_page_about_algorithms_names_functions_that_are_there() -> None:
    """docs/algorithms.md says in which function and file every equation of the textbook is.

    Every row names functions that its files define, and files that define one of them each.
    """
    root = Path(__file__).parents[2]
    page = (root / "docs/algorithms.md").read_text("utf-8")
    rows = re.findall(r"^\| .* \| (`\w+\(\)`.*) \| (`.*`) \|$", page, flags=re.M)
    assert len(rows) > 50
    for functions, files in rows:
        names = re.findall(r"`(\w+)\(\)`", functions)
        paths = re.findall("`(.*?)`", files)
        defined = [definitions(root / "include/dtau" / path) & set(names) for path in paths]
        assert set().union(*defined) == set(names), (names, paths)
        assert all(defined), (names, paths)


def test_the_page_about_algorithms_names_every_textbook_form() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs/algorithms.md").read_text("utf-8")
    shown = re.findall(r"literalinclude\} \.\./include/dtau/textbook/(\w+)\.hpp", page)
    assert sorted(shown) == TEXTBOOK
    fast = re.findall(r"^\| \[.*\]\(#.*\) \| .* \| `(.*)` \|$", page, flags=re.M)
    assert len(fast) == 8
    assert all((root / "include/dtau" / path).exists() for path in fast)


def definitions(header: Path) -> set[str]:
    """The functions that a header defines: a type comes before the name, and no call does."""
    code = re.sub("//.*", "", header.read_text("utf-8"))
    lines = (line for line in code.splitlines() if not re.search(r"\breturn\b|=.*\(", line))
    return {name for line in lines for name in re.findall(r"[\w>&*] [&*]?(\w+)\(", line)}
