"""AGENTS.md and llms.txt: what they name is there."""

from __future__ import annotations

import ast
import json
import re
from functools import reduce
from typing import Any

import pytest
from files import ROOT

import dtau
from dtau.cli.app import commands


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def code(path: str) -> list[str]:
    """Return the pieces of code of a page, in its lines and indented."""
    page = text(path)
    return re.findall(r"`([^`\n]+)`", page) + re.findall(r"^    (\S.*)$", page, flags=re.M)


@pytest.mark.parametrize("path", ["AGENTS.md", "llms.txt"])
def test_paths_exist(path: str) -> None:
    files = r"(?<![\w./-])((?:[\w-]+/)+[\w.-]*|[A-Za-z]+\.(?:md|txt))(?![\w/])"
    found = {x.rstrip("/") for piece in code(path) for x in re.findall(files, piece)}
    found |= set(re.findall(r"\]\(([^)]+)\)", text(path)))
    assert len(found) > 10
    assert [x for x in found if not (ROOT / x).exists()] == []


@pytest.mark.parametrize("path", ["AGENTS.md", "llms.txt"])
def test_names_exist(path: str) -> None:
    found = {x for piece in code(path) for x in re.findall(r"\bdtau((?:\.[A-Za-z_]\w*)+)", piece)}
    libraries = {".jax", ".torch", ".casadi"}  # adapters, which import their libraries
    assert len(found - libraries) > 2
    for name in found - libraries:
        reduce(getattr, name.removeprefix(".").split("."), dtau)
    assert all((ROOT / "python/dtau" / name[1:]).is_dir() for name in found & libraries)
    for suffix in re.findall(r"`(_[a-z_]+)`", text(path)):
        assert hasattr(dtau, f"inverse_dynamics{suffix}")


@pytest.mark.parametrize("path", ["AGENTS.md", "llms.txt"])
def test_commands_exist(path: str) -> None:
    pieces = [piece.partition("#")[0].strip() for piece in code(path)]
    used = {x.split()[1] for x in pieces if re.match(r"dtau [a-z]", x)}
    assert used
    assert used <= set(commands.commands)
    presets = json.loads(text("CMakePresets.json"))["workflowPresets"]
    for piece in pieces:
        for preset in re.findall(r"--preset (\w+)", piece):
            assert preset in [x["name"] for x in presets]
        if piece.startswith("python -m pytest --"):
            assert piece.split()[3] in text("tests/conftest.py")


def test_llms_txt_is_in_its_format() -> None:
    """A title, a quotation, paragraphs, and lists of links: see llmstxt.org."""
    head, *sections = text("llms.txt").split("\n## ")
    assert re.fullmatch(r"# \w+\n\n> .+\n\n[^#>\n-].+\n*", head)
    for section in sections:
        title, _, links = section.partition("\n\n")
        assert title
        lines = links.strip().splitlines()
        assert all(re.fullmatch(r"- \[[^\]]+\]\([^)]+\): .+", line) for line in lines)


def test_the_site_has_llms_txt() -> None:
    """With links to its own pages, in place of the repository's files."""
    tree = ast.parse(text("docs/conf.py"))  # which needs Sphinx to run
    tree.body = [x for x in tree.body if getattr(x, "name", "") == "llms_on_the_site"]
    names: dict[str, Any] = {"re": re}
    exec(compile(tree, "conf.py", "exec"), names)
    served = names["llms_on_the_site"](text("llms.txt"))
    links = re.findall(r"\]\(([^)]+)\)", served)
    assert "functions.html" in links
    assert all((ROOT / "docs" / link).with_suffix(".md").exists() for link in links)
