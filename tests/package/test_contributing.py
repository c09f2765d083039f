"""CONTRIBUTING.md: the tables of the architecture have every header and folder, no others."""

from __future__ import annotations

import re

import pytest
from files import ROOT


@pytest.mark.parametrize("root", ["include/dtau", "src", "python/dtau"])
def test_tables_have_all_headers_and_folders(root: str) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition(f": `{root}/`\n")[2].partition("\n##")[0]
    firsts = re.findall(r"^\| (`.+?) \|", table, flags=re.M)
    named = {name: set[str]() for cell in firsts for name in re.findall(r"`([^`]+)`", cell)}
    for name, paths in named.items():
        for pattern in (name.rstrip("/"), f"{name}.hpp"):
            paths |= {x.relative_to(ROOT / root).parts[0] for x in (ROOT / root).glob(pattern)}
    assert [name for name, paths in named.items() if not paths] == []
    there = {
        x.name
        for x in (ROOT / root).iterdir()
        if x.suffix in (".hpp", ".cmake") or (x.is_dir() and not x.name.startswith("_"))
    }
    assert there - set().union(*named.values()) == set()
