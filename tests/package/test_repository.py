"""Files that a visitor sees first: README, badges, citation, policies, templates."""

from __future__ import annotations

import inspect
import re
import runpy
from itertools import product
from pathlib import Path

import pytest
from files import ROOT

import dtau

PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob(".github/**/*.md")),
    ROOT / "benchmarks" / "README.md",
]


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def anchors(page: str) -> set[str]:
    """Of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page, flags=re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    found = re.findall(r"\]\(([^()\s]+)(?: \"[^\"]*\")?\)", page.read_text(encoding="utf-8"))
    for link in found:
        if re.match(r"https?:|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


def test_the_readme_is_two_screens() -> None:
    assert len(text("README.md").splitlines()) <= 120


def test_badges_are_current() -> None:
    script = runpy.run_path(str(ROOT / "docs/pictures/badges.py"))
    for name, badge in script["badges"]().items():
        assert text(f"docs/pictures/{name}") == badge, "renew them: python docs/pictures/badges.py"
        assert f"(docs/pictures/{name})" in text("README.md")
    for halves in script["texts"]().values():
        assert f"![{' '.join(halves)}]" in text("README.md")


def test_the_picture_has_numbers_of_the_benchmarks_page() -> None:
    script = runpy.run_path(str(ROOT / "docs/pictures/overview.py"))
    assert all(1.0 < low < high for _, _, low, high in script["ratios"]())
    picture = (ROOT / "docs/pictures/overview.png").read_bytes()
    said = f"tEXtDescription\0{script['label']()}".encode("ascii")
    assert said in picture, "renew it: python docs/pictures/overview.py"


def test_generated_files_are_current_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that renew.py writes, by itself and by other scripts."""
    folder = ROOT / "src/python"
    monkeypatch.syspath_prepend(folder)
    written: dict[Path, str] = {}
    for script in ("renew", "stubs", "adapter_stubs", "typed_calls"):
        written |= runpy.run_path(str(folder / f"{script}.py"))["texts"]()
    for path, expected in written.items():
        current = path.read_text(encoding="utf-8") == expected
        assert current, f"{path.name}: renew it: python src/python/renew.py"
    package = ROOT / "python/dtau"
    whole = [*(ROOT / "include/dtau/library/calls").iterdir(), *package.glob("*/__init__.pyi")]
    for path in [*whole, package / "_core.pyi"]:
        head = written[path].partition("\n")[0]
        assert head.endswith("src/python/renew.py writes this file."), path.name


def names_in(table: str) -> set[str]:
    """What stands in it; of the table of problems and suffixes, each problem with each suffix."""
    names = set(re.findall(r"`(\w+)`", table))
    problems = [name for name in names if name.endswith("_dynamics")]
    suffixes = [name for name in names if name.startswith("_")]
    return names | {problem + suffix for problem, suffix in product(problems, suffixes)}


def test_every_function_is_in_the_table() -> None:
    names = names_in(text("docs/functions.md"))
    functions = [x for x in dtau.__all__ if inspect.isroutine(getattr(dtau, x))]
    assert len(functions) > 60
    assert not set(functions) - names


def test_every_name_in_the_table_is_public() -> None:
    found = set(re.findall(r"^\| `(\w+)` \|", text("docs/functions.md"), flags=re.M))
    assert len(found) > 60
    assert not found - set(dtau.__all__)


def test_the_citation_is_of_this_version() -> None:
    citation = text("CITATION.cff")
    assert f"\nversion: {dtau.__version__}\n" in citation
    (licence,) = re.findall(r'^license = "(.*)"$', text("pyproject.toml"), flags=re.M)
    assert f"\nlicense: {licence}\n" in citation
    (released,) = re.findall(r"^date-released: (.*)$", citation, flags=re.M)
    assert f"\n## {dtau.__version__} - {released}\n" in text("CHANGELOG.md")


def test_the_citation_names_the_four_papers() -> None:
    citation = text("CITATION.cff")
    keys = re.findall(r"^  - notes: \"(\[.*\])\"$", citation, flags=re.M)
    assert keys == re.findall(r"^## (\[.*\]): ", text("docs/papers.md"), flags=re.M)
    for key, title in zip(
        keys, re.findall(r"^    title: (.*)$", citation, flags=re.M), strict=True
    ):
        (row,) = re.findall(rf"^\| {re.escape(key)} \| (.*)$", text("REFERENCES.md"), flags=re.M)
        assert f"*{title}*" in row


def test_the_change_log_has_versions_and_known_headings() -> None:
    page = text("CHANGELOG.md")
    versions = re.findall(r"^## (.*)$", page, flags=re.M)
    assert re.fullmatch(r"Unreleased|\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", versions[0])
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", x) for x in versions[1:])
    known = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", page, flags=re.M)) <= known


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md")))
def test_templates_have_what_the_host_reads(path: Path) -> None:
    assert re.match(r"---\nname: .+\nabout: .+\nlabels: .+\n---\n", path.read_text("utf-8"))


def test_every_example_is_run_by_a_test() -> None:
    """By itself, or as the module of another example."""
    tests = "".join(path.read_text("utf-8") for path in sorted(ROOT.glob("tests/**/test_*.py")))
    examples = {path.stem: path.read_text("utf-8") for path in sorted(ROOT.glob("examples/*.py"))}
    for name in examples:
        taken = (text for other, text in examples.items() if other != name)
        used = any(re.search(rf"^\s*(?:import|from) {name}\b", text, re.M) for text in taken)
        assert used or re.search(rf"examples/{name}\b|\"{name}(?:\.py)?\"", tests), name
