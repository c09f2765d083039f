"""Only files below the folders that are allowed are found, whatever names say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from messages import has_words, message

from dtau.viewer import folders
from dtau.viewer.folders import Folders


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "robots/arm/urdf/a.stl",
        "robots/arm/meshes/b.stl",
        "secret/c.stl",
        "robots2/d.stl",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.stl", "robots/arm/urdf/a.stl"),
        ("./a.stl", "robots/arm/urdf/a.stl"),
        ("package://arm/meshes/b.stl", "robots/arm/meshes/b.stl"),
        ("package:///arm/meshes/b.stl", "robots/arm/meshes/b.stl"),
        ("../meshes/b.stl", "robots/arm/meshes/b.stl"),
        ("package://arm/urdf/../meshes/b.stl", "robots/arm/meshes/b.stl"),
        ("package://whatever/a.stl", "robots/arm/urdf/a.stl"),
    ],
)
def test_names_are_found(tree: Path, name: str, found: str) -> None:
    where = Folders(tree / "robots/arm/urdf", [tree / "robots"])
    assert where.find(name) == (tree / found).resolve()


def test_a_folder_can_be_the_package(tree: Path) -> None:
    where = Folders(None, [tree / "robots/arm"])
    assert where.find("package://arm/meshes/b.stl").name == "b.stl"


def test_file_names_are_absolute(tree: Path) -> None:
    where = Folders(tree / "robots/arm/urdf", [tree / "robots"])
    path = (tree / "robots/arm/meshes/b.stl").resolve()
    assert where.find(f"file://{path}") == path
    assert where.find(str(path)) == path


@pytest.mark.parametrize(
    "name",
    [
        "../../../secret/c.stl",
        "package://../secret/c.stl",
        "package://arm/../../secret/c.stl",
        "package://arm/%2e%2e/%2e%2e/secret/c.stl",
        "../../../robots2/d.stl",  # its path begins as an allowed folder's
        "link.stl",
        "folder/c.stl",
        "package://arm/meshes/folder/c.stl",
    ],
)
def test_nothing_outside_is_found(tree: Path, name: str) -> None:
    urdf, meshes = tree / "robots/arm/urdf", tree / "robots/arm/meshes"
    (urdf / "link.stl").symlink_to(tree / "secret/c.stl")
    for folder in (urdf, meshes):
        (folder / "folder").symlink_to(tree / "secret")
    text = message(FileNotFoundError, Folders(urdf, [tree / "robots"]).find, name)
    has_words(text, "outside the folders of meshes=")


def test_nothing_outside_is_found_by_absolute_names(tree: Path) -> None:
    where = Folders(tree / "robots/arm/urdf")
    for name in (str(tree / "secret/c.stl"), f"file://{tree}/secret/c.stl"):
        has_words(message(FileNotFoundError, where.find, name), "outside")


def test_links_within_the_folders_are_followed(tree: Path) -> None:
    (tree / "robots/arm/urdf/link.stl").symlink_to(tree / "robots/arm/meshes/b.stl")
    assert Folders(tree / "robots/arm/urdf", [tree / "robots"]).find("link.stl").name == "b.stl"


def test_a_folder_may_itself_be_a_link(tree: Path) -> None:
    (tree / "alias").symlink_to(tree / "robots")
    assert Folders(None, [tree / "alias"]).find("package://arm/meshes/b.stl").name == "b.stl"


@pytest.mark.parametrize(
    "name", ["http://example.org/b.stl", "none.stl", "a\0.stl", "", ".", "x" * 5000, "package://"]
)
def test_missing_mesh_is_not_found(tree: Path, name: str) -> None:
    assert "not found" in message(FileNotFoundError, Folders(tree / "robots").find, name)


def test_only_files_are_read(tree: Path) -> None:
    os.mkfifo(tree / "robots/pipe.stl")
    for name in ("pipe.stl", "arm"):
        assert "not found" in message(FileNotFoundError, Folders(tree / "robots").find, name)


def test_large_files_are_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "LARGEST", 3)
    text = message(FileNotFoundError, Folders(tree / "robots2").find, "d.stl")
    has_words(text, "3", "d.stl")


def test_folders_must_exist(tree: Path) -> None:
    has_words(message(NotADirectoryError, Folders, None, [tree / "none"]), "meshes", "folder")
