"""`dtau docs`: pages of an installation, which `src/python/pages.py` packs, and of a repository."""

from __future__ import annotations

import runpy
import tarfile
from pathlib import Path
from typing import Any

import pytest
from files import ROOT

from dtau.cli import docs

PACKER = runpy.run_path(str(ROOT / "src/python/pages.py"))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    PACKER["pack"](tmp_path)
    monkeypatch.setattr(docs, "_PACKAGE", tmp_path)
    return tmp_path / PACKER["ARCHIVE"]


def test_an_installation_has_what_the_package_names(installed: Path, run: Any) -> None:
    """Help texts, docstrings and messages: these pages, with their text, in few bytes."""
    named = PACKER["named"]()
    assert {"command_line", "conventions", "functions", "generated_code"} <= set(named)
    listed = run("docs").out.splitlines()
    assert [line.split()[0] for line in listed] == named
    assert all(len(line.split()) > 1 for line in listed)
    for page in named:
        text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
        for spelling in (page, f"docs/{page}.md"):
            assert run("docs", spelling).out.strip() == text.strip()
    assert installed.stat().st_size < 60_000  # the wheel has a limit


def test_the_same_pages_give_the_same_bytes(installed: Path, tmp_path: Path) -> None:
    other = tmp_path / "again"
    other.mkdir()
    PACKER["pack"](other)
    assert (other / PACKER["ARCHIVE"]).read_bytes() == installed.read_bytes()
    with tarfile.open(installed) as archive:
        assert archive.getnames() == [f"{page}.md" for page in PACKER["named"]()]


def test_a_repository_has_all_pages(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "_PACKAGE", ROOT / "python/dtau")
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert {line.split()[0] for line in run("docs").out.splitlines()} == pages


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("convention", "Did you mean conventions?"),
        ("docs/no_such_page_at_all.md", "is installed. dtau docs lists the pages"),
        ("", "no page '' is installed"),
    ],
)
def test_other_pages_are_refused(page: str, said: str, installed: Path, run: Any) -> None:
    done = run("docs", page)
    assert done.code == 3
    assert said in done.err
