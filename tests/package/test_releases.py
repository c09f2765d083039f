"""Wheels and releases: workflows, the Pythons that files name, what keeps a version back."""

from __future__ import annotations

import re
import runpy
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from files import ROOT

yaml = pytest.importorskip("yaml")

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def workflow(name: str) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load(text(f".github/workflows/{name}.yml"))
    return loaded


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_are_whole(path: Path) -> None:
    """Jobs that exist are waited for, artifacts that are made are taken, scripts exist."""
    content = workflow(path.stem)
    assert content["name"] == path.stem
    assert content[True]  # "on", as YAML reads it
    assert content["permissions"] == {"contents": "read"}
    jobs = content["jobs"]
    for job in jobs.values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[\w./-]+", step.get("uses", "a/b@c"))
            for script in re.findall(r"(?:bash|python3?) ([\w./]+/[\w.]+)", step.get("run", "")):
                assert (ROOT / script).is_file(), script


def test_only_the_job_that_publishes_has_an_identity() -> None:
    jobs = workflow("wheels")["jobs"]
    assert [name for name, job in jobs.items() if "permissions" in job] == ["publish"]
    publish = jobs["publish"]
    assert publish["permissions"]["id-token"] == "write"
    assert publish["if"] == "github.event_name == 'release' && vars.PUBLISH == 'yes'"
    assert publish["environment"] == "pypi"
    uses = [step.get("uses", "").split("@")[0] for step in publish["steps"]]
    runs = [step.get("run", "") for step in publish["steps"]]
    (refused,) = [k for k, run in enumerate(runs) if ".ci/publishable.py" in run]
    made = uses.index("pypa/gh-action-pypi-publish")
    assert refused < uses.index("actions/attest-build-provenance") < made == len(uses) - 1
    assert refused < uses.index("actions/attest-sbom") < made
    assert jobs["files"]["needs"] == ["wheels", "source"]
    assert publish["needs"] == "files"
    assert set(workflow("wheels")[True]) == {"workflow_dispatch", "release"}


def supported() -> list[str]:
    """The versions of Python that pyproject.toml names, oldest first."""
    prefix = "Programming Language :: Python :: "
    found = [x.removeprefix(prefix) for x in PYPROJECT["project"]["classifiers"]]
    return [x for x in found if re.fullmatch(r"3\.\d+", x)]


def test_all_files_name_the_same_pythons() -> None:
    versions = supported()
    oldest, newest = versions[0], versions[-1]
    stable = PYPROJECT["tool"]["scikit-build"]["wheel"]["py-api"]
    assert versions == sorted(versions, key=lambda x: int(x[2:]))
    assert PYPROJECT["project"]["requires-python"] == f">={oldest}"
    built = PYPROJECT["tool"]["cibuildwheel"]["build"]
    tags = [f"cp{x.replace('.', '')}-*" for x in versions]
    free = [x for x in built if "t-" in x]
    assert built == [*tags, *free]
    assert {x.replace("t-", "-") for x in free} <= set(tags)
    assert free[-1] == tags[-1].replace("-", "t-")

    systems = workflow("tests")["jobs"]["systems"]["strategy"]["matrix"]
    assert systems["python"] == [oldest, newest]
    assert [x["python"] for x in systems["include"]] == [f"{newest}t"]
    assert f"find_package(Python {oldest} " in text("CMakeLists.txt")
    assert f"with CPython {oldest}," in text(".ci/wheels")
    assert f'"{stable}-abi3"' in text(".ci/wheels")
    assert "cp312-abi3-{system}".replace("cp312", stable) in text(".ci/publishable.py")

    first = f"{stable[2]}.{stable[3:]}"  # of the stable ABI
    installing = text("docs/installing.md")
    assert f"You need CPython {oldest} or newer" in installing
    assert f"There is one for CPython {oldest}, and one for {first} and later" in text("README.md")
    assert f"There is a wheel for CPython {oldest}, and one for\n{first} and all" in installing
    assert all(x[2:].split("-")[0].replace("3", "3.", 1) in installing for x in free)
    # Versions before the oldest one stand nowhere but in the history.
    for path in ("README.md", "docs/installing.md", ".ci/wheels", ".ci/run", "RELEASING.md"):
        found = {x for x in re.findall(r"\b3\.(\d\d?)\b(?!\.\d)", text(path)) if int(x) < 20}
        assert not {int(x) for x in found if 8 <= int(x) < int(oldest[2:])}, path


def test_the_backend_has_an_upper_bound() -> None:
    (nanobind,) = [x for x in PYPROJECT["build-system"]["requires"] if x.startswith("nanobind")]
    assert re.fullmatch(r"nanobind>=\d+\.\d+,<\d+", nanobind)


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """The sources of a version that may be published."""
    for path in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "python/dtau/_version.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    change(tmp_path, "python/dtau/_version.py", r'__version__ = ".*"', '__version__ = "7.8.9"')
    change(tmp_path, "CITATION.cff", r"\nversion: .*", "\nversion: 7.8.9")
    change(tmp_path, "CITATION.cff", r"\Z", "\nrepository-code: https://example.org/dtau\n")
    change(tmp_path, "CHANGELOG.md", r"\n## [^\n]*", "\n## 7.8.9 - 2027-01-01")
    urls = '[project.urls]\nSource = "https://example.org/dtau"\nIssues = "https://example.org/i"\n'
    change(tmp_path, "pyproject.toml", r"\n\[project.scripts\]", f"\n{urls}\n[project.scripts]")
    return tmp_path


def change(root: Path, path: str, pattern: str, to: str) -> None:
    before = (root / path).read_text(encoding="utf-8")
    after, count = re.subn(pattern, to, before, count=1)
    assert count == 1
    (root / path).write_text(after, encoding="utf-8")


FILES = [
    "dist/dtau-7.8.9.tar.gz",
    "dist/dtau-7.8.9-cp311-cp311-manylinux_2_28_x86_64.whl",
    "dist/dtau-7.8.9-cp312-abi3-manylinux_2_28_x86_64.whl",
    "dist/dtau-7.8.9-cp312-abi3-musllinux_1_2_x86_64.whl",
    "dist/dtau-7.8.9-cp312-abi3-macosx_11_0_arm64.whl",
    "dist/dtau-7.8.9-cp312-abi3-win_amd64.whl",
]


def problems(root: Path, tag: str = "v7.8.9", files: list[str] = FILES) -> list[str]:
    script = runpy.run_path(str(ROOT / ".ci" / "publishable.py"))
    return list(script["problems"](root, tag, files))


def test_a_version_that_is_ready_may_be_published(ready: Path) -> None:
    assert problems(ready) == []


@pytest.mark.parametrize(
    ("path", "pattern", "to", "word"),
    [
        ("pyproject.toml", r"\nSource = .*", "", "Source"),
        ("pyproject.toml", r"\nIssues = .*", '\nIssues = "somewhere"', "Issues"),
        ("CITATION.cff", r"\nrepository-code: .*", "", "repository-code"),
        ("CITATION.cff", r"\nversion: .*", "\nversion: 7.8.8", "version 7.8.9"),
        ("CHANGELOG.md", r"\n## 7.8.9 - .*", "\n## Unreleased", "Unreleased"),
    ],
)
def test_what_is_missing_keeps_it_back(
    ready: Path, path: str, pattern: str, to: str, word: str
) -> None:
    change(ready, path, pattern, to)
    (found,) = problems(ready)
    assert found.startswith(f"{path}: ")
    assert word in found


def test_other_tags_and_files_keep_it_back(ready: Path) -> None:
    (found,) = problems(ready, "v7.8.8")
    assert found.startswith("the tag: ")
    for name in FILES:
        left = [x for x in FILES if x != name]
        assert len(problems(ready, files=left)) == ("cp311" not in name), name
    (found,) = problems(ready, files=[*FILES, "dist/dtau-7.8.8.tar.gz"])
    assert "7.8.8" in found
