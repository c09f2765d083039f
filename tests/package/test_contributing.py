"""CONTRIBUTING.md: tables of the architecture have every header and folder; files to read exist."""

from __future__ import annotations

import re

import pytest
from files import ROOT

SUFFIXES = (".hpp", ".cmake", ".py", ".pyi")


@pytest.mark.parametrize("root", ["include/dtau", "src", "python/dtau"])
def test_tables_have_all_headers_and_folders(root: str) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition(f": `{root}/`\n")[2].partition("\n##")[0]
    firsts = re.findall(r"^\| (`.+?) \|", table, flags=re.M)
    named = {name: set[str]() for cell in firsts for name in re.findall(r"`([^`]+)`", cell)}
    for name, paths in named.items():
        for pattern in (name.rstrip("/"), *(f"{name}{suffix}" for suffix in SUFFIXES)):
            paths |= {x.relative_to(ROOT / root).parts[0] for x in (ROOT / root).glob(pattern)}
    assert [name for name, paths in named.items() if not paths] == []
    there = {
        x.name
        for x in (ROOT / root).iterdir()
        if x.suffix in SUFFIXES or (x.is_dir() and x.name != "__pycache__")
    }
    assert there - set().union(*named.values()) == set()


def test_the_way_in_names_files_and_what_is_in_them() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("\n## A way in\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \| `(.*?)` \| (.*) \|$", section, flags=re.M)
    assert [int(number) for number, _, _ in rows] == list(range(1, 13))
    for _, path, look_for in rows:
        text = (ROOT / path).read_text(encoding="utf-8")
        if name := re.match(r"`([\w:]+)`", look_for):
            assert f"{name[1]}(" in text or f"struct {name[1]} " in text, path
